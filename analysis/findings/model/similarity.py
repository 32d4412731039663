"""Which corruptions are alike: by their curves, and by who can tell them apart."""

from __future__ import annotations

from typing import Literal

from analysis.claims.corruptions import Verdict
from analysis.entry import Entry
from analysis.findings.model.entry import HUMANS, Interval, Pair, Property
from analysis.spec.analysis_plan import ObserverModel
from analysis.spec.design import DiscriminationForm


class Similarity(Entry):
    """A pair of corruptions for one population; see `analysis.similarity.CurveSimilarity`.

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
    """What plain pairs of the same sessions show of the crowd; see `analysis.similarity.Assay`."""

    trials: int
    correct: int
    p: float
    careless: float
    careless_at_most: float
    shown: bool


class OtherModel(Entry):
    """The same answers under the observer model on which no verdict rests; see `analysis.similarity.Sensitivity`.

    None stands for a d' without limit.
    """

    model: ObserverModel
    d_prime: float | None
    interval: tuple[float | None, float | None]
    upper: float | None


class Discrimination(Entry):
    """A pair of corruptions that people had to tell apart; see `analysis.similarity.DiscriminationTest`.

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

    @property
    def said(self) -> str:
        """The verdict in words."""
        return self.verdict_words or self.verdict
