"""Classifiers beside people: on one corruption, and on average over all."""

from __future__ import annotations

from typing import Literal

from analysis.findings.model.entry import LEVEL, ComparisonName, Entry, Interval, Property

Word = Literal["matches", "differs", "undecided"]
Direction = Literal["above", "below", "crosses"]


class Indices(Entry):
    """A classifier's curve beside the human one.

    Attributes
    ----------
    hmri : float
        Human-Relative Model Robustness Index: the share of the human area that the classifier reaches too, in [0, 1].
    mrsi : float
        Model Robustness Superiority Index: the share of the classifier's area above the human curve, in [0, 1].
    human_area, classifier_area : float
        Areas under the curves.
    human_lead, classifier_lead : float
        Area by which the human curve lies above the classifier's, and the other way round.
    level : float
        Level of the intervals.
    hmri_interval, mrsi_interval, human_lead_interval, classifier_lead_interval, area_difference_interval : tuple
        Percentile intervals of the joint bootstrap (area difference: human minus classifier); None without refits.
        Where neither observer is shown to exceed the other somewhere, the interval of that lead reaches down to 0
        (and MRSI's with it, HMRI's up to 1).
    exceeds, falls_short : tuple of (float, float) or None
        Ranges of visual change where the classifier was shown to be above people, and below: the windows of the
        verdict. None where there is no verdict. MRSI is positive by noise alone: only these ranges show that a
        classifier exceeds people.
    """

    hmri: float
    mrsi: float
    human_area: float
    classifier_area: float
    human_lead: float
    classifier_lead: float
    level: float = LEVEL
    hmri_interval: Interval | None = None
    mrsi_interval: Interval | None = None
    human_lead_interval: Interval | None = None
    classifier_lead_interval: Interval | None = None
    area_difference_interval: Interval | None = None
    exceeds: tuple[Interval, ...] | None = None
    falls_short: tuple[Interval, ...] | None = None


class Span(Entry):
    """A range of the axis."""

    range: Interval


class CommonRange(Indices, Span):
    """The same over the range that both measured."""


class HmriAndMrsi(Entry):
    """Both indices by another choice of trials."""

    hmri: float
    mrsi: float


class FullSet(HmriAndMrsi):
    """A classifier on all its pictures, beside people on those that they saw."""

    classifier_area: float
    n: int


class CorruptionError(Entry):
    """Mean error of a classifier over that of people."""

    value: float
    interval: Interval | None


class WindowMean(Span):
    """The difference averaged over a window: model minus people, with its 90 % interval."""

    difference: float
    lower: float
    upper: float
    #: after the correction over models, corruptions and windows
    significant: bool


class ModelVerdict(Entry):
    """Whether a model matches people or differs from them, in accuracy.

    Attributes
    ----------
    word : {"matches", "differs", "undecided"}
        What was shown; "matches" where both were (a difference within the margins).
    statement : str
        The same as it is printed.
    matches, differs : bool
    direction : {"above", "below", "crosses"} or None
        How it differs.
    difference : float
        Mean accuracy of the model minus that of people over everything measured.
    interval : tuple of float
        Its two-sided interval at the level of the analysis.
    """

    word: Word
    statement: str
    matches: bool
    differs: bool
    direction: Direction | None
    difference: float
    interval: Interval


class VerdictOnOne(ModelVerdict, Span):
    """The same on one corruption.

    Attributes
    ----------
    range : tuple of float
        Everything measured, from start to end.
    gaps : tuple of (float, float)
        Stretches between that were not.
    windows : tuple of WindowMean
    margin, window_margin, window : float
        Of the mean difference, of its windows, and how wide these are.
    attentive : float
        Lower bound of the share of people's answers that came from looking; under .8 nothing matches.
    answers, answers_to_match, answers_to_differ : int
        Answers of people, and how many would show a model without any difference to match, and one that differs by
        .05 in area to differ (with power .8, if people grow with the answers).
    """

    gaps: tuple[Interval, ...]
    windows: tuple[WindowMean, ...]
    margin: float
    window_margin: float
    window: float
    attentive: float
    answers: int
    answers_to_match: int
    answers_to_differ: int


class VerdictOnAll(ModelVerdict):
    """The same over all corruptions: it matches on each; it differs on those that are named."""

    matches_on: tuple[str, ...]
    differs_on: tuple[str, ...]


class Comparison(Indices, ComparisonName):
    """A classifier beside people on one corruption."""

    #: of accuracy beside people's own curve, where intervals were asked for
    verdict: VerdictOnOne | None = None
    common_range: CommonRange | None = None
    misses_dropped: HmriAndMrsi | None = None
    corruption_error: CorruptionError | None = None
    #: a curve is extrapolated over more than a fifth of the axis
    withheld: bool
    same_stimuli: bool
    borrowed: bool
    #: corruption whose human curve stands in
    human_curve: str
    full_set: FullSet | None = None
    caveats: tuple[str, ...] = ()

    @property
    def shown(self) -> Indices:
        """The whole axis, or the common measured range where too much of the whole axis is extrapolated."""
        return self.common_range if self.withheld and self.common_range else self

    @property
    def shown_range(self) -> Interval | None:
        """The common measured range where it is what is shown; None for the whole axis."""
        return self.common_range.range if self.withheld and self.common_range else None


class Leader(Entry):
    """A classifier on average over corruptions, resampled jointly over all of them."""

    classifier: str
    property: Property
    corruptions: int
    verdict: VerdictOnAll | None = None
    #: how many of them are extrapolated too far
    withheld: int
    hmri: float
    hmri_interval: Interval | None
    mrsi: float
    mrsi_interval: Interval | None
    human_area: float
    human_area_interval: Interval | None
    classifier_area: float
    classifier_area_interval: Interval | None
    corruption_error: float | None
    corruption_error_interval: Interval | None
