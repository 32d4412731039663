"""Figures of performance: curves over visual change, over people's accuracy, response times, and machines caught."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal

from analysis.clusters import exact_bound
from analysis.errors import InvalidInput
from analysis.figures.value import Axis, Band, Bars, Figure, Line, Mark, Numbers, Observer, Points, Shaded, Trace

if TYPE_CHECKING:
    from analysis.findings.model.agreement import Difficulty, TimeBin

BandKind = Literal["pointwise", "simultaneous"]

#: Rates from 0 to 1, and room for a dot on either of them.
_RATES = (-0.03, 1.03)
#: Left out on each side of the interval of a dot.
_TAIL = 0.025
#: Bins are joined to dots by so many, until half of the dots stand for so many answers.
_JOINED, _ENOUGH = (1, 2, 4), 10


@dataclass(frozen=True)
class CurveBand:
    """A band around a curve, found by its kind and level; `meaning` is what people read."""

    kind: BandKind
    #: in (0, 1)
    level: float
    lower: Numbers
    upper: Numbers

    @property
    def meaning(self) -> str:
        """E.g. "95 % pointwise"."""
        return f"{100 * self.level:{'g' if self.kind == 'pointwise' else '.1f'}} % {self.kind}"


@dataclass(frozen=True, kw_only=True)
class PlottedCurve:
    """A performance curve as the page and the paper need it: on a grid, with bands and bins."""

    observer: Observer
    v: Numbers
    estimate: Numbers
    #: On `v`; the first is the one that is shown.
    bands: tuple[CurveBand, ...]
    #: (visual change, n, rate) of every occupied bin.
    bins: tuple[tuple[float, int, float], ...]
    #: stretches of visual change with too few answers, at the ends and between
    gaps: tuple[tuple[float, float], ...]
    area: float


def curve_figure(
    curves: Sequence[PlottedCurve],
    *,
    title: str,
    measure: str,
    x_label: str = "visual change Δv",
    chance: float | None = None,
    bin_width: float = 1 / 40,
) -> Figure:
    """Performance curves over visual change: people first and thickest, classifiers by colour and dashes.

    Parameters
    ----------
    curves : sequence of PlottedCurve
        At least one.
    title, measure, x_label : str
        Measure is the ordinate's name: "accuracy" or "consistency".
    chance : float or None
        Chance level in [0, 1], drawn as a dotted line.
    bin_width : float
        Width of a bin of visual change, for the strip of counts.

    Raises
    ------
    InvalidInput
        If there is no curve.
    """
    if not curves:
        raise InvalidInput("A figure of curves needs at least one curve.")
    people = [curve for curve in curves if curve.observer.role == "human"]
    ordered = [*[curve for curve in curves if curve.observer.role != "human"], *people]
    shown = next(((band.kind, band.level) for curve in ordered for band in curve.bands), None)
    traces: list[Trace] = []
    for curve in ordered:
        traces += [
            Band(curve.observer, curve.v, band.lower, band.upper, band.meaning, shown=(band.kind, band.level) == shown)
            for band in curve.bands
        ]
    traces += [Line(curve.observer, curve.v, curve.estimate, _details(curve, bin_width)) for curve in ordered]
    dots = _dot_width(people, bin_width)
    for curve in people:
        v, n, rate = _columns(_joined(curve.bins, dots))
        intervals = tuple(exact_bound(share * count, count, _TAIL) for share, count in zip(rate, n, strict=True))
        traces.append(Points(curve.observer, v, rate, tuple(int(count) for count in n), intervals=intervals))
    if people:
        traces.append(_counts(people[0], bin_width))
    return Figure(
        title=title,
        description=_describe(ordered, measure),
        x=Axis(x_label, (0.0, 1.0), (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        y=Axis(measure, _RATES, (0.0, 0.25, 0.5, 0.75, 1.0)),
        traces=tuple(traces),
        marks=() if chance is None else (Mark(chance, chance_label(chance)),),
        shaded=_unmeasured((people or ordered)[0].gaps),
        strip_label="answers",
        notes=(
            (
                f"Dots: people's answers in steps of {dots:.3g}; their area is proportional to the number of answers. "
                "Thin lines: exact binomial 95 % intervals, each answer for itself.",
            )
            if people
            else ()
        ),
    )


def condition_figure(
    rates: Sequence[tuple[Observer, Mapping[str, tuple[float, int]]]],
    *,
    conditions: Sequence[str],
    title: str,
    measure: str = "accuracy",
    x_label: str = "condition",
    chance: float | None = None,
) -> Figure:
    """Rates per named condition, equally spaced, for trials without a measured visual change.

    Parameters
    ----------
    rates : sequence of (Observer, {condition: (rate in [0, 1], n)})
    conditions : sequence of str
        In the order of the axis.
    """
    if not conditions or not rates:
        raise InvalidInput("A figure of conditions needs at least one observer and one condition.")
    traces = []
    for observer, by_condition in sorted(rates, key=lambda pair: pair[0].role == "human"):
        present = [(float(place), *by_condition[name]) for place, name in enumerate(conditions) if name in by_condition]
        x, rate, n = _columns(present)
        traces.append(Points(observer, x, rate, tuple(int(count) for count in n), joined=True))
    return Figure(
        title=title,
        description="; ".join(
            f"{trace.observer.name}: from {trace.y[0]:.2f} to {trace.y[-1]:.2f}" for trace in reversed(traces)
        ),
        x=Axis(x_label, (-0.3, len(conditions) - 0.7), categories=tuple(conditions)),
        y=Axis(measure, _RATES, (0.0, 0.25, 0.5, 0.75, 1.0)),
        traces=tuple(traces),
        marks=() if chance is None else (Mark(chance, chance_label(chance)),),
    )


def _dot_width(curves: Sequence[PlottedCurve], bin_width: float) -> float:
    """Width of the bins that a dot stands for: one, or several where a single one holds next to nothing."""
    for joined in _JOINED:
        counts = [n for curve in curves for _, n, _ in _joined(curve.bins, joined * bin_width)]
        if counts and median(counts) >= _ENOUGH:
            return joined * bin_width
    return _JOINED[-1] * bin_width


def _joined(bins: Sequence[tuple[float, int, float]], width: float) -> list[tuple[float, int, float]]:
    """Bins of this width, each where its answers are on average."""
    found: dict[int, list[tuple[float, int, float]]] = {}
    for one in bins:
        found.setdefault(min(int(one[0] / width + 1e-9), round(1 / width) - 1), []).append(one)
    dots = []
    for own in found.values():
        n = sum(count for _, count, _ in own)
        dots.append((sum(v * count for v, count, _ in own) / n, n, sum(rate * count for _, count, rate in own) / n))
    return dots


def _counts(curve: PlottedCurve, bin_width: float) -> Bars:
    """Answers in each bin, the bar in the middle of its bin: neighbours never overlap."""
    last = round(1 / bin_width) - 1
    heights: dict[int, float] = {}
    for v, n, _ in curve.bins:
        place = min(int(v / bin_width + 1e-9), last)
        heights[place] = heights.get(place, 0.0) + n
    middles = tuple((place + 0.5) * bin_width for place in heights)
    return Bars(curve.observer, middles, tuple(heights.values()), 0.9 * bin_width)


def _details(curve: PlottedCurve, bin_width: float) -> tuple[str, ...]:
    """What is said at each point of a curve: its bands, and how many answers lie in the bin around it."""
    counts = {int(v / bin_width): n for v, n, _ in curve.bins}
    bands = [(band.meaning, band.lower, band.upper) for band in curve.bands]
    told = []
    for place, v in enumerate(curve.v):
        parts = [f"{meaning}: {low[place]:.3f} to {high[place]:.3f}" for meaning, low, high in bands]
        n = counts.get(min(int(v / bin_width + 1e-9), round(1 / bin_width) - 1), 0)
        told.append("<br>".join([*parts, f"{n} answers in this bin"]))
    return tuple(told)


def _columns(rows: Iterable[tuple[float, ...]]) -> tuple[Numbers, Numbers, Numbers]:
    first, second, third = zip(*rows, strict=True) if (rows := list(rows)) else ((), (), ())
    return tuple(map(float, first)), tuple(map(float, second)), tuple(map(float, third))


def _unmeasured(gaps: Sequence[tuple[float, float]]) -> tuple[Shaded, ...]:
    """The gaps, the share of the axis that they take together at the last of them."""
    share = sum(upper - lower for lower, upper in gaps)
    labels = [""] * (len(gaps) - 1) + [f"not measured: {100 * share:.1f} %"]
    return tuple(Shaded(lower, upper, label) for (lower, upper), label in zip(gaps, labels, strict=False))


def chance_label(chance: float) -> str:
    """What stands at the line of chance."""
    if not chance:
        return "chance"
    whole = round(1 / chance)
    return f"chance 1/{whole}" if abs(1 / chance - whole) < 1e-9 else f"chance {chance:.3f}"


def _describe(curves: Sequence[PlottedCurve], measure: str) -> str:
    parts = []
    for curve in sorted(curves, key=lambda curve: curve.observer.role != "human"):
        middle = curve.estimate[len(curve.estimate) // 2]
        parts.append(
            f"{curve.observer.name}: {curve.estimate[0]:.2f} at 0, {middle:.2f} in the middle, "
            f"{curve.estimate[-1]:.2f} at 1"
        )
    return f"{measure.capitalize()} against visual change. " + "; ".join(parts) + "."


_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: From 0 to 1, and room for a dot on either of them.
_ROOM = 0.03


def difficulty_figure(
    models: Sequence[tuple[Observer, Sequence[Difficulty]]],
    *,
    people: Observer,
    title: str,
    notes: Sequence[str],
) -> Figure:
    """Each model's accuracy over people's, the hardest pictures to the right as over visual change; people are the
    diagonal.

    Parameters
    ----------
    models : sequence of (Observer, sequence of Difficulty)
    people : Observer
    title : str
    notes : sequence of str

    Raises
    ------
    InvalidInput
        If there is no model.
    """
    if not models:
        raise InvalidInput("A figure of difficulty needs at least one model.")
    traces: list[Trace] = [Line(people, (1.0, 0.0), (1.0, 0.0))]
    for observer, places in models:
        ordered = sorted(places, key=lambda place: -place.people)
        traces.append(
            Points(
                observer,
                tuple(place.people for place in ordered),
                tuple(place.people + place.difference for place in ordered),
                tuple(place.n for place in ordered),
                joined=True,
                intervals=tuple(
                    (max(place.people + place.interval[0], 0.0), min(place.people + place.interval[1], 1.0))
                    for place in ordered
                ),
            )
        )
    told = (
        f"{observer.name}: "
        + ", ".join(
            f"{place.people + place.difference:.2f} where people are right in {place.people:.2f}" for place in own
        )
        for observer, own in models
    )
    return Figure(
        title=title,
        description="; ".join(told) + ".",
        x=Axis("people’s accuracy (harder to the right)", (1.0 + _ROOM, -_ROOM), _TICKS),
        y=Axis("accuracy on the same pictures", (-_ROOM, 1.0 + _ROOM), _TICKS),
        traces=tuple(traces),
        notes=tuple(notes),
    )


#: What the band around the medians holds.
MIDDLE_HALF = "middle half"


def times_figure(
    groups: Sequence[tuple[Observer, Sequence[TimeBin]]], *, title: str, x_label: str = "visual change Δv"
) -> Figure:
    """Median response time over visual change (or over conditions), quartiles as a band.

    Raises
    ------
    InvalidInput
        If no group has a bin.
    """
    groups = [(observer, bins) for observer, bins in groups if bins]
    if not groups:
        raise InvalidInput("A figure of response times needs at least one bin.")
    traces: list[Trace] = []
    for observer, bins in groups:
        v = tuple(one.v for one in bins)
        lower, upper = tuple(one.lower_ms for one in bins), tuple(one.upper_ms for one in bins)
        traces.append(Band(observer, v, lower, upper, MIDDLE_HALF))
        median, n = tuple(one.median_ms for one in bins), tuple(one.n for one in bins)
        traces.append(Points(observer, v, median, n, joined=True))
    highest = max(one.upper_ms for _, bins in groups for one in bins)
    top = 250.0 * (int(1.05 * highest / 250) + 1)
    step = next(one for one in (250, 500, 1000, 2000, 5000, 10_000, 50_000) if top / one <= 6 or one == 50_000)
    return Figure(
        title=title,
        description="Median response time. "
        + "; ".join(f"{o.name}: {bins[0].median_ms:.0f} to {bins[-1].median_ms:.0f} ms" for o, bins in groups)
        + ".",
        x=Axis(x_label, (0.0, 1.0), (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        y=Axis("response time, ms", (0.0, top), tuple(float(tick) for tick in range(0, int(top) + 1, step))),
        traces=tuple(traces),
    )


_CATCHES_ROOM = 0.02


def catches_figure(
    lines: Sequence[tuple[Observer, Sequence[tuple[float, float]]]], *, title: str, notes: Sequence[str]
) -> Figure:
    """Shares caught over shares of false alarms, one line each.

    Parameters
    ----------
    lines : sequence of (Observer, sequence of (false alarms, caught))
    title : str
    notes : sequence of str

    Raises
    ------
    InvalidInput
        If there is no line.
    """
    if not lines:
        raise InvalidInput("A figure of catches needs at least one line.")
    most = max(alarms for _, points in lines for alarms, _ in points)
    told = (
        f"{observer.name}: " + ", ".join(f"{caught:.2f} at {alarms:g} false alarms" for alarms, caught in points)
        for observer, points in lines
    )
    return Figure(
        title=title,
        description="; ".join(told) + ".",
        x=Axis("false alarms (share of people)", (0.0, most * (1.0 + _CATCHES_ROOM))),
        y=Axis("caught (share of models)", (-_CATCHES_ROOM, 1.0 + _CATCHES_ROOM), (0.0, 0.25, 0.5, 0.75, 1.0)),
        traces=tuple(
            Line(observer, tuple(alarms for alarms, _ in points), tuple(caught for _, caught in points))
            for observer, points in lines
        ),
        notes=tuple(notes),
    )
