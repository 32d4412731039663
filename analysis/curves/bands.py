"""Confidence bands of a curve: pointwise for reading, simultaneous for the overlap rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from analysis.arrays import FloatArray
from analysis.curves.basis import SplineBasis, spline_basis
from analysis.curves.bootstrap import Bootstrap, Scheme, Unit, spread_of

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
        Band that contains the whole curve at ``simultaneous_level`` (`analysis.curves.simultaneous`), within [0, 1].
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
