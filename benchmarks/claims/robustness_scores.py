"""Intervals of SA, VR, CA and OOR: searches of known truth, with few pictures, shares near 1, and empty cells.

python -m benchmarks.claims.robustness_scores [--write]
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import product
from math import nan

import numpy as np

from analysis.counterfactuals.score import ScoreWithIntervals, score_with_intervals
from benchmarks.claims._cells import Cell, Limit, run

LEVEL = Limit(at_least=0.93)
NEVER = Limit(at_most=0.0)
SIZES = (1, 5, 20, 50, 150, 500)
SHARES = ("sa", "vr", "ca", "sa_validated")
RATIOS = ("oor", "oor_validated")
#: Probabilities: a picture is accepted; its clean form is named right, if accepted, if not; its counterfactual is named
#: right, if the clean one was, if not.
MODELS: dict[str, tuple[float, float, float, float, float]] = {
    "as published": (0.82, 0.92, 0.92, 0.3, 0.05),
    "keeps what it knew": (0.8, 0.97, 0.85, 1.0, 0.0),
    "keeps nothing": (0.8, 0.97, 0.97, 0.01, 0.0),
    "as right as before, by luck": (0.9, 0.9, 0.9, 0.9, 0.9),
    "better on counterfactuals": (0.8, 0.3, 0.9, 0.3, 0.9),
    "hardly validated": (0.1, 0.9, 0.6, 0.5, 0.2),
    "nearly blind": (0.9, 0.1, 0.1, 0.8, 0.05),
    "nearly perfect": (0.99, 0.99, 0.99, 0.99, 0.5),
}


def searched(
    rng: np.random.Generator, n: int, model: tuple[float, float, float, float, float]
) -> tuple[ScoreWithIntervals, dict[str, float]]:
    """Scores of n pictures, and their truth."""
    accepts, clean_if, clean_else, kept_if, kept_else = model
    valid = rng.random(n) < accepts
    clean = rng.random(n) < np.where(valid, clean_if, clean_else)
    kept = rng.random(n) < np.where(clean, kept_if, kept_else)
    sa, ca = accepts * clean_if + (1 - accepts) * clean_else, clean_if * kept_if + (1 - clean_if) * kept_else
    truth = {
        "sa": sa,
        "vr": accepts,
        "ca": ca,
        "oor": ca / sa,
        "sa_validated": clean_if,
        "oor_validated": ca / clean_if,
    }
    return score_with_intervals(clean_correct=clean, valid=valid, counterfactual_correct=kept), truth


def outcome(found: ScoreWithIntervals, truth: Mapping[str, float], names: tuple[str, ...]) -> dict[str, float]:
    """Whether each interval that is told covers the truth, and whether one of them has no width."""
    told = {name: found.intervals[name] for name in names}
    is_told = {name: low == low for name, (low, _) in told.items()}
    # An end that rounds to the truth covers it.
    covers = {name: float(low - 1e-12 <= truth[name] <= high + 1e-12) for name, (low, high) in told.items()}
    return {
        **{name: covers[name] if is_told[name] else nan for name in names},
        "without width": float(any(low == high for low, high in told.values())),
    }


def shares(rng: np.random.Generator, n: int, p: float) -> dict[str, float]:
    return outcome(*searched(rng, n, (p, p, p, p, p)), SHARES)


def ratios(rng: np.random.Generator, n: int, model: str) -> dict[str, float]:
    found, truth = searched(rng, n, MODELS[model])
    low, high = found.intervals["oor"]
    has_end = bool(np.isfinite(high))
    return {
        **outcome(found, truth, RATIOS),
        "width of oor": high - low if has_end else nan,
        "oor has an upper end": float(has_end),
    }


CELLS = tuple(
    Cell(
        "shares-of-a-search",
        f"{n} pictures, every share {p:g}",
        partial(shares, n=n, p=p),
        {**dict.fromkeys(SHARES, LEVEL), "without width": NEVER},
    )
    for n, p in product(SIZES, (0.5, 0.9, 0.95, 0.97, 0.99))
) + tuple(
    Cell(
        "oriented-robustness",
        f"{n} pictures, {model}",
        partial(ratios, n=n, model=model),
        {**dict.fromkeys(RATIOS, LEVEL), "without width": NEVER},
    )
    for n, model in product(SIZES, MODELS)
)

if __name__ == "__main__":
    run("robustness_scores")
