"""The fast two-way bootstrap beside thirty lines that resample, count and refit one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from analysis.curves.fit import fit_curve
from analysis.curves.spline import spline_basis
from tests.analysis.curves.truths import crowd, gradual


def plain_standard_errors(experiment: dict[str, np.ndarray], smoothness: float, refits: int) -> tuple[float, float]:
    """Two-way standard errors of the area and of the height at 0.6, by multinomial resampling and plain NNLS."""
    basis, rng = spline_basis(), np.random.default_rng(0)
    cell = np.minimum((experiment["visual_change"] * 40).astype(int), 39)
    where = np.bincount(cell, experiment["visual_change"], 40) / np.maximum(np.bincount(cell, minlength=40), 1)
    design, at = basis.step_design(where), basis.step_design(0.6)[0]
    values, vectors = np.linalg.eigh(basis.step_penalty)
    root = np.sqrt(smoothness) * (vectors * np.sqrt(np.maximum(values, 0))).T
    variance = {}
    for unit in ("images", "participants", "trial"):
        ids = np.arange(len(cell)) if unit == "trial" else np.unique(experiment[unit], return_inverse=True)[1]
        drawn = []
        for _ in range(refits):
            weight = rng.multinomial(ids.max() + 1, np.full(ids.max() + 1, 1 / (ids.max() + 1)))[ids]
            n, x = np.bincount(cell, weight, 40), np.bincount(cell, weight * experiment["correct"], 40)
            mean = (x + 0.5) / (n + 1)
            for _ in range(8):
                scale = np.sqrt(n / np.maximum(mean * (1 - mean), 1e-3))
                rows = np.vstack([scale[:, None] * design, root])
                steps = nnls(rows, np.r_[scale * x / np.maximum(n, 1), np.zeros(basis.size)])[0]
                mean = np.clip(design @ steps, 1e-3, 1 - 1e-3)
            drawn.append((np.cumsum(steps[::-1])[::-1] @ basis.integrals, at @ steps))
        variance[unit] = np.var(drawn, axis=0, ddof=1)
    both = variance["images"] + variance["participants"] - variance["trial"]
    area, height = np.sqrt(np.maximum(both, np.maximum(variance["images"], variance["participants"])))
    return float(area), float(height)


def test_standard_errors_equal_those_of_the_plain_loop() -> None:
    experiment = crowd(7, people=25, trials_each=60, answers_an_image=3, participant_sd=0.8, curve=gradual)
    curve = fit_curve(**experiment, n_bootstrap=800, rng=1)
    assert curve.bands is not None
    area, height = plain_standard_errors(experiment, curve.smoothness, 250)
    assert curve.area_standard_error == pytest.approx(area, rel=0.15)
    assert np.interp(0.6, curve.bands.v, curve.bands.standard_error) == pytest.approx(height, rel=0.15)
