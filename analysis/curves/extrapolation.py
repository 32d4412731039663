"""Where a curve was measured, where it was not, and what its area could be there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analysis.arrays import BoolArray, FloatArray
from analysis.curves.binning import Binning
from analysis.curves.categories import CategoryGap
from analysis.curves.config import CurveConfig, Sample
from analysis.curves.spline import SplineBasis
from analysis.curves.weighting import mass, weighted_integrals
from analysis.study.change_weights import ChangeWeights

Range = tuple[float, float]

#: A stretch longer than this with fewer answers than that is a gap.
LONGEST_UNMEASURED = 0.05
FEWEST_ANSWERS = 5
#: Answers of a category so near a gap of it say how high it is there.
NEAR = 0.15
#: Stands for the ends of the axis, beyond every answer.
_BEYOND = 1e-12


def unmeasured(sample: Sample, counted: BoolArray, config: CurveConfig) -> tuple[Range, ...]:
    """Gaps: stretches of the axis that hold too few answers to say how high the curve is.

    Parameters
    ----------
    sample : Sample
    counted : ndarray of bool, shape (n_trials,)
        Which trials of the curve stand in a bin that counts.
    config : CurveConfig

    Returns
    -------
    tuple of (float, float)
        Disjoint, in rising order; they begin and end where bins do, or at 0 and 1.

    Notes
    -----
    More than 0.05 with fewer than 5 answers: the longest such stretch first, then those on both sides of it, so that
    answers that lie thinly everywhere leave many short gaps. An anchor at 0 measures 0, trials on noise measure 1; a
    right anchor that is assumed (chance) measures nothing.
    """
    is_anchored, has_noise = sample.left.kind != "none", sample.noise is not None
    places = np.concatenate(
        [
            [-_BEYOND],
            np.zeros(FEWEST_ANSWERS * is_anchored),
            np.sort(sample.main.visual_change[counted]),
            np.ones(FEWEST_ANSWERS * has_noise),
            [1.0 + _BEYOND],
        ]
    )
    binning = Binning(config.n_bins, config.bin_rule)
    gaps = []
    for start, end in _longest_first(places):
        lower = 0.0 if start < 0.0 or (is_anchored and start == 0.0) else _edges(binning, start)[1]
        upper = 1.0 if end > 1.0 or (has_noise and end == 1.0) else _edges(binning, end)[0]
        if lower < upper:
            gaps.append((lower, upper))
    return tuple(gaps)


def _longest_first(places: FloatArray) -> list[Range]:
    """Longest stretch between places with fewer than 5 inside, and those on both sides of it, in rising order."""
    ends = np.minimum(np.arange(len(places)) + FEWEST_ANSWERS, len(places) - 1)
    lengths = places[ends] - places
    start = int(np.argmax(lengths))
    if lengths[start] <= LONGEST_UNMEASURED + 1e-9:
        return []
    end = int(ends[start])
    found = (float(places[start]), float(places[end]))
    return [*_longest_first(places[: start + 1]), found, *_longest_first(places[end:])]


def _edges(binning: Binning, place: float) -> Range:
    return binning.edges(int(binning.index([place])[0]))


def measured_range(sample: Sample, counted: BoolArray, gaps: tuple[Range, ...], config: CurveConfig) -> Range:
    """Range from the first to the last bin with answers, less gaps at the ends; an anchor measures 0, noise measures 1.

    Parameters
    ----------
    sample, counted, config
        As in `unmeasured`.
    gaps : tuple of (float, float)
        From `unmeasured`; where all of the axis is one, the range is that of the bins.
    """
    binning = Binning(config.n_bins, config.bin_rule)
    places = sample.main.visual_change[counted]
    lower = 0.0 if sample.left.kind != "none" else _edges(binning, float(places.min()))[0]
    upper = 1.0 if sample.noise is not None else _edges(binning, float(places.max()))[1]
    if not gaps or gaps == ((0.0, 1.0),):
        return lower, upper
    if gaps[0][0] == 0.0 and sample.left.kind == "none":
        lower = gaps[0][1]
    if gaps[-1][1] == 1.0 and sample.noise is None:
        upper = gaps[-1][0]
    return lower, upper


def extrapolated_share(gaps: tuple[Range, ...], measured: Range) -> float:
    """Share of [0, 1] outside the measured range, or in a gap within it."""
    lower, upper = measured
    return 1.0 - (upper - lower) + sum(end - start for start, end in gaps if lower <= start and end <= upper)


@dataclass(frozen=True, eq=False)
class MeanHeight:
    """Mean height of a curve over a range, and the lowest and the highest that its answers leave open.

    Parameters
    ----------
    design : ndarray, shape (3, K)
    constant : ndarray, shape (3,)
        Mean, lowest and highest are ``design @ coefficients + constant``.
    """

    design: FloatArray
    constant: FloatArray

    def bounds(self, coefficients: FloatArray) -> FloatArray:
        """The lowest and the highest mean, shape (2,), rising, within [0, 1]."""
        return np.sort(np.clip(self.design[1:] @ coefficients + self.constant[1:], 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Extent:
    """Where a curve was measured, and its mean height on the whole axis and on what was measured.

    Parameters
    ----------
    gaps : tuple of (float, float)
        From `unmeasured`.
    measured : (float, float)
        From `measured_range`.
    category_gaps : tuple of CategoryGap
        Outside ``gaps``.
    whole, inner : MeanHeight
        On [0, 1], and on ``measured``.
    weighted : MeanHeight or None
        On [0, 1] under the weights over visual change, where there are some.
    influence : ndarray, shape (n_trials, 3 len(means)), or None
        What each trial of the sample (clean trials, trials of the curve, trials on noise) adds to the errors of the
        three numbers of each of ``means``, beside its pull on the curve; None where no category lacks answers.
    """

    gaps: tuple[Range, ...]
    measured: Range
    category_gaps: tuple[CategoryGap, ...]
    whole: MeanHeight
    inner: MeanHeight
    weighted: MeanHeight | None
    influence: FloatArray | None

    @property
    def means(self) -> tuple[MeanHeight, ...]:
        """Those that there are."""
        return (self.whole, self.inner) if self.weighted is None else (self.whole, self.inner, self.weighted)


def extent_of(basis: SplineBasis, sample: Sample, counted: BoolArray, config: CurveConfig) -> Extent:
    """Where the curve of a sample was measured.

    Parameters
    ----------
    basis : SplineBasis
    sample, counted, config
        As in `unmeasured`.
    """
    gaps = unmeasured(sample, counted, config)
    measured = measured_range(sample, counted, gaps, config)
    lacking = _categories_outside(sample.category_gaps, gaps)
    weights = config.change_weights
    spans: list[tuple[Range, ChangeWeights | None]] = [((0.0, 1.0), None), (measured, None)]
    if weights is not None:
        spans.append(((0.0, 1.0), weights))
    means = [_mean_height(basis, sample, gaps, *span) for span in spans]
    influence = None
    if lacking:
        open_ = [_category_bounds(basis, sample, counted, lacking, *span) for span in spans]
        for mean, one in zip(means, open_, strict=True):
            mean.design[1:] -= one.design
            mean.constant[1:] += one.constant
        influence = np.hstack([np.pad(one.influence, ((0, 0), (1, 0))) for one in open_])
    return Extent(gaps, measured, lacking, means[0], means[1], None if weights is None else means[2], influence)


def _mean_height(
    basis: SplineBasis, sample: Sample, gaps: tuple[Range, ...], range_: Range, weights: ChangeWeights | None
) -> MeanHeight:
    """Means over a range, of the curve and of the lowest and the highest one that agree with it outside the gaps.

    Parameters
    ----------
    basis : SplineBasis
    sample : Sample
        Where its curve is held at 0, or at 1, it lies in a gap there below its start, and above its end.
    gaps : tuple of (float, float)
        From `unmeasured`.
    range_ : (float, float)
        Within [0, 1]; begins and ends in no gap, or is [0, 1].
    weights : ChangeWeights or None
        Over visual change; with a mass on the range.

    Notes
    -----
    A falling curve lies between its values on both sides of a gap; before the first answer it is at most 1, after the
    last at least 0.
    """
    lower, upper = range_
    design, whole = np.tile(weighted_integrals(basis, weights, lower, upper), (3, 1)), mass(weights, lower, upper)
    constant = np.zeros(3)
    for start, end in gaps:
        if start < lower or end > upper:
            continue
        across, open_ = weighted_integrals(basis, weights, start, end), mass(weights, start, end)
        at = basis.design([start, end]) * open_
        low_known = end < 1.0 or sample.right.kind != "none"
        high_known = start > 0.0 or sample.left.kind != "none"
        design[1] += (at[1] if low_known else 0.0) - across
        design[2] += (at[0] if high_known else 0.0) - across
        constant[2] += 0.0 if high_known else open_
    return MeanHeight(design / whole, constant / whole)


def _categories_outside(found: tuple[CategoryGap, ...], gaps: tuple[Range, ...]) -> tuple[CategoryGap, ...]:
    """What gaps of categories leave of themselves outside stretches that nobody answered."""
    left = list(found)
    for start, end in gaps:
        parts = [(one, (one.start, min(one.end, start)), (max(one.start, end), one.end)) for one in left]
        left = [replace(one, start=low, end=high) for one, *both in parts for low, high in both if low < high]
    return tuple(left)


def gaps_of_any(gaps: tuple[Range, ...], found: tuple[CategoryGap, ...]) -> tuple[Range, ...]:
    """Stretches in which at least one category was not measured, disjoint, in rising order."""
    joined: list[Range] = []
    for start, end in sorted([*gaps, *((one.start, one.end) for one in found)]):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return tuple(joined)


@dataclass(frozen=True, eq=False)
class _CategoryBounds:
    """By how much the lowest and the highest mean over a range move where categories lack answers.

    Parameters
    ----------
    design : ndarray, shape (K,)
        Taken off both: what the curve has there for these categories.
    constant : ndarray, shape (2,)
        What the categories could have, lowest and highest.
    influence : ndarray, shape (n_trials, 2)
        What each trial of the sample (clean trials, trials of the curve, trials on noise) adds to the errors of these.
    """

    design: FloatArray
    constant: FloatArray
    influence: FloatArray


def _category_bounds(
    basis: SplineBasis,
    sample: Sample,
    counted: BoolArray,
    found: tuple[CategoryGap, ...],
    range_: Range,
    weights: ChangeWeights | None,
) -> _CategoryBounds:
    """Bounds that monotonicity leaves for each category where it lacks answers, for its share of the mean.

    Parameters
    ----------
    basis : SplineBasis
    sample : Sample
    counted : ndarray of bool, shape (n_trials,)
        As in `unmeasured`.
    found : tuple of CategoryGap
        Outside stretches that nobody answered.
    range_, weights
        As in `_mean_height`.

    Returns
    -------
    _CategoryBounds

    Notes
    -----
    A category that falls is, in a gap, at most as high as its mean over the last 0.15 before it, and at least as high
    as its mean over the first 0.15 behind it: means of its own answers there, which bound it the more loosely the more
    it falls. Without such answers it lies below 1 and above 0. The means weigh answers as the curve does.
    """
    lower, upper = range_
    whole = mass(weights, lower, upper)
    shape = sum(len(part.correct) for part in sample.parts)
    bounds = _CategoryBounds(np.zeros(basis.size), np.zeros(2), np.zeros((shape, 2)))
    place = np.concatenate([part.visual_change for part in sample.parts])
    outcome = np.concatenate([part.correct for part in sample.parts])
    category = np.concatenate([part.categories for part in sample.parts if part.categories is not None])
    weight = np.concatenate([np.ones(len(p.correct)) if p.weights is None else p.weights for p in sample.parts])
    first = 0 if sample.clean is None else len(sample.clean.correct)
    usable = np.ones(shape, dtype=np.bool_)
    usable[first : first + len(counted)] = counted
    for one in found:
        start, end = max(one.start, lower), min(one.end, upper)
        if start >= end:
            continue
        share = mass(weights, start, end) / sample.categories / whole
        bounds.design[:] += weighted_integrals(basis, weights, start, end) / sample.categories / whole
        own = usable & (category == one.category)
        behind = own & (place >= one.end) & (place <= one.end + NEAR)
        before = own & (place <= one.start) & (place >= one.start - NEAR)
        for side, (rows, unknown) in enumerate(((behind, 0.0), (before, 1.0))):
            number = int(rows.sum())
            if not number:
                bounds.constant[side] += share * unknown
                continue
            mean = float(np.average(outcome[rows], weights=weight[rows]))
            bounds.constant[side] += share * mean
            # A residual from a mean of n answers is too small by (n - 1) / n.
            stretch = np.sqrt(number / max(number - 1.0, 1.0))
            residual = weight[rows] / weight[rows].sum() * (outcome[rows] - mean)
            bounds.influence[rows, side] += share * stretch * residual
    return bounds
