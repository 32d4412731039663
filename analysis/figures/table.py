"""`Table`: the numbers behind a figure, described once: CSV unrounded, LaTeX and page rounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Literal

from analysis.errors import InvalidInput
from analysis.tables.schema import guard

#: An estimate with the ends of its interval, where it has one.
Estimate = tuple[float | None, float | None, float | None]
Cell = str | int | float | Estimate | None


def estimate(value: float | None, interval: tuple[float | None, float | None] | None) -> Estimate:
    """An estimate with the ends of its interval, where it has one."""
    return (value, *(interval or (None, None)))


NONE = "–"
#: More columns than this are many.
_MANY = 10
#: A journal's column, and what two columns of a table keep between them, pt.
_COLUMN, _BETWEEN = 252.0, 6.0
#: Where columns of texts may be folded, pt.
_RAGGED = r">{{\raggedright\arraybackslash}}p{{{:g}pt}}"
_FOLDS = (110.0, 96.0, 84.0, 72.0, 60.0, 50.0)
#: Widths of letters in the size of the print: Computer Modern's, rounded up.
_NARROW, _USUAL, _WIDE = 0.34, 0.56, 0.85
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

    def for_print(self) -> Table:
        """The same table for paper, where room is dear.

        Columns that hold nothing are left out. Of more than `_MANY` columns, those that say the same in every row say
        it once, as a note.
        """
        texts = self.texts
        kept, notes = [], []
        for place, column in enumerate(self.columns):
            said = {row[place] for row in texts}
            if said <= {"", NONE}:
                continue
            if len(self.columns) > _MANY and len(texts) > 1 and len(said) == 1:
                notes.append(f"{column.label}: {said.pop()}")
            else:
                kept.append(place)
        return replace(
            self,
            columns=tuple(self.columns[place] for place in kept),
            rows=tuple(tuple(row[place] for place in kept) for row in self.rows),
            notes=(*self.notes, *([f"In every row: {'; '.join(notes)}."] if notes else [])),
        )

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
        r"""A ``table`` environment in the manner of booktabs, numbers rounded; needs ``\usepackage{array,booktabs}``.

        It fits a column of 89 mm: what is wider stands below, with the names of the rows again.
        """
        printed = self.for_print()
        fold = printed._fold()
        parts = ["\n".join(printed._tabular(places, fold)) for places in printed._parts(fold)]
        lines = [
            r"\begin{table}",
            r"  \centering",
            r"  \footnotesize",
            r"  \setlength{\tabcolsep}{3pt}",
            rf"  \caption{{{latex(self.title)}.{_notes(printed.notes)}}}",
            rf"  \label{{tab:{self.key}}}",
            "\n\n  \\medskip\n\n".join(parts),
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def _tabular(self, places: Sequence[int], fold: float) -> Iterator[str]:
        """Some of the columns as one tabular."""
        texts = self.texts
        alignment = "".join(
            "r" if self.columns[place].is_number else _RAGGED.format(fold) if self._width(place, fold) == fold else "l"
            for place in places
        )
        yield rf"  \begin{{tabular}}{{{alignment}}}"
        yield r"    \toprule"
        yield "    " + " & ".join(self._head(place) for place in places) + r" \\"
        yield r"    \midrule"
        yield from ("    " + " & ".join(latex(row[place]) for place in places) + r" \\" for row in texts)
        yield r"    \bottomrule"
        yield r"  \end{tabular}"

    def _names(self) -> list[int]:
        """The columns that name the rows: texts before the first number, at most two."""
        lead = next((place for place, column in enumerate(self.columns) if column.is_number), 1)
        return list(range(min(max(lead, 1), 2)))

    def _fold(self) -> float:
        """The width of a folded text, pt: the widest that gives the fewest parts, with no column beyond the page's."""
        names = self._names()
        others = range(len(names), len(self.columns))

        def cost(fold: float) -> tuple[bool, int]:
            widest = max((self._width(place, fold) for place in others), default=0.0)
            taken = sum(self._width(place, fold) + _BETWEEN for place in names)
            return taken + widest > _COLUMN, len(self._parts(fold))

        return min(_FOLDS, key=cost)

    def _parts(self, fold: float) -> list[list[int]]:
        """Columns that fit side by side; the names of the rows stand in every part."""
        names = self._names()
        taken = sum(self._width(place, fold) for place in names) + _BETWEEN * len(names)
        parts, used = [list(names)], taken
        for place in range(len(names), len(self.columns)):
            width = self._width(place, fold) + _BETWEEN
            if used + width > _COLUMN + _BETWEEN and len(parts[-1]) > len(names):
                parts.append(list(names))
                used = taken
            parts[-1].append(place)
            used += width
        return parts

    def _width(self, place: int, fold: float) -> float:
        """What a column takes, pt; texts that are wider than the fold are folded."""
        widest = max(map(_printed, [*self._head_lines(place), *(row[place] for row in self.texts)]))
        return widest if self.columns[place].is_number else min(widest, fold)

    def _head_lines(self, place: int) -> list[str]:
        """The words above a column in lines about as long as what stands below."""
        label = self.columns[place].label
        return wrap(label, max([8, *(len(row[place]) for row in self.texts)]), break_long_words=False) or [""]

    def _head(self, place: int) -> str:
        lines = list(map(latex, self._head_lines(place)))
        side = "r" if self.columns[place].is_number else "l"
        folded = r" \\ ".join(lines)
        return folded if len(lines) == 1 else rf"\shortstack[{side}]{{{folded}}}"


def _printed(text: str) -> float:
    """Width of a text in LaTeX's footnote size, pt: rather too much than too little."""
    return 8.0 * sum(
        _NARROW if letter in " .,:;[]()'|ijl" else _WIDE if letter in "mwMWR" else _USUAL for letter in text
    )


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
