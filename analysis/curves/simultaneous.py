"""The band that holds a whole curve: from the cells' rates by a rougher, linear smoother, and from the fall alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analysis.arrays import FloatArray
from analysis.clusters import covariance
from analysis.curves.bands import WholeBand, normal_quantile
from analysis.curves.basis import SplineBasis
from analysis.curves.bootstrap import UNITS, Scheme, Unit
from analysis.curves.bootstrap_refits import ClusteredTrials, bound_of_alike
from analysis.curves.goodness import VARIANCE_FLOOR
from analysis.curves.methods import DEFAULT_METHOD, Cells, ChosenFit, curve_method
from analysis.curves.spline import SMOOTHNESS_GRID

Range = tuple[float, float]

#: Penalty weight of the band's smoother, as a share of the one that the criterion chose for the curve.
ROUGHER = 0.1
#: The same of the falling curve from which the smoother's bias is read, and how often that bias widens the band.
ROUGHEST, BIASES = 1e-3, 2.0
_DRAWS = 2000
_PLACES = 101


def whole_band(
    basis: SplineBasis,
    cells: Cells,
    smooth: ChosenFit,
    trials: ClusteredTrials,
    scheme: Scheme,
    *,
    v: FloatArray,
    estimate: FloatArray,
    gaps: tuple[Range, ...],
    level: float,
    key: int,
) -> WholeBand:
    """Band that contains the whole true curve in a share ``level`` of studies.

    Parameters
    ----------
    basis : SplineBasis
    cells : Cells
        Counts of the sample, each with answers.
    smooth : ChosenFit
        The penalised spline through them, on the basis.
    trials : ClusteredTrials
    scheme : {"two-way", "image", "participant", "naive"}
        What another study would change.
    v, estimate : ndarray, shape (n_grid,)
        Rising visual changes, and the curve that is drawn there; the band contains it.
    gaps : tuple of (float, float)
        Stretches that nobody measured: there the band is what a falling curve may have.
    level : float
    key : int
        Seed of the draws for the critical value.

    Returns
    -------
    WholeBand

    Notes
    -----
    A band of the fit's own refits is too narrow: a smooth curve is biased at bends, and rates near 0 and 1 have skewed
    errors. The centre here is a penalised spline without constraints (so linear in the rates) at a tenth of the fit's
    penalty, with the residuals summed by person and by original. Limits are Wilson's (1927) for the number of
    independent answers: those that the smoother's weights are worth, over the mean design effect along the axis (Korn
    and Graubard 1998). The critical value is that of the largest of correlated normal deviations, carried over to t
    with one degree of freedom less than there are clusters of the rarer kind. What the smoother does to a much rougher
    falling fit tells its bias; twice that widens the band on the side to which it errs, since a rough fit has part of
    it still. As the truth falls, an upper limit holds for everything behind it, and a lower one for all before it.
    """
    rates = np.clip(basis.design(cells.v) @ smooth.coefficients, 0.0, 1.0)
    # Answers that were all alike leave the criterion no choice between penalties: a straight line describes them.
    alike = bound_of_alike(trials, UNITS[scheme][0]) is not None
    penalty = SMOOTHNESS_GRID[-1] if alike else smooth.smoothness * ROUGHER
    weights = basis.design(v) @ _smoother(basis, cells, rates, penalty)
    measured = np.ones(len(v), dtype=bool)
    for start, end in gaps:
        measured &= (v <= start) | (v >= end)

    errors = _errors(cells, trials, rates, UNITS[scheme])
    independent = 1.0 / (weights**2 / cells.trials).sum(axis=1) / errors.design_effect(weights[measured])
    critical = errors.critical_value(weights[measured], level, np.random.default_rng(key))
    lower, upper = _wilson(np.clip(weights @ cells.rate, 0.0, 1.0), independent, critical)
    bias = _bias(basis, cells, smooth, weights, v)
    lower, upper = lower - BIASES * np.maximum(bias, 0.0), upper + BIASES * np.maximum(-bias, 0.0)

    lower[~measured], upper[~measured] = 0.0, 1.0
    if cells.start_value is not None:
        upper, lower[v == 0.0] = np.minimum(upper, cells.start_value), cells.start_value
    if cells.end_value is not None:
        lower, upper[v == 1.0] = np.maximum(lower, cells.end_value), cells.end_value
    lower, upper = np.maximum.accumulate(lower[::-1])[::-1], np.minimum.accumulate(upper)
    return WholeBand(
        np.maximum(np.minimum(lower, estimate), 0.0), np.minimum(np.maximum(upper, estimate), 1.0), critical
    )


def _smoother(basis: SplineBasis, cells: Cells, rates: FloatArray, smoothness: float) -> FloatArray:
    """Coefficients as a linear function of the cells' rates, shape (K, m)."""
    design = basis.design(cells.v)
    weight = cells.trials / np.maximum(rates * (1.0 - rates), VARIANCE_FLOOR)
    gram = (design.T * weight) @ design + smoothness * basis.penalty
    # As in the fit: a ridge far below the data where neither data nor penalty decide.
    gram += 1e-11 * np.trace(gram) * np.eye(basis.size)
    return np.asarray(np.linalg.solve(gram, design.T * weight))


def _bias(basis: SplineBasis, cells: Cells, smooth: ChosenFit, weights: FloatArray, v: FloatArray) -> FloatArray:
    """What the smoother adds to a much rougher falling fit, shape (n_grid,)."""
    once = cells.resampled(cells.correct[None, :], cells.trials[None, :])
    rougher = replace(smooth, smoothness=smooth.smoothness * ROUGHEST)
    rough = curve_method(DEFAULT_METHOD).refit(basis, once, rougher)[0]
    return np.asarray(weights @ (basis.design(cells.v) @ rough) - basis.design(v) @ rough)


@dataclass(frozen=True, eq=False)
class _Errors:
    """Covariance of the cells' rates by cluster and over all, and that of independent answers (a diagonal)."""

    ways: tuple[FloatArray, ...]
    total: FloatArray
    single: FloatArray
    #: Clusters of the rarer kind, and answers to each of the kind that is resampled first.
    clusters: int
    answers: float

    def variance(self, weights: FloatArray) -> FloatArray:
        """Of linear functions of the rates, shape (q,): never below that of one way of clustering."""
        each = [np.einsum("qm,mn,qn->q", weights, one, weights) for one in (*self.ways, self.total)]
        return np.asarray(np.max(each, axis=0))

    def design_effect(self, weights: FloatArray) -> float:
        """Mean variance over the one that independent answers would have; answers all alike are one a cluster."""
        alone = float((weights**2 @ self.single).sum())
        return float(self.variance(weights).sum()) / alone if alone > 0.0 else self.answers

    def critical_value(self, weights: FloatArray, level: float, rng: np.random.Generator) -> float:
        """Half width of a band over all functions in standard errors."""
        from scipy.special import ndtr, stdtrit

        values, vectors = np.linalg.eigh(self.total)
        root = weights[:: max(len(weights) // _PLACES, 1)] @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        length = np.linalg.norm(root, axis=1)
        root = root[length > 1e-12] / length[length > 1e-12, None]
        largest = np.abs(rng.standard_normal((_DRAWS, root.shape[1])) @ root.T).max(axis=1, initial=0.0)
        normal = max(float(np.quantile(largest, level)), normal_quantile(level))
        return float(stdtrit(max(self.clusters - 1, 1), ndtr(normal)))


def _errors(cells: Cells, trials: ClusteredTrials, rates: FloatArray, units: tuple[Unit, ...]) -> _Errors:
    """Errors of the cells' rates from the answers' residuals."""
    n = len(trials.cell)
    residual = (trials.outcome - rates[trials.cell]) / cells.trials[trials.cell]
    if trials.weight is not None:
        residual = residual * trials.weight
    single = np.bincount(trials.cell, weights=residual**2, minlength=len(cells.v)).astype(np.float64)
    counts = {unit: n if unit == "trial" else len(trials.clusters[unit][1]) for unit in units}
    ways = []
    for unit in units[:2]:
        codes = np.arange(n) if unit == "trial" else trials.clusters[unit][0]
        ways.append(covariance(residual, codes, trials.cell, (counts[unit], len(cells.v))))
    total = ways[0] if len(ways) == 1 else ways[0] + ways[1] - np.diag(single)
    return _Errors(tuple(ways), total, single, min(counts.values()), n / counts[units[0]])


def _wilson(rate: FloatArray, n: FloatArray, critical: float) -> tuple[FloatArray, FloatArray]:
    """Wilson's limits of rates of n independent answers, shape (q,) each."""
    square = critical**2
    middle = (rate + square / (2.0 * n)) / (1.0 + square / n)
    half = critical * np.sqrt(rate * (1.0 - rate) / n + square / (4.0 * n**2)) / (1.0 + square / n)
    return middle - half, middle + half
