"""Groups of observers over sparsely shared pictures: error consistency of a random answer with a random other one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from analysis.arrays import BoolArray, FloatArray
from analysis.claims.agreement import ENOUGH_IN_CONDITION
from analysis.errors import InvalidInput, TooFewResponses
from analysis.study.analysis_plan import LEVEL

#: Sums of shares reach 1 only up to rounding.
_ROUNDING = 1e-12
#: A stratum with fewer common pictures is left out: chance within it would hang on a few answers.
LEAST_IN_STRATUM = ENOUGH_IN_CONDITION
#: The interval is extended to 0 where permutations within strata reach as much more often than this.
_ALPHA = 0.05
#: Permutations, and how many for how many answers.
_MOST_DRAWS, _LEAST_DRAWS, _ANSWERS_DRAWN = 999, 199, 20_000_000


@dataclass(frozen=True)
class PooledConsistency:
    """Error consistency of two groups of observers, or within one, over sparsely shared pictures.

    Parameters
    ----------
    kappa, observed, expected : float
        As in `ErrorConsistency`, averaged over pictures; expected within each stratum, from different pictures.
    pictures : int
        Pictures that count: answered by both groups, or by two people of the one group, in strata that are large
        enough.
    accuracies : tuple of float
        Accuracies on these pictures.
    interval : tuple of float or None
        Interval of kappa over clusters of pictures, for these observers; None where kappa has no spread, and where it
        is not stratified.
    is_stratified : bool
        False where no stratum holds `LEAST_IN_STRATUM` common pictures: kappa then includes shared difficulty, of
        strata as well as of pictures, and is no ceiling of anything.
    strata, left_out : int
        Strata that count, and common pictures in those that are too small.
    """

    kappa: float
    observed: float
    expected: float
    pictures: int
    accuracies: tuple[float, float]
    interval: tuple[float, float] | None = None
    is_stratified: bool = True
    strata: int = 1
    left_out: int = 0


def pooled_consistency(
    right_a: ArrayLike,
    n_a: ArrayLike,
    right_b: ArrayLike | None = None,
    n_b: ArrayLike | None = None,
    *,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    level: float = LEVEL,
    seed: int = 0,
) -> PooledConsistency:
    """Error consistency of a random answer of one group with a random answer of the other, picture by picture.

    Parameters
    ----------
    right_a, n_a : array-like of int, shape (n,)
        Right answers and answers of the first group to picture i.
    right_b, n_b : array-like of int, shape (n,), optional
        The same of the second group; without them two different answers of the first group are compared.
    strata : array-like, shape (n,), optional
        Condition of each picture; what independent observers would reach is computed within each. By default all
        pictures are of one condition.
    clusters : array-like, shape (n,), optional
        What was drawn: originals; by default each picture by itself.
    level : float
        Level of the interval, in (0, 1).
    seed : int
        Of the permutations.

    Returns
    -------
    PooledConsistency

    Raises
    ------
    InvalidInput
        If the columns differ in length, or a picture has more right answers than answers.
    TooFewResponses
        If fewer than two pictures were answered by both groups (or twice within the one).

    Notes
    -----
    After Geirhos, Meding and Wichmann (2020), eqs. 1-3, with the observed consistency of a picture as its mean over
    all pairs of answers (a U-statistic), so that pictures, not answers, weigh the same.

    Differs from eq. 2: chance is the mean over pairs of answers to *different* pictures of a stratum, also a
    U-statistic. The product of the accuracies contains each picture with itself; in a stratum of n pictures it takes
    1 / n of what observers share, and all of it where n is 1. Strata of fewer than `LEAST_IN_STRATUM` pictures are left
    out. Where none is larger, kappa is over all pictures as one stratum, without an interval.

    The interval is t over the jackknife of clusters. It is extended to 0 where the observed minus the expected
    consistency is no larger, either way, than under permutations of answers within strata (p > .05): with few pictures
    the jackknife alone is too narrow. Independence means given the stratum.
    """
    first, second, known = _pictures(right_a, n_a, right_b, n_b)
    chosen, stratum, cluster, is_stratified = _in_strata(known, strata, clusters)
    columns = _Columns.of(first, second, chosen)
    observed, expected = (float(one) / len(chosen) for one in columns.sums(stratum))
    kappa = _kappa(observed, expected)
    interval = None
    if is_stratified and 1.0 - expected > _ROUNDING:
        interval = _jackknifed(columns, stratum, cluster, kappa, level)
        if interval is not None and not interval[0] <= 0.0 <= interval[1]:
            p = _permuted(first.at(chosen), second.at(chosen), first is second, stratum, observed - expected, seed)
            if p > _ALPHA:
                interval = min(interval[0], 0.0), max(interval[1], 0.0)
    return PooledConsistency(
        kappa,
        observed,
        expected,
        len(chosen),
        (float(columns.a.mean()), float(columns.b.mean())),
        interval,
        is_stratified,
        int(stratum.max()) + 1 if is_stratified else 0,
        int(known.sum()) - len(chosen),
    )


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Pooled kappa of two groups of observers, and what it is without each cluster of pictures.

    Parameters
    ----------
    kappa : float
    without : ndarray, shape (clusters,)
    clusters : ndarray, shape (clusters,)
        Their names, sorted.
    pictures : int
    """

    kappa: float
    without: FloatArray
    clusters: NDArray[np.generic]
    pictures: int


def leave_out_clusters(
    right_a: ArrayLike, n_a: ArrayLike, right_b: ArrayLike, n_b: ArrayLike, *, strata: ArrayLike, clusters: ArrayLike
) -> LeftOut | None:
    """The kappa of `pooled_consistency` without one cluster after the other, to compare models on the same pictures.

    Parameters
    ----------
    right_a, n_a, right_b, n_b, strata, clusters
        As in `pooled_consistency`.

    Returns
    -------
    LeftOut or None
        None where kappa says nothing: no stratum is large enough, a group is always right or always wrong on these
        pictures, or kappa is undefined without some cluster.

    Raises
    ------
    InvalidInput, TooFewResponses
        As `pooled_consistency`.
    """
    first, second, known = _pictures(right_a, n_a, right_b, n_b)
    chosen, stratum, cluster, is_stratified = _in_strata(known, strata, clusters)
    columns = _Columns.of(first, second, chosen)
    if not is_stratified or any(own.min() == own.max() and own[0] in (0.0, 1.0) for own in (columns.a, columns.b)):
        return None
    without = _without_each(columns, stratum, cluster)
    if without is None:
        return None
    observed, expected = (float(one) / len(chosen) for one in columns.sums(stratum))
    return LeftOut(_kappa(observed, expected), without, np.unique(np.asarray(clusters)[chosen]), len(chosen))


def _in_strata(
    known: BoolArray, strata: ArrayLike | None, clusters: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], bool]:
    """Pictures that count, stratum and cluster of each, and whether they are stratified."""
    if known.sum() < 2:
        raise TooFewResponses("Fewer than two pictures were answered by both.")
    labels = np.zeros(len(known), dtype=np.int64) if strata is None else np.asarray(strata)
    groups = np.arange(len(known)) if clusters is None else np.asarray(clusters)
    if len(labels) != len(known) or len(groups) != len(known):
        raise InvalidInput("Strata and clusters have one entry a picture.")
    _, stratum, sizes = np.unique(labels[known], return_inverse=True, return_counts=True)
    kept = sizes[stratum] >= LEAST_IN_STRATUM
    is_stratified = bool(kept.any())
    if not is_stratified:
        kept, stratum = np.ones(len(kept), dtype=np.bool_), np.zeros(len(kept), dtype=np.int64)
    chosen = np.flatnonzero(known)[kept]
    _, stratum = np.unique(stratum[kept], return_inverse=True)
    _, cluster = np.unique(groups[chosen], return_inverse=True)
    return chosen, stratum, cluster, is_stratified


@dataclass(frozen=True)
class _Answers:
    """Answers of a group, picture by picture."""

    right: FloatArray
    n: FloatArray

    def at(self, chosen: NDArray[np.intp]) -> _Answers:
        """Those to these pictures."""
        return _Answers(self.right[chosen], self.n[chosen])

    @property
    def rate(self) -> FloatArray:
        return np.divide(self.right, self.n, out=np.zeros_like(self.right), where=self.n > 0)


@dataclass(frozen=True)
class _Columns:
    """Shares right of both groups, and of pairs of answers that agree, picture by picture, shape (n,)."""

    a: FloatArray
    b: FloatArray
    agreeing: FloatArray

    @classmethod
    def of(cls, first: _Answers, second: _Answers, chosen: NDArray[np.intp]) -> _Columns:
        agreeing = _agreeing(first, second)[chosen]
        return cls(first.rate[chosen], second.rate[chosen], agreeing)

    def parts(self) -> FloatArray:
        """Per picture what sums over a stratum are made of, shape (n, 5): 1, both shares, their product, agreement."""
        return np.stack([np.ones(len(self.a)), self.a, self.b, self.a * self.b, self.agreeing], axis=1)

    def sums(self, stratum: NDArray[np.intp]) -> tuple[float, float]:
        """Observed and expected consistency, each summed over pictures."""
        observed, expected = _of_strata(_added(self.parts(), stratum, int(stratum.max()) + 1))
        return float(observed.sum()), float(expected.sum())


def _added(parts: FloatArray, index: NDArray[np.intp], number: int) -> FloatArray:
    """Sums of rows by index, shape (number, columns)."""
    return np.stack([np.bincount(index, column, number) for column in parts.T], axis=1)


def _of_strata(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Observed and expected consistency of each stratum, times its pictures; 0 where there are not two."""
    n, a, b, both, agreeing = sums.T
    different = 2.0 * (a * b - both) + (n - 1.0) * (n - a - b)
    is_known = n > 1.5
    expected = np.divide(different, n - 1.0, out=np.zeros_like(n), where=is_known)
    return np.where(is_known, agreeing, 0.0), expected


def _jackknifed(
    columns: _Columns, stratum: NDArray[np.intp], cluster: NDArray[np.intp], kappa: float, level: float
) -> tuple[float, float] | None:
    """Interval of kappa from leaving out one cluster after the other; None where that changes nothing."""
    without = _without_each(columns, stratum, cluster)
    if without is None:
        return None
    number = len(without)
    error = float(np.sqrt((number - 1.0) / number * ((without - without.mean()) ** 2).sum()))
    if error <= _ROUNDING:
        return None
    reach = float(stdtrit(number - 1.0, (1.0 + level) / 2.0)) * error
    return max(kappa - reach, -1.0), min(kappa + reach, 1.0)


def _without_each(columns: _Columns, stratum: NDArray[np.intp], cluster: NDArray[np.intp]) -> FloatArray | None:
    """Kappa without each cluster; None where there is one cluster, or kappa is undefined without some."""
    number = int(cluster.max()) + 1
    if number < 2:
        return None
    n_strata = int(stratum.max()) + 1
    cells, cell = np.unique(cluster * n_strata + stratum, return_inverse=True)
    own, whole = _added(columns.parts(), cell, len(cells)), _added(columns.parts(), stratum, n_strata)
    place, left = cells % n_strata, cells // n_strata
    before, after = _of_strata(whole), _of_strata(whole[place] - own)
    observed, expected = (
        was.sum() + np.bincount(left, now - was[place], number) for was, now in zip(before, after, strict=True)
    )
    # Strata that are left with one picture count no more.
    remaining = whole[place, 0] - own[:, 0]
    lost = np.where(remaining > 1.5, own[:, 0], whole[place, 0])
    n = len(stratum) - np.bincount(left, lost, number)
    known = n - expected > _ROUNDING * np.maximum(n, 1.0)
    if not known.all():
        return None
    return np.asarray((observed - expected) / (n - expected))


def _permuted(
    first: _Answers, second: _Answers, is_one: bool, stratum: NDArray[np.intp], excess: float, seed: int
) -> float:
    """Share of permutations of answers within strata whose consistency is as far from chance, this one among them."""
    rng = np.random.default_rng(seed)
    n_answers = int(first.n.sum()) if is_one else len(stratum)
    draws = int(np.clip(_ANSWERS_DRAWN // max(n_answers, 1), _LEAST_DRAWS, _MOST_DRAWS))
    found = _excess_within(first, stratum, rng, draws) if is_one else _excess(first, second, stratum, rng, draws)
    return float(1 + (np.abs(found) >= abs(excess) - _ROUNDING).sum()) / (draws + 1)


def _excess(
    first: _Answers, second: _Answers, stratum: NDArray[np.intp], rng: np.random.Generator, draws: int
) -> FloatArray:
    """Observed minus expected consistency where the second group's answers change places, shape (draws,).

    Times the pictures it is ``2 sum_s n_s / (n_s - 1) (sum_i a_i b_i - sum_i a_i sum_i b_i / n_s)``: a permutation
    changes the products alone.
    """
    sizes = np.bincount(stratum).astype(np.float64)
    weight = (sizes / (sizes - 1.0))[stratum]
    means = (np.bincount(stratum, second.rate) / sizes)[stratum]
    by_stratum = np.argsort(stratum, kind="stable")
    pull, own = (weight * first.rate)[by_stratum], second.rate[by_stratum]
    found = np.array([pull @ own[_shuffled(stratum[by_stratum], rng)] for _ in range(draws)])
    return np.asarray(2.0 * (found - (weight * first.rate) @ means) / len(stratum))


def _excess_within(group: _Answers, stratum: NDArray[np.intp], rng: np.random.Generator, draws: int) -> FloatArray:
    """The same where single answers of one group change places, shape (draws,)."""
    slot = np.repeat(np.arange(len(stratum)), group.n.astype(np.int64))
    slot = slot[np.argsort(stratum[slot], kind="stable")]
    answers = np.concatenate(_single(group)).astype(np.float64)
    answers = answers[np.argsort(np.repeat(stratum, group.n.astype(np.int64)), kind="stable")]
    found = []
    for _ in range(draws):
        right = np.bincount(slot, answers[_shuffled(stratum[slot], rng)], len(stratum))
        drawn = _Answers(right.astype(np.float64), group.n)
        observed, expected = _Columns(drawn.rate, drawn.rate, _agreeing(drawn, drawn)).sums(stratum)
        found.append((observed - expected) / len(stratum))
    return np.array(found)


def _shuffled(labels: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Places in an order that is random within equal labels, which stand together."""
    return np.lexsort((rng.random(len(labels)), labels))


def _single(group: _Answers) -> list[FloatArray]:
    """Answers one by one, picture by picture: right ones first."""
    return [np.arange(n) < right for right, n in zip(group.right, group.n.astype(np.int64), strict=True)]


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
