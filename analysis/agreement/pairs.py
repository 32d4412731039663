"""Two observers who saw the same pictures: error consistency, what it says of copying, and whether it is chance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from analysis.agreement.posterior import copied_interval, kappa_interval
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


_ROUNDING = 1e-12


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
    copied_interval : tuple of float or None
        Interval of `copied`; None where that has no value.
    p : float
        Of the hypothesis that the observers are right and wrong independently (`independence_p`); 1 where kappa is
        undefined.
    """

    kappa: float
    observed: float
    expected: float
    n: int
    accuracies: tuple[float, float]
    interval: tuple[float, float] | None
    originals: int
    copied_interval: tuple[float, float] | None = None
    p: float = 1.0

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
                *(() if math.isnan(self.copied) else (("read as", copied_text(self.copied, self.copied_interval)),)),
                *(() if self.interval is None else (("p", f"{self.p:.2g} of independent observers"),)),
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
    first, second = right_or_wrong(correct_a), right_or_wrong(correct_b)
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
    cells = both, right_a - both, right_b - both, n - right_a - right_b + both
    interval, p = None, 1.0
    if not np.isnan(kappa):
        interval = _stretched(float(kappa), kappa_interval(*cells, level), stretch)
        p = independence_p(*cells, stretch=stretch)
    found = ErrorConsistency(
        float(kappa),
        float(observed),
        float(expected),
        n,
        (right_a / n, right_b / n),
        interval,
        n if originals is None else originals,
        p=p,
    )
    if math.isnan(found.copied):
        return found
    return replace(found, copied_interval=_stretched(found.copied, copied_interval(*cells, level), stretch))


def _stretched(value: float, interval: tuple[float, float], stretch: float) -> tuple[float, float]:
    """Both arms of an interval times `stretch_of`, within [-1, 1]."""
    # Where all pictures agree the estimate is the end of its range, beyond any quantile.
    lower, upper = min(interval[0], value), max(interval[1], value)
    if stretch > 1.0:
        lower, upper = max(value - stretch * (value - lower), -1.0), min(value + stretch * (upper - value), 1.0)
    return lower, upper


@lru_cache(maxsize=8192)
def independence_p(both: int, first: int, second: int, neither: int, *, stretch: float = 1.0) -> float:
    """How probable a kappa at least as far from 0 is where observers are right and wrong independently.

    Parameters
    ----------
    both, first, second, neither : int
        Pictures on which both observers are right, the first alone, the second alone, and neither.
    stretch : float
        What `stretch_of` says of the pictures: the normal deviate of the exact p is divided by it.

    Returns
    -------
    float
        In (0, 1]; 1 where an observer is always right or always wrong, who cannot show anything.

    Notes
    -----
    Fisher's exact test, two-sided (tables that are no more probable), given how often each observer is right. Klein et
    al. (2025) compare kappa with draws of independent observers whose accuracies are drawn from Beta posteriors.
    """
    from scipy.special import gammaln, ndtr, ndtri

    right, n = both + first, both + first + second + neither
    other = both + second
    together = np.arange(max(0, right + other - n), min(right, other) + 1)
    table = np.stack([together, right - together, other - together, n - right - other + together])
    logs = -gammaln(table + 1.0).sum(axis=0)
    chance = np.exp(logs - logs.max())
    at = chance[both - together[0]]
    p = min(float(chance[chance <= at * (1.0 + 1e-7)].sum() / chance.sum()), 1.0)
    return p if stretch <= 1.0 else float(min(2.0 * ndtr(ndtri(p / 2.0) / stretch), 1.0))


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


def kappa_parts(a: FloatArray, b: FloatArray) -> tuple[float, FloatArray] | None:
    """Kappa of two observers, and what every picture adds to its error.

    Parameters
    ----------
    a, b : ndarray, shape (n,)
        1 where the observer is right on picture i, else 0.

    Returns
    -------
    kappa : float
    parts : ndarray, shape (n,)
        Its influence: the mean over new pictures is kappa's error. The mean over these is 0.
    None
        Where kappa is undefined.
    """
    p, q = float(a.mean()), float(b.mean())
    agreeing = (a == b).astype(np.float64)
    observed, expected = float(agreeing.mean()), p * q + (1.0 - p) * (1.0 - q)
    if 1.0 - expected <= _ROUNDING:
        return None
    kappa = (observed - expected) / (1.0 - expected)
    shift = (2.0 * q - 1.0) * (a - p) + (2.0 * p - 1.0) * (b - q)
    return kappa, (agreeing - observed - (1.0 - kappa) * shift) / (1.0 - expected)


def kappa_bounds(accuracies: tuple[float, float]) -> tuple[float, float]:
    """The smallest and the largest kappa that two observers of these accuracies can have.

    Parameters
    ----------
    accuracies : tuple of float
        In (0, 1).

    Returns
    -------
    tuple of float
        In [-1, 1]; the upper one is 1 for equal accuracies alone.

    Raises
    ------
    InvalidInput
        If an observer is always right, or always wrong: kappa is 0 whatever the other does, or undefined.
    """
    p, q = accuracies
    if not (0.0 < p < 1.0 and 0.0 < q < 1.0):
        raise InvalidInput(
            f"Accuracies of {p:g} and {q:g}: kappa of an observer who is always right or always wrong is 0 or "
            "undefined. Give accuracies between 0 and 1."
        )
    beyond = p * (1.0 - q) + q * (1.0 - p)
    # What both are right on is at most the smaller accuracy, and at least what the wrong pictures leave no room for.
    most, least = 2.0 * (min(p, q) - p * q), 2.0 * (max(0.0, p + q - 1.0) - p * q)
    return least / beyond, most / beyond


def right_or_wrong(correct: ArrayLike) -> BoolArray:
    values = np.asarray(correct)
    if values.ndim != 1 or not np.isin(values, (0, 1)).all():
        raise InvalidInput("Answers to compare are one column of right (1) and wrong (0).")
    return values.astype(bool)
