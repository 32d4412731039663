"""Permutation test of two performance curves that share neither originals nor participants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.curves.binning import bin_index
from analysis.curves.curve import CurveFit
from analysis.curves.resampling import resampled_sums
from analysis.curves.spline import fit_binned
from analysis.errors import GridMismatch, InvalidInput

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
        Mean difference of the curves on the range, refitted on common abscissae.
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
    most: int = 4999,
    exceedances: int = 20,
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
        Largest number of permutations.
    exceedances : int
        The test stops when so many permutations were at least as extreme as the observation.

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
    """
    if first.config.segments != second.config.segments or first.config.n_bins != second.config.n_bins:
        raise GridMismatch
    if trials[0].shares_with(trials[1]):
        raise InvalidInput("The samples share originals or participants; use the joint bootstrap instead.")
    design = _Exchange.of(first, second, trials)
    contrast = first.basis.integral_design(*span) / (span[1] - span[0])
    observed = float(design.differences(design.label[:, None].astype(np.uint8), contrast)[0])
    made = extreme = 0
    while made < most and extreme < exceedances:
        number = min(_BATCH, most - made)
        drawn = np.abs(design.differences(design.permuted(rng, number), contrast)) >= abs(observed) - 1e-12
        reached = np.flatnonzero(np.cumsum(drawn) + extreme >= exceedances)
        if len(reached):
            made += int(reached[0]) + 1
            extreme = exceedances
            break
        made += number
        extreme += int(drawn.sum())
    p = extreme / made if extreme >= exceedances else (1 + extreme) / (1 + made)
    return PermutationTest(observed, float(p), made)


@dataclass(frozen=True, eq=False)
class _Exchange:
    """Both samples on common abscissae, ready to be relabelled."""

    first: CurveFit
    second: CurveFit
    design: FloatArray
    cell: IntArray
    outcome: FloatArray
    cluster: IntArray
    label: NDArray[np.bool_]
    stratum: IntArray

    @classmethod
    def of(cls, first: CurveFit, second: CurveFit, trials: tuple[CurveTrials, CurveTrials]) -> _Exchange:
        place = np.concatenate([np.asarray(part.visual_change, dtype=np.float64) for part in trials])
        outcome = np.concatenate([np.asarray(part.correct, dtype=np.float64) for part in trials])
        images = np.concatenate([np.asarray(part.images).astype(str) for part in trials])
        sample = np.repeat([True, False], [len(np.asarray(part.correct)) for part in trials])
        _, cluster = np.unique(images, return_inverse=True)
        trials_of = np.bincount(cluster)
        mean_place = np.clip(np.bincount(cluster, weights=place) / trials_of, 0.0, 1.0)
        bins = first.config.n_bins
        occupied, cell = np.unique(bin_index(place, bins), return_inverse=True)
        abscissae = np.bincount(cell, weights=place) / np.bincount(cell)
        return cls(
            first=first,
            second=second,
            design=first.basis.step_design(np.concatenate([[0.0], abscissae])),
            cell=cell.astype(np.int64) + 1,
            outcome=outcome,
            cluster=cluster.astype(np.int64),
            label=np.bincount(cluster, weights=sample) > 0,
            stratum=bin_index(mean_place, bins),
        )

    def permuted(self, rng: np.random.Generator, number: int) -> NDArray[np.uint8]:
        """Labels permuted within strata, shape (n_originals, number); 1 = first sample."""
        labels = np.repeat(self.label[:, None].astype(np.uint8), number, axis=1)
        for stratum in np.unique(self.stratum):
            rows = np.flatnonzero(self.stratum == stratum)
            labels[rows] = rng.permuted(labels[rows], axis=0)
        return labels

    def differences(self, labels: NDArray[np.uint8], contrast: FloatArray) -> FloatArray:
        """First minus second curve, contrasted, for every column of labels."""
        heights = []
        # Under the hypothesis both curves lie near the observed ones: their middle is a start.
        start = self.design @ np.diff(-(self.first.coefficients + self.second.coefficients) / 2.0, append=0.0)
        for curve, weights in ((self.first, labels), (self.second, 1 - labels)):
            correct, count = resampled_sums(weights, self.cluster, self.cell, self.outcome, len(self.design))
            if curve.anchor.kind == "soft":
                correct[:, 0], count[:, 0] = curve.anchor.correct, curve.anchor.n
            fits = fit_binned(
                self.first.basis,
                self.design,
                correct,
                count,
                curve.smoothness,
                start_value=curve.anchor.value if curve.anchor.kind == "fixed" else None,
                start=np.clip(start, 0.0, 1.0),
            )
            heights.append(fits.coefficients @ contrast)
        return np.asarray(heights[0] - heights[1], dtype=np.float64)
