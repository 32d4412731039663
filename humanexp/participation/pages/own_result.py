"""A participant's own result as a small picture and its table."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from humanexp.participation.selectors import OwnResult

#: Pixels: a bar and the gap below it, where bars begin, and the length of ten in ten.
ROW, LEFT, WIDTH = 34, 170, 300


@dataclass(frozen=True, kw_only=True)
class Bar:
    label: str
    of_ten: int
    #: upper edge of the bar, its length, and where the text stands
    top: int
    length: int
    base: int
    end: int


@dataclass(frozen=True, kw_only=True)
class OwnResultPage:
    pictures: int
    bars: tuple[Bar, ...]
    height: int
    left: int = LEFT
    width: int = LEFT + WIDTH + 40


def own_result_page(found: OwnResult) -> OwnResultPage:
    """The bars in the order of the amounts."""
    words = (_("hardly changed"), _("changed a little"), _("changed a lot"), _("changed very much"))
    bars = tuple(
        Bar(
            label=words[part.amount],
            of_ten=part.of_ten,
            top=ROW * number + 5,
            length=WIDTH * part.of_ten // 10,
            base=ROW * number + 22,
            end=LEFT + WIDTH * part.of_ten // 10 + 8,
        )
        for number, part in enumerate(found.parts)
    )
    return OwnResultPage(pictures=found.pictures, bars=bars, height=ROW * len(bars))
