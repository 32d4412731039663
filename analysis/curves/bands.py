"""Confidence bands of a curve: pointwise for reading, simultaneous for the overlap rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from analysis.arrays import FloatArray
from analysis.clusters import covariance
from analysis.curves.bootstrap import UNITS, Bootstrap, ClusteredTrials, Scheme, Unit, bound_of_alike, spread_of
from analysis.curves.methods import DEFAULT_METHOD, curve_method
from analysis.curves.methods.base import Cells, ChosenFit
from analysis.curves.spline import SMOOTHNESS_GRID, VARIANCE_FLOOR, SplineBasis, spline_basis

#: Points at which bands are computed and stored.
GRID_POINTS = 201


def band_grid() -> FloatArray:
    """Visual changes at which bands are known, shape (201,)."""
    return np.linspace(0.0, 1.0, GRID_POINTS)


def normal_quantile(level: float) -> float:
    """Half width of a two-sided normal interval in standard errors."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2.0))


@dataclass(frozen=True, eq=False)
class Bands:
    """Bands of one curve on a grid.

    Parameters
    ----------
    v, estimate, standard_error : ndarray, shape (n_grid,)
    lower, upper : ndarray, shape (n_grid,)
        Pointwise band at ``level``, within [0, 1].
    simultaneous_lower, simultaneous_upper : ndarray, shape (n_grid,)
        Band that contains the whole curve at ``simultaneous_level`` (`analysis.curves.bands`), within [0, 1].
    level, simultaneous_level : float
    critical : float
        Half width of the simultaneous band in standard errors, before what bias adds and the fall takes off.
    scheme : {"two-way", "image", "participant", "naive"}
    """

    v: FloatArray
    estimate: FloatArray
    standard_error: FloatArray
    lower: FloatArray
    upper: FloatArray
    simultaneous_lower: FloatArray
    simultaneous_upper: FloatArray
    level: float
    simultaneous_level: float
    critical: float
    scheme: Scheme

    def pointwise(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Pointwise band at another level, shape (n_grid,) each, within [0, 1]."""
        reach = normal_quantile(level) * self.standard_error
        return np.clip(self.estimate - reach, 0.0, 1.0), np.clip(self.estimate + reach, 0.0, 1.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, floats unrounded."""
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        return {
            **arrays,
            "level": self.level,
            "simultaneous_level": self.simultaneous_level,
            "critical": self.critical,
            "scheme": self.scheme,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Bands:
        """Undo `to_dict`."""
        arrays = {name: np.asarray(values[name], dtype=np.float64) for name in _ARRAYS}
        return cls(
            **arrays,
            level=values["level"],
            simultaneous_level=values["simultaneous_level"],
            critical=values["critical"],
            scheme=values["scheme"],
        )


@dataclass(frozen=True, eq=False)
class WholeBand:
    """A band that holds a whole curve, shape (n_grid,) each, within [0, 1], and its half width in standard errors."""

    lower: FloatArray
    upper: FloatArray
    critical: float


_ARRAYS = (
    "v",
    "estimate",
    "standard_error",
    "lower",
    "upper",
    "simultaneous_lower",
    "simultaneous_upper",
)


def make_bands(
    basis: SplineBasis,
    coefficients: FloatArray,
    bootstrap: Bootstrap,
    whole: WholeBand,
    *,
    level: float,
    simultaneous_level: float,
) -> Bands:
    """Bands of a curve: the pointwise one from its refits, beside the one of the whole curve.

    Parameters
    ----------
    basis : SplineBasis
    coefficients : ndarray, shape (K,)
        The fit.
    bootstrap : Bootstrap
        Its refits.
    whole : WholeBand
        On the band grid.
    level, simultaneous_level : float

    Returns
    -------
    Bands
    """
    design = _grid_design(basis.segments, basis.degree)
    replicates: dict[Unit, FloatArray] = {
        unit: draws.astype(np.float64) @ design.T for unit, draws in bootstrap.draws.items()
    }
    spread = spread_of(np.clip(design @ coefficients, 0.0, 1.0), replicates)
    near = normal_quantile(level) * spread.standard_error
    return Bands(
        v=band_grid(),
        estimate=spread.estimate,
        standard_error=spread.standard_error,
        lower=np.clip(spread.estimate - near, 0.0, 1.0),
        upper=np.clip(spread.estimate + near, 0.0, 1.0),
        simultaneous_lower=whole.lower,
        simultaneous_upper=whole.upper,
        level=level,
        simultaneous_level=simultaneous_level,
        critical=whole.critical,
        scheme=bootstrap.scheme,
    )


@lru_cache(maxsize=16)
def _grid_design(segments: int, degree: int) -> FloatArray:
    """B-splines on the band grid, shape (n_grid, K)."""
    design = spline_basis(segments, degree).design(band_grid())
    design.setflags(write=False)
    return design


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
class _RateErrors:
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


def _errors(cells: Cells, trials: ClusteredTrials, rates: FloatArray, units: tuple[Unit, ...]) -> _RateErrors:
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
    return _RateErrors(tuple(ways), total, single, min(counts.values()), n / counts[units[0]])


def _wilson(rate: FloatArray, n: FloatArray, critical: float) -> tuple[FloatArray, FloatArray]:
    """Wilson's limits of rates of n independent answers, shape (q,) each."""
    square = critical**2
    middle = (rate + square / (2.0 * n)) / (1.0 + square / n)
    half = critical * np.sqrt(rate * (1.0 - rate) / n + square / (4.0 * n**2)) / (1.0 + square / n)
    return middle - half, middle + half
