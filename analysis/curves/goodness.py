"""How well a fit describes binned outcomes: likelihood, dispersion, effective parameters."""

from __future__ import annotations

import numpy as np

from analysis.arrays import BoolArray, FloatArray
from analysis.curves.basis import SplineBasis

#: Floor of s(1 - s) in weights.
VARIANCE_FLOOR = 1e-3


def log_likelihood(mean: FloatArray, correct: FloatArray, trials: FloatArray) -> FloatArray:
    """Binomial log-likelihood without its constant, summed over the last axis."""
    floor = 1e-12  # A rate of exactly 0 or 1 against an observation costs much, but not infinitely much.
    right = np.where(correct > 0, correct * np.log(np.maximum(mean, floor)), 0.0)
    wrong_count = trials - correct
    wrong = np.where(wrong_count > 1e-12, wrong_count * np.log(np.maximum(1.0 - mean, floor)), 0.0)
    return np.asarray((right + wrong).sum(axis=-1), dtype=np.float64)


def effective_parameters(
    basis: SplineBasis,
    design: FloatArray,
    trials: FloatArray,
    mean: FloatArray,
    free: BoolArray,
    steps: FloatArray,
    smoothness: float,
    start_value: float | None,
) -> float:
    """Trace of the smoother on the face of the active constraints (steps at zero and a fixed sum taken out)."""
    face = np.eye(basis.size)[:, free & (steps > 1e-9)]
    if not face.shape[1]:
        return 0.0
    held = start_value is not None or float(steps.sum()) >= 1.0 - 1e-12
    if held:
        ones = face.sum(axis=0)
        face = face @ _null_space(ones)
        if not face.shape[1]:
            return 0.0
    weights = trials / np.maximum(mean * (1.0 - mean), VARIANCE_FLOOR)
    reduced = design @ face
    information = reduced.T @ (weights[:, None] * reduced)
    penalised = information + smoothness * face.T @ basis.step_penalty @ face
    penalised += 1e-11 * np.trace(penalised) * np.eye(len(penalised))
    return float(np.trace(np.linalg.solve(penalised, information)))


def _null_space(row: FloatArray) -> FloatArray:
    """Orthonormal basis of the vectors that a single row maps to zero, shape (p, p - 1)."""
    return np.asarray(np.linalg.svd(row[None, :])[2][1:].T, dtype=np.float64)


def pearson_dispersion(correct: FloatArray, trials: FloatArray, mean: FloatArray, edf: float) -> float:
    """Pearson's chi-square over its degrees of freedom, at least 1; all arrays of shape (m,)."""
    spread = trials * np.maximum(mean * (1.0 - mean), VARIANCE_FLOOR)
    pearson = float(np.sum((correct - trials * mean) ** 2 / spread))
    freedom = len(trials) - edf
    return max(1.0, pearson / freedom) if freedom > 0 else 1.0
