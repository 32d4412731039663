"""Time of a curve fit and of its two-way band, beside a plain loop of refits on the same trials.

    python -m benchmarks.curves

Baseline "plain loop": resample clusters with numpy's multinomial, count with numpy's bincount, and refit every
replicate on its own by IRLS with scipy's `nnls` on the stacked rows. Budgets: a human curve with a two-way band
(3 x 1,000 refits, 5,000 trials) in 1.5 s, a classifier's with an image bootstrap in 0.5 s, on one core.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import nnls

from analysis.curves.fit import fit_curve
from analysis.curves.spline import spline_basis
from analysis.curves.trials import CleanTrials
from benchmarks._command import run

REPLICATES, TRIALS, PEOPLE = 1000, 5000, 550
HUMAN_BUDGET_S, CLASSIFIER_BUDGET_S = 1.5, 0.5


def experiment(seed: int) -> dict[str, np.ndarray]:
    """5,000 answers of 550 people on new stimuli of 2,000 originals."""
    rng = np.random.default_rng(seed)
    v = rng.random(TRIALS)
    right = 1 / 16 + (0.93 - 1 / 16) / (1 + np.exp((v - 0.8) / 0.06))
    return {
        "visual_change": v,
        "correct": rng.random(TRIALS) < right,
        "participants": np.array([f"P-{k}" for k in rng.integers(0, PEOPLE, TRIALS)]),
        "images": np.array([f"original-{k}" for k in rng.integers(0, 2000, TRIALS)]),
    }


def plain_loop(trials: dict[str, np.ndarray], smoothness: float, refits: int) -> np.ndarray:
    """Areas of refits made one by one, resampling originals."""
    basis = spline_basis()
    rng = np.random.default_rng(0)
    _, cluster = np.unique(trials["images"], return_inverse=True)
    cell = np.minimum((trials["visual_change"] * 40).astype(int), 39)
    abscissa = np.bincount(cell, trials["visual_change"], 40) / np.bincount(cell, minlength=40)
    design = basis.step_design(abscissa)
    values, vectors = np.linalg.eigh(basis.step_penalty)
    root = np.sqrt(smoothness) * (vectors * np.sqrt(np.maximum(values, 0))).T
    clusters = int(cluster.max()) + 1
    areas = []
    for _ in range(refits):
        weight = rng.multinomial(clusters, np.full(clusters, 1 / clusters))[cluster]
        count = np.bincount(cell, weight, 40)
        right = np.bincount(cell, weight * trials["correct"], 40)
        mean, steps = (right + 0.5) / (count + 1), np.zeros(basis.size)
        rate = right / np.maximum(count, 1)
        for _ in range(8):
            scale = np.sqrt(count / np.maximum(mean * (1 - mean), 1e-3))
            rows = np.vstack([scale[:, None] * design, root])
            before = steps
            steps = nnls(rows, np.concatenate([scale * rate, np.zeros(basis.size)]))[0]
            mean = np.clip(design @ steps, 1e-3, 1 - 1e-3)
            if np.abs(steps - before).max() < 1e-5:
                break
        areas.append(np.cumsum(steps[::-1])[::-1] @ basis.integrals)
    return np.array(areas)


def best_of(repeats: int, action: Callable[[], object]) -> float:
    """Shortest of several runs, seconds."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        action()
        times.append(time.process_time() - started)
    return min(times)


def main() -> bool:
    trials = experiment(1)
    clean = CleanTrials(
        np.random.default_rng(2).random(1000) < 0.93, trials["participants"][:1000], trials["images"][:1000]
    )
    classifier = {name: trials[name] for name in ("visual_change", "correct", "images")}
    fitted = fit_curve(**trials, n_bootstrap=REPLICATES, rng=1, scheme="image")
    fit_s = best_of(5, lambda: fit_curve(trials["visual_change"], trials["correct"]))
    human_s = best_of(3, lambda: fit_curve(**trials, anchor="soft", clean=clean, n_bootstrap=REPLICATES, rng=1))
    classifier_s = best_of(3, lambda: fit_curve(**classifier, n_bootstrap=REPLICATES, rng=1))
    sample = REPLICATES // 5
    areas = np.empty(0)

    def baseline() -> None:
        nonlocal areas
        areas = plain_loop(trials, fitted.smoothness, sample)

    loop_s = best_of(2, baseline) * REPLICATES / sample
    error = fitted.area_standard_error or 0.0
    print("CPU seconds, one core")
    print(f"one fit with its choice of smoothness      {1000 * fit_s:7.1f} ms")
    print(f"plain loop, {REPLICATES} refits over originals      {loop_s:7.2f} s   (baseline)")
    print(
        f"classifier curve, {REPLICATES} refits               {classifier_s:7.2f} s   "
        f"{loop_s / classifier_s:.1f} x faster"
    )
    print(f"human curve, two-way, 3 x {REPLICATES} refits       {human_s:7.2f} s   {3 * loop_s / human_s:.1f} x faster")
    print(f"standard error of the area: {error:.5f}, plain loop {areas.std(ddof=1):.5f}")
    return human_s <= HUMAN_BUDGET_S and classifier_s <= CLASSIFIER_BUDGET_S


if __name__ == "__main__":
    run(main)
