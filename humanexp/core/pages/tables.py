"""A table that is declared once: how it is shown on a page, and how it is written into a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from django.http import StreamingHttpResponse

from humanexp.core.pages.rendering import csv_file


@dataclass(frozen=True)
class Column:
    #: over it on a page; empty for what is in the file alone
    head: str = ""
    #: of a row: what a page shows, and what a file has where that differs; an attribute's name, or a function
    shown: str | Callable[[Any], object] = ""
    #: of numbers "n", of what a row is called by "row"
    kind: str = ""
    #: over it in the file; empty for what is on pages alone
    name: str = ""
    stored: str | Callable[[Any], object] = ""


@dataclass(frozen=True)
class Table:
    columns: Sequence[Column]
    rows: Iterable[Any]
    #: under the others
    sums: Sequence[Any] = field(default=())

    @property
    def heads(self) -> list[Column]:
        """The columns of a page."""
        return [column for column in self.columns if column.head]

    def shown(self, row: Any) -> Iterator[tuple[str, object]]:
        """The cells of a row on a page, each with the kind of its column."""
        return ((column.kind, _of(row, column.shown)) for column in self.heads)

    def file(self, name: str) -> StreamingHttpResponse:
        """The same as a download."""
        kept = [column for column in self.columns if column.name]
        lines = ([_of(row, column.stored or column.shown or column.name) for column in kept] for row in self.rows)
        return csv_file(name, [column.name for column in kept], lines)


def _of(row: Any, what: str | Callable[[Any], object]) -> object:
    return attrgetter(what)(row) if isinstance(what, str) else what(row)
