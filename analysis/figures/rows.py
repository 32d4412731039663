"""Figures with names down the side: indices of classifiers with intervals, and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.errors import InvalidInput
from analysis.figures.value import ESTIMATE, Axis, Cells, Estimates, Figure, Observer, Shaded

Interval = tuple[float, float]
#: Verdict on a pair -> (value on the scale "verdict", sign that stands beside the number).
VERDICTS = {"undecided": (0.0, "?"), "equivalent": (1.0, "="), "different": (2.0, "≠")}


@dataclass(frozen=True, kw_only=True)
class IndexRow:
    """A classifier's two indices with their intervals."""

    observer: Observer
    hmri: float
    hmri_interval: Interval | None
    mrsi: float
    mrsi_interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A verdict on two corruptions."""

    first: str
    second: str
    difference: float
    verdict: str
    detail: str = ""


def index_figure(rows: Sequence[IndexRow], *, title: str) -> Figure:
    """HMRI as bars and MRSI as dots, each with its interval, by kind where networks have one, the highest HMRI on top.

    Raises
    ------
    InvalidInput
        If there is no row.
    """
    if not rows:
        raise InvalidInput("A figure of indices needs at least one classifier.")
    ordered = sorted(rows, key=lambda row: (_place(row.observer), -row.hmri))
    observers = tuple(row.observer for row in ordered)
    places = tuple(map(float, range(len(ordered))))
    return Figure(
        title=title,
        description="; ".join(f"{row.observer.name}: HMRI {row.hmri:.3f}, MRSI {row.mrsi:.3f}" for row in ordered)
        + ".",
        x=Axis("index", (-0.02, 1.02), (0.0, 0.25, 0.5, 0.75, 1.0)),
        y=_names([observer.name for observer in observers]),
        traces=(
            Estimates(
                observers, tuple(r.hmri for r in ordered), places, tuple(r.hmri_interval for r in ordered), "HMRI"
            ),
            Estimates(
                observers,
                tuple(row.mrsi for row in ordered),
                places,
                tuple(row.mrsi_interval for row in ordered),
                "MRSI",
                bar=False,
            ),
        ),
        notes=(f"Bars: HMRI. Dots: MRSI.{' Lines: intervals.' if any(r.hmri_interval for r in rows) else ''}",),
    )


@dataclass(frozen=True)
class PairedRow:
    """A network by two measures."""

    observer: Observer
    bar: float
    dot: float


def paired_figure(rows: Sequence[PairedRow], *, title: str, meanings: tuple[str, str]) -> Figure | None:
    """One measure as bars and another as dots, each from 0 to 1, by kind where networks have one, the longest on top.

    Parameters
    ----------
    rows : sequence of PairedRow
        None: no figure.
    title : str
    meanings : (str, str)
        Of bars and dots.
    """
    if not rows:
        return None
    ordered = sorted(rows, key=lambda row: (_place(row.observer), -row.bar))
    observers, places = tuple(row.observer for row in ordered), tuple(map(float, range(len(ordered))))
    nothing = (None,) * len(ordered)
    bar, dot = meanings
    return Figure(
        title=title,
        description="; ".join(f"{row.observer.name}: {bar} {row.bar:.3f}, {dot} {row.dot:.3f}" for row in ordered)
        + ".",
        x=Axis("share", (-0.02, 1.02), (0.0, 0.25, 0.5, 0.75, 1.0)),
        y=_names([observer.name for observer in observers]),
        traces=(
            Estimates(observers, tuple(row.bar for row in ordered), places, nothing, bar),
            Estimates(observers, tuple(row.dot for row in ordered), places, nothing, dot, bar=False),
        ),
        notes=(f"Bars: {bar}. Dots: {dot}.",),
    )


def _place(observer: Observer) -> int:
    return observer.kind.order if observer.kind else 0


def estimates_figure(
    rows: Sequence[tuple[str, float, Interval | None]],
    observer: Observer = ESTIMATE,
    *,
    title: str,
    description: str,
    x: Axis,
    meaning: str,
    shaded: tuple[Shaded, ...] = (),
    notes: tuple[str, ...] = (),
) -> Figure:
    """Estimates of one observer below each other, each with its name and its interval where it has one."""
    names, values, intervals = zip(*rows, strict=True)
    places = tuple(map(float, range(len(rows))))
    return Figure(
        title=title,
        description=description,
        x=x,
        y=_names(names),
        traces=(Estimates((observer,) * len(rows), values, places, intervals, meaning, bar=False),),
        shaded=shaded,
        notes=notes,
    )


def similarity_figure(names: Sequence[str], pairs: Sequence[Pair], *, title: str) -> Figure:
    """Every pair of corruptions below the diagonal: coloured by verdict, with its mean difference and a sign.

    Parameters
    ----------
    names : sequence of str
        Corruptions in the order of rows and columns.
    pairs : sequence of Pair
    title : str

    Raises
    ------
    InvalidInput
        If there are fewer than two names.
    """
    if len(names) < 2:
        raise InvalidInput("A matrix of similarity needs at least two corruptions.")
    found = {frozenset((pair.first, pair.second)): pair for pair in pairs}
    # The last name has no column and the first no row: below the diagonal they would be empty.
    down, across = list(names[1:]), list(names[:-1])
    grid = [
        [found.get(frozenset((row, column))) if place <= number else None for place, column in enumerate(across)]
        for number, row in enumerate(down)
    ]
    verdicts = [pair.verdict for pair in pairs]
    counts = ", ".join(f"{verdicts.count(word)} {word}" for word in ("equivalent", "different", "undecided"))
    return Figure(
        title=title,
        description=f"{len(pairs)} pairs of corruptions: {counts}.",
        x=Axis("", (-0.5, len(across) - 0.5), categories=tuple(across)),
        y=_names(down),
        traces=(
            Cells(
                name="verdict",
                values=tuple(tuple(VERDICTS[p.verdict][0] if p else None for p in row) for row in grid),
                texts=tuple(tuple(_sign(p) if p else "" for p in row) for row in grid),
                details=tuple(tuple(p.detail if p else "" for p in row) for row in grid),
                scale="verdict",
                range=(0.0, 2.0),
            ),
        ),
        notes=("= equivalent, ≠ different, ? undecided; numbers: size of the mean difference where both measured.",),
    )


@dataclass(frozen=True)
class Names:
    """The names along one side of a matrix.

    Parameters
    ----------
    names : sequence of str
    label : str
        What they are names of.
    ticks : sequence of int
        Those that are printed; all where none are given.
    """

    names: Sequence[str]
    label: str = ""
    ticks: Sequence[int] = ()


def matrix_figure(
    rows: Names,
    columns: Names,
    values: Sequence[Sequence[float | None]],
    *,
    title: str,
    name: str,
    description: str,
    largest: float,
    details: Sequence[Sequence[str]],
    texts: Sequence[Sequence[str]] | None = None,
    notes: Sequence[str] = (),
) -> Figure:
    """A matrix of amounts, light to dark: counts of answers, shares of responses.

    Parameters
    ----------
    rows, columns : Names
    values : sequence of sequences, shape (n_rows, n_columns)
        From 0 to ``largest``; None for an empty cell.
    title, name, description : str
    largest : float
    details, texts : sequence of sequences of str, shape (n_rows, n_columns)
    notes : sequence of str
        What the shades and the printed texts are.

    Raises
    ------
    InvalidInput
        If there is no row.
    """
    height, width = len(rows.names), len(columns.names)
    if not height or not width:
        raise InvalidInput("A matrix needs at least one row and one column.")
    return Figure(
        title=title,
        description=description,
        x=Axis(columns.label, (-0.5, width - 0.5), tuple(map(float, columns.ticks)), tuple(columns.names)),
        y=Axis(rows.label, (height - 0.5, -0.5), categories=tuple(rows.names)),
        traces=(
            Cells(
                name=name,
                values=tuple(tuple(row) for row in values),
                texts=tuple(tuple(row) for row in texts or [[""] * width] * height),
                details=tuple(tuple(row) for row in details),
                scale="amount",
                range=(0.0, largest),
            ),
        ),
        notes=tuple(notes),
    )


def _names(names: Sequence[str]) -> Axis:
    """An axis of names from top to bottom."""
    return Axis("", (len(names) - 0.5, -0.5), categories=tuple(names))


def _sign(pair: Pair) -> str:
    return f"{VERDICTS[pair.verdict][1]} {abs(pair.difference):.3f}".replace("0.", ".")
