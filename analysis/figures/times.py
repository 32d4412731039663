"""Response times against visual change: medians with the middle half of the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.errors import InvalidInput
from analysis.figures.style import Observer
from analysis.figures.value import Axis, Band, Figure, Points, Trace

#: What the band around the medians holds.
MIDDLE_HALF = "middle half"


@dataclass(frozen=True, kw_only=True)
class TimeBin:
    """Response times in one bin of visual change."""

    v: float
    n: int
    median_ms: float
    lower_ms: float
    upper_ms: float


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
