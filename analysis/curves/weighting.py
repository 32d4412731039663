"""Integrals of curves under weights over visual change; without weights every visual change counts equally."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis.arrays import FloatArray
from analysis.curves.spline import SplineBasis
from analysis.study.change_weights import ChangeWeights


@dataclass(frozen=True)
class WeightedMean:
    """Mean height of a curve under weights over visual change.

    Parameters
    ----------
    value : float
    interval : tuple of float or None
        As that of the area, at the curve's level; None without refits.
    bounds : tuple of float
        Smallest and largest mean of falling curves that agree with this one outside the gaps.
    extrapolated : float
        Share of the weight beyond the answers, or in a gap between them.
    """

    value: float
    interval: tuple[float, float] | None
    bounds: tuple[float, float]
    extrapolated: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values; `from_dict` is the inverse."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> WeightedMean:
        """Undo `to_dict`."""
        made: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**made)


def mass(weights: ChangeWeights | None, lower: float, upper: float) -> float:
    """Share of all weight between two visual changes."""
    return upper - lower if weights is None else weights.mass(lower, upper)


def weighted_integrals(basis: SplineBasis, weights: ChangeWeights | None, lower: float, upper: float) -> FloatArray:
    """Integral of every B-spline times the weight, from ``lower`` to ``upper`` (within [0, 1]), exact, shape (K,).

    Weights have a mass of 1 over [0, 1]: from 0 to 1 the integral of a curve is its mean under them.
    """
    if weights is None:
        return basis.integral_design(lower, upper)
    points, quadrature = weighted_quadrature(weights, basis.knots, lower, upper, basis.degree)
    return np.asarray(quadrature @ basis.design(points), dtype=np.float64)


def weighted_quadrature(
    weights: ChangeWeights, edges: FloatArray, lower: float, upper: float, degree: int
) -> tuple[FloatArray, FloatArray]:
    """Places and factors of a sum that is the exact integral of weight times function.

    Parameters
    ----------
    weights : ChangeWeights
    edges : ndarray
        Between these the function is a polynomial.
    lower, upper : float
        Within [0, 1].
    degree : int
        Of the polynomials.

    Returns
    -------
    points, factors : ndarray, shape (n,)
        Gauss and Legendre's on every piece on which both are polynomials; empty where there is none.
    """
    nodes, factors = np.polynomial.legendre.leggauss(degree // 2 + 2)
    places, sums = [np.empty(0)], [np.empty(0)]
    for (start, low), (end, high) in weights.pieces(lower, upper):
        cuts = np.unique(np.concatenate([[start], edges[(edges > start) & (edges < end)], [end]]))
        width = np.diff(cuts)[:, None]
        points = cuts[:-1, None] + (nodes + 1.0) * width / 2.0
        density = low + (high - low) * (points - start) / (end - start)
        places.append(points.ravel())
        sums.append((density * factors * width / 2.0).ravel())
    return np.concatenate(places), np.concatenate(sums)
