"""Pages of long lists."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet


class KeyedPaginator(Paginator):  # type: ignore[type-arg]  # no generic at run time
    """Tells the keys of a page first, then reads its rows: those before it are neither read nor sorted.

    `count`: how many rows there are, where somebody has counted them already.
    """

    def __init__(self, rows: QuerySet[Any], per_page: int, *, count: int | None = None) -> None:
        super().__init__(rows, per_page)
        self._rows = rows
        if count is not None:
            self.count = count

    def page(self, number: int | str) -> Page[Any]:
        found = super().page(number)
        first = (found.number - 1) * self.per_page
        keys = list(self._rows.values_list("pk", flat=True)[first : first + self.per_page])
        found.object_list = list(self._rows.filter(pk__in=keys))
        return found
