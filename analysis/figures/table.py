"""`Table`: the numbers behind a figure, described once: CSV unrounded, LaTeX and page rounded."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Literal

from analysis.errors import InvalidInput
from analysis.tables import guard

#: An estimate with the ends of its interval, where it has one.
Estimate = tuple[float | None, float | None, float | None]
Cell = str | int | float | Estimate | None


def estimate(value: float | None, interval: tuple[float | None, float | None] | None) -> Estimate:
    """An estimate with the ends of its interval, where it has one."""
    return (value, *(interval or (None, None)))


NONE = "–"
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "Δ": r"$\Delta$",
    "κ": r"$\kappa$",
    "δ": r"$\delta$",
    "R̂": r"$\hat{R}$",
    "′": r"$'$",
    "−": r"$-$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "±": r"$\pm$",
    "→": r"$\to$",
    "≠": r"$\ne$",
    "<": r"$<$",
    ">": r"$>$",
    NONE: "--",
}


@dataclass(frozen=True)
class Column:
    """A column: its name in CSV, what stands above it on paper, and how its numbers are rounded there.

    A column of kind "estimate" holds ``(estimate, lower, upper)`` and becomes three columns of a CSV file; one of kind
    "p" holds probabilities, of which none is printed as zero.
    """

    name: str
    label: str
    kind: Literal["text", "count", "number", "estimate", "p"] = "text"
    digits: int = 3

    @property
    def is_number(self) -> bool:
        """Whether its cells stand right-aligned."""
        return self.kind != "text"


@dataclass(frozen=True)
class Table:
    """A table as a value.

    Parameters
    ----------
    key : str
        Name in file names.
    title : str
    columns : tuple of Column
    rows : tuple of tuples, shape (n_rows, n_columns)
        Unrounded.
    notes : tuple of str

    Raises
    ------
    InvalidInput
        If a row has another number of cells.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise InvalidInput(f"{self.key}: row {number} has {len(row)} cells for {len(self.columns)} columns.")

    @property
    def is_small(self) -> bool:
        """Whether a page can carry it along without a thought."""
        return len(self.rows) * len(self.columns) <= 200

    @property
    def is_readable(self) -> bool:
        """Whether people would read it on a page at all."""
        return len(self.rows) <= 100 and len(self.columns) <= 30

    @property
    def texts(self) -> list[list[str]]:
        """Cells as they are printed."""
        return [[_text(column, cell) for column, cell in zip(self.columns, row, strict=True)] for row in self.rows]

    def to_csv(self) -> str:
        """Unrounded numbers; an estimate is three columns, the last two ``_lower`` and ``_upper``.

        A text that a spreadsheet would run as a formula gets an apostrophe in front: names come from people.
        """
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        head: list[str] = []
        for column in self.columns:
            ends = ("", "_lower", "_upper") if column.kind == "estimate" else ("",)
            head += [column.name + end for end in ends]
        writer.writerow(head)
        for row in self.rows:
            cells: list[str | int | float | None] = []
            for column, cell in zip(self.columns, row, strict=True):
                if column.kind == "estimate":
                    cells += cell if isinstance(cell, tuple) else (None, None, None)
                elif not isinstance(cell, tuple):
                    cells.append(guard(cell) if isinstance(cell, str) else cell)
            writer.writerow(cells)
        return lines.getvalue()

    def to_latex(self) -> str:
        r"""A ``table`` environment in the manner of booktabs, numbers rounded; needs ``\usepackage{booktabs}``."""
        alignment = "".join("r" if column.is_number else "l" for column in self.columns)
        lines = [
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{latex(self.title)}.{_notes(self.notes)}}}",
            rf"  \label{{tab:{self.key}}}",
            rf"  \begin{{tabular}}{{{alignment}}}",
            r"    \toprule",
            "    " + " & ".join(latex(column.label) for column in self.columns) + r" \\",
            r"    \midrule",
            *("    " + " & ".join(map(latex, row)) + r" \\" for row in self.texts),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    """Text with LaTeX's special characters, and the symbols of this field, escaped."""
    # A letter with a combining mark is two characters: it comes first.
    parts = text.split("R̂")
    return _LATEX["R̂"].join("".join(_LATEX.get(letter, letter) for letter in part) for part in parts)


def number_text(value: float, digits: int) -> str:
    """A rounded number with a true minus sign, and no minus zero."""
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def _text(column: Column, cell: Cell) -> str:
    if isinstance(cell, tuple):
        estimate, lower, upper = cell
        if estimate is None:
            return NONE
        text = number_text(estimate, column.digits)
        if lower is None or upper is None:
            return text
        return f"{text} [{number_text(lower, column.digits)}, {number_text(upper, column.digits)}]"
    if cell is None:
        return NONE
    if isinstance(cell, str):
        return cell
    if column.kind == "count" or isinstance(cell, int):
        return f"{cell:,}".replace("-", "−")
    if column.kind == "p" and cell < (least := 10.0**-column.digits):
        return f"< {number_text(least, column.digits)}"
    return number_text(cell, column.digits)


def _notes(notes: tuple[str, ...]) -> str:
    return "".join(f" {latex(note)}" for note in notes)
