"""Cluster bootstrap of a curve: which refits exist, and how their spreads combine into one variance."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import FloatArray

DrawArray = NDArray[np.float32]

#: What is drawn: originals, participants, or single trials.
Unit = Literal["image", "participant", "trial"]
#: Which units a band rests on.
Scheme = Literal["two-way", "image", "participant", "naive"]

UNITS: dict[Scheme, tuple[Unit, ...]] = {
    "two-way": ("image", "participant", "trial"),
    "image": ("image",),
    "participant": ("participant",),
    "naive": ("trial",),
}


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Refitted coefficients of one curve.

    Parameters
    ----------
    scheme : {"two-way", "image", "participant", "naive"}
    key : int
        64-bit key from which the multiplicities follow. Curves with equal keys are resampled jointly.
    draws : mapping of unit to ndarray of float32, shape (n_replicates, K)
        Spline coefficients of the refits, by what was drawn.
    """

    scheme: Scheme
    key: int
    draws: Mapping[Unit, DrawArray]

    @property
    def n_replicates(self) -> int:
        """Refits per unit."""
        return len(self.draws[self.leading])

    @property
    def leading(self) -> Unit:
        """The unit whose refits give the shape of the distribution (the others give only its spread)."""
        return UNITS[self.scheme][0]

    def to_dict(self) -> dict[str, Any]:
        """Plain values; refits as base64 of little-endian float32."""
        return {
            "scheme": self.scheme,
            "key": self.key,
            "replicates": self.n_replicates,
            "draws": {
                unit: base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode("ascii")
                for unit, array in self.draws.items()
            },
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Bootstrap:
        """Undo `to_dict`."""
        replicates = int(values["replicates"])
        draws: dict[Unit, DrawArray] = {
            unit: np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(replicates, -1).astype(np.float32)
            for unit, text in values["draws"].items()
        }
        return cls(values["scheme"], int(values["key"]), draws)


@dataclass(frozen=True, eq=False)
class Spread:
    """Bootstrap spread of a statistic (a number, or a function on a grid) around its estimate.

    Parameters
    ----------
    estimate : ndarray, shape (...)
    standard_error : ndarray, shape (...)
    deviations : ndarray, shape (n_replicates, ...)
        Replicates minus estimate, stretched to the combined standard error.
    """

    estimate: FloatArray
    standard_error: FloatArray
    deviations: FloatArray

    def percentile_interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Quantiles of estimate + deviation that enclose ``level``."""
        tail = (1.0 - level) / 2.0
        lower, upper = np.quantile(self.deviations, [tail, 1.0 - tail], axis=0)
        return self.estimate + lower, self.estimate + upper

    def critical_value(self, level: float, floor: float = 1e-3) -> float:
        """Quantile over replicates of the largest |deviation| / standard error along the grid (sup-t)."""
        scale = np.maximum(self.standard_error, floor)
        largest = np.max(np.abs(self.deviations) / scale, axis=-1)
        return float(np.quantile(largest, level))


def spread_of(estimate: FloatArray, replicates: Mapping[Unit, FloatArray]) -> Spread:
    """Combine the replicates of the drawn units into one spread.

    Parameters
    ----------
    estimate : ndarray, shape (...)
    replicates : mapping of unit to ndarray, shape (n_replicates, ...)
        The statistic in every refit. With all three units the variance is two-way.

    Notes
    -----
    ``V = max(V_p + V_i - V_n, V_p, V_i)`` at each point (Cameron, Gelbach and Miller 2011, eq. 2.11; the maximum keeps
    it positive); the deviations of the leading unit are multiplied by ``sqrt(V / V_leading)``.
    """
    leading: Unit = next(unit for unit in ("image", "participant", "trial") if unit in replicates)
    variance = {unit: np.asarray(values, dtype=np.float64).var(axis=0, ddof=1) for unit, values in replicates.items()}
    total = variance[leading]
    if "image" in variance and "participant" in variance:
        summed = variance["image"] + variance["participant"] - variance.get("trial", np.zeros_like(total))
        total = np.maximum(summed, np.maximum(variance["image"], variance["participant"]))
    stretch = np.sqrt(np.divide(total, variance[leading], out=np.ones_like(total), where=variance[leading] > 0.0))
    deviations = (np.asarray(replicates[leading], dtype=np.float64) - estimate) * stretch
    return Spread(np.asarray(estimate, dtype=np.float64), np.sqrt(total), deviations)


def pair_spread(
    first: Bootstrap,
    second: Bootstrap,
    first_estimate: FloatArray,
    second_estimate: FloatArray,
    statistic: Callable[[FloatArray, FloatArray], FloatArray],
) -> Spread:
    """Spread of a statistic of two curves, resampled jointly where they share a key.

    Parameters
    ----------
    first, second : Bootstrap
    first_estimate, second_estimate : ndarray, shape (K,)
        Coefficients of the fits.
    statistic : callable
        Maps two batches of coefficients, shape (n, K) each, to values, shape (n, ...).

    Notes
    -----
    In the leading draw both curves vary (replicate by replicate, so shared originals move together); in the draws that
    only correct the variance, a curve that is not resampled two ways stays at its estimate, since its whole spread is
    in the leading draw already.
    """
    estimate = statistic(first_estimate[None, :], second_estimate[None, :])[0]
    count = min(first.n_replicates, second.n_replicates)

    def replicate(curve: Bootstrap, fixed: FloatArray, unit: Unit, leading: bool) -> FloatArray:
        if leading:
            return curve.draws[unit if unit in curve.draws else curve.leading][:count].astype(np.float64)
        if curve.scheme == "two-way":
            return curve.draws[unit][:count].astype(np.float64)
        return np.broadcast_to(fixed, (count, len(fixed)))

    units: tuple[Unit, ...] = UNITS["two-way"] if "two-way" in (first.scheme, second.scheme) else (first.leading,)
    replicates: dict[Unit, FloatArray] = {}
    for position, unit in enumerate(units):
        left = replicate(first, first_estimate, unit, position == 0)
        right = replicate(second, second_estimate, unit, position == 0)
        replicates[unit] = statistic(left, right)
    return spread_of(estimate, replicates)
