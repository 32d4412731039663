"""A participant's own result: in how many pictures of ten they were right, by amount of change."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from humanexp.participation.selectors import OwnResult


@dataclass(frozen=True, kw_only=True)
class Row:
    label: str
    of_ten: int


@dataclass(frozen=True, kw_only=True)
class OwnResultPage:
    pictures: int
    rows: tuple[Row, ...]


def own_result_page(found: OwnResult) -> OwnResultPage:
    """The rows in the order of the amounts."""
    words = (_("hardly changed"), _("changed a little"), _("changed a lot"), _("changed very much"))
    rows = tuple(Row(label=words[part.amount], of_ten=part.of_ten) for part in found.parts)
    return OwnResultPage(pictures=found.pictures, rows=rows)
