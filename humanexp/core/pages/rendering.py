"""How pages are rendered, cut into pages of rows, and given out as CSV; tables that are declared once for both."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from analysis.tables.schema import guard

#: Files that figures come as.
FIGURE_KINDS = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}


def render_part(request: HttpRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    """The page; for htmx the part of it that changes, whose template has the same name after an underscore."""
    folder, _slash, name = template.rpartition("/")
    return render(request, f"{folder}/_{name}" if getattr(request, "htmx", False) else template, context)


def attached(content: bytes | str, kind: str, name: str, *, inline: bool = False) -> HttpResponse:
    """A file to be saved, or, `inline`, to be looked at."""
    how = "inline" if inline else "attachment"
    return HttpResponse(content, content_type=kind, headers={"Content-Disposition": f'{how}; filename="{name}"'})


def drawn(suffix: str, write: Callable[[Path], object]) -> bytes:
    """What a figure writes into a file of this kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"figure.{suffix}"
        write(path)
        return path.read_bytes()


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


#: Without it, Excel reads UTF-8 by the letters of its own country, and names people otherwise than they are called.
_MARK = "\ufeff"


def csv_file(name: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> StreamingHttpResponse:
    """A download; what people have written is text to a spreadsheet, whatever it begins with."""
    response = StreamingHttpResponse(_lines(columns, rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _lines(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    yield _MARK + _line(columns)
    for row in rows:
        yield _line(guard(cell) if isinstance(cell, str) else cell for cell in row)


def _line(cells: Iterable[object]) -> str:
    stream = io.StringIO()
    csv.writer(stream).writerow(cells)
    return stream.getvalue()


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
