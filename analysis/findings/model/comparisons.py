"""Classifiers beside people: on one corruption, and on average over all."""

from __future__ import annotations

from analysis.findings.model.entry import LEVEL, ComparisonName, Entry, Interval, Property


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
    exceeds : tuple of (float, float) or None
        Ranges of visual change where the simultaneous band of classifier minus human lies above 0; None without
        refits. MRSI is positive by noise alone: only these ranges show that a classifier exceeds people.
    falls_short : tuple of (float, float) or None
        Ranges where the band lies below 0: people exceed the classifier there.
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


class Comparison(Indices, ComparisonName):
    """A classifier beside people on one corruption."""

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
