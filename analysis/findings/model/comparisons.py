"""Classifiers beside people, on one corruption and over all; and searches for counterfactuals read together."""

from __future__ import annotations

import builtins
from typing import Literal

from analysis.claims.models import verdict_words
from analysis.entry import Entry
from analysis.findings.model.entry import ComparisonName, Interval, Pair, Property, Twin
from analysis.metrics import Indices

Word = Literal["matches", "differs", "undecided"]
Direction = Literal["above", "below", "crosses"]


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

    @property
    def in_short(self) -> str:
        """The verdict in a few words."""
        return verdict_words(
            matches=self.matches, differs=self.differs, direction=self.direction, difference=self.difference
        )


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
    people : int
        Who answered; 0 to findings-6, which did not count them.
    answers, answers_to_match, answers_to_differ : int
        Answers of people, and how many would show a model without any difference to match, and one that differs by
        .05 in mean accuracy to differ (with power .8, if people grow with the answers).
    """

    gaps: tuple[Interval, ...]
    windows: tuple[WindowMean, ...]
    margin: float
    window_margin: float
    window: float
    attentive: float
    people: int = 0
    answers: int
    answers_to_match: int
    answers_to_differ: int

    @property
    def has_conditions(self) -> bool:
        """Whether each window is one condition of a published experiment."""
        return bool(self.windows) and all(one.range[0] == one.range[1] for one in self.windows)


class VerdictOnAll(ModelVerdict):
    """The same over all corruptions: it matches on each; it differs on those that are named."""

    matches_on: tuple[str, ...]
    differs_on: tuple[str, ...]


class Comparison(Indices, ComparisonName):
    """A classifier beside people on one corruption."""

    #: of accuracy beside people's own curve, where intervals were asked for
    verdict: VerdictOnOne | None = None
    #: where intervals were asked for and there is no verdict on accuracy: what is thin, and what would mend it
    no_verdict: str = ""
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
    #: under the plan's weights over visual change, on the whole axis
    weighted: Indices | None = None
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


class WeightedMeans(Entry):
    """Means over corruptions under weights over visual change."""

    hmri: float
    hmri_interval: Interval | None
    mrsi: float
    mrsi_interval: Interval | None
    human_area: float
    human_area_interval: Interval | None
    classifier_area: float
    classifier_area_interval: Interval | None


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
    #: under the plan's weights over visual change
    weighted: WeightedMeans | None = None


Grouping = Literal["kinds", "families"]


class GroupMean(Entry):
    """Networks beside people on average over a kind of networks, or over a family of functions.

    Attributes
    ----------
    grouping : {"kinds", "families"}
    group : str
        Id of the kind (`analysis.observers.kinds.KINDS`), or name of the family.
    networks, corruptions : tuple of str
        Over all pairs of these, each counting once.
    difference : float
        Mean accuracy minus that of people.
    interval : tuple of float
        For itself; of these networks and these functions.
    hmri, mrsi : float
        Means over the same pairs; no verdict rests on them.
    """

    grouping: Grouping
    group: str
    networks: tuple[str, ...]
    corruptions: tuple[str, ...]
    difference: float
    interval: Interval
    hmri: float
    mrsi: float


class GroupIndices(Entry):
    """Areas and indices of consistency on average over a kind of networks, or over a family of functions.

    Without intervals, and no two groups are said to differ: see `analysis.findings.group_means`.

    Attributes
    ----------
    grouping : {"kinds", "families"}
    group : str
        As in `GroupMean`.
    property : {"consistency"}
    networks, corruptions : tuple of str
        Over all pairs of these, each counting once.
    human_area, classifier_area, hmri, mrsi : float
        Means of what is shown of the pairs.
    """

    grouping: Grouping
    group: str
    property: Property
    networks: tuple[str, ...]
    corruptions: tuple[str, ...]
    human_area: float
    classifier_area: float
    hmri: float
    mrsi: float


class GroupContrast(Entry):
    """The mean difference of one group minus that of another; the one with the higher mean comes first.

    Attributes
    ----------
    grouping : {"kinds", "families"}
    pair : tuple of str
    difference : float
        At least 0.
    interval : tuple of float
        For itself.
    p : float
        Corrected over all pairs of kinds and of families.
    differ : bool
    statement : str
        The same as it is printed.
    """

    grouping: Grouping
    pair: Pair
    difference: float
    interval: Interval
    p: float
    differ: bool
    statement: str


class Transfer(Entry):
    """How many of one generator's pictures every model names (`analysis.counterfactuals.transfer.TransferMatrix`)."""

    generator: str
    made_against: tuple[str, ...]
    tested: tuple[str, ...]
    #: a row a model that pictures were made against, a column a model that looks at them
    correct: tuple[tuple[int, ...], ...]
    n_valid: tuple[int, ...]
    intervals: tuple[tuple[Interval | None, ...], ...]


class RankAgreement(Entry):
    """How alike two generators rank models."""

    pair: Pair
    rho: float | None
    tau: float | None
    n: int


class SearchesTogether(Entry):
    """What was computed over a group of searches; `agreement` is None until the models are tested."""

    transfer: tuple[Transfer, ...] = ()
    agreement: tuple[RankAgreement, ...] | None = None
