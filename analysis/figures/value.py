"""`Figure`: what is drawn, as a value, and how observers look in it."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Literal

Role = Literal["human", "classifier", "participant", "function"]

INK, INK_SOFT, FAINT, GRID, SHADE = "#16202b", "#4a5865", "#9aa6b1", "#dde3e9", "#eef1f4"
#: Okabe and Ito (2008), without yellow and black: colours that colour-blind readers can tell apart.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
#: Lengths of strokes and gaps, px; the empty pattern is a solid line.
DASHES: tuple[tuple[int, ...], ...] = ((), (8, 3), (2, 3), (8, 3, 2, 3), (12, 4), (4, 2))
#: Those of classifiers: none is solid, so that in grey no classifier is taken for people.
CLASSIFIER_DASHES: tuple[tuple[int, ...], ...] = (*DASHES[1:], (12, 3, 2, 3, 2, 3))
#: Shapes of classifiers' single dots, as matplotlib names them, so that they differ without colour.
MARKERS = ("s", "^", "D", "v", "P", "X", "<", ">")
#: Colour scales of cells, from the lowest value to the highest; equal steps between the colours.
SCALES: dict[str, tuple[str, ...]] = {
    # light to dark in one hue: also told apart in grey
    "amount": ("#f2f6fa", "#b5cfe8", "#5b95d0", "#2f6fb3", "#0b3f7a"),
    # undecided, equivalent, different: grey, blue, vermilion, as far apart for colour-blind readers as on a screen
    "verdict": ("#e3e8ed", "#8fc1e3", "#f0a884"),
}
#: Radius of the largest dot, px.
LARGEST_DOT = 6.0


@dataclass(frozen=True)
class Kind:
    """What networks of one architecture or training have in common; `analysis.observers.kinds` has them all."""

    id: str
    #: In legends and tables.
    name: str
    colour: str
    #: Place in figures and tables.
    order: int


@dataclass(frozen=True)
class Observer:
    """Whose answers a series shows; of the role "function", people's under one corruption function."""

    name: str
    role: Role
    #: Place among the observers of its role, from 0; decides colour and dashes.
    index: int = 0
    #: Where networks are shown by kind: it decides the colour, and `index` counts within it.
    kind: Kind | None = None


#: Of whom a result is that does not say it.
PEOPLE, SOME_CLASSIFIER = Observer("people", "human"), Observer("classifier", "classifier")
#: Of two observers together, or of two corruptions.
ESTIMATE = Observer("estimate", "human")


@dataclass(frozen=True)
class Style:
    """How an observer looks."""

    colour: str
    dash: tuple[int, ...]
    width: float


def style_of(observer: Observer) -> Style:
    """People are black and thickest, single participants thin and grey.

    Classifiers take palette and dashes in turn, so that 36 differ without labels; by kind they take its colour.
    """
    if observer.role == "human":
        # Several groups of people in one figure differ by their dashes alone.
        return Style(INK, DASHES[observer.index % len(DASHES)], 3.5)
    if observer.role == "participant":
        return Style(FAINT, (), 1.0)
    if observer.kind is not None:
        # The first networks of two kinds differ in grey, too.
        dash = CLASSIFIER_DASHES[(observer.index + observer.kind.order) % len(CLASSIFIER_DASHES)]
        return Style(observer.kind.colour, dash, 2.0)
    lap, place = divmod(observer.index, len(PALETTE))
    if observer.role == "function":
        # People under several corruption functions: the first is solid, and in grey the dashes tell them apart.
        return Style(PALETTE[place], DASHES[(place + lap) % len(DASHES)], 2.5)
    return Style(PALETTE[place], CLASSIFIER_DASHES[(place + lap) % len(CLASSIFIER_DASHES)], 2.0)


def marker_of(observer: Observer) -> str:
    """Shape of a single dot: round for people."""
    return MARKERS[observer.index % len(MARKERS)] if observer.role == "classifier" else "o"


def dot_radius(n: int, largest: int) -> float:
    """Radius of a dot in px: its area is proportional to n, and small ones stay visible."""
    return max(1.2, LARGEST_DOT * math.sqrt(n / largest))


def band_opacity(observer: Observer) -> float:
    return 0.16 if observer.role == "human" else 0.12


def text_colour(scale: str, value: float | None, ends: tuple[float, float]) -> str:
    """Ink for a text on a cell of this value: white where the cell is dark."""
    red, green, blue = (int(cell_colour(scale, value, ends)[start : start + 2], 16) for start in (1, 3, 5))
    # Luma of Rec. 601.
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"


def cell_colour(scale: str, value: float | None, ends: tuple[float, float]) -> str:
    """Colour of a cell, mixed from the two colours of the scale between which its value lies; white when empty."""
    if value is None:
        return "#ffffff"
    colours = SCALES[scale]
    place = min(max((value - ends[0]) / (ends[1] - ends[0] or 1.0), 0.0), 1.0) * (len(colours) - 1)
    low = min(int(place), len(colours) - 2)
    share = place - low
    mixed = [
        round(
            (1 - share) * int(colours[low][start : start + 2], 16)
            + share * int(colours[low + 1][start : start + 2], 16)
        )
        for start in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02x}" for part in mixed)


Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Axis:
    """Label, range and ticks of an axis; `categories` makes it an axis of names at 0, 1, 2, ..."""

    label: str
    range: tuple[float, float]
    ticks: Numbers = ()
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A curve; `details` say more about each point where a pointer rests on it (one text a point, or none)."""

    observer: Observer
    x: Numbers
    y: Numbers
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Band:
    """The region between two curves: what it is, e.g. "95 % pointwise", and whether it is shown at first."""

    observer: Observer
    x: Numbers
    lower: Numbers
    upper: Numbers
    meaning: str
    shown: bool = True
    #: strokes on paper, as matplotlib names them, so that two regions differ without colour
    hatch: str = ""


@dataclass(frozen=True)
class Points:
    """Dots whose area is proportional to `n`, each with its interval where it has one."""

    observer: Observer
    x: Numbers
    y: Numbers
    n: tuple[int, ...]
    #: Joined by a line of the observer's style.
    joined: bool = False
    #: (lower, upper) of each dot, or none at all.
    intervals: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Bars:
    """Counts in a strip of their own below the figure."""

    observer: Observer
    x: Numbers
    height: Numbers
    width: float


@dataclass(frozen=True)
class Estimates:
    """Estimates with intervals, one a row of the figure; `bar` draws them from zero instead of as dots.

    Parameters
    ----------
    observers : tuple of Observer, shape (n,)
    x : Numbers, shape (n,)
        Estimates.
    rows : Numbers, shape (n,)
        Places on the axis of names.
    intervals : tuple of (lower, upper) or None, shape (n,)
    meaning : str
        What is estimated, e.g. "HMRI".
    bar : bool
    """

    observers: tuple[Observer, ...]
    x: Numbers
    rows: Numbers
    intervals: tuple[tuple[float, float] | None, ...]
    meaning: str
    bar: bool = True


@dataclass(frozen=True)
class Cells:
    """A matrix of coloured cells: rows from top to bottom; None = an empty cell.

    Parameters
    ----------
    name : str
        What the cells hold, e.g. "answers".
    values : tuple of tuples, shape (n_rows, n_columns)
    texts : tuple of tuples of str, shape (n_rows, n_columns)
        Printed in the cells; empty texts print nothing.
    details : tuple of tuples of str, shape (n_rows, n_columns)
        Said where a pointer rests on a cell.
    scale : str
        Name of a colour scale in `analysis.figures.value.SCALES`.
    range : (float, float)
        Values of the scale's ends.
    """

    name: str
    values: tuple[tuple[float | None, ...], ...]
    texts: tuple[tuple[str, ...], ...]
    details: tuple[tuple[str, ...], ...]
    scale: str
    range: tuple[float, float]


Trace = Line | Band | Points | Bars | Estimates | Cells


@dataclass(frozen=True)
class Mark:
    """A horizontal line with a label: chance level."""

    y: float
    label: str


@dataclass(frozen=True)
class Shaded:
    """A range of x that is drawn grey: where nothing was measured."""

    start: float
    end: float
    label: str

    def is_on_the_right(self, axis: Axis) -> bool:
        """Whether the label ends with the range, so that it stays inside the figure; else it begins with it."""
        return self.start + self.end > sum(axis.range)

    def outer(self, axis: Axis) -> float:
        """The end that lies nearer to the figure's edge; its label is anchored there."""
        return self.end if self.is_on_the_right(axis) else self.start


@dataclass(frozen=True)
class Figure:
    """A figure as a value.

    Parameters
    ----------
    title, description : str
        The description says in words what is seen (text alternative).
    x, y : Axis
    traces : tuple of Line, Band, Points, Bars, Estimates or Cells
        In drawing order; `Bars` stand in the strip below. `Estimates` and `Cells` fill a figure whose y axis has names,
        the first one on top.
    marks : tuple of Mark
    shaded : tuple of Shaded
    strip_label : str
        Label of the strip's axis.
    notes : tuple of str
        What a caption has to say.
    """

    title: str
    description: str
    x: Axis
    y: Axis
    traces: tuple[Trace, ...]
    marks: tuple[Mark, ...] = ()
    shaded: tuple[Shaded, ...] = ()
    strip_label: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def observers(self) -> tuple[Observer, ...]:
        """Whoever has a series, in order of appearance, people first."""
        seen: dict[Observer, None] = {}
        for trace in self.traces:
            match trace:
                case Line() | Band() | Points() | Bars():
                    seen[trace.observer] = None
                case Estimates():
                    seen |= dict.fromkeys(trace.observers)
        return tuple(sorted(seen, key=lambda observer: observer.role != "human"))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kinds of networks by which series are coloured, in their order; none where colours are of single networks."""
        found = {observer.kind for observer in self.observers if observer.kind is not None}
        return tuple(sorted(found, key=lambda kind: kind.order))

    def shows(self, name: str) -> bool:
        """Whether an observer of this name has a series, a row or column of names, or the figure to itself."""
        has_series = any(observer.name == name for observer in self.observers)
        has_row = name in (*self.x.categories, *self.y.categories)
        return has_series or has_row or re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.title) is not None

    def with_band(self, meaning: str) -> Figure:
        """The same figure showing the bands of this meaning and no others."""
        return replace(
            self,
            traces=tuple(
                replace(trace, shown=trace.meaning == meaning) if isinstance(trace, Band) else trace
                for trace in self.traces
            ),
        )

    @property
    def band_meanings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(trace.meaning for trace in self.traces if isinstance(trace, Band)))

    @property
    def shown_bands(self) -> tuple[str, ...]:
        """Meanings of the bands that are drawn."""
        bands = (trace for trace in self.traces if isinstance(trace, Band) and trace.shown)
        return tuple(dict.fromkeys(trace.meaning for trace in bands))

    @property
    def largest_n(self) -> int:
        """Answers behind the largest dot."""
        return max((n for trace in self.traces if isinstance(trace, Points) for n in trace.n), default=1)

    @property
    def has_strip(self) -> bool:
        """Whether a strip of counts stands below."""
        return any(isinstance(trace, Bars) for trace in self.traces)

    def only(self, names: Collection[str]) -> Figure:
        """The same figure with the series of these observers alone."""
        return replace(
            self,
            traces=tuple(
                trace
                for trace in self.traces
                if not isinstance(trace, Line | Band | Points | Bars) or trace.observer.name in names
            ),
        )

    def without_strip(self) -> Figure:
        """The same figure without its counts."""
        return replace(self, traces=tuple(trace for trace in self.traces if not isinstance(trace, Bars)))

    @property
    def has_names(self) -> bool:
        """Whether the y axis carries names, from top to bottom."""
        return bool(self.y.categories)
