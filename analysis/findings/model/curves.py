"""Curves with their bands, thresholds, bins and caveats, and which corruptions are alike."""

from __future__ import annotations

import builtins
from typing import Literal

from analysis.claims.corruptions import Verdict
from analysis.claims.telling_apart import published_words
from analysis.curves.bootstrap import Scheme
from analysis.curves.config import AnchorKind
from analysis.entry import Entry
from analysis.figures.performance import BandKind, CurveBand
from analysis.findings.model.entry import HUMANS, CurveName, Interval, Numbers, Pair, Property, Twin
from analysis.similarity.alternatives import above_chance, d_prime_among
from analysis.study.analysis_plan import LEVEL, ObserverModel
from analysis.study.design import DiscriminationForm

Abscissa = Literal["visual_change", "condition"]


class Anchor(Entry):
    """What holds a curve at its left end."""

    kind: AnchorKind
    value: float | None
    n: int


class Bin(Entry):
    """Answers in one of equal bins of the axis."""

    v: float
    n: int
    rate: float
    originals: int | None
    thin: bool
    #: answers by true category, in the order of their ids; of people alone
    categories: tuple[int, ...] = ()


class Measured(Entry):
    """Mean height on the range with answers: the headline where the area is withheld."""

    range: Interval
    mean: float
    interval: Interval | None


class Threshold(Entry):
    """Where a curve falls through a rate; None where it does not."""

    rate: float
    v: float | None
    interval: tuple[float | None, float | None] | None
    extrapolated: bool


class Line(Entry):
    """A curve on a grid."""

    v: Numbers
    estimate: Numbers


class Band(Line):
    """A curve on a grid with its pointwise and its simultaneous band; without refits there are none."""

    lower: Numbers | None = None
    upper: Numbers | None = None
    simultaneous_lower: Numbers | None = None
    simultaneous_upper: Numbers | None = None
    level: float = LEVEL
    simultaneous_level: float | None = None

    def of_kind(self, kind: BandKind) -> CurveBand | None:
        """The band of this kind."""
        level, lower, upper = (
            (self.level, self.lower, self.upper)
            if kind == "pointwise"
            else (self.simultaneous_level, self.simultaneous_lower, self.simultaneous_upper)
        )
        return None if level is None or lower is None or upper is None else CurveBand(kind, level, lower, upper)

    def at(self, v: float) -> tuple[float, Interval | None]:
        """Estimate at the point of the grid that is nearest, and the ends of the pointwise band where there is one."""
        place = min(range(len(self.v)), key=lambda number: abs(self.v[number] - v))
        band = self.of_kind("pointwise")
        return self.estimate[place], (band.lower[place], band.upper[place]) if band else None

    @property
    def bands(self) -> tuple[CurveBand, ...]:
        """Those that there are, pointwise first."""
        return tuple(band for band in (self.of_kind("pointwise"), self.of_kind("simultaneous")) if band is not None)


class SizeAndArea(Entry):
    """A curve over another choice of trials."""

    n: int
    area: float


class Weighted(Entry):
    """Mean height under the plan's weights over visual change; see `analysis.curves.weighting.WeightedMean`."""

    value: float
    interval: Interval | None
    bounds: Interval
    extrapolated: float


class OwnArea(Entry):
    """The area under the default method's curve of the same answers, beside a published one."""

    area: float
    interval: Interval | None
    #: that curve with its bands; of people alone, and None without refits
    band: Band | None = None


class Misses(Entry):
    """Answers that did not come in time, and the curve without them."""

    n: int
    share: float
    dropped: SizeAndArea | None


class Ceiling(Entry):
    """What an observer like people would score.

    Attributes
    ----------
    splits, hmri, mrsi
        Random halves of the people beside each other, and the means of their indices.
    twin : Twin or None
        Of accuracy: a simulated twin in a study of this size.
    kappa, kappa_interval, kappa_n
        Of two people, in tenths of visual change (or conditions) with enough pictures; None and 0 without such.
    """

    splits: int
    hmri: float
    mrsi: float
    kappa: float | None = None
    kappa_interval: Interval | None = None
    kappa_n: int | None = None
    twin: Twin | None = None


class CategoryGap(Entry):
    """A stretch of the axis on which a category of the study was not shown, though others were."""

    category: str
    range: Interval


class Rise(Entry):
    """Two windows of the axis (or two conditions), the later of which is surely the higher; the curve never rises."""

    earlier: Interval
    later: Interval
    rise: float
    #: corrected over all curves of the study
    p: float
    statement: str


class Curve(CurveName):
    """One population's performance over visual change, or over an experiment's conditions."""

    area: float
    interval: Interval | None
    level: float
    standard_error: float | None
    #: share of the axis beyond the answers, or in a gap between them
    extrapolated: float
    #: smallest and largest area of falling curves that agree with this one outside the gaps
    area_bounds: Interval
    #: stretches of more than .05 with fewer than 5 answers
    gaps: tuple[Interval, ...] = ()
    #: stretches in which one category alone was not measured
    category_gaps: tuple[CategoryGap, ...] = ()
    #: more than a fifth of the axis lies beyond the answers
    withheld: bool
    abscissa: Abscissa
    label_space: int
    #: mean chance of a guess over the trials, where these have options or several right labels; else 1 / label_space
    own_chance: float | None = None
    same_stimuli: bool
    anchor: Anchor
    n: int
    originals: int | None
    participants: int | None
    scheme: Scheme | None
    scheme_reason: str = ""
    dispersion: float | None
    smoothness: float
    bins: tuple[Bin, ...]
    empty_bins: tuple[int, ...] = ()
    data_digest: str
    measured: Measured
    thresholds: tuple[Threshold, ...]
    band: Band
    #: where the answers rise as no falling curve does; None where that was not shown
    rise: Rise | None = None
    #: of people alone
    ceiling: Ceiling | None = None
    misses: Misses | None = None
    all_sessions: SizeAndArea | None = None
    #: of classifiers alone: all their pictures, where people saw only some
    full_set: SizeAndArea | None = None
    #: where the curve is drawn as published
    own: OwnArea | None = None
    #: where the plan has weights over visual change
    weighted: Weighted | None = None
    caveats: tuple[str, ...] = ()

    # A field has the name of the builtin.
    @builtins.property
    def chance(self) -> float:
        """Share right of a guess, in (0, 1)."""
        return 1.0 / self.label_space if self.own_chance is None else self.own_chance

    @builtins.property
    def above_chance(self) -> Numbers:
        """The curve at the places of its band with chance taken off, `alternatives.above_chance`; for display alone."""
        return tuple(above_chance(one, self.chance) for one in self.band.estimate)

    @builtins.property
    def d_prime(self) -> Numbers | None:
        """The curve as d' among the alternatives, `alternatives.d_prime_among`; for display alone.

        None where chance is not one of a whole number: trials offered different numbers of labels.
        """
        alternatives = round(1.0 / self.chance)
        if abs(1.0 / self.chance - alternatives) > 1e-9:
            return None
        return tuple(d_prime_among(one, alternatives) for one in self.band.estimate)

    @builtins.property
    def below_chance(self) -> Interval | None:
        """First and last place of the grid at which people's accuracy and its band lie below chance.

        The band is the simultaneous one, or the pointwise one where there is none. None where that is nowhere, without
        a band, and for other curves.
        """
        upper = self.band.simultaneous_upper or self.band.upper
        if self.population != HUMANS or self.property != "accuracy" or upper is None:
            return None
        places = [v for v, most in zip(self.band.v, upper, strict=True) if most < self.chance]
        return (places[0], places[-1]) if places else None


class Similarity(Entry):
    """A pair of corruptions for one population; see `analysis.similarity.curves.CurveSimilarity`.

    Attributes
    ----------
    test
        "windows": the mean difference and every window, without a curve. To findings-4 of the difference of two
        curves: by refits or by permutation; ``p``, ``band`` and ``answers_to_decide`` are of that test.
    window
        Width of the windows; None to findings-4.
    overlap_83, overlap_83_pointwise
        The papers' rule: whether the 83 % bands of the two curves overlap at every visual change that both measured.
    """

    population: str = HUMANS
    pair: Pair
    property: Property
    difference: float
    interval: Interval
    band: Interval
    range: Interval
    p: float
    p_adjusted: float
    test: Literal["windows", "permutation", "bootstrap"]
    overlap_83: bool
    overlap_83_pointwise: bool
    equivalent: bool
    area_equivalent: bool | None = None
    band_equivalent: bool | None = None
    different: bool
    verdict: Verdict
    statement: str
    margin: float
    band_margin: float
    answers: int
    answers_to_decide: int | None
    answers_to_differ: int | None = None
    gaps: tuple[Interval, ...] = ()
    higher_on: tuple[Interval, ...] = ()
    lower_on: tuple[Interval, ...] = ()
    attentive: float | None = None
    window: float | None = None
    #: who answered on the corruption that fewer did; 0 of a model, and to findings-7
    people: int = 0


class Reuse(Entry):
    """Answers that could be saved by showing one corruption of each class."""

    answers: int
    saved: int
    share: float


class AlikeClasses(Entry):
    """Corruptions in classes of alike ones."""

    population: str
    property: Property
    classes: tuple[tuple[str, ...], ...]
    reuse: Reuse | None = None


class PlainPairs(Entry):
    """What plain pairs of the same sessions show of the crowd; see `analysis.similarity.assay.Assay`."""

    trials: int
    correct: int
    p: float
    careless: float
    careless_at_most: float
    shown: bool


class OtherModel(Entry):
    """The same answers under the observer model on which no verdict rests; see `similarity.discrimination.Sensitivity`.

    None stands for a d' without limit.
    """

    model: ObserverModel
    d_prime: float | None
    interval: tuple[float | None, float | None]
    upper: float | None


class PublishedTest(Entry):
    """The paper's test of the same answers, as published; see `analysis.similarity.binomial.BinomialTest`.

    Attributes
    ----------
    p_holm
        Holm's rule over all pairs that have a p: ours, the paper tests each by itself.
    """

    trials: int
    correct: int
    share: float | None
    p: float | None
    p_holm: float | None
    withheld: str

    @property
    def said(self) -> str:
        """The test in words."""
        return published_words(**self.model_dump())


class Discrimination(Entry):
    """A pair of corruptions that people had to tell apart; see `analysis.similarity.discrimination.DiscriminationTest`.

    Attributes
    ----------
    accuracy, interval
        Share of right answers, bias included.
    upper_bound, margin
        Of d', as the share right of an observer without bias; to findings-3 those of the share right itself.
    observer_model
        None to findings-3, whose verdict rests on the share right.
    d_prime_interval
        An end that is None has no limit.
    assay
        None without plain pairs.
    verdict_words
        The verdict, with the reason where the crowd leaves it open.
    people
        Who answered; 0 to findings-7, which did not count them.
    published
        The paper's binomial test; None in findings that were made before there was one.
    """

    pair: Pair
    form: DiscriminationForm = "same-different"
    trials: int
    correct: int
    accuracy: float
    interval: Interval
    upper_bound: float
    p: float
    p_adjusted: float
    margin: float
    margin_d_prime: float
    equivalent: bool
    different: bool
    verdict: Verdict
    verdict_words: str = ""
    design_effect: float
    d_prime: float | None
    d_prime_interval: tuple[float | None, float | None] | None = None
    d_prime_upper: float | None
    observer_model: ObserverModel | None = None
    other_model: OtherModel | None = None
    assay: PlainPairs | None = None
    hit_rate: float | None
    false_alarm_rate: float | None
    criterion: float | None
    misses: int
    people: int = 0
    published: PublishedTest | None = None

    @property
    def said(self) -> str:
        """The verdict in words."""
        return self.verdict_words or self.verdict
