"""How sure the area of a curve is: every answer's pull on the curve, summed by person and by original."""

from __future__ import annotations

import numpy as np

from analysis.arrays import FloatArray
from analysis.clusters import Clustered, clustered, summed
from analysis.curves.bootstrap import UNITS, ClusteredTrials, Scheme, bound_of_alike
from analysis.curves.methods.base import Cells, ChosenFit, CurveMethod
from analysis.curves.spline import SplineBasis


def pulls(method: CurveMethod, basis: SplineBasis, cells: Cells, chosen: ChosenFit) -> FloatArray:
    """Change of every coefficient with one more right answer in a cell, at the smoothness of the fit.

    Returns
    -------
    ndarray, shape (K, m)

    Notes
    -----
    Central differences over one binomial standard deviation of the cell on either side, so that steps which the fit
    holds at zero and sampling would set free count in part.
    """
    number = len(cells.v)
    rates = np.clip(basis.design(cells.v) @ chosen.coefficients, 0.0, 1.0)
    size = np.maximum(np.sqrt(cells.trials * rates * (1.0 - rates)), 0.5)
    more = np.minimum(cells.correct + size, cells.trials)
    fewer = np.maximum(cells.correct - size, 0.0)
    correct = np.tile(cells.correct, (2 * number, 1))
    correct[np.arange(number), np.arange(number)] = more
    correct[number + np.arange(number), np.arange(number)] = fewer
    moved = method.refit(basis, cells.resampled(correct, np.tile(cells.trials, (2 * number, 1))), chosen)
    change = more - fewer
    slope = np.zeros((basis.size, number))
    np.divide((moved[:number] - moved[number:]).T, change, out=slope, where=change > 0.0)
    return slope


def spread_of_functions(
    design: FloatArray,
    method: CurveMethod,
    basis: SplineBasis,
    cells: Cells,
    chosen: ChosenFit,
    trials: ClusteredTrials,
    scheme: Scheme,
    beside: FloatArray | None = None,
) -> Clustered:
    """Spread of linear functions of the curve over the people and originals that another study would have.

    Parameters
    ----------
    design : ndarray, shape (q, K)
        The functions are ``design @ coefficients``.
    method, basis, cells, chosen, trials
        The fit, as for `analysis.curves.bootstrap.refit`.
    scheme : {"two-way", "image", "participant", "naive"}
    beside : ndarray, shape (n_trials, q), optional
        What each trial adds to the errors beside its pull on the curve.

    Returns
    -------
    Clustered

    Notes
    -----
    An answer contributes its residual from the curve times its cell's pull (`pulls`). Answers that were all alike leave
    no residual: their error is such that a normal interval of 95 % reaches the exact bound of as many clusters.
    """
    units = UNITS[scheme]
    bound = bound_of_alike(trials, units[0])
    if bound is not None:
        q = len(design)
        return Clustered(np.full(q, ((1.0 - bound) / _NORMAL_REACH) ** 2), np.full(q, np.inf))
    rates = np.clip(basis.design(cells.v) @ chosen.coefficients, 0.0, 1.0)
    slope = design @ pulls(method, basis, cells, chosen)
    residual = trials.outcome - rates[trials.cell]
    if trials.weight is not None:
        residual = residual * trials.weight
    contributions = slope.T[trials.cell] * residual[:, None]
    if beside is not None:
        contributions = contributions + beside
    sums = [
        contributions
        if unit == "trial"
        else summed(contributions, trials.clusters[unit][0], len(trials.clusters[unit][1]))
        for unit in units
    ]
    if scheme == "two-way":
        return clustered(sums[:2], (contributions**2).sum(axis=0))
    return clustered(sums, np.zeros(len(design)))


_NORMAL_REACH = 1.959963984540054


def identified_interval(bounds: FloatArray, spread: Clustered, level: float) -> tuple[float, float]:
    """Interval that covers a share between two estimated bounds, wherever between them it lies.

    Parameters
    ----------
    bounds : ndarray, shape (2,)
        Estimates of both, rising; equal where the share itself was estimated.
    spread : Clustered
        Of both, in this order.
    level : float

    Returns
    -------
    tuple of float
        Within [0, 1].

    Notes
    -----
    Imbens and Manski (2004), eqs. 6 and 7, with t in place of the normal distribution: ``[lower - c se_l,
    upper + c se_u]``, where ``F(c + (upper - lower) / max(se)) - F(-c) = level``. With equal bounds it is the usual
    two-sided interval, with bounds far apart each end is one-sided.
    """
    from scipy.optimize import brentq
    from scipy.special import stdtr, stdtrit

    (lower, upper), errors = bounds, spread.standard_error
    freedom = float(spread.degrees_of_freedom.min())
    widest = float(errors.max())
    apart = float(upper - lower) / widest if widest > 0.0 else 0.0
    least, most = (float(stdtrit(freedom, quantile)) for quantile in (level, 0.5 + level / 2.0))

    def excess(c: float) -> float:
        return float(stdtr(freedom, c + apart) - stdtr(freedom, -c)) - level

    # Bounds so far apart that only one end can miss, or nothing but rounding between them, need no search.
    c = least if excess(least) >= 0.0 else most if excess(most) <= 0.0 else float(brentq(excess, least, most))
    return max(float(lower - c * errors[0]), 0.0), min(float(upper + c * errors[1]), 1.0)
