"""Two observers who saw the same pictures: error consistency."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from analysis.agreement.pooled import kappa_interval
from analysis.arrays import BoolArray, FloatArray, IntArray
from analysis.claims.agreement import ENOUGH_PICTURES, UNDEFINED, copied_text
from analysis.clusters import clustered
from analysis.errors import InvalidInput, TooFewResponses
from analysis.figures.rows import estimates_figure
from analysis.figures.value import Axis
from analysis.study.analysis_plan import LEVEL
from analysis.wording import one_row, plot_figure, screen, with_interval

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd


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
        Interval of kappa over pictures, or over originals where pictures share them; None where kappa is undefined.
    originals : int
        Different originals behind the pictures; n where every picture has its own.
    """

    kappa: float
    observed: float
    expected: float
    n: int
    accuracies: tuple[float, float]
    interval: tuple[float, float] | None
    originals: int

    @property
    def shown(self) -> bool:
        """Whether kappa is defined and rests on pictures of `ENOUGH_PICTURES` different originals."""
        return self.interval is not None and self.originals >= ENOUGH_PICTURES

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
        lowest = min(0.0, self.kappa, *(self.interval or ()))
        figure = estimates_figure(
            [(f"{self.n} pictures", self.kappa, self.interval)],
            title="Error consistency",
            description=f"Kappa {self.kappa:.3f} on {self.n} pictures.",
            x=Axis("error consistency κ", (1.05 * lowest - 0.02, 1.02)),
            meaning="kappa",
            notes=("0: as often on the same pictures as independent observers; 1: always.",),
        )
        return plot_figure(figure, ax)


def error_consistency(
    correct_a: ArrayLike, correct_b: ArrayLike, *, originals: ArrayLike | None = None, level: float = LEVEL
) -> ErrorConsistency:
    """Error consistency of two observers on the same pictures.

    Parameters
    ----------
    correct_a, correct_b : array-like of bool, shape (n,)
        Was the observer right on picture i? In the same order of pictures.
    originals : array-like, shape (n,), optional
        Original behind each picture; without them every picture is drawn by itself.
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
    here, as in Klein et al. (2025). Where pictures share originals, both arms of the interval grow by `stretch_of`.
    """
    first, second = _right_or_wrong(correct_a), _right_or_wrong(correct_b)
    if first.shape != second.shape:
        raise InvalidInput(f"The observers have {len(first)} and {len(second)} answers: one each per common picture.")
    if not len(first):
        raise TooFewResponses("The observers have no picture in common.")
    stretch, count = 1.0, len(first)
    if originals is not None:
        names, original = np.unique(np.asarray(originals), return_inverse=True)
        if original.shape != first.shape:
            raise InvalidInput("Originals have one entry per common picture.")
        count = len(names)
        stretch = stretch_of(first, second, original.astype(np.int64), level=level)
    counts = int(first.sum()), int(second.sum()), int((first & second).sum()), len(first)
    return consistency_from_counts(*counts, originals=count, stretch=stretch, level=level)


def consistency_from_counts(
    right_a: int,
    right_b: int,
    both: int,
    n: int,
    *,
    originals: int | None = None,
    stretch: float = 1.0,
    level: float = LEVEL,
) -> ErrorConsistency:
    """Error consistency of two observers from the counts of `kappa_from_counts`.

    Parameters
    ----------
    right_a, right_b, both, n : int
    originals : int, optional
        Different originals behind the n pictures; n by default.
    stretch : float
        What `stretch_of` says of the pictures, at least 1.
    level : float

    Returns
    -------
    ErrorConsistency
    """
    observed, expected, kappa = kappa_from_counts(right_a, right_b, both, n)
    interval = None
    if not np.isnan(kappa):
        value = float(kappa)
        lower, upper = kappa_interval(both, right_a - both, right_b - both, n - right_a - right_b + both, level)
        # Where all pictures agree the estimate is the end of its range, beyond any quantile.
        lower, upper = min(lower, value), max(upper, value)
        if stretch > 1.0:
            lower, upper = max(value - stretch * (value - lower), -1.0), min(value + stretch * (upper - value), 1.0)
        interval = lower, upper
    return ErrorConsistency(
        float(kappa),
        float(observed),
        float(expected),
        n,
        (right_a / n, right_b / n),
        interval,
        n if originals is None else originals,
    )


def stretch_of(correct_a: BoolArray, correct_b: BoolArray, original: IntArray, *, level: float = LEVEL) -> float:
    """By how much the interval of kappa is wider because pictures share originals.

    Parameters
    ----------
    correct_a, correct_b : ndarray of bool, shape (n,)
        Was the observer right on picture i?
    original : ndarray of int, shape (n,)
        Number of the picture's original, from 0 without gaps.
    level : float

    Returns
    -------
    float
        At least 1; exactly 1 where every picture has an original of its own.

    Notes
    -----
    The root of the design effect (Kish 1965): variance of the linearised kappa with pictures of one original drawn
    together, over that with pictures drawn singly, at least 1; times the t quantile of the few originals over the
    normal one. Where kappa has no spread (all pictures agree) pictures of one original count as one.
    """
    n, sizes = len(original), np.bincount(original)
    if len(sizes) == n:
        return 1.0
    from scipy.special import stdtrit

    values = np.stack([correct_a, correct_b]).astype(np.float64)
    (p, q), agreeing = values.mean(axis=1), (values[0] == values[1]).astype(np.float64)
    expected = p * q + (1.0 - p) * (1.0 - q)
    beyond = 1.0 - expected
    # What a picture adds to kappa, up to a constant factor, which the ratio of variances does not see.
    slope = (1.0 - agreeing.mean()) / beyond if beyond > 0.0 else 0.0
    influence = agreeing - slope * ((2.0 * q - 1.0) * values[0] + (2.0 * p - 1.0) * values[1])
    influence -= influence.mean()
    alone = float((influence**2).sum()) * n / (n - 1)
    together = clustered([np.bincount(original, weights=influence)[:, None].astype(np.float64)], np.zeros(1))
    if alone <= 1e-12 * n:
        return float(np.sqrt((sizes**2).sum() / n))
    effect = max(float(together.variance[0]) / alone, 1.0)
    quantile = (1.0 + level) / 2.0
    few = float(stdtrit(float(together.degrees_of_freedom[0]), quantile)) / NormalDist().inv_cdf(quantile)
    return float(np.sqrt(effect)) * few


def pictures_for_width(accuracies: tuple[float, float], kappa: float, width: float, *, level: float = LEVEL) -> int:
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
    reach = NormalDist().inv_cdf((1.0 + level) / 2.0)
    return max(ENOUGH_PICTURES, math.ceil(_variance(accuracies, kappa) * (2.0 * reach / width) ** 2))


def width_for_pictures(accuracies: tuple[float, float], kappa: float, n: int, *, level: float = LEVEL) -> float:
    """Width of the interval of kappa on so many pictures in common, each of an original of its own.

    Parameters
    ----------
    accuracies, kappa, level
        As in `pictures_for_width`, whose inverse this is.
    n : int
        At least 1.

    Returns
    -------
    float
        Above 0; 2 at most.

    Raises
    ------
    InvalidInput
        If no two observers of these accuracies have this kappa.
    """
    reach = NormalDist().inv_cdf((1.0 + level) / 2.0)
    return min(2.0 * reach * math.sqrt(_variance(accuracies, kappa) / n), 2.0)


def _variance(accuracies: tuple[float, float], kappa: float) -> float:
    """Variance of kappa on n pictures, times n (Fleiss, Cohen and Everitt 1969)."""
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
    return float((cells * influence**2).sum() - (cells * influence).sum() ** 2)


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


def _right_or_wrong(correct: ArrayLike) -> BoolArray:
    values = np.asarray(correct)
    if values.ndim != 1 or not np.isin(values, (0, 1)).all():
        raise InvalidInput("Answers to compare are one column of right (1) and wrong (0).")
    return values.astype(bool)
