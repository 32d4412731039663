"""Groups of observers over sparsely shared pictures: error consistency of a random answer with a random other one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import BoolArray, FloatArray
from analysis.clusters import clustered
from analysis.errors import InvalidInput, TooFewResponses

#: Sums of shares reach 1 only up to rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class PooledConsistency:
    """Error consistency of two groups of observers, or within one, over sparsely shared pictures.

    Parameters
    ----------
    kappa, observed, expected : float
        As in `ErrorConsistency`, averaged over pictures; expected within each stratum.
    pictures : int
        Pictures that count: answered by both groups, or by two people of the one group.
    accuracies : tuple of float
        Accuracies on these pictures.
    interval : tuple of float or None
        Interval of kappa over clusters of pictures, for these observers; None where kappa has no spread.
    """

    kappa: float
    observed: float
    expected: float
    pictures: int
    accuracies: tuple[float, float]
    interval: tuple[float, float] | None = None


def pooled_consistency(
    right_a: ArrayLike,
    n_a: ArrayLike,
    right_b: ArrayLike | None = None,
    n_b: ArrayLike | None = None,
    *,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> PooledConsistency:
    """Error consistency of a random answer of one group with a random answer of the other, picture by picture.

    Parameters
    ----------
    right_a, n_a : array-like of int, shape (n,)
        Right answers and answers of the first group to picture i.
    right_b, n_b : array-like of int, shape (n,), optional
        The same of the second group; without them two different answers of the first group are compared.
    strata : array-like, shape (n,), optional
        Condition of each picture; what independent observers would reach is computed within each.
    clusters : array-like, shape (n,), optional
        What was drawn: originals; by default each picture by itself.
    level : float
        Level of the interval.

    Returns
    -------
    PooledConsistency

    Raises
    ------
    InvalidInput
        If the columns differ in length, or a picture has more right answers than answers.
    TooFewResponses
        If no picture was answered by both groups (or twice within the one).

    Notes
    -----
    With one answer of each group to each picture of one stratum this is Geirhos, Meding and Wichmann (2020), eqs. 1-3.
    With more answers the observed consistency of a picture is its mean over all pairs of answers (a U-statistic), so
    that pictures, not answers, weigh the same. Difficulty that differs between strata does not count as consistency.
    The interval is that of t, from the linearised kappa with the pictures of a cluster drawn together (`clustered`).
    """
    first, second, known = _pictures(right_a, n_a, right_b, n_b)
    if not known.any():
        raise TooFewResponses("No picture was answered by both.")
    labels = np.zeros(len(known), dtype=np.int64) if strata is None else np.asarray(strata)
    groups = np.arange(len(known)) if clusters is None else np.asarray(clusters)
    if len(labels) != len(known) or len(groups) != len(known):
        raise InvalidInput("Strata and clusters have one entry a picture.")
    _, stratum = np.unique(labels[known], return_inverse=True)
    _, cluster = np.unique(groups[known], return_inverse=True)
    agreeing, a, b = _agreeing(first, second)[known], first.rate[known], second.rate[known]
    sizes = np.bincount(stratum)
    p, q = (np.bincount(stratum, weights=rates) / sizes for rates in (a, b))
    by_chance = p * q + (1.0 - p) * (1.0 - q)
    observed, expected = float(agreeing.mean()), float(sizes @ by_chance) / len(a)
    kappa = _kappa(observed, expected)
    interval = None
    if 1.0 - expected > _ROUNDING:
        # What each picture adds to the expectation: that of its stratum, and its part in both rates there.
        shift = by_chance[stratum] - expected
        shift += (2.0 * q - 1.0)[stratum] * (a - p[stratum]) + (2.0 * p - 1.0)[stratum] * (b - q[stratum])
        influence = (agreeing - observed - (1.0 - kappa) * shift) / ((1.0 - expected) * len(a))
        sums = np.bincount(cluster, weights=influence)[:, None].astype(np.float64)
        spread = clustered([sums], np.zeros(1))
        if len(sums) > 1 and float(spread.variance[0]) > _ROUNDING**2:
            reach = float(spread.reach(level)[0])
            interval = max(kappa - reach, -1.0), min(kappa + reach, 1.0)
    return PooledConsistency(
        kappa,
        observed,
        expected,
        len(a),
        (float(a.mean()), float(b.mean())),
        interval,
    )


@dataclass(frozen=True)
class _Answers:
    """Answers of a group, picture by picture."""

    right: FloatArray
    n: FloatArray

    @property
    def rate(self) -> FloatArray:
        return np.divide(self.right, self.n, out=np.zeros_like(self.right), where=self.n > 0)


def _pictures(
    right_a: ArrayLike, n_a: ArrayLike, right_b: ArrayLike | None, n_b: ArrayLike | None
) -> tuple[_Answers, _Answers, BoolArray]:
    """Both groups (the first twice where there is one), and the pictures that count."""
    if (right_b is None) != (n_b is None):
        raise InvalidInput("Right answers and answers of the second group belong together.")
    first = _Answers(np.asarray(right_a, dtype=np.float64), np.asarray(n_a, dtype=np.float64))
    second = first
    if right_b is not None and n_b is not None:
        second = _Answers(np.asarray(right_b, dtype=np.float64), np.asarray(n_b, dtype=np.float64))
    for group in (first, second):
        if group.right.shape != first.n.shape or group.n.shape != first.n.shape or group.right.ndim != 1:
            raise InvalidInput("Each column has one entry a picture.")
        if np.any(group.right > group.n) or np.any(group.right < 0):
            raise InvalidInput("A picture has at most as many right answers as answers.")
    known = first.n >= 2 if second is first else (first.n >= 1) & (second.n >= 1)
    return first, second, known


def _agreeing(first: _Answers, second: _Answers) -> FloatArray:
    """Share of pairs of answers that are both right or both wrong, picture by picture."""
    if second is not first:
        return first.rate * second.rate + (1.0 - first.rate) * (1.0 - second.rate)
    wrong = first.n - first.right
    pairs = first.n * (first.n - 1.0)
    alike = first.right * (first.right - 1.0) + wrong * (wrong - 1.0)
    return np.divide(alike, pairs, out=np.zeros_like(alike), where=pairs > 0)


def _kappa(observed: float, expected: float) -> float:
    """Agreement beyond expectation; 1 where all agree."""
    if 1.0 - expected <= _ROUNDING or observed >= 1.0 - _ROUNDING:
        return 1.0
    return (observed - expected) / (1.0 - expected)
