"""`Figure`: what is drawn, as a value, without a word on how."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from analysis.figures.style import Observer

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
        Name of a colour scale in `analysis.figures.style.SCALES`.
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
