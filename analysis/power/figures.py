"""Power of a planned study by its size, and the curves that were believed."""

from __future__ import annotations

import numpy as np

from analysis.figures.style import Observer
from analysis.figures.value import Axis, Band, Figure, Line, Mark, Points
from analysis.power.crowd import LogisticDrop
from analysis.power.sizes import SizeReport

_SIMULATED = Observer("simulated studies", "human")
_BETWEEN = Observer("curve through them", "classifier")
_STEPS = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000)
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def power_figure(report: SizeReport) -> Figure:
    """Share of the simulated studies that find the difference, by the number of people."""
    sizes = tuple(float(one.people) for one in report.sizes)
    shares = tuple(one.different for one in report.sizes)
    intervals = [one.interval(one.different) for one in report.sizes]
    end = 1.1 * sizes[-1]
    step = next((step for step in _STEPS if end / step <= 8), _STEPS[-1])
    line = tuple(float(n) for n in np.linspace(1.0, end, 80))
    found = "; ".join(f"{n:.0f} people: {share:.2f}" for n, share in zip(sizes, shares, strict=True))
    return Figure(
        title="Power by number of people",
        description=f"Share of simulated studies in which the difference is found. {found}.",
        x=Axis("people whose sessions count", (0.0, end), tuple(float(n) for n in range(0, int(end) + 1, step))),
        y=Axis("power", (-0.03, 1.03), _TICKS),
        traces=(
            Band(_SIMULATED, sizes, tuple(low for low, _ in intervals), tuple(high for _, high in intervals), "95 %"),
            Line(_BETWEEN, line, tuple(report.curve.power(n) for n in line)),
            Points(_SIMULATED, sizes, shares, tuple(one.answers for one in report.sizes)),
        ),
        marks=tuple(Mark(one.power, f"{one.power:g}") for one in report.needed),
    )


def believed_figure(first: LogisticDrop, second: LogisticDrop) -> Figure:
    """The two true curves that a simulation assumes."""
    place = np.linspace(0.0, 1.0, 101)
    curves = (
        (Observer("one corruption", "human", 0), first),
        (Observer("the other", "human", 1), second),
    )
    return Figure(
        title="Assumed curves",
        description=f"Accuracy falls over visual change; the areas are {first.area:.3f} and {second.area:.3f}.",
        x=Axis("visual change Δv", (0.0, 1.0), _TICKS),
        y=Axis("accuracy", (-0.03, 1.03), (0.0, 0.5, 1.0)),
        traces=tuple(
            Line(observer, tuple(map(float, place)), tuple(map(float, curve(place)))) for observer, curve in curves
        ),
    )
