"""The B-spline basis on [0, 1]: knots, exact integrals, roughness penalty, and the monotone coordinates."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import FloatArray
from analysis.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class SplineBasis:
    """Clamped B-splines of one degree on equal segments of [0, 1].

    A curve is ``s(v) = sum_k beta_k B_k(v)``. Its *steps* ``d`` (``beta_k = sum_{j >= k} d_j``) are the falls from one
    coefficient to the next, and last the floor ``beta_{K-1}``: the curve is non-increasing and non-negative when all
    steps are non-negative, and ``s(0) = beta_0 = sum(d)``.

    Parameters
    ----------
    segments : int
        Number of equal segments of [0, 1], at least 1.
    degree : int
        Polynomial degree, 1 to 3; straight pieces (degree 1) have no roughness penalty.

    Notes
    -----
    The non-increasing coefficients are sufficient for a non-increasing curve (variation diminishing property; de Boor,
    A Practical Guide to Splines, ch. XI).
    """

    segments: int = 20
    degree: int = 3
    #: Knots, shape (segments + 2 degree + 1,).
    knots: FloatArray = field(init=False, repr=False)
    #: Integral of the squared second derivative as a quadratic form in the steps, shape (K, K).
    step_penalty: FloatArray = field(init=False, repr=False)
    #: The same form in the coefficients, shape (K, K).
    penalty: FloatArray = field(init=False, repr=False)
    #: Integral of every B-spline over [0, 1], shape (K,).
    integrals: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.segments < 1 or self.degree not in (1, 2, 3):
            raise InvalidInput("A spline basis needs at least one segment and degree 1, 2 or 3.")
        inner = np.linspace(0.0, 1.0, self.segments + 1)
        knots = np.concatenate([np.zeros(self.degree), inner, np.ones(self.degree)])
        object.__setattr__(self, "knots", knots)
        object.__setattr__(
            self, "integrals", (knots[self.degree + 1 :] - knots[: -self.degree - 1]) / (self.degree + 1)
        )
        penalty = self._roughness() if self.degree > 1 else np.zeros((self.size, self.size))
        object.__setattr__(self, "penalty", penalty)
        cumulative = np.triu(np.ones((self.size, self.size)))
        object.__setattr__(self, "step_penalty", cumulative.T @ penalty @ cumulative)
        for array in (self.knots, self.integrals, self.penalty, self.step_penalty):
            array.setflags(write=False)

    @property
    def size(self) -> int:
        """Number of coefficients, segments + degree."""
        return self.segments + self.degree

    def design(self, visual_change: ArrayLike) -> FloatArray:
        """Values of all B-splines, shape (n, K), at visual changes in [0, 1], shape (n,)."""
        from scipy.interpolate import BSpline

        points = np.clip(np.atleast_1d(np.asarray(visual_change, dtype=np.float64)), 0.0, 1.0)
        return np.asarray(BSpline.design_matrix(points, self.knots, self.degree).toarray(), dtype=np.float64)

    def step_design(self, visual_change: ArrayLike) -> FloatArray:
        """Values of the curve per unit of each step, shape (n, K): non-increasing functions of visual change."""
        return np.cumsum(self.design(visual_change), axis=1)

    def integral_design(self, lower: float, upper: float) -> FloatArray:
        """Integral of every B-spline from ``lower`` to ``upper`` (within [0, 1]), exact, shape (K,)."""
        from scipy.interpolate import BSpline

        ends = np.clip([lower, upper], 0.0, 1.0)
        antiderivative = BSpline(self.knots, np.eye(self.size), self.degree).antiderivative()
        values = np.asarray(antiderivative(ends), dtype=np.float64)
        return np.asarray(values[1] - values[0], dtype=np.float64)

    def _roughness(self) -> FloatArray:
        """Gauss-Legendre per segment, exact for the product of two second derivatives."""
        from scipy.interpolate import BSpline

        nodes, node_weights = np.polynomial.legendre.leggauss(self.degree + 1)
        width = 1.0 / self.segments
        left = np.arange(self.segments)[:, None] * width
        points = (left + (nodes + 1.0) * width / 2.0).ravel()
        quadrature = np.tile(node_weights * width / 2.0, self.segments)
        curvature = BSpline(self.knots, np.eye(self.size), self.degree).derivative(2)(points)
        return np.asarray((curvature * quadrature[:, None]).T @ curvature, dtype=np.float64)


@lru_cache(maxsize=16)
def spline_basis(segments: int = 20, degree: int = 3) -> SplineBasis:
    """Return the one shared basis of this shape (built once per process)."""
    return SplineBasis(segments, degree)


def steps_to_coefficients(steps: FloatArray) -> FloatArray:
    """Coefficients from steps along the last axis: each is the sum of its own and all later steps."""
    return np.cumsum(steps[..., ::-1], axis=-1)[..., ::-1]
