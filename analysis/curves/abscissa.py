"""Any abscissa along which performance changes in one direction, brought to [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import FloatArray
from analysis.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class ScaledAbscissa:
    """Noise width, contrast or anything else, as places in [0, 1] along which performance falls.

    Parameters
    ----------
    place : ndarray, shape (n,)
        In [0, 1].
    lower, upper : float
        Values at the two ends, before flipping.
    flipped : bool
        Whether performance rose with the value, so that ``upper`` stands at 0.
    """

    place: FloatArray
    lower: float
    upper: float
    flipped: bool


def scale_abscissa(
    values: ArrayLike, correct: ArrayLike, *, lower: float | None = None, upper: float | None = None
) -> ScaledAbscissa:
    """Bring an abscissa to [0, 1], flipped if performance rises along it.

    Parameters
    ----------
    values : array-like, shape (n,)
        Finite numbers, one a trial.
    correct : array-like, shape (n,)
        Outcomes in [0, 1]: the sign of their covariance with the values gives the direction.
    lower, upper : float, optional
        Values at the ends; by default the smallest and largest.

    Returns
    -------
    ScaledAbscissa

    Raises
    ------
    InvalidInput
        If the values are not finite, all equal, or outside the ends.

    Notes
    -----
    An area over such an axis is an area, not a VCR robustness.
    """
    numbers, outcome = np.asarray(values, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    if numbers.ndim != 1 or numbers.shape != outcome.shape or not len(numbers) or not np.isfinite(numbers).all():
        raise InvalidInput("An abscissa is one finite number a trial.")
    low = float(numbers.min()) if lower is None else float(lower)
    high = float(numbers.max()) if upper is None else float(upper)
    if not low < high or numbers.min() < low or numbers.max() > high:
        raise InvalidInput(
            f"Values from {numbers.min():g} to {numbers.max():g} do not lie between {low:g} and {high:g}."
        )
    place = np.clip((numbers - low) / (high - low), 0.0, 1.0)
    flipped = bool(np.sum((numbers - numbers.mean()) * outcome) > 0.0)
    return ScaledAbscissa(1.0 - place if flipped else place, low, high, flipped)
