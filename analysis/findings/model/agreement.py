"""What observers answered, how far they err on the same pictures, and the benchmark's table of them."""

from __future__ import annotations

from typing import Literal

from analysis.entry import Entry
from analysis.findings.model.comparisons import RankSet
from analysis.findings.model.curves import Line
from analysis.findings.model.entry import Interval, Pair


class Observer(Entry):
    """Somebody who answered."""

    name: str
    kind: Literal["human", "classifier"]


class Accuracy(Entry):
    """An observer in one condition."""

    observer: str
    condition: str
    trials: int
    correct: int
    accuracy: float


class HumanAccuracy(Entry):
    """People in one condition."""

    condition: str
    mean_over_observers: float
    observers: int


class Favourite(Entry):
    """The wrong answer given most, and its share of the wrong answers."""

    response: str
    share: float


class Confusion(Entry):
    """Answers by true category, over all or in a range of the axis."""

    population: str
    corruption: str
    low: float | None
    high: float | None
    categories: tuple[str, ...]
    responses: tuple[str, ...]
    #: a row a true category
    counts: tuple[tuple[int, ...], ...]
    favourite: Favourite | None


class TimeBin(Entry):
    """Response times in a tenth of the axis."""

    v: float
    n: int
    median_ms: float
    lower_ms: float
    upper_ms: float
    median_right_ms: float | None
    median_wrong_ms: float | None


class ResponseTimes(Entry):
    """People's response times on one corruption; times of different kinds of input are never pooled."""

    population: str
    corruption: str
    bins: tuple[TimeBin, ...]
    #: pointer, touch or key; None where nobody kept it
    input_kind: str | None = None


class ParticipantBin(Entry):
    """A participant's answers in a tenth of the axis."""

    v: float
    n: int
    rate: float


class Participant(Entry):
    """One participant on one corruption; on all of them where it is None."""

    participant: str
    corruption: str | None
    n: int
    accuracy: float
    median_rt_ms: float | None
    bins: tuple[ParticipantBin, ...]
    area: float | None
    band: Line | None
    #: what the answers behind `median_rt_ms` were given with: what the participant used most; None where not kept
    input_kind: str | None = None


class ErrorConsistency(Entry):
    """Two observers on the pictures of one condition that both saw."""

    pair: Pair
    condition: str
    n: int
    #: None where it is undefined: both are always right, or both always wrong
    kappa: float | None
    observed: float
    expected: float
    accuracies: Interval | None = None
    #: Whether kappa is defined and rests on enough pictures
    shown: bool = True
    #: Of kappa, over pictures
    interval: Interval | None = None
    #: Share of pictures on which the less accurate observer would have to copy the other; None where that has no value
    copied: float | None = None
    #: Different originals behind the n pictures; None in findings that did not count them
    originals: int | None = None
    #: Of the share of copied answers, over pictures
    copied_interval: Interval | None = None
    #: Of the hypothesis that the observers are right and wrong independently; 1 where kappa is undefined
    p: float | None = None


class Pooled(Entry):
    """Error consistency where observers share few pictures.

    Attributes
    ----------
    kappa, observed, expected, pictures, accuracies
        See `analysis.agreement.pooled.PooledConsistency`.
    is_stratified : bool
        False where no condition holds enough common pictures: kappa then includes shared difficulty.
    left_out : int
        Common pictures in conditions that hold too few; to findings-5 nothing was left out.
    """

    kappa: float
    observed: float
    expected: float
    pictures: int
    accuracies: tuple[float, ...]
    is_stratified: bool = True
    left_out: int = 0


class Agreement(Entry):
    """An observer beside people over all conditions; people among themselves."""

    observer: str
    kind: Literal["humans", "classifier"]
    ood_accuracy: float | None
    accuracy_difference: float | None
    observed_consistency: float | None
    error_consistency: float | None
    pairs: int
    pooled: Pooled | None
    interval: Interval | None
    n: int
    conditions: tuple[str, ...]
    #: Places that the pictures leave open by pooled kappa among models that answered the same pictures
    ranks: RankSet | None = None


class ConsistencyDifference(Entry):
    """Two models and the same people on the same pictures: which errs more as people do?"""

    #: the one with the higher pooled kappa first
    pair: Pair
    kappas: tuple[float, float]
    #: of the two kappas, at least 0
    difference: float
    #: over pictures, for these people
    interval: Interval
    #: corrected over all pairs of these models
    p: float
    #: whether they surely differ
    differ: bool
    #: pictures that people and both models answered, and different originals
    n: int
    originals: int


class SoftAgreement(Entry):
    """How well an observer's distribution over the labels predicts what people answer, in bits an answer.

    Attributes
    ----------
    observer, kind : str
        "humans" are people predicted by the rest of people, which is the ceiling.
    cross_entropy, interval
        Mean over pictures; its interval over pictures.
    beyond_people, beyond_interval
        Less what the rest of people reaches on the same pictures: above 0, the observer predicts worse. None for
        people.
    guessing : float
        What an observer reaches who finds every label as probable.
    pictures, originals, answers : int
        Pictures that enough people answered, different originals, and people's answers to them.
    """

    observer: str
    kind: Literal["humans", "classifier"]
    cross_entropy: float
    interval: Interval
    beyond_people: float | None
    beyond_interval: Interval | None
    guessing: float
    pictures: int
    originals: int
    answers: int


class CategoryBias(Entry):
    """The same of pictures of one category, which is that of the shape."""

    category: str
    shape: int
    texture: int
    other: int
    bias: float | None
    interval: Interval


class ShapeBias(Entry):
    """Answers of an observer to pictures with the shape of one category and the texture of another."""

    observer: str
    kind: Literal["humans", "human", "classifier"]
    shape: int
    texture: int
    other: int
    bias: float | None
    interval: Interval
    #: by category, in the order of the labels; of all people together and of classifiers
    by_category: tuple[CategoryBias, ...] = ()


class FactorAccuracy(Entry):
    """Share of right answers to pictures with one value of a factor."""

    factor: str
    value: str
    observer: str
    kind: Literal["humans", "classifier"]
    #: answers, and different originals
    n: int
    pictures: int
    accuracy: float
    interval: Interval


class GroupAccuracy(Entry):
    """How often answers lie in the group of the picture, by one partition of the labels."""

    partition: str
    population: str
    corruption: str
    n: int
    #: share right
    accuracy: float
    #: share in the picture's group, right ones among them
    within: float
    interval: Interval
    #: wrong answers that name a label in a group, and those of them in the picture's
    wrong: int
    wrong_within: int
    #: share within of whoever guesses among all labels; None where trials have options of their own
    chance: float | None


class ContrastPicture(Entry):
    """A picture on which people and a classifier differ.

    Attributes
    ----------
    picture : str
        The stimulus; of published trials the original within its condition.
    answers, right : int
        Of people.
    most_given, response : str
        What people answered most, and the classifier's answer.
    """

    picture: str
    original: str
    category: str
    condition: str
    answers: int
    right: int
    most_given: str
    response: str


class Contrast(Entry):
    """Pictures that one side names and the other does not, selected by the answers to them.

    Attributes
    ----------
    pictures, found : int
        That were counted, and that are of this kind.
    expected : float
        Of this kind on average, if the classifier's errors fell on any pictures of their condition alike.
    shown : tuple of ContrastPicture
        The clearest.
    """

    classifier: str
    named_by: Literal["people", "classifier"]
    pictures: int
    found: int
    expected: float
    shown: tuple[ContrastPicture, ...]


class Difficulty(Entry):
    """A classifier beside people on the pictures that other people find about as hard."""

    classifier: str
    #: share of other people's right answers between which an answer is placed here
    placed: Interval
    #: accuracies of the people whose answers were placed, and of the classifier on the same pictures
    people: float
    accuracy: float
    #: classifier minus people
    difference: float
    interval: Interval
    n: int
    participants: int
    originals: int
    #: whether it rests on enough answers, people and originals
    shown: bool


class PooledMean(Entry):
    """A mean over experiments, with its interval for new people and new pictures."""

    value: float
    interval: Interval | None = None


class AverageObserver(Entry):
    """One observer next to people, on average over experiments.

    Attributes
    ----------
    observer, kind : str
        "humans" are people among themselves; a single person is compared with the others.
    experiments : tuple of str
        Those that the observer answered.
    ood_accuracy : PooledMean or None
        Mean over the conditions that count.
    accuracy_difference, observed_consistency, error_consistency : PooledMean or None
        Means over people, each over conditions: the squared difference of accuracies, the share of pictures on which
        both are right or both wrong, and Cohen's kappa. None where no person shares enough pictures.
    accuracy_lead : PooledMean or None
        Mean over people, each over conditions, of the person's accuracy minus the observer's: above 0, people lead.
        None for people among themselves.
    corrected_accuracy_difference : PooledMean or None
        The squared difference of accuracies without what the choice of pictures adds to it on average, which the
        published number contains.
    shape_bias : PooledMean or None
        On cue-conflict pictures.
    ranks : RankSet or None
        Places that the data leave open by accuracy, among models of the same experiments.
    mean_rank : float or None
        As published: the mean of the places by accuracy difference, observed and error consistency among these models;
        1 is the most like people. It has no interval.
    consistency_ranks : RankSet or None
        Places that people and pictures leave open by error consistency, among the same models.
    """

    observer: str
    kind: Literal["humans", "human", "classifier"]
    experiments: tuple[str, ...]
    ood_accuracy: PooledMean | None = None
    accuracy_difference: PooledMean | None = None
    observed_consistency: PooledMean | None = None
    error_consistency: PooledMean | None = None
    shape_bias: PooledMean | None = None
    ranks: RankSet | None = None
    mean_rank: float | None = None
    accuracy_lead: PooledMean | None = None
    corrected_accuracy_difference: PooledMean | None = None
    consistency_ranks: RankSet | None = None
