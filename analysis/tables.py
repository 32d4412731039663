"""The column schemas of stimuli, trials and predictions; CSV, Parquet, validation and description follow from them.

A new table is one ``TableSchema`` and one line in ``SCHEMAS``; a new column is one ``Column``.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from analysis.errors import TableRefused

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["text", "integer", "number", "boolean"]
_DTYPES: Mapping[Kind, str] = {"text": "string", "integer": "Int64", "number": "float64", "boolean": "boolean"}
_ARROW: Mapping[Kind, str] = {"text": "string", "integer": "int64", "number": "float64", "boolean": "bool_"}
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

    def frame(self, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
        """Rows made by our own code as a typed frame: every column present, absent values empty."""
        import pandas as pd

        rows = list(rows)
        return pd.DataFrame(
            {
                column.name: pd.array([row.get(column.name) for row in rows], dtype=_dtype(column))
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

        by_lower = {str(name).strip().lower(): name for name in frame.columns}
        typed: dict[str, Any] = {}
        for column in self.columns:
            if column.name not in by_lower:
                if not column.optional:
                    raise TableRefused(
                        f"{source}: column {column.name!r} is missing ({column.description}). "
                        f"Add it; the file has: {', '.join(map(str, frame.columns))}."
                    )
                typed[column.name] = pd.array([None] * len(frame), dtype=_dtype(column))
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
        """Read and validate a .csv or .parquet file."""
        return self.validate(read_table(path), source=path.name)

    def write(self, frame: pd.DataFrame, path: Path) -> None:
        """Write .csv or .parquet, columns in the schema's order."""
        ordered = frame[self.names]
        if path.suffix == ".parquet":
            ordered.to_parquet(path, index=False)
        else:
            ordered.to_csv(path, index=False, lineterminator="\n")

    def write_rows(self, rows: Iterable[Mapping[str, Any]], path: Path, *, rows_per_group: int = 1000) -> int:
        """Write rows as they come to a .parquet file, and return their number; a group of rows is held at a time."""
        import pyarrow as pa
        from pyarrow import parquet

        schema = pa.schema([pa.field(column.name, getattr(pa, _ARROW[column.kind])()) for column in self.columns])
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


def read_table(path: Path) -> pd.DataFrame:
    """Any .csv (UTF-8, all cells text, ``na`` kept as text) or .parquet file as a frame.

    Raises
    ------
    TableRefused
        If the file is no table, not UTF-8, or of another kind.
    """
    import pandas as pd

    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        if path.suffix == ".csv":
            content = path.read_bytes()
            return pd.read_csv(io.StringIO(content.decode("utf-8-sig")), dtype="string", keep_default_na=False)
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n")
        raise TableRefused(
            f"{path.name}, row {row}: byte {content[error.start]:#04x} is not UTF-8. Save the file as UTF-8."
        ) from error
    except FileNotFoundError as error:
        raise TableRefused(f"{path}: there is no such file.") from error
    except (ValueError, OSError) as error:
        raise TableRefused(f"{path.name} cannot be read as a table: {error}. Export it again as CSV.") from error
    raise TableRefused(f"{path.name}: tables are .csv or .parquet files.")


def _dtype(column: Column) -> str:
    return _DTYPES[column.kind]


def _typed(column: Column, cells: pd.Series[Any], source: str) -> Any:
    import pandas as pd

    text = cells.astype("string").str.strip()
    empty = text.isna() | (text == "")
    if column.kind in ("number", "integer"):
        # "nan" is how the published files write a missing number.
        empty |= text.str.lower().isin(["nan", "none"]).fillna(False)
    if empty.any() and not column.nullable:
        row = int(empty.to_numpy().argmax())
        raise TableRefused(f"{source}, row {row + 1}: column {column.name!r} is empty. Fill it in.")
    if column.kind == "text":
        wrong = ~text.isin(column.levels) & ~empty if column.levels else empty & False
        if wrong.any():
            row = int(wrong.to_numpy().argmax())
            raise TableRefused(
                f"{source}, row {row + 1}, column {column.name!r}: {text.iloc[row]!r} is not one of "
                f"{', '.join(column.levels)}. Correct it."
            )
        return text.mask(empty).array
    if column.kind == "boolean":
        lower = text.str.lower()
        wrong = ~lower.isin(_TRUE | _FALSE) & ~empty
        if wrong.any():
            row = int(wrong.to_numpy().argmax())
            raise TableRefused(
                f"{source}, row {row + 1}, column {column.name!r}: {text.iloc[row]!r} is neither true nor false."
            )
        return lower.isin(_TRUE).astype("boolean").mask(empty).array
    numbers = pd.to_numeric(text.mask(empty), errors="coerce").astype("float64")
    wrong = numbers.isna() & ~empty
    whole = column.kind == "integer"
    if whole:
        wrong |= (numbers % 1 != 0) & numbers.notna()
    if column.minimum is not None:
        wrong |= numbers < column.minimum
    if column.maximum is not None:
        wrong |= numbers > column.maximum
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        expected = "a whole number" if whole else "a number"
        if column.minimum is not None or column.maximum is not None:
            expected += f" from {column.minimum} to {column.maximum}"
        raise TableRefused(
            f"{source}, row {row + 1}, column {column.name!r}: {text.iloc[row]!r} is not {expected}. Correct it."
        )
    return _whole(text.mask(empty)) if whole else numbers.array


def _whole(text: pd.Series[Any]) -> Any:
    """Checked cells as whole numbers; those beyond 2**53, as seeds are, keep every digit."""
    import pandas as pd

    digits = text.str.fullmatch(r"[+-]?\d{1,19}").fillna(False)
    values = [
        None if pd.isna(cell) else int(cell) if exact else int(float(cell))
        for cell, exact in zip(text, digits, strict=True)
    ]
    return pd.array(values, dtype="Int64")


STIMULI = TableSchema(
    name="stimuli",
    description="One row a stimulus: how it was made and what was measured on its bytes.",
    key=("stimulus",),
    columns=(
        Column(name="stimulus", kind="text", description="name of the stimulus, unique in the set"),
        Column(name="original", kind="text", description="name of the picture it was made from"),
        Column(name="category", kind="text", description="category of the original"),
        Column(name="corruption", kind="text", description="corruption function; none = the clean picture"),
        Column(name="corruption_version", kind="text", description="version of the function", nullable=True),
        Column(name="parameter", kind="number", description="strength, in the function's own unit"),
        Column(name="seed", kind="integer", description="seed of the corruption's random part"),
        Column(name="target", kind="number", description="visual change aimed at", nullable=True, minimum=0, maximum=1),
        Column(name="visual_change", kind="number", description="Δv measured on the file", minimum=0, maximum=1),
        Column(name="metric", kind="text", description="name and version of the measure of visual change"),
        Column(name="size_px", kind="integer", description="side of the square picture", unit="px", minimum=1),
        Column(name="evaluations", kind="integer", description="corruptions tried to reach the target", minimum=0),
        Column(name="reached", kind="boolean", description="whether the target was reached within tolerance"),
        Column(
            name="reach_low",
            kind="number",
            description="smallest visual change that was found, where the target was not reached",
            nullable=True,
            optional=True,
            minimum=0,
            maximum=1,
        ),
        Column(
            name="reach_high",
            kind="number",
            description="largest visual change that was found, where the target was not reached",
            nullable=True,
            optional=True,
            minimum=0,
            maximum=1,
        ),
        Column(name="sha256", kind="text", description="digest of the file's bytes"),
        Column(name="file", kind="text", description="path of the PNG file"),
    ),
)


def _measured(name: str, description: str, *, unit: str = "", kind: Kind = "number") -> Column:
    """A column that engines before 2.0 did not measure: empty, or absent from a file, where there is none."""
    return Column(name=name, kind=kind, description=description, unit=unit, nullable=True, optional=True)


_TIMING = (
    Column(name="t_refresh_median_ms", kind="number", description="median refresh interval", unit="ms", nullable=True),
    Column(
        name="t_refresh_mad_ms", kind="number", description="its median absolute deviation", unit="ms", nullable=True
    ),
    Column(name="frames_target", kind="integer", description="frames the stimulus should stay", nullable=True),
    Column(name="frames_shown", kind="integer", description="frames it stayed, by timestamps", nullable=True),
    Column(name="dur_stim_ms", kind="number", description="stimulus duration", unit="ms", nullable=True),
    Column(name="dur_mask_ms", kind="number", description="mask duration", unit="ms", nullable=True),
    Column(name="dur_fix_ms", kind="number", description="fixation duration", unit="ms", nullable=True),
    Column(name="isi_frames", kind="integer", description="blank frames between stimulus and mask", nullable=True),
    _measured("dur_stim_taken_ms", "from the browser's taking of the stimulus to that of what follows", unit="ms"),
    _measured("isi_frames_target", "blank frames that the protocol asks for", kind="integer"),
    _measured("dur_isi_taken_ms", "the same for the blank between stimulus and mask", unit="ms"),
    Column(name="ts_fix_on", kind="number", description="fixation onset on the page's clock", unit="ms", nullable=True),
    Column(
        name="ts_stim_on", kind="number", description="stimulus onset on the page's clock", unit="ms", nullable=True
    ),
    Column(name="ts_mask_on", kind="number", description="mask onset on the page's clock", unit="ms", nullable=True),
    Column(
        name="ts_grid_on", kind="number", description="choices shown, on the page's clock", unit="ms", nullable=True
    ),
    Column(
        name="max_frame_gap_ms",
        kind="number",
        description="longest frame, stimulus to mask end",
        unit="ms",
        nullable=True,
    ),
    Column(name="n_long_frames", kind="integer", description="frames over 1.5 refresh intervals", nullable=True),
    _measured("n_ramp_steps_missed", "steps of the contrast ramp that were not drawn", kind="integer"),
    _measured("n_onset_waits", "late callbacks in which the stimulus was due and waited", kind="integer"),
    Column(name="callback_lag_max_ms", kind="number", description="largest callback delay", unit="ms", nullable=True),
    _measured("callback_lag_median_ms", "median delay of the callbacks of the trial", unit="ms"),
    _measured("lag_fix_on_ms", "delay of the callback that drew the fixation", unit="ms"),
    _measured("lag_stim_on_ms", "delay of the callback that drew the stimulus", unit="ms"),
    _measured("lag_stim_off_ms", "delay of the callback that removed the stimulus", unit="ms"),
    _measured("lag_mask_on_ms", "delay of the callback that drew the mask", unit="ms"),
    _measured("lag_mask_off_ms", "delay of the callback that removed the mask", unit="ms"),
    _measured("taken_stim_on_ms", "from the frame's begin to the browser's taking of the stimulus", unit="ms"),
    _measured("taken_stim_off_ms", "the same for what followed the stimulus", unit="ms"),
    _measured("taken_mask_on_ms", "the same for the mask", unit="ms"),
    _measured("taken_mask_off_ms", "the same for what followed the mask", unit="ms"),
    Column(name="visible_whole_trial", kind="boolean", description="the page was visible throughout", nullable=True),
    Column(name="focused_whole_trial", kind="boolean", description="the page had the focus throughout", nullable=True),
    Column(name="fullscreen", kind="boolean", description="full screen", nullable=True),
    Column(name="resized", kind="boolean", description="the window changed size", nullable=True),
    Column(name="dpr", kind="number", description="device pixels per CSS pixel", nullable=True),
    Column(name="css_px", kind="number", description="side of the picture in CSS pixels", unit="px", nullable=True),
    Column(
        name="canvas_px", kind="integer", description="side of the picture in device pixels", unit="px", nullable=True
    ),
    _measured("pixel_scale", "device pixels per picture pixel, along a side", kind="integer"),
    _measured("viewport_width_px", "width of the window in CSS pixels", unit="px", kind="integer"),
    _measured("viewport_height_px", "height of the window in CSS pixels", unit="px", kind="integer"),
    _measured("pointer_start_x_px", "pointer when the choices appeared, right of the window's middle", unit="px"),
    _measured("pointer_start_y_px", "pointer when the choices appeared, below the window's middle", unit="px"),
    Column(name="decode_ok", kind="boolean", description="all pictures were decoded before the trial", nullable=True),
    Column(
        name="n_clicks", kind="integer", description="answers given before the one that counts was fixed", nullable=True
    ),
    _measured("click_policy", "which click is the answer: first or last", kind="text"),
    _measured("rt_first_click_ms", "first click, from the choices' onset", unit="ms"),
    _measured("rt_last_click_ms", "last click, from the choices' onset", unit="ms"),
    Column(
        name="rt_from_stim_ms",
        kind="number",
        description="answer counted from stimulus onset",
        unit="ms",
        nullable=True,
    ),
    _measured("timer_resolution_ms", "smallest step of the page's clock", unit="ms"),
    _measured("cross_origin_isolated", "the page had the finer clock of isolated pages", kind="boolean"),
    _measured("client_seq", "how many trials this page had shown, this one included", kind="integer"),
    _measured("client_epoch_ms", "the computer's own date and time at the answer, since 1970", unit="ms"),
    Column(name="engine_version", kind="text", description="version of the trial engine", nullable=True),
)
#: Names of the columns that the browser measures.
TIMING_COLUMNS: tuple[str, ...] = tuple(column.name for column in _TIMING)

TRIALS = TableSchema(
    name="trials",
    description="One row an answered trial.",
    key=("study", "session", "position"),
    columns=(
        Column(name="study", kind="text", description="slug of the study"),
        Column(name="participant", kind="text", description="the observer's code"),
        Column(name="session", kind="text", description="the session's code"),
        Column(name="position", kind="integer", description="place of the trial in its session, from 0", minimum=0),
        Column(name="block", kind="integer", description="block of the session, from 0", minimum=0),
        Column(
            name="task",
            kind="text",
            description="what was asked",
            levels=("categorisation", "discrimination", "abx", "validation"),
        ),
        Column(
            name="role",
            kind="text",
            description="why the trial was there",
            levels=(
                "practice",
                "qualification",
                "main",
                "clean",
                "gold",
                "negative",
                "consistency_first",
                "consistency_second",
            ),
        ),
        Column(name="original", kind="text", description="picture the stimulus was made from"),
        Column(name="stimulus", kind="text", description="picture that was shown"),
        Column(name="category", kind="text", description="true category"),
        Column(name="corruption", kind="text", description="corruption function; none = clean"),
        Column(
            name="visual_change", kind="number", description="Δv of what was shown", nullable=True, minimum=0, maximum=1
        ),
        Column(name="condition", kind="text", description="condition of an imported trial", nullable=True),
        Column(name="second_original", kind="text", description="original of the pair's second picture", nullable=True),
        Column(name="second_stimulus", kind="text", description="the pair's second picture", nullable=True),
        Column(name="second_corruption", kind="text", description="corruption of the second picture", nullable=True),
        Column(name="third_original", kind="text", description="ABX: original of X", nullable=True, optional=True),
        Column(name="third_stimulus", kind="text", description="ABX: picture X", nullable=True, optional=True),
        Column(
            name="third_corruption",
            kind="text",
            description="ABX: corruption of X",
            nullable=True,
            optional=True,
        ),
        Column(
            name="wanted",
            kind="text",
            description="validation: the category that the picture was compared with",
            nullable=True,
            optional=True,
        ),
        Column(
            name="response",
            kind="text",
            description="the answer; na = none in time; ABX: a, b; validation: shows one? usable as one?, as yes-no",
        ),
        Column(
            name="correct",
            kind="boolean",
            description="whether the answer is right, na is wrong; empty where nobody knows the right one",
            nullable=True,
        ),
        Column(
            name="rt_ms", kind="number", description="response time from the choices' onset", unit="ms", nullable=True
        ),
        Column(name="timing_ok", kind="boolean", description="derived by the rule named in timing_rule", nullable=True),
        Column(
            name="timing_rule",
            kind="text",
            description="name and version of the rule behind timing_ok",
            nullable=True,
            optional=True,
        ),
        Column(name="accepted", kind="boolean", description="whether the session counts"),
        Column(name="simulated", kind="boolean", description="whether a script answered"),
        *_TIMING,
        Column(
            name="clicks_json",
            kind="text",
            description="every click: choice, time from the choices' onset in ms, pointer or key; JSON",
            nullable=True,
            optional=True,
        ),
        Column(
            name="stim_sha256",
            kind="text",
            description="digest of the bytes of the picture that was sent",
            nullable=True,
            optional=True,
        ),
        Column(name="mask_seed", kind="integer", description="seed of the noise mask", nullable=True, optional=True),
        Column(
            name="server_received_at",
            kind="text",
            description="when the server stored the answer, ISO 8601, UTC",
            nullable=True,
            optional=True,
        ),
        Column(
            name="grid_order",
            kind="text",
            description="categories on the participant's grid, row by row; empty = the published order",
            nullable=True,
            optional=True,
        ),
    ),
)

PREDICTIONS = TableSchema(
    name="predictions",
    description="One row a stimulus and classifier.",
    key=("classifier", "stimulus"),
    columns=(
        Column(name="classifier", kind="text", description="name of the classifier"),
        Column(name="stimulus", kind="text", description="picture that was classified"),
        Column(name="original", kind="text", description="picture the stimulus was made from"),
        Column(name="category", kind="text", description="true category"),
        Column(name="corruption", kind="text", description="corruption function; none = clean"),
        Column(
            name="visual_change", kind="number", description="Δv of the stimulus", nullable=True, minimum=0, maximum=1
        ),
        Column(
            name="condition", kind="text", description="condition of an imported trial", nullable=True, optional=True
        ),
        Column(name="response", kind="text", description="predicted category"),
        Column(name="correct", kind="boolean", description="whether the prediction is right"),
        Column(
            name="confidence",
            kind="number",
            description="probability of the prediction",
            nullable=True,
            minimum=0,
            maximum=1,
        ),
        Column(name="label_space", kind="integer", description="number of labels the classifier chose from", minimum=2),
    ),
)

SCHEMAS: Mapping[str, TableSchema] = {schema.name: schema for schema in (STIMULI, TRIALS, PREDICTIONS)}
