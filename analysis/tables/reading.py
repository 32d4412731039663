"""The one reader of tables: bytes of any origin as cells of text, or a refusal that says what stands in the way.

What it reads is what spreadsheets and programs of this trade write: CSV with commas, semicolons, tabs or bars; UTF-8
with and without a byte order mark, UTF-16 as spreadsheets write "Unicode text"; decimal commas where a table's cells
are not separated by commas; columns and rows that a spreadsheet left empty at the end; the row numbers that pandas and
R put in front.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import TableRefused

if TYPE_CHECKING:
    import pandas as pd

CSV_SUFFIXES = (".csv", ".tsv", ".txt")
PARQUET_SUFFIX = ".parquet"
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
#: A first line by which spreadsheets are told the delimiter.
_HINT = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
#: "1.012,5" and "1,012.5": one of the signs separates thousands.
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:(?:\.\d{3})+,\d+|(?:,\d{3})+\.\d+)")
#: "1,012" alone can be a thousand and twelve, or a little more than one.
_AMBIGUOUS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
#: What stands before and after names, and is not seen.
_UNSEEN = " \t\r\n\N{NO-BREAK SPACE}\N{ZERO WIDTH SPACE}\N{ZERO WIDTH NO-BREAK SPACE}"
#: How files begin that are no text, whatever they are called.
_OTHER_FILES = {
    b"PK\x03\x04": "an Excel workbook or an archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"PAR1": "a Parquet file, whose name should end in .parquet",
    b"\x1f\x8b": "packed by gzip",
    b"%PDF": "a PDF",
    b"{\\rtf": "a text of a word processor",
}
_PAGE = re.compile(rb"\s*<(?:!doctype|html|\?xml)", re.IGNORECASE)
_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True, slots=True)
class Cells:
    """A table as text.

    Attributes
    ----------
    source : str
        File name for messages.
    names : tuple of str
        Of the columns, in small letters: no two are the same.
    rows : list of list of str
        As many cells each as there are names; row 1 of messages is the first.
    """

    source: str
    names: tuple[str, ...]
    rows: list[list[str]]

    def records(self) -> Iterator[dict[str, str]]:
        """Each row as cells by name, without blanks around them."""
        for row in self.rows:
            yield {name: cell.strip(_UNSEEN) for name, cell in zip(self.names, row, strict=True)}

    def frame(self) -> pd.DataFrame:
        """The table with all cells text."""
        import pandas as pd

        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.names)
        return pd.DataFrame(
            {name: pd.array(cells, dtype="string") for name, cells in zip(self.names, columns, strict=True)}
        )


def is_csv(path: Path) -> bool:
    """Whether a table's file is text; any other is Parquet."""
    return path.suffix.lower() in CSV_SUFFIXES


def read_table(path: Path) -> pd.DataFrame:
    """A file of text (all cells text, ``na`` kept) or Parquet as a frame, its columns' names in small letters.

    Raises
    ------
    TableRefused
        If the file is no table, or one whose cells cannot be told apart.
    """
    try:
        if is_csv(path):
            return read_cells(path.read_bytes(), source=path.name).frame()
        if path.suffix.lower() == PARQUET_SUFFIX:
            return _read_parquet(path)
    except FileNotFoundError as error:
        raise TableRefused(f"{path}: there is no such file. Check the name.") from error
    except OSError as error:
        raise TableRefused(f"{path.name} cannot be read: {error.strerror or error}.") from error
    raise TableRefused(f"{path.name}: tables are {', '.join(CSV_SUFFIXES)} or {PARQUET_SUFFIX} files. Save it as CSV.")


def read_cells(content: bytes, *, source: str) -> Cells:
    """The cells of a table of text.

    Parameters
    ----------
    content : bytes
        The whole file.
    source : str
        File name for messages.

    Raises
    ------
    TableRefused
        Naming file, row (1 = first row after the header), column and remedy: another kind of file, an encoding that is
        not told, two columns of one name (also by case), a column without a name, rows longer or shorter than the
        header, an open quotation mark, thousands that cannot be told from decimals.
    """
    text = text_of(content, source=source)
    hint = _HINT.match(text)
    if hint:
        text = text[hint.end() :]
    delimiter = hint[1] if hint else _delimiter(text)
    rows = _rows(text, delimiter, source)
    if not rows:
        raise TableRefused(f"{source} is empty. Leave it out, or fetch it again.")
    names, rows = _without_empty_ends([name.strip(_UNSEEN).lower() for name in rows[0]], rows[1:])
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise TableRefused(_ragged(source, number, row, names, delimiter))
    if names and not names[0] and _are_row_numbers([row[0] for row in rows]):
        names, rows = names[1:], [row[1:] for row in rows]
    check_names(names, source)
    if delimiter != ",":
        _take_decimal_commas(names, rows, delimiter, source)
    return Cells(source, tuple(names), rows)


def header_of(path: Path) -> tuple[str, ...]:
    """Names of a file of text as `read_table` would find them, of whatever kind the file is."""
    with path.open("rb") as stream:
        begin = stream.read(1 << 16)
    encoding = _encoding(begin)
    text = begin.decode(encoding, errors="replace")
    line = next(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)), [])
    return tuple(name.strip(_UNSEEN).lower() for name in line)


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd
    import pyarrow as pa

    try:
        frame = pd.read_parquet(path)
    except (ValueError, pa.ArrowException) as error:
        raise TableRefused(f"{path.name} cannot be read as Parquet: {str(error).strip()}. Write it again.") from error
    names = [str(name).strip(_UNSEEN).lower() for name in frame.columns]
    check_names(names, path.name)
    return frame.set_axis(names, axis="columns").reset_index(drop=True)


def text_of(content: bytes, *, source: str) -> str:
    """The text of a file that is to be a table or a list.

    Raises
    ------
    TableRefused
        If it is another kind of file, or its encoding is not told.
    """
    for begin, what in _OTHER_FILES.items():
        if content.startswith(begin):
            raise TableRefused(f"{source} is {what}. Save the table as CSV, UTF-8.")
    if _PAGE.match(content):
        raise TableRefused(
            f"{source} is a web page, as one gets instead of a file without having signed in. Fetch it again."
        )
    encoding = _encoding(content)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-16":
            raise TableRefused(f"{source} is broken off: this is no whole UTF-16. Save it as CSV, UTF-8.") from error
        row = content[: error.start].count(b"\n")
        raise TableRefused(
            f"{source}, row {row}: byte {content[error.start]:#04x} is not UTF-8. Save the file as CSV, UTF-8."
        ) from error
    if "\0" in text:
        raise TableRefused(
            f"{source}, row {text[: text.index(chr(0))].count(chr(10))}: there is a NUL, as in files of another "
            "encoding, or that were not written to their end. Save it as CSV, UTF-8."
        )
    return text


def _encoding(content: bytes) -> str:
    return next((name for mark, name in _BYTE_ORDER_MARKS.items() if content.startswith(mark)), "utf-8")


def _delimiter(text: str) -> str:
    """What parts the names of the header; a header of one name is parted by nothing."""
    header = re.sub(r'"[^"]*"', "", text.lstrip("\r\n").split("\n", 1)[0])
    return max(_DELIMITERS, key=header.count)


def _rows(text: str, delimiter: str, source: str) -> list[list[str]]:
    """Rows that are not blank; equal cells are one text, for tables have millions."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    try:
        rows.extend([sys.intern(cell) for cell in row] for row in reader if row)
    except csv.Error as error:
        raise TableRefused(
            f"{source}, row {len(rows)}: this is no CSV ({error}). Look for a quotation mark that nothing closes."
        ) from error
    return rows


def _without_empty_ends(names: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Without the columns and rows that a spreadsheet had touched and left empty."""
    # Each cell is looked at once: a file of nothing but delimiters must not cost more than any other.
    height = next((n for n in range(len(rows), 0, -1) if any(cell.strip(_UNSEEN) for cell in rows[n - 1])), 0)
    width = next((n for n in range(len(names), 0, -1) if names[n - 1]), 0)
    for row in rows[:height]:
        width = next((n for n in range(len(row), width, -1) if row[n - 1].strip(_UNSEEN)), width)
    # A row that is longer than the header has a cell too many, wherever that is empty.
    return names[:width], [row[:width] if len(row) == len(names) else row for row in rows[:height]]


def _are_row_numbers(cells: list[str]) -> bool:
    """What pandas and R put in front of a table, without a name: 0, 1, 2 … or 1, 2, 3 …"""
    return any(all(cell == str(number) for number, cell in enumerate(cells, start=first)) for first in (0, 1))


def _ragged(source: str, number: int, row: list[str], names: list[str], delimiter: str) -> str:
    more = len(row) - len(names)
    if more > 0:
        said = f"{more} more {'cell' if more == 1 else 'cells'} than the header has names"
        remedy = (
            "Take off what stands at its end, name every column, or put cells with "
            f"{_DELIMITERS[delimiter]} in them in quotation marks"
        )
    else:
        said = f"{-more} {'cell' if more == -1 else 'cells'} less than the header has names"
        remedy = "Complete the row, or remove it"
    parted = f"{len(row)}, not {len(names)}; {_DELIMITERS[delimiter]} part them"
    return f"{source}, row {number}: the row has {said} ({parted}). {remedy}."


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse a column without a name, and two of one name; names are in small letters."""
    if "" in names:
        raise TableRefused(f"{source}: column {names.index('') + 1} has no name. Name it in the header, or remove it.")
    doubled = next((name for name, count in Counter(names).items() if count > 1), None)
    if doubled is not None:
        places = " and ".join(str(place) for place, name in enumerate(names, start=1) if name == doubled)
        raise TableRefused(
            f"{source}: columns {places} are both called {doubled!r} (capitals do not count). Remove or rename one."
        )


def _take_decimal_commas(names: list[str], rows: list[list[str]], delimiter: str, source: str) -> None:
    """Write decimal commas as points, in place.

    Raises
    ------
    TableRefused
        Where a sign parts thousands, or where tabs part the cells and nothing shows what a comma means.
    """
    for place, name in enumerate(names):
        cells = [row[place].strip(_UNSEEN) for row in rows]
        for number, cell in enumerate(cells, start=1):
            if _THOUSANDS.fullmatch(cell):
                raise TableRefused(
                    f"{source}, row {number}, column {name!r}: {cell!r} has a sign between thousands. Save the table "
                    "without one."
                )
        with_commas = [(number, cell) for number, cell in enumerate(cells) if _DECIMAL_COMMA.fullmatch(cell)]
        if delimiter != ";" and with_commas and all(_AMBIGUOUS.fullmatch(cell) for _, cell in with_commas):
            number, cell = with_commas[0]
            raise TableRefused(
                f"{source}, row {number + 1}, column {name!r}: {cell!r} may be a thousand and more, or a decimal. "
                "Write decimals with a point."
            )
        for number, cell in with_commas:
            rows[number][place] = cell.replace(",", ".")
