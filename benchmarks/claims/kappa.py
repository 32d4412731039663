"""Kappa of a pair of observers: does its interval contain the truth, and when is it shown?

python -m benchmarks.claims.kappa [--processes 1] [--write]

Pictures are drawn from four shares (both right, one observer, the other, neither) that give the accuracies and the
kappa of the cell's name. Tables in which kappa is undefined are not told. Cells of 12 pictures are never shown; their
interval stands in the JSON all the same, and is held to the same limit.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from analysis.agreement import consistency_from_counts
from analysis.claims.agreement import ENOUGH_PICTURES, KAPPA_OF_A_PAIR
from benchmarks.claims._cells import Cell, Limit, Outcome, run

SIZES = (12, 30, 160)
ACCURACIES = ((0.5, 0.5), (0.8, 0.8), (0.9, 0.9), (0.95, 0.95), (0.97, 0.97), (0.5, 0.8), (0.65, 0.9))
ACCURACIES += ((0.8, 0.95), (0.5, 0.97), (0.9, 0.97))
KAPPAS = (0.0, 0.3, 0.6)


def shares_of(first: float, second: float, kappa: float) -> NDArray[np.float64]:
    """Shares of pictures on which both are right, the first alone, the second alone, and neither."""
    together = kappa * (first * (1.0 - second) + second * (1.0 - first)) / 2.0
    one, other = first * (1.0 - second) - together, second * (1.0 - first) - together
    return np.array([first * second + together, one, other, (1.0 - first) * (1.0 - second) + together])


def study(rng: np.random.Generator, n: int, shares: NDArray[np.float64], kappa: float) -> Outcome:
    both, first, second, _ = rng.multinomial(n, shares)
    found = consistency_from_counts(both + first, both + second, both, n)
    if found.interval is None:
        return {"defined": 0.0}
    return {
        "defined": 1.0,
        "shown": float(found.shown),
        "covers": float(found.interval[0] <= kappa <= found.interval[1]),
        "width": found.interval[1] - found.interval[0],
    }


def cell_of(n: int, first: float, second: float, kappa: float) -> Cell:
    shown = Limit(at_least=1.0) if n >= ENOUGH_PICTURES else Limit(at_most=0.0)
    return Cell(
        claim=KAPPA_OF_A_PAIR.name,
        name=f"{n} pictures, accuracies {first:g} and {second:g}, kappa {kappa:g}",
        study=partial(study, n=n, shares=shares_of(first, second, kappa), kappa=kappa),
        limits={"covers": Limit(at_least=KAPPA_OF_A_PAIR.rate), "shown": shown},
    )


CELLS = tuple(
    cell_of(n, first, second, kappa)
    for n in SIZES
    for first, second in ACCURACIES
    for kappa in KAPPAS
    if (shares_of(first, second, kappa) >= 0.0).all()
)

if __name__ == "__main__":
    run("kappa")
