"""How well do the curve methods recover known curves? Four curves in four designs, 16 cells.

    python -m benchmarks.recovery [--runs 100] [--methods spline,isotonic,...]

Curves: sharp (0.93 to chance, a logistic drop at 0.90), kink (0.93 to 0.88 until 0.8, then to 0.06), gradual, mild.
Designs: 20 and 50 answers in each of 40 bins, sparse (800 answers, none below 0.4), skewed (10,000 answers, visual
changes Beta(4, 1.5)). Every run has 1,000 clean answers as a soft anchor, where the method takes one. Wanted of the
default: mean curve error (root mean square) over the cells at most 0.021, mean size of the area's bias at most 0.005.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from analysis.curves.fit import fit_curve
from analysis.curves.methods import METHODS
from analysis.curves.trials import CleanTrials
from analysis.power.crowd import LogisticDrop
from benchmarks._command import run

CHANCE = 1 / 16
RMSE_LIMIT, BIAS_LIMIT = 0.021, 0.005
CLEAN = 1000
GRID = (np.arange(1000) + 0.5) / 1000


def kink(v: np.ndarray) -> np.ndarray:
    """0.93 to 0.88 until 0.8, then down to 0.06."""
    return np.where(v < 0.8, 0.93 - 0.05 * v / 0.8, 0.88 - 0.82 * (v - 0.8) / 0.2)


CURVES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sharp": LogisticDrop(0.93, CHANCE, 0.90, 0.03),
    "kink": kink,
    "gradual": LogisticDrop(0.93, CHANCE, 0.60, 0.12),
    "mild": lambda v: 0.93 - 0.25 * v**2,
}
DESIGNS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "20 a bin": lambda rng: (np.repeat(np.arange(40), 20) + rng.random(800)) / 40,
    "50 a bin": lambda rng: (np.repeat(np.arange(40), 50) + rng.random(2000)) / 40,
    "sparse": lambda rng: rng.uniform(0.4, 1.0, 800),
    "skewed": lambda rng: rng.beta(4.0, 1.5, 10_000),
}


def recovered(method: str, curve: str, design: str, seed: int, *, anchored: bool = True) -> tuple[float, float]:
    """Root mean square error of the curve and error of the area in one run."""
    rng = np.random.default_rng(seed)
    truth, v = CURVES[curve], DESIGNS[design](rng)
    correct = rng.random(len(v)) < truth(v)
    options: dict[str, Any] = {"method": method}
    if anchored and METHODS[method].anchors != "none":
        options |= {"anchor": "soft", "clean": CleanTrials(rng.random(CLEAN) < truth(np.zeros(CLEAN)))}
    fit = fit_curve(v, correct, **options)
    gap = fit.predict(GRID) - truth(GRID)
    return float(np.sqrt(np.mean(gap**2))), fit.area - float(truth(GRID).mean())


def main(
    *,
    runs: Annotated[int, "runs a cell"] = 40,
    methods: str = ",".join(METHODS),
    no_anchor: Annotated[bool, "leave the clean answers out"] = False,
    cells: Annotated[bool, "print every cell"] = False,
) -> bool:
    met = True
    print(f"{runs} runs a cell; {'no anchor' if no_anchor else f'{CLEAN} clean answers'}")
    print("method       curve rmse  worst cell  area: mean |bias|  worst cell  rmse      ms a fit")
    for method in methods.split(","):
        started = time.process_time()
        found = {
            (curve, design): np.array(
                [recovered(method, curve, design, seed, anchored=not no_anchor) for seed in range(runs)]
            )
            for curve in CURVES
            for design in DESIGNS
        }
        ms = 1000 * (time.process_time() - started) / (len(found) * runs)
        errors = {cell: float(made[:, 0].mean()) for cell, made in found.items()}
        biases = {cell: float(made[:, 1].mean()) for cell, made in found.items()}
        area = float(np.mean([np.sqrt(np.mean(made[:, 1] ** 2)) for made in found.values()]))
        error, bias = float(np.mean(list(errors.values()))), float(np.mean(np.abs(list(biases.values()))))
        worst = max(biases.values(), key=abs)
        print(
            f"{method:12} {error:10.4f} {max(errors.values()):11.4f} {bias:18.4f} {worst:+11.4f} {area:.4f} {ms:11.1f}"
        )
        if cells:
            for (curve, design), value in errors.items():
                print(f"    {curve:8} {design:9} rmse {value:.4f}, bias of the area {biases[curve, design]:+.4f}")
        if method == "spline":
            met = error <= RMSE_LIMIT and bias <= BIAS_LIMIT
    return met


if __name__ == "__main__":
    run(main)
