"""What models that were asked in words tell apart, beside what people do."""

from __future__ import annotations

from analysis.entry import Entry
from analysis.findings.model.entry import Interval, Pair
from analysis.study.analysis_plan import ObserverModel
from analysis.study.design import DiscriminationForm


class ModelDiscrimination(Entry):
    """A pair of corruptions that one model had to tell apart, without limit of viewing time.

    Attributes
    ----------
    observer
        Name of the model.
    trials, correct, accuracy, interval
        Whatever is no answer is wrong. The interval is for new pictures.
    kinds
        What became of the questions: "label", "refusal", "unreadable", "miss", "outside", "error".
    p, p_adjusted
        One-sided, against d' = 0; Holm's correction over all pairs of the model.
    different
        Whether d' is shown to be above 0. Nothing is called equivalent: one observer is no crowd.
    d_prime, d_prime_interval
        Of the answers given, freed of bias; an end that is None has no limit.
    hit_rate, false_alarm_rate, criterion
        As in `Discrimination`: a positive criterion is a bias towards "same", in ABX towards the first.
    plain, plain_correct
        Plain pairs of the form, all together.
    first_option, first_option_interval
        Share of the answers that name the word offered first, 0.5 without a preference; of the form, all together.
    """

    observer: str
    pair: Pair
    form: DiscriminationForm
    trials: int
    correct: int
    accuracy: float
    interval: Interval
    kinds: dict[str, int]
    p: float
    p_adjusted: float
    different: bool
    observer_model: ObserverModel
    d_prime: float | None
    d_prime_interval: tuple[float | None, float | None] | None
    hit_rate: float | None
    false_alarm_rate: float | None
    criterion: float | None
    plain: int
    plain_correct: int
    first_option: float | None
    first_option_interval: Interval | None
