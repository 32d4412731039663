"""Pages of long lists."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet


class KeyedPaginator(Paginator):  # type: ignore[type-arg]  # no generic at run time
    """Tells the keys of a page first, then reads its rows: those before it are neither read nor sorted.

    `count`: how many rows there are, where somebody has counted them already. `keys`: the rows' in their order, with
    what they are ordered by, where the database finds them quicker another way than by the rows.
    """

    def __init__(
        self,
        rows: QuerySet[Any],
        per_page: int,
        *,
        count: int | None = None,
        keys: QuerySet[Any, tuple[Any, ...]] | None = None,
    ) -> None:
        super().__init__(rows, per_page)
        self._rows = rows
        self._keys = rows.values_list("pk") if keys is None else keys
        if count is not None:
            self.count = count

    def page(self, number: int | str) -> Page[Any]:
        found = super().page(number)
        first = (found.number - 1) * self.per_page
        keys = [key for key, *_order in self._keys[first : first + self.per_page]]
        found.object_list = list(self._rows.filter(pk__in=keys))
        return found
