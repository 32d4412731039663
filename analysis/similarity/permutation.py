"""Permutation test of two performance curves that share neither originals nor participants."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.curves.binning import bin_index
from analysis.curves.curve import CurveFit
from analysis.curves.spline import fit_binned
from analysis.errors import GridMismatch, InvalidInput

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_BATCH = 250


@dataclass(frozen=True, eq=False)
class CurveTrials:
    """The corrupted trials behind a curve.

    Parameters
    ----------
    visual_change, correct : array-like, shape (n,)
    images, participants : array-like, shape (n,)
        Ids of originals and participants.
    """

    visual_change: ArrayLike
    correct: ArrayLike
    images: ArrayLike
    participants: ArrayLike

    def shares_with(self, other: CurveTrials) -> bool:
        """Whether an original or a participant stands in both samples."""
        return any(
            bool(set(np.asarray(mine).astype(str)) & set(np.asarray(theirs).astype(str)))
            for mine, theirs in ((self.images, other.images), (self.participants, other.participants))
        )


@dataclass(frozen=True)
class PermutationTest:
    """Outcome of a sequential permutation test.

    Parameters
    ----------
    statistic : float
        Mean difference of the curves on the range, refitted on common abscissae (see `permutation_test`).
    p : float
    permutations : int
        How many were made before the test stopped.
    """

    statistic: float
    p: float
    permutations: int


def permutation_test(
    first: CurveFit,
    second: CurveFit,
    trials: tuple[CurveTrials, CurveTrials],
    *,
    span: tuple[float, float],
    rng: np.random.Generator,
    most: int = 999,
    exceedances: int = 20,
    stretch: float = 1.0,
) -> PermutationTest:
    """Test whether two curves are one, by exchanging originals between the samples within bins of visual change.

    Parameters
    ----------
    first, second : CurveFit
        The fits; they give smoothness and anchors.
    trials : tuple of CurveTrials
        The trials of each.
    span : tuple of float
        Range of visual change over which the curves are compared.
    rng : numpy Generator
    most : int
        Largest number of permutations; the smallest possible p is ``1 / (1 + most)``.
    exceedances : int
        The test stops when so many permutations were at least as extreme as the observation.
    stretch : float
        Permuted differences are multiplied by it, at least 1: how much wider people, who do not move with originals,
        make the difference.

    Returns
    -------
    PermutationTest

    Raises
    ------
    GridMismatch
        If the curves stand on different knots or bins.
    InvalidInput
        If the samples share an original or a participant (their labels are then not exchangeable).

    Notes
    -----
    Sequential Monte Carlo p-value of Besag and Clifford (1991), Biometrika 78, 301-304. An original moves with all
    its trials, within the stratum of its mean visual change; every stratum keeps its number of originals per sample.
    The statistic is the mean difference of monotone weighted least-squares fits whose weights are those of the two
    curves' middle (one step of the reweighting by which curves are fitted): as valid as the difference of the full
    fits, equal to it within a fraction of its standard error, and five times cheaper.
    """
    if first.config.segments != second.config.segments or first.config.n_bins != second.config.n_bins:
        raise GridMismatch
    if trials[0].shares_with(trials[1]):
        raise InvalidInput("The samples share originals or participants; use the joint bootstrap instead.")
    design = _Exchange.of(first, second, trials)
    contrast = first.basis.integral_design(*span) / (span[1] - span[0])
    observed = float(design.differences(design.of_first[:, None], contrast)[0])
    made = extreme = 0
    while made < most and extreme < exceedances:
        number = min(_BATCH, most - made)
        permuted = stretch * np.abs(design.differences(design.permuted(rng, number), contrast))
        drawn = permuted >= abs(observed) - 1e-12
        reached = np.flatnonzero(np.cumsum(drawn) + extreme >= exceedances)
        if len(reached):
            made += int(reached[0]) + 1
            extreme = exceedances
            break
        made += number
        extreme += int(drawn.sum())
    p = extreme / made if extreme >= exceedances else (1 + extreme) / (1 + made)
    return PermutationTest(observed, float(p), made)


def permutations_needed(comparisons: int, alpha: float = 0.05) -> int:
    """Permutations after which a p-value can pass Holm's first step with room to spare, at least 999."""
    return max(999, int(np.ceil(2.5 * comparisons / alpha)))


@dataclass(frozen=True, eq=False)
class _Exchange:
    """Both samples on common abscissae, ready to be relabelled.

    Originals of one stratum whose trials fall into the same cells with the same outcomes cannot be told apart by any
    statistic: they form a kind, and a permutation is how many of each kind go to the first sample.
    """

    first: CurveFit
    second: CurveFit
    design: FloatArray
    #: Trials and right answers of one original of each kind, shape (n_cells, n_kinds).
    trials: csr_array
    correct: csr_array
    #: Originals of each kind, in both samples and in the first one, shape (n_kinds,).
    size: IntArray
    of_first: IntArray
    #: Kinds of each stratum, as slices: kinds are sorted by stratum.
    strata: tuple[slice, ...]

    @classmethod
    def of(cls, first: CurveFit, second: CurveFit, trials: tuple[CurveTrials, CurveTrials]) -> _Exchange:
        from scipy.sparse import csr_array

        place = np.concatenate([np.asarray(part.visual_change, dtype=np.float64) for part in trials])
        outcome = np.concatenate([np.asarray(part.correct, dtype=np.float64) for part in trials])
        images = np.concatenate([np.asarray(part.images).astype(str) for part in trials])
        sample = np.repeat([True, False], [len(np.asarray(part.correct)) for part in trials])
        _, cluster = np.unique(images, return_inverse=True)
        mean_place = np.clip(np.bincount(cluster, weights=place) / np.bincount(cluster), 0.0, 1.0)
        bins = first.config.n_bins
        stratum = bin_index(mean_place, bins)
        occupied, cell = np.unique(bin_index(place, bins), return_inverse=True)
        abscissae = np.bincount(cell, weights=place) / np.bincount(cell)
        # Cell 0 is visual change 0, where the anchors stand.
        kind, member = _kinds(stratum, cluster, cell + 1, outcome)
        is_first = np.bincount(cluster, weights=sample) > 0
        size = np.bincount(kind)
        starts = np.flatnonzero(np.diff(stratum[member], prepend=-1))
        one = np.isin(cluster, member)
        shape = (len(occupied) + 1, len(size))
        where = (cell[one] + 1, kind[cluster[one]])
        counted, right = csr_array((np.ones(one.sum()), where), shape), csr_array((outcome[one], where), shape)
        return cls(
            first=first,
            second=second,
            design=first.basis.step_design(np.concatenate([[0.0], abscissae])),
            trials=counted,
            correct=right,
            size=size,
            of_first=np.bincount(kind, weights=is_first).astype(np.int64),
            strata=tuple(slice(*ends) for ends in pairwise([*starts.tolist(), len(size)])),
        )

    def permuted(self, rng: np.random.Generator, number: int) -> IntArray:
        """Originals of each kind in the first sample, redrawn within strata, shape (n_kinds, number)."""
        drawn = np.empty((len(self.size), number), dtype=np.int64)
        for kinds in self.strata:
            size, wanted = self.size[kinds], int(self.of_first[kinds].sum())
            method: Literal["marginals", "count"] = "marginals" if 4 * len(size) < wanted else "count"
            drawn[kinds] = rng.multivariate_hypergeometric(size, wanted, size=number, method=method).T
        return drawn

    def differences(self, of_first: IntArray, contrast: FloatArray) -> FloatArray:
        """First minus second curve, contrasted, for every column of counts."""
        heights = []
        middle = (self.first.coefficients + self.second.coefficients) / 2.0
        steps = np.append(-np.diff(middle), middle[-1])
        start = np.clip(self.design @ steps, 0.0, 1.0)
        for curve, numbers in ((self.first, of_first), (self.second, self.size[:, None] - of_first)):
            weights = numbers.astype(np.float64)
            correct, count = (self.correct @ weights).T.copy(), (self.trials @ weights).T.copy()
            if curve.anchor.kind == "soft":
                correct[:, 0], count[:, 0] = curve.anchor.correct, curve.anchor.n
            fits = fit_binned(
                self.first.basis,
                self.design,
                correct,
                count,
                curve.smoothness,
                start_value=curve.anchor.value if curve.anchor.kind == "fixed" else None,
                start=start,
                falling=steps > 1e-9,
                reweightings=1,
            )
            heights.append(fits.coefficients @ contrast)
        return np.asarray(heights[0] - heights[1], dtype=np.float64)


def _kinds(stratum: IntArray, cluster: IntArray, cell: IntArray, outcome: FloatArray) -> tuple[IntArray, IntArray]:
    """Kind of every original, shape (n_originals,), sorted by stratum; and one original of each kind."""
    order = np.lexsort((outcome, cell, cluster))
    rows = np.stack([cell.astype(np.float64), outcome], axis=1)[order]
    ends = np.cumsum(np.bincount(cluster))
    patterns = [stratum[number].tobytes() + part.tobytes() for number, part in enumerate(np.split(rows, ends[:-1]))]
    numbers: dict[bytes, int] = {}
    found = np.array([numbers.setdefault(pattern, len(numbers)) for pattern in patterns])
    member = np.unique(found, return_index=True)[1]
    by_stratum = np.argsort(stratum[member], kind="stable")
    rank = np.empty_like(by_stratum)
    rank[by_stratum] = np.arange(len(by_stratum))
    return rank[found], member[by_stratum]
