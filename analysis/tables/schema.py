"""What a table is: columns with kind, unit, range and meaning; reading, checking, writing."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from analysis.errors import TableRefused
from analysis.tables.reading import check_names, is_csv, read_table

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["text", "integer", "number", "boolean"]
_DTYPES: Mapping[Kind, Any] = {"text": "string", "integer": "Int64", "number": "float64", "boolean": "boolean"}
_ARROW: Mapping[Kind, str] = {"text": "string", "integer": "int64", "number": "float64", "boolean": "bool_"}
#: What spreadsheets take for the beginning of a formula, behind any apostrophes.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TRUE, _FALSE = frozenset({"true", "1"}), frozenset({"false", "0"})


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column: its kind, unit, range and meaning."""

    name: str
    kind: Kind
    description: str
    unit: str = ""
    #: empty cells allowed
    nullable: bool = False
    #: the file may lack the column; its cells are then empty
    optional: bool = False
    minimum: float | None = None
    maximum: float | None = None
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TableSchema:
    """Columns in order, and the columns that together name a row."""

    name: str
    description: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def without(self, name: str) -> TableSchema:
        """The same table without an optional column."""
        return replace(self, columns=tuple(column for column in self.columns if column.name != name))

    def frame(self, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
        """Rows made by our own code as a typed frame: every column present, absent values empty."""
        import pandas as pd

        rows = list(rows)
        return pd.DataFrame(
            {
                column.name: pd.array([row.get(column.name) for row in rows], dtype=_DTYPES[column.kind])
                for column in self.columns
            }
        )

    def validate(self, frame: pd.DataFrame, *, source: str) -> pd.DataFrame:
        """Check a foreign table and return it with this schema's columns, order and types.

        Parameters
        ----------
        frame : pandas.DataFrame
            As read, all cells text or typed; header names are matched without regard to case.
        source : str
            File name for messages.

        Raises
        ------
        TableRefused
            Naming file, row (1 = first row after the header), column and remedy.
        """
        import pandas as pd

        names = [str(name).strip().lower() for name in frame.columns]
        check_names(names, source)
        by_lower = dict(zip(names, frame.columns, strict=True))
        typed: dict[str, Any] = {}
        for column in self.columns:
            if column.name not in by_lower:
                if not column.optional:
                    raise TableRefused(
                        f"{source}: column {column.name!r} is missing ({column.description}). "
                        f"Add it; the file has: {', '.join(map(str, frame.columns))}."
                    )
                typed[column.name] = pd.array([None] * len(frame), dtype=_DTYPES[column.kind])
                continue
            typed[column.name] = _typed(column, frame[by_lower[column.name]], source)
        result = pd.DataFrame(typed)
        doubled = result.duplicated(list(self.key))
        if doubled.any():
            row = int(doubled.to_numpy().argmax())
            values = ", ".join(f"{name}={result[name].iloc[row]}" for name in self.key)
            raise TableRefused(f"{source}, row {row + 1}: a row with {values} stands twice. Remove one of them.")
        return result

    def read(self, path: Path) -> pd.DataFrame:
        """Read and validate a file of text or Parquet; in text the apostrophe before a guarded cell is taken off."""
        frame = read_table(path)
        if is_csv(path):
            guarded = {name: frame[name].map(_unguarded) for name in frame.columns}
            frame = frame.assign(**{str(name): cells.astype("string") for name, cells in guarded.items()})
        return self.validate(frame, source=path.name)

    def write(self, frame: pd.DataFrame, path: Path) -> None:
        """Write .csv or .parquet, columns in the schema's order; see `to_csv` for guarded cells."""
        ordered = frame[self.names]
        if path.suffix == ".parquet":
            ordered.to_parquet(path, index=False)
        else:
            path.write_text(self.to_csv(ordered), encoding="utf-8")

    def to_csv(self, frame: pd.DataFrame, *, header: bool = True) -> str:
        """Rows as CSV.

        A text that a spreadsheet would take for a formula (it begins with ``=``, ``+``, ``-``, ``@``, or a tab or
        carriage return, and is no number) gets an apostrophe in front; `read` takes it off again.
        """
        guarded = {
            column.name: frame[column.name].map(guard, na_action="ignore")
            for column in self.columns
            if column.kind == "text"
        }
        text: str = frame.assign(**guarded)[self.names].to_csv(index=False, header=header, lineterminator="\n")
        return text

    def write_chunks(self, frames: Iterable[pd.DataFrame], *paths: Path) -> int:
        """Write frames one after the other to .csv and .parquet files alike, and return the number of rows.

        One frame is held at a time, so that a table of any size can be written.
        """
        import pyarrow as pa
        from pyarrow import parquet

        written = 0
        with ExitStack() as files:
            texts = [
                files.enter_context(path.open("w", encoding="utf-8", newline="")) for path in paths if is_csv(path)
            ]
            writers = [
                files.enter_context(parquet.ParquetWriter(path, self._arrow_schema()))
                for path in paths
                if not is_csv(path)
            ]
            for text in texts:
                text.write(",".join(self.names) + "\n")
            for frame in frames:
                for text in texts:
                    text.write(self.to_csv(frame, header=False))
                for writer in writers:
                    writer.write_table(
                        pa.Table.from_pandas(frame[self.names], schema=self._arrow_schema(), preserve_index=False)
                    )
                written += len(frame)
        return written

    def _arrow_schema(self) -> Any:
        import pyarrow as pa

        return pa.schema([pa.field(column.name, getattr(pa, _ARROW[column.kind])()) for column in self.columns])

    def write_rows(self, rows: Iterable[Mapping[str, Any]], path: Path, *, rows_per_group: int = 1000) -> int:
        """Write rows as they come to a .parquet file, and return their number; a group of rows is held at a time."""
        import pyarrow as pa
        from pyarrow import parquet

        schema = self._arrow_schema()
        waiting, written = iter(rows), 0
        with parquet.ParquetWriter(path, schema) as writer:
            while group := list(itertools.islice(waiting, rows_per_group)):
                columns = {column.name: [row.get(column.name) for row in group] for column in self.columns}
                writer.write_table(pa.table(columns, schema=schema))
                written += len(group)
        return written

    def read_rows(self, path: Path) -> Iterator[dict[str, Any]]:
        """Rows of a .parquet file that `write_rows` wrote, in order; a group of rows is held at a time.

        Raises
        ------
        TableRefused
            If the file is none of those.
        """
        import pyarrow as pa
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(path) as file:
                if file.schema_arrow.names != self.names:
                    raise TableRefused(f"{path}: the columns are not those of the table {self.name}.")
                for group in range(file.num_row_groups):
                    yield from file.read_row_group(group, use_threads=False).to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise TableRefused(f"{path} cannot be read as a table: {error}") from error

    def describe(self) -> dict[str, Any]:
        """Frictionless-style table description for ``datapackage.json``."""
        fields = []
        for column in self.columns:
            constraints: dict[str, Any] = {"required": not column.nullable}
            if column.minimum is not None:
                constraints["minimum"] = column.minimum
            if column.maximum is not None:
                constraints["maximum"] = column.maximum
            if column.levels:
                constraints["enum"] = list(column.levels)
            field = {"name": column.name, "type": _FRICTIONLESS[column.kind], "description": column.description}
            if column.unit:
                field["unit"] = column.unit
            fields.append({**field, "constraints": constraints})
        return {"fields": fields, "primaryKey": list(self.key)}


_FRICTIONLESS: Mapping[Kind, str] = {"text": "string", "integer": "integer", "number": "number", "boolean": "boolean"}


def guard(text: str) -> str:
    """A cell of CSV that no spreadsheet runs as a formula; `_unguarded` is the inverse."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def _unguarded(text: str) -> str:
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def _typed(column: Column, cells: pd.Series[Any], source: str) -> Any:
    import pandas as pd

    text = cells.astype("string").str.strip()
    empty = text.isna() | (text == "")
    if column.kind in ("number", "integer"):
        # "nan" is how the published files write a missing number.
        empty |= text.str.lower().isin(["nan", "none"]).fillna(False)
    if not column.nullable:
        _refuse_first(empty, lambda row: f"{source}, row {row + 1}: column {column.name!r} is empty. Fill it in.")

    def refuse(wrong: Any, sentence: str) -> None:
        place = f"column {column.name!r}"
        _refuse_first(wrong & ~empty, lambda row: f"{source}, row {row + 1}, {place}: {text.iloc[row]!r} is {sentence}")

    if column.kind == "text":
        if column.levels:
            refuse(~text.isin(column.levels), f"not one of {', '.join(column.levels)}. Correct it.")
        return text.mask(empty).array
    if column.kind == "boolean":
        lower = text.str.lower()
        refuse(~lower.isin(_TRUE | _FALSE), "neither true nor false.")
        return lower.isin(_TRUE).astype("boolean").mask(empty).array
    numbers = pd.to_numeric(text.mask(empty), errors="coerce").astype("float64")
    whole = column.kind == "integer"
    expected = "a whole number" if whole else "a number"
    wrong = numbers.isna()
    if whole:
        wrong |= numbers % 1 != 0
    if column.minimum is not None or column.maximum is not None:
        expected += f" from {column.minimum} to {column.maximum}"
        wrong |= ~numbers.between(
            -math.inf if column.minimum is None else column.minimum,
            math.inf if column.maximum is None else column.maximum,
        )
    refuse(wrong, f"not {expected}. Correct it.")
    return _whole(text.mask(empty)) if whole else numbers.array


def _refuse_first(wrong: Any, sentence: Callable[[int], str]) -> None:
    if wrong.any():
        raise TableRefused(sentence(int(wrong.to_numpy().argmax())))


def _whole(text: pd.Series[Any]) -> Any:
    """Checked cells as whole numbers; those beyond 2**53, as seeds are, keep every digit."""
    import pandas as pd

    digits = text.str.fullmatch(r"[+-]?\d{1,19}").fillna(False)
    values = [
        None if pd.isna(cell) else int(cell) if exact else int(float(cell))
        for cell, exact in zip(text, digits, strict=True)
    ]
    return pd.array(values, dtype="Int64")
