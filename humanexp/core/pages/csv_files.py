"""Tables that people open in a spreadsheet, sent line by line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from django.http import StreamingHttpResponse

from analysis.tables.schema import guard

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
