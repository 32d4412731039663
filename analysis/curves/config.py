"""How a curve is fitted, and what holds it at its ends: clean trials, chance, pure noise, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import FloatArray
from analysis.curves.binning import BinRule
from analysis.curves.bootstrap import Scheme
from analysis.curves.categories import CategoryGap, Standard, equal_categories
from analysis.curves.trials import CleanTrials, Ids, TrialColumns
from analysis.errors import InvalidInput, TooFewResponses
from analysis.study.analysis_plan import LEVEL
from analysis.study.change_weights import ChangeWeights

AnchorKind = Literal["none", "fixed", "soft"]

#: Level at which two bands of equal width just touch when their difference has p = 0.05: 2 Phi(1.96 / sqrt 2) - 1.
OVERLAP_LEVEL = 0.8342
#: Two observers may differ so much in the chance of a guess where the mixture of their trials' options differs.
_SAME_CHANCE = 0.01


@dataclass(frozen=True)
class CurveConfig:
    """How a curve is fitted; validates itself.

    Parameters
    ----------
    n_bins : int
        Equal bins of visual change (M).
    segments, degree : int
        Shape of the B-spline basis.
    label_space : int
        Number of labels between which the observer chose (16, or 1000 for a classifier's own classes).
    own_chance : float or None
        Mean chance of a right guess where trials have options of their own, in (0, 1); None: 1 / label_space.
    change_weights : ChangeWeights or None
        Weights over visual change under which the mean is given beside the area.
    level : float
        Level of intervals and of the pointwise band.
    simultaneous_level : float
        Level of the simultaneous band.
    n_bootstrap : int
        Refits per resampled unit; 0 for no bands.
    scheme : {"two-way", "image", "participant", "naive"} or None
        What is resampled; None when nothing is.
    method : str
        Name of the way in which the curve is drawn (`analysis.curves.methods.METHODS`).
    bin_rule : {"equal", "paper", "open"}
    smallest_bin : int
        Answers that a bin needs to count.
    """

    n_bins: int = 40
    segments: int = 20
    degree: int = 3
    label_space: int = 16
    level: float = LEVEL
    simultaneous_level: float = OVERLAP_LEVEL
    n_bootstrap: int = 0
    scheme: Scheme | None = None
    method: str = "spline"
    bin_rule: BinRule = "equal"
    smallest_bin: int = 1
    own_chance: float | None = None
    change_weights: ChangeWeights | None = None

    @property
    def chance(self) -> float:
        """Share right of whoever guesses."""
        return 1.0 / self.label_space if self.own_chance is None else self.own_chance

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> CurveConfig:
        """From plain values, as `CurveFit.to_dict` has them."""
        weights: Mapping[str, Any] = values.get("change_weights") or {}
        if not weights:
            return cls(**values)
        points = tuple((float(change), float(one)) for change, one in weights["points"])
        return cls(**{**values, "change_weights": ChangeWeights(points, weights["name"])})

    def chooses_alike(self, other: CurveConfig) -> bool:
        """Whether both observers chose between as many labels, and a guess was as often right to .01."""
        return self.label_space == other.label_space and abs(self.chance - other.chance) <= _SAME_CHANCE

    def __post_init__(self) -> None:
        if self.n_bins < 2:
            raise InvalidInput(f"A curve needs at least 2 bins, not {self.n_bins}.")
        if not (0.0 < self.level < 1.0 and 0.0 < self.simultaneous_level < 1.0):
            raise InvalidInput("Levels of bands lie strictly between 0 and 1.")
        if self.n_bootstrap < 0 or self.n_bootstrap == 1:
            raise InvalidInput(f"{self.n_bootstrap} bootstrap refits give no spread; ask for 0, or for 2 or more.")
        if self.label_space < 2:
            raise InvalidInput(f"A label space has at least 2 labels, not {self.label_space}.")
        if self.own_chance is not None and not 0.0 < self.own_chance < 1.0:
            raise InvalidInput(f"The chance of a right guess lies strictly between 0 and 1, not at {self.own_chance}.")


@dataclass(frozen=True)
class Anchor:
    """What holds the curve at an end of the axis."""

    kind: AnchorKind
    #: Fixed value, or rate of the trials there; None without an anchor.
    value: float | None = None
    #: Number of trials there (clean ones at 0, pure noise at 1).
    n: int = 0
    #: Sum of their outcomes.
    correct: float = 0.0


LeftAnchor = float | Literal["soft"] | None
RightAnchor = float | Literal["chance", "soft"] | None


@dataclass(frozen=True, kw_only=True)
class CurveSettings:
    """What is asked of a curve; `CurveConfig` says how it was then fitted.

    Parameters
    ----------
    anchor : None, float or "soft"
        None leaves s(0) free; a number fixes it; "soft" adds clean trials as observations at visual change 0: those
        that are given as such, or else the trials whose visual change is exactly 0.
    right_anchor : None, float, "chance" or "soft"
        None leaves s(1) free; a number fixes it, "chance" at that of a guess (right where misses are dropped; where
        they count as wrong, chance lies between 0 and that); "soft" adds trials on pure noise as observations at
        visual change 1: those that are given as such, or else the trials whose visual change is exactly 1.
    study_categories : sequence of str
        Categories that count whether or not they occur among the trials.
    n_bootstrap : int
        Refits per resampled unit; 0 for no intervals and bands.
    rng : numpy Generator, int or None
        Source of the bootstrap. Curves fitted with one integer (None counts as 0) are resampled jointly: the same
        original or participant is drawn equally often in all of them.
    scheme : {"two-way", "image", "participant", "naive"}, optional
        What is resampled; by default everything that has ids (both: two-way; none: naive), see ``scheme_reason``.
    method : str
        A name in `analysis.curves.methods.METHODS`.
    n_bins, smallest_bin, segments, degree : int, optional
        See `CurveConfig`; by default the method's own.
    label_space, own_chance, level, simultaneous_level, change_weights
        See `CurveConfig`.
    """

    anchor: LeftAnchor = None
    right_anchor: RightAnchor = None
    study_categories: Sequence[str] = ()
    n_bootstrap: int = 0
    rng: np.random.Generator | int | None = None
    scheme: Scheme | None = None
    method: str = "spline"
    n_bins: int | None = None
    smallest_bin: int | None = None
    segments: int | None = None
    degree: int | None = None
    label_space: int = 16
    own_chance: float | None = None
    level: float = LEVEL
    simultaneous_level: float = OVERLAP_LEVEL
    change_weights: ChangeWeights | None = None

    @property
    def chance(self) -> float:
        """Share right of whoever guesses."""
        return 1.0 / self.label_space if self.own_chance is None else self.own_chance


@dataclass(frozen=True, eq=False)
class Sample:
    """Trials of a curve, and the trials or values at its ends.

    Where their categories are known, the weights are those by which categories count equally.
    """

    main: TrialColumns
    clean: TrialColumns | None
    noise: TrialColumns | None
    left: Anchor
    right: Anchor
    #: how many categories count, and where one of them has no answers
    categories: int = 0
    category_gaps: tuple[CategoryGap, ...] = ()

    @property
    def parts(self) -> list[TrialColumns]:
        """Clean trials, trials of the curve, trials on noise: those that there are."""
        return [part for part in (self.clean, self.main, self.noise) if part is not None]

    @property
    def digests(self) -> list[str]:
        """sha256 of each part, empty for clean trials or noise that are not there (noise is left out then)."""
        digests = [self.clean.digest() if self.clean is not None else "", self.main.digest()]
        return digests if self.noise is None else [*digests, self.noise.digest()]


def read_sample(
    table: TrialColumns, settings: CurveSettings, *, clean: CleanTrials | None = None, noise: CleanTrials | None = None
) -> Sample:
    """Split trials into those of the curve and those at its ends.

    Parameters
    ----------
    table : TrialColumns
    settings : CurveSettings
    clean, noise
        As in `analysis.curves.fit.fit_curve`.

    Raises
    ------
    InvalidInput
        If anchors and trials contradict each other.
    TooFewResponses
        If no trial on corrupted pictures is left.
    """
    anchor, right_anchor = settings.anchor, settings.right_anchor
    if anchor != "soft" and clean is not None:
        raise InvalidInput('Clean trials are given, but the anchor is not "soft".')
    if right_anchor != "soft" and noise is not None:
        raise InvalidInput('Trials on noise are given, but the right anchor is not "soft".')
    left, right = Anchor("none"), Anchor("none")
    clean_trials = noise_trials = None
    if anchor == "soft":
        table, clean_trials = _end(table, clean, 0.0)
    elif anchor is not None:
        left = Anchor("fixed", float(anchor))
        if not 0.0 < float(anchor) <= 1.0:
            raise InvalidInput(f"A fixed anchor lies above 0 and at most at 1, not at {anchor}.")
    if right_anchor == "soft":
        table, noise_trials = _end(table, noise, 1.0)
    elif right_anchor is not None:
        value = settings.chance if right_anchor == "chance" else float(right_anchor)
        if not 0.0 <= value < 1.0:
            raise InvalidInput(f"A fixed right anchor lies at 0 or above, and below 1, not at {value}.")
        right = Anchor("fixed", value)
    if left.kind == right.kind == "fixed" and (right.value or 0.0) >= (left.value or 0.0):
        raise InvalidInput(
            f"A falling curve cannot go from {left.value} to {right.value}: the right anchor is too high."
        )
    if not len(table.correct):
        raise TooFewResponses("All trials are clean; a curve needs trials on corrupted pictures.")
    sample = _weighed(Sample(table, clean_trials, noise_trials, left, right), settings.study_categories)
    return replace(
        sample,
        left=left if sample.clean is None else _measured(sample.clean),
        right=right if sample.noise is None else _measured(sample.noise),
    )


def _weighed(sample: Sample, study: Sequence[str]) -> Sample:
    """With weights by which categories count equally, along the curve and at its ends."""
    if sample.main.categories is None:
        return sample
    known = _standard(sample.main, sample.main.categories, study)
    ends = [
        (part, Standard(None) if part is None or part.categories is None else _standard(part, part.categories, ()))
        for part in (sample.clean, sample.noise)
    ]
    sample = replace(sample, categories=known.number, category_gaps=known.gaps)
    if sample.main.weights is None and known.factors is None and all(own.factors is None for _, own in ends):
        return sample
    clean, noise = (None if part is None else _times(part, own.factors) for part, own in ends)
    return replace(sample, main=_times(sample.main, known.factors), clean=clean, noise=noise)


def _standard(part: TrialColumns, categories: NDArray[np.str_], study: Sequence[str]) -> Standard:
    return equal_categories(part.visual_change, categories, pictures=part.images, weights=part.weights, study=study)


def _times(part: TrialColumns, factors: FloatArray | None) -> TrialColumns:
    """With weights, multiplied where there are factors."""
    base = np.ones(len(part.correct)) if part.weights is None else part.weights
    return replace(part, weights=base if factors is None else base * factors)


def _end(table: TrialColumns, given: CleanTrials | None, place: float) -> tuple[TrialColumns, TrialColumns]:
    """Trials of the curve, and those at one end: given, or else found among the trials by their visual change."""
    what, many = ("clean trial", "clean trials") if place == 0.0 else ("trial on noise", "trials on noise")
    if given is None:
        rows = table.visual_change == place
        if not rows.any():
            raise InvalidInput(f"A soft anchor needs {many}: pass them, or trials whose visual change is {place:.0f}.")
        return table.select(~rows), table.select(rows)
    places: ArrayLike = np.full(np.asarray(given.correct).shape, place)
    ids: tuple[Ids | None, Ids | None] = given.participants, given.images
    trials = TrialColumns.read(places, given.correct, *ids, what, given.weights, given.categories)
    for name in ("participants", "images", "weights", "categories"):
        if (getattr(table, name) is None) != (getattr(trials, name) is None):
            told = name if name in ("weights", "categories") else f"Ids of {name}"
            raise InvalidInput(f"{told.capitalize()} are given for only one of the trials and the {many}.")
    return table, trials


def _measured(trials: TrialColumns) -> Anchor:
    number = len(trials.correct)
    if trials.weights is not None:
        rate = float(np.average(trials.correct, weights=trials.weights))
        return Anchor("soft", rate, number, rate * number)
    total = float(trials.correct.sum())
    return Anchor("soft", total / number, number, total)
