"""Two observers who saw the same pictures: error consistency."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.agreement.posterior import kappa_interval
from analysis.claims.agreement import ENOUGH_PICTURES, UNDEFINED, copied_text
from analysis.errors import InvalidInput, TooFewResponses
from analysis.summaries import one_row, plot_figure, screen

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class ErrorConsistency:
    """Agreement of two observers in being right or wrong.

    Parameters
    ----------
    kappa : float
        Error consistency, at most 1; 1 when the observers are right and wrong on the same pictures, NaN where it is
        undefined: both are always right, or both always wrong.
    observed, expected : float
        Share of pictures on which both are right or both wrong, and the share that independent observers of these
        accuracies would reach.
    n : int
        Pictures that both saw.
    accuracies : tuple of float
        Accuracies on these pictures.
    interval : tuple of float or None
        Interval of kappa over pictures; None where kappa is undefined.
    """

    kappa: float
    observed: float
    expected: float
    n: int
    accuracies: tuple[float, float]
    interval: tuple[float, float] | None

    @property
    def shown(self) -> bool:
        """Whether kappa is defined and rests on `ENOUGH_PICTURES`."""
        return self.interval is not None and self.n >= ENOUGH_PICTURES

    @property
    def copied(self) -> float:
        """Share of pictures on which the less accurate observer would have to copy the other, to be as consistent.

        Notes
        -----
        Klein, Meyen, Brendel, Wichmann and Meding (2025): who copies on a share c of pictures, and is right or wrong
        independently on the others, has ``c = kappa (1 - c_exp) / (2 p (1 - p))`` with p the accuracy of the more
        accurate observer. It is kappa where both are equally accurate; below 0 the opposite is copied. NaN where the
        more accurate observer is always right, or kappa is undefined.
        """
        best = max(self.accuracies)
        spread = 2.0 * best * (1.0 - best)
        return self.kappa * (1.0 - self.expected) / spread if spread > 0.0 else float("nan")

    def __repr__(self) -> str:
        """Kappa, and the pictures it rests on."""
        return f"<ErrorConsistency: kappa {self._kappa_text()} on {self.n:,} pictures>"

    def _kappa_text(self) -> str:
        from analysis.reporting.wording import with_interval

        return UNDEFINED if self.interval is None else with_interval(self.kappa, self.interval)

    def summary(self) -> str:
        """One screen of text: kappa, what it is made of, and on how many pictures."""
        return screen(
            "Error consistency of two observers",
            (
                ("kappa", self._kappa_text()),
                *(() if math.isnan(self.copied) else (("read as", copied_text(self.copied)),)),
                ("observed", f"{self.observed:.3f}"),
                ("expected", f"{self.expected:.3f} of independent observers of these accuracies"),
                ("accuracies", " and ".join(f"{one:.3f}" for one in self.accuracies)),
                ("pictures", f"{self.n:,}"),
            ),
        )

    def to_frame(self) -> pd.DataFrame:
        """One row: ``kappa`` with ``lower`` and ``upper``, ``observed``, ``expected``, ``n``, both accuracies."""
        first, second = self.accuracies
        values = {"kappa": self.kappa, "interval": self.interval, "observed": self.observed, "expected": self.expected}
        return one_row({**values, "n": self.n, "accuracy_a": first, "accuracy_b": second})

    def plot(self, ax: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes:
        """Draw kappa with its interval, on axes that are made if not given."""
        from analysis.figures.results import error_consistency_figure

        return plot_figure(error_consistency_figure(self), ax)


def error_consistency(correct_a: ArrayLike, correct_b: ArrayLike, *, level: float = 0.95) -> ErrorConsistency:
    """Error consistency of two observers on the same pictures.

    Parameters
    ----------
    correct_a, correct_b : array-like of bool, shape (n,)
        Was the observer right on picture i? In the same order of pictures.
    level : float
        Level of the interval.

    Returns
    -------
    ErrorConsistency

    Raises
    ------
    InvalidInput
        If the arrays differ in length or hold anything but right and wrong.
    TooFewResponses
        If there is no picture.

    Notes
    -----
    Geirhos, Meding and Wichmann (2020), eqs. 1-3: ``kappa = (c_obs - c_exp) / (1 - c_exp)``,
    ``c_exp = p_a p_b + (1 - p_a)(1 - p_b)``. Their code gives 1 where ``c_exp = 1``; that is no measurement, and NaN
    here, as in Klein et al. (2025).
    """
    first, second = _right_or_wrong(correct_a), _right_or_wrong(correct_b)
    if first.shape != second.shape:
        raise InvalidInput(f"The observers have {len(first)} and {len(second)} answers: one each per common picture.")
    if not len(first):
        raise TooFewResponses("The observers have no picture in common.")
    return consistency_from_counts(
        int(first.sum()), int(second.sum()), int((first & second).sum()), len(first), level=level
    )


def consistency_from_counts(right_a: int, right_b: int, both: int, n: int, *, level: float = 0.95) -> ErrorConsistency:
    """Error consistency of two observers from the counts of `kappa_from_counts`."""
    observed, expected, kappa = kappa_from_counts(right_a, right_b, both, n)
    interval = None
    if not np.isnan(kappa):
        lower, upper = kappa_interval(both, right_a - both, right_b - both, n - right_a - right_b + both, level)
        # Where all pictures agree the estimate is the end of its range, beyond any quantile.
        interval = min(lower, float(kappa)), max(upper, float(kappa))
    return ErrorConsistency(float(kappa), float(observed), float(expected), n, (right_a / n, right_b / n), interval)


def pictures_for_width(accuracies: tuple[float, float], kappa: float, width: float, *, level: float = 0.95) -> int:
    """Pictures in common for an interval of kappa of this width.

    Parameters
    ----------
    accuracies : tuple of float
        Expected accuracies of the two observers, in (0, 1).
    kappa : float
        Expected error consistency: one that these accuracies allow.
    width : float
        Upper minus lower end, in (0, 2].
    level : float
        Level of the interval.

    Returns
    -------
    int
        At least `ENOUGH_PICTURES`.

    Raises
    ------
    InvalidInput
        If no two observers of these accuracies have this kappa.

    Notes
    -----
    From kappa's variance in large samples (Fleiss, Cohen and Everitt 1969); with few errors intervals come out wider
    than planned.
    """
    p, q = accuracies
    together = kappa * (p * (1.0 - q) + q * (1.0 - p)) / 2.0
    cells = np.array([p * q, p * (1.0 - q), (1.0 - p) * q, (1.0 - p) * (1.0 - q)])
    cells += together * np.array([1.0, -1.0, -1.0, 1.0])
    if not (0.0 < p < 1.0 and 0.0 < q < 1.0) or cells.min() < -1e-12:
        raise InvalidInput(f"Observers with accuracies {p:g} and {q:g} cannot have a kappa of {kappa:g}.")
    # How much a picture of each of the four kinds moves kappa.
    agreeing = np.array([1.0, 0.0, 0.0, 1.0])
    expected = p * q + (1.0 - p) * (1.0 - q)
    chance = np.array([2.0 * (p + q) - 2.0, 2.0 * q - 1.0, 2.0 * p - 1.0, 0.0])
    influence = (agreeing - (1.0 - kappa) * chance) / (1.0 - expected)
    variance = float((cells * influence**2).sum() - (cells * influence).sum() ** 2)
    reach = NormalDist().inv_cdf((1.0 + level) / 2.0)
    return max(ENOUGH_PICTURES, math.ceil(variance * (2.0 * reach / width) ** 2))


def kappa_from_counts(
    right_a: ArrayLike, right_b: ArrayLike, both: ArrayLike, n: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Observed and expected consistency, and kappa, from counts (any common shape).

    Parameters
    ----------
    right_a, right_b : array-like
        Pictures on which each observer is right.
    both : array-like
        Pictures on which both are right.
    n : array-like
        Pictures that both saw, at least 1.

    Returns
    -------
    observed, expected, kappa : ndarray
        Kappa is NaN where both observers are always right, or both always wrong.
    """
    a, b, common, total = (np.asarray(count, dtype=np.float64) for count in (right_a, right_b, both, n))
    observed = (total - a - b + 2.0 * common) / total
    p, q = a / total, b / total
    expected = p * q + (1.0 - p) * (1.0 - q)
    beyond = 1.0 - expected
    kappa = np.divide(observed - expected, beyond, out=np.full_like(beyond, np.nan), where=beyond > 0.0)
    return observed, expected, kappa


def _right_or_wrong(correct: ArrayLike) -> NDArray[np.bool_]:
    values = np.asarray(correct)
    if values.ndim != 1 or not np.isin(values, (0, 1)).all():
        raise InvalidInput("Answers to compare are one column of right (1) and wrong (0).")
    return values.astype(bool)
