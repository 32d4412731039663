"""Does the simultaneous band hold the whole curve? The four curves of the recovery in three crowds, and other shapes.

    python -m benchmarks.claims.bands [--runs 200] [--cell "kink"] [--kept FILE] [--write]

Curves are those of `benchmarks.recovery`, crowds those of `benchmarks.interval_coverage` (A: 550 people x 9 answers,
five a picture; B: a new picture for every answer; C: 20 people x 250 answers, people differ by .7). "width / former"
divides by the mean width of the band that rested on refits at the fit's own smoothness (`FORMER`). "error" is the root
mean square of the curve itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from analysis.curves.curve import CurveFit
from analysis.curves.fit import fit_curve
from analysis.power.crowd import Crowd, Curve, simulate_answers
from benchmarks.claims._cells import Cell, Limit, run
from benchmarks.claims.area import gap_fit, step, unequal_fit
from benchmarks.interval_coverage import DESIGNS
from benchmarks.recovery import CURVES

CLAIM = "whole-curve-band"
#: Mean width of the former band, nominal 83.4 %, over so many runs of other seeds with 150 refits each.
FORMER_RUNS = 30
FORMER: Mapping[str, float] = {
    "sharp, A": 0.0699,
    "sharp, B": 0.0530,
    "sharp, C": 0.0810,
    "kink, A": 0.0832,
    "kink, B": 0.0585,
    "kink, C": 0.1024,
    "gradual, A": 0.0992,
    "gradual, B": 0.0622,
    "gradual, C": 0.1198,
    "mild, A": 0.0697,
    "mild, B": 0.0408,
    "mild, C": 0.0854,
}
GRID = np.linspace(0.0, 1.0, 201)


def judged(fit: CurveFit, curve: Curve, name: str) -> dict[str, float]:
    """What one study said of its curve, at every point of the band's grid."""
    bands, truth = fit.bands, curve(GRID)
    assert bands is not None
    lower, upper = bands.simultaneous_lower, bands.simultaneous_upper
    found = {
        "covers": float(np.all((lower <= truth) & (truth <= upper))),
        "share of the axis covered": float(np.mean((lower <= truth) & (truth <= upper))),
        "width": float(np.mean(upper - lower)),
        "error": float(np.sqrt(np.mean((bands.estimate - truth) ** 2))),
    }
    if name in FORMER:
        found["width / former"] = found["width"] / FORMER[name]
    return found


def crowd_study(rng: np.random.Generator, *, name: str, curve: Curve, crowd: Crowd) -> dict[str, float]:
    (answers,) = simulate_answers([curve], crowd, rng)
    return judged(fit_curve(**answers.columns(), n_bootstrap=2), curve, name)


def unequal_study(rng: np.random.Generator, *, name: str, curve: Curve, sizes: tuple[int, ...]) -> dict[str, float]:
    return judged(unequal_fit(rng, curve, sizes), curve, name)


def gap_study(rng: np.random.Generator, *, name: str, curve: Curve, gap: tuple[float, float]) -> dict[str, float]:
    return judged(gap_fit(rng, curve, gap), curve, name)


RUNS = 2000
COVERS = Limit(at_least=0.80)
#: How many times as wide as the former band it may be: on the mean over the cells of `FORMER`, and in each of them
#: within the errors of both widths.
WIDTH = 1.6


def cell(name: str, study: Callable[..., dict[str, float]], limits: Mapping[str, Limit], **options: object) -> Cell:
    return Cell(CLAIM, name, partial(study, name=name, **options), limits, runs=RUNS)


CELLS: tuple[Cell, ...] = (
    *(
        cell(
            f"{curve}, {design}",
            crowd_study,
            {"covers": Limit(at_least=0.80, at_most=0.92) if curve == "gradual" else COVERS},
            curve=truth,
            crowd=crowd,
        )
        for curve, truth in CURVES.items()
        for design, crowd in DESIGNS.items()
    ),
    cell(
        "flat at .9",
        crowd_study,
        {"covers": COVERS},
        curve=lambda v: np.full(len(v), 0.9),
        crowd=Crowd(40, 60),
    ),
    cell("8 people x 250", crowd_study, {"covers": COVERS}, curve=CURVES["gradual"], crowd=Crowd(8, 250)),
    cell(
        "12 people, 10 to 800 answers each",
        unequal_study,
        {"covers": COVERS},
        curve=CURVES["gradual"],
        sizes=(10, 15, 22, 33, 49, 72, 108, 161, 240, 359, 536, 800),
    ),
    cell("no answers from .3 to .6, step at .45", gap_study, {"covers": COVERS}, curve=step(0.45), gap=(0.3, 0.6)),
)

if __name__ == "__main__":
    run("bands")
