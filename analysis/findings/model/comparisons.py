"""Classifiers beside people: on one corruption, and on average over all."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Literal

from analysis.findings.model.entry import LEVEL, ComparisonName, Entry, Interval, Property, Twin
from analysis.summaries import one_row, plot_figure, screen

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd

    from analysis.figures import Observer

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

    def __repr__(self) -> str:
        """The two indices."""
        from analysis.reporting.wording import with_interval

        hmri, mrsi = with_interval(self.hmri, self.hmri_interval), with_interval(self.mrsi, self.mrsi_interval)
        return f"<Indices: HMRI {hmri}, MRSI {mrsi}>"

    def summary(self) -> str:
        """One screen of text: indices, areas and leads with their intervals."""
        from analysis.reporting.wording import with_interval

        difference = self.human_area - self.classifier_area
        return screen(
            "A classifier beside people",
            (
                ("HMRI", with_interval(self.hmri, self.hmri_interval)),
                ("MRSI", with_interval(self.mrsi, self.mrsi_interval)),
                ("area, people", f"{self.human_area:.3f}"),
                ("area, classifier", f"{self.classifier_area:.3f}"),
                ("people minus classifier", with_interval(difference, self.area_difference_interval)),
                ("people above", with_interval(self.human_lead, self.human_lead_interval)),
                ("classifier above", with_interval(self.classifier_lead, self.classifier_lead_interval)),
                ("shown above people at Δv", _ranges(self.exceeds)),
                ("shown below people at Δv", _ranges(self.falls_short)),
                ("intervals", f"{100 * self.level:g} %" if self.hmri_interval else "none: curves without n_bootstrap"),
                (
                    "verdict",
                    "" if self.exceeds is not None else "none: HMRI is below 1, and MRSI above 0, by noise alone",
                ),
            ),
        )

    def to_frame(self) -> pd.DataFrame:
        """One row: every number, an interval in two columns ``..._lower`` and ``..._upper`` (NaN without refits)."""
        return one_row({name: getattr(self, name) for name in type(self).model_fields})

    def plot(self, ax: matplotlib.axes.Axes | None = None, *, observer: Observer | None = None) -> matplotlib.axes.Axes:
        """Draw HMRI and MRSI with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Made where none are given.
        observer : analysis.figures.Observer, optional
            Name and look of the classifier.

        Returns
        -------
        matplotlib Axes
        """
        from analysis.figures.results import SOME_CLASSIFIER, comparison_figure

        return plot_figure(comparison_figure(self, observer or SOME_CLASSIFIER), ax)


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


Unit = Literal["sessions", "pictures", "categories"]


class Fragility(Entry):
    """The smallest set of one kind of unit that was found to decide a verdict.

    Attributes
    ----------
    unit : {"sessions", "pictures", "categories"}
    count : int
        How many there are.
    names : tuple of str
        The set without which the verdict is another; empty where none was found.
    word : {"matches", "differs", "undecided"} or None
        What it is without them.
    tried : int
        Largest size of a set that was sought; 0 where the study is too large to seek.
    exact : int
        Up to this size every set was tried; beyond it the strongest units were taken out one after the other.
    statement : str
        The same as it is printed.
    """

    unit: Unit
    count: int
    names: tuple[str, ...]
    word: Word | None
    tried: int
    exact: int
    statement: str


class Individuals(Entry):
    """People, judged one at a time against all others by the rule for models.

    Attributes
    ----------
    people : int
        How many were judged: those with the most answers.
    answers : int
        Their answers on the median.
    matches, differs, undecided : int
        How many would be called so.
    too_few : int
        How many did not answer often enough for the rule; they are among the undecided.
    statement : str
        The same as it is printed.
    """

    people: int
    answers: int
    matches: int
    differs: int
    undecided: int
    too_few: int
    statement: str


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
    fragility : tuple of Fragility
        What the word hangs on; empty where it was not asked for.
    individuals : Individuals or None
        What people would be called; None where it was not asked for.
    """

    word: Word
    statement: str
    matches: bool
    differs: bool
    direction: Direction | None
    difference: float
    interval: Interval
    fragility: tuple[Fragility, ...] = ()
    individuals: Individuals | None = None


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

    # A field has the name of the builtin.
    @builtins.property
    def shown(self) -> Indices:
        """The whole axis, or the common measured range where too much of the whole axis is extrapolated."""
        return self.common_range if self.withheld and self.common_range else self

    @builtins.property
    def shown_range(self) -> Interval | None:
        """The common measured range where it is what is shown; None for the whole axis."""
        return self.common_range.range if self.withheld and self.common_range else None


class RankSet(Entry):
    """The places that the data leave open to a classifier, by mean accuracy over corruptions; 1 is the highest.

    Attributes
    ----------
    best, worst : int
        For all classifiers at once: with a chance of .95 every set holds the true place, and where classifiers are
        equally accurate, all places of their group.
    classifiers : int
        Ranked together: those that were measured on the same cells of the same corruptions.
    """

    best: int
    worst: int
    classifiers: int


class Leader(Entry):
    """A classifier on average over corruptions, resampled jointly over all of them."""

    classifier: str
    property: Property
    corruptions: int
    verdict: VerdictOnAll | None = None
    #: of accuracy: what a simulated twin of people reaches over the same corruptions
    twin: Twin | None = None
    #: of accuracy, beside a verdict; None where the classifier was not measured as the others were
    ranks: RankSet | None = None
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


def _ranges(ranges: tuple[Interval, ...] | None) -> str:
    if ranges is None:
        return ""
    return ", ".join(f"{low:.2f} to {high:.2f}" for low, high in ranges) or "nowhere"
