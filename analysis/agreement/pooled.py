"""Groups of observers over sparsely shared pictures: error consistency of a random answer with a random other one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import InvalidInput, TooFewResponses

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FloatArray = NDArray[np.float64]


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
        Percentile interval of kappa over resampled clusters of pictures.
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
    n_bootstrap: int = 0,
    rng: np.random.Generator | int | None = None,
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
        What is resampled: originals; by default each picture by itself.
    n_bootstrap, rng, level
        As in `error_consistency`.

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
    columns = np.stack([_agreeing(first, second)[known], first.rate[known], second.rate[known], np.ones(known.sum())])
    # Sums of every column in every cluster and stratum; a resampling weighs clusters.
    width = int(stratum.max()) + 1
    sums = _cluster_sums(columns, cluster, stratum, width)
    observed, expected, kappa = _pooled(np.asarray(sums.sum(axis=0), dtype=np.float64).reshape(1, 4, width))
    interval = None
    if n_bootstrap:
        generator = np.random.default_rng(0 if rng is None else rng)
        count = sums.shape[0]
        weights = generator.multinomial(count, np.full(count, 1.0 / count), size=n_bootstrap)
        replicates = _pooled((sums.T @ weights.T).T.reshape(n_bootstrap, 4, width))[2]
        lower, upper = np.quantile(replicates, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        interval = float(lower), float(upper)
    return PooledConsistency(
        float(kappa[0]),
        float(observed[0]),
        float(expected[0]),
        int(known.sum()),
        (float(columns[1].mean()), float(columns[2].mean())),
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
) -> tuple[_Answers, _Answers, NDArray[np.bool_]]:
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


def _cluster_sums(columns: FloatArray, cluster: NDArray[np.int64], stratum: NDArray[np.int64], width: int) -> csr_array:
    """Sum of column j over the pictures of cluster c and stratum s at (c, j * width + s)."""
    from scipy.sparse import csr_array

    rows = np.tile(cluster, len(columns))
    places = np.concatenate([j * width + stratum for j in range(len(columns))])
    return csr_array((columns.ravel(), (rows, places)), shape=(int(cluster.max()) + 1, len(columns) * width))


def _pooled(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Observed, expected and kappa from sums of shape (n, 4, strata): agreement, rates of both, pictures."""
    agreement, rate_a, rate_b, pictures = np.moveaxis(sums, 1, 0)
    p = np.divide(rate_a, pictures, out=np.zeros_like(rate_a), where=pictures > 0)
    q = np.divide(rate_b, pictures, out=np.zeros_like(rate_b), where=pictures > 0)
    total = pictures.sum(axis=1)
    observed = agreement.sum(axis=1) / total
    expected = (pictures * (p * q + (1.0 - p) * (1.0 - q))).sum(axis=1) / total
    return observed, expected, _kappa(observed, expected)


def _kappa(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """Agreement beyond expectation; 1 where all agree."""
    beyond = 1.0 - expected
    # Sums of shares reach 1 only up to rounding.
    certain = (beyond <= 1e-12) | (observed >= 1.0 - 1e-12)
    return np.divide(observed - expected, beyond, out=np.ones_like(beyond), where=~certain)
