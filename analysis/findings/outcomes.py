"""What is scored on each answer, over which abscissa, and which clean answers hold the curve."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import FloatArray
from analysis.curves.categories import equal_categories
from analysis.curves.trials import CleanTrials
from analysis.differences.answers import AnswersToOne, Clusters
from analysis.findings.model.entry import Property
from analysis.findings.observations import CLEAN, Observations
from analysis.labels.space import NO_ANSWER
from analysis.recruiters import Recruiters
from analysis.study.analysis_plan import Estimand

#: A plain number, or one behind a single letter (contrast "c05").
_NUMBER = re.compile(r"^[A-Za-z]?([-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)$")


@dataclass(frozen=True)
class ConditionScale:
    """How conditions of one experiment become values in [0, 1].

    Parameters
    ----------
    offset, factor : float
        ``(number - offset) / factor``.
    flipped : bool
        Whether the result is then taken from 1.
    notes : tuple of str
        What was done, in sentences; empty when nothing was.
    """

    offset: float
    factor: float
    flipped: bool
    notes: tuple[str, ...]

    def place(self, conditions: NDArray[np.str_]) -> FloatArray:
        """Values of conditions in [0, 1]; NaN where a condition is no number."""
        numbers = condition_numbers(conditions)
        scaled = (numbers - self.offset) / self.factor
        return np.asarray(1.0 - scaled if self.flipped else scaled, dtype=np.float64)


def condition_number(condition: str) -> float:
    """Return the number in a condition, NaN where there is none (``1-0-10``, ``bw``, ``inf``)."""
    match = _NUMBER.match(condition.strip())
    number = float(match.group(1)) if match else math.nan
    return number if math.isfinite(number) else math.nan


def condition_numbers(conditions: NDArray[np.str_]) -> FloatArray:
    """`condition_number` of every entry."""
    names, code = np.unique(conditions, return_inverse=True)
    return np.array([condition_number(str(name)) for name in names], dtype=np.float64)[code]


def condition_scale(experiment: str, people: Observations, classifiers: Observations) -> ConditionScale | None:
    """Choose the scale of an experiment's conditions.

    Parameters
    ----------
    experiment : str
        Name for the notes.
    people, classifiers : Observations
        Its answers; the direction is read off people where there are any.

    Returns
    -------
    ConditionScale or None
        None when fewer than two conditions are numbers: there is no curve then.
    """
    numbers = condition_numbers(np.concatenate([people.condition, classifiers.condition]))
    known = numbers[np.isfinite(numbers)]
    if len(np.unique(known)) < 2:
        return None
    notes = []
    offset, factor = 0.0, 1.0
    lowest, highest = float(known.min()), float(known.max())
    if lowest < 0.0:
        offset, factor = lowest, highest - lowest
        notes.append(f"{experiment}: conditions from {lowest:g} to {highest:g} were rescaled to [0, 1].")
    elif highest > 1.0:
        factor = highest
        notes.append(f"{experiment}: conditions were divided by {highest:g} to lie in [0, 1].")
    judges = people if len(people) else classifiers
    flipped = _rises(condition_numbers(judges.condition), judges.correct)
    if flipped:
        notes.append(f"{experiment}: the axis was flipped, because accuracy rises with the condition.")
    left_out = int(np.sum(~np.isfinite(numbers)))
    if left_out:
        notes.append(f"{experiment}: {left_out} answers in conditions that are no numbers are in no curve.")
    notes.append(f"{experiment}: areas are over the experiment's own condition, not over visual change.")
    return ConditionScale(offset, factor, flipped, tuple(notes))


def _rises(numbers: FloatArray, correct: FloatArray) -> bool:
    """Whether accuracy grows with the number (sign of the covariance)."""
    known = np.isfinite(numbers)
    if not known.any():
        return False
    return bool(np.sum((numbers[known] - numbers[known].mean()) * correct[known]) > 0.0)


def clean_to_one(clean: Observations, n_labels: int) -> AnswersToOne | None:
    """People's answers to clean pictures by person and original; None without any.

    `n_labels`: of trials that offered all labels.
    """
    if not len(clean):
        return None
    guesses = clean.guesses(n_labels)
    return AnswersToOne.of(np.zeros(len(clean)), clean.correct, clean.original, clean.observer, guesses=guesses)


PROPERTIES: tuple[Property, ...] = ("accuracy", "consistency")


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Answers with what is scored on them, and the clean answers that hold the curve.

    Parameters
    ----------
    place, outcome : ndarray, shape (n,)
        Visual change (or rescaled condition) and outcome in [0, 1].
    answers : Observations
        The answers, in the same order.
    clean : CleanTrials or None
        Clean answers of a soft anchor.
    fixed : float or None
        Value of a fixed anchor.
    left_out : int
        Answers that could not be scored.
    of_people : bool
        Whether observers are drawn again, too, when the curve is resampled.
    """

    place: FloatArray
    outcome: FloatArray
    answers: Observations
    clean: CleanTrials | None = None
    fixed: float | None = None
    left_out: int = 0
    of_people: bool = True

    def to_one(
        self, categories: Sequence[str] | None = None, recruiters: Recruiters | None = None, *, n_labels: int
    ) -> AnswersToOne:
        """The same by person and original, for differences of means; with categories, each of these counts equally.

        `n_labels`: of trials that offered all labels.
        """
        people, known = self.answers.observer if self.of_people else None, self.known_categories
        named = None if categories is None or known is None else Clusters.among(known, categories)
        known_of = recruiters if self.of_people else None
        guesses = self.answers.guesses(n_labels)
        return AnswersToOne.of(self.place, self.outcome, self.answers.original, people, named, known_of, guesses)

    @property
    def known_categories(self) -> NDArray[np.str_] | None:
        """Category of each answer; None where any is not known."""
        return self.answers.category if (self.answers.category != "").all() else None


def human_outcomes(
    people: Observations, corruption: str, subject: Property, scale: ConditionScale | None
) -> Outcomes | None:
    """Scored answers of people to one corruption; None when there are none."""
    answers, place = _placed(people.of(corruption), scale)
    if not len(answers):
        return None
    clean = people.clean if scale is None else people.select(np.zeros(len(people), dtype=bool))
    if subject == "accuracy":
        held = _held(clean.correct, clean) if len(clean) else None
        return Outcomes(place, answers.correct, answers, held)
    if not len(clean):
        return None
    outcome, base = human_agreement(answers, clean), human_agreement(clean, clean)
    known, known_base = np.isfinite(outcome), np.isfinite(base)
    if not known.any():
        return None
    held = None
    if known_base.any():
        held = _held(base[known_base], clean.select(known_base))
    return Outcomes(place[known], outcome[known], answers.select(known), held, left_out=int(len(known) - known.sum()))


def classifier_outcomes(
    own: Observations, everything: Observations, corruption: str, subject: Property, scale: ConditionScale | None
) -> Outcomes | None:
    """Scored predictions of one classifier for one corruption; None when there are none.

    Parameters
    ----------
    own : Observations
        The predictions to score (those for pictures that people saw, or all).
    everything : Observations
        All its predictions: clean ones are looked up here for consistency, and for the anchor where ``own`` has none.
    corruption, subject, scale
        As in `human_outcomes`.
    """
    answers, place = _placed(own.of(corruption), scale)
    if not len(answers):
        return None
    if subject == "consistency":
        if scale is not None:
            return None
        outcome = classifier_agreement(answers, everything.clean)
        known = np.isfinite(outcome)
        if not known.any():
            return None
        return Outcomes(
            place[known],
            outcome[known],
            answers.select(known),
            fixed=1.0,
            left_out=int(len(known) - known.sum()),
            of_people=False,
        )
    clean = own.clean
    if not len(clean):
        clean = everything.clean
        clean = clean.select(np.isin(clean.original, answers.original))
    held = _held(clean.correct, clean, of_people=False) if len(clean) and scale is None else None
    return Outcomes(place, answers.correct, answers, held, of_people=False)


def _held(outcome: FloatArray, clean: Observations, *, of_people: bool = True) -> CleanTrials:
    """Clean answers that hold a curve."""
    people = clean.observer if of_people else None
    return CleanTrials(outcome, people, clean.original, categories=clean.category)


def categories_of(people: Observations, classifiers: Observations) -> tuple[str, ...]:
    """Categories of the pictures that people (without them, models) saw corrupted, sorted.

    None where one is not known, of people or of models: they are weighed alike, or not at all.
    """
    theirs, networks = (
        np.unique(own.category[own.imported | (own.corruption != CLEAN)]).tolist() for own in (people, classifiers)
    )
    return () if "" in theirs or "" in networks else tuple(theirs or networks)


def counted_weights(
    outcomes: Outcomes, estimand: Estimand, study: Sequence[str] | None, recruiters: Recruiters | None = None
) -> tuple[FloatArray, FloatArray] | None:
    """Weights of the answers in a curve and at its left end, with everything that counts equally.

    Parameters
    ----------
    outcomes : Outcomes
    estimand : {"categories", "people", "answers"}
    study : sequence of str, optional
        Categories of the study, where they count equally.
    recruiters : Recruiters, optional
        As in `people_weights`.

    Returns
    -------
    tuple of ndarray, shapes (n,) and (clean answers,), or None
        None where each answer counts once.
    """
    weights = None if estimand == "answers" else people_weights(outcomes, recruiters)
    if study is None or outcomes.known_categories is None:
        return weights
    main, held = weights or (np.ones(len(outcomes.place)), _ones(outcomes.clean))
    found = [
        equal_categories(
            outcomes.place, outcomes.known_categories, pictures=outcomes.answers.original, weights=main, study=study
        )
    ]
    if outcomes.clean is not None and len(held):
        own = outcomes.clean
        names, pictures = (np.asarray(ids, dtype=np.str_) for ids in (own.categories, own.images))
        found.append(equal_categories(np.zeros(len(held)), names, pictures=pictures, weights=held))
    factors = [one.factors for one in found]
    if weights is None and all(one is None for one in factors):
        return None
    counted = [base if one is None else base * one for base, one in zip((main, held), (*factors, None), strict=False)]
    return counted[0], counted[1]


def _ones(clean: CleanTrials | None) -> FloatArray:
    return np.ones(0 if clean is None else len(np.asarray(clean.correct)))


def people_weights(outcomes: Outcomes, recruiters: Recruiters | None = None) -> tuple[FloatArray, FloatArray] | None:
    """Weights by which every person counts once in a curve, and once at its left end.

    Parameters
    ----------
    outcomes : Outcomes
    recruiters : Recruiters, optional
        Where they have weights, the people of each count together by its weight.

    Returns
    -------
    tuple of ndarray, shapes (n,) and (clean answers,), or None
        Each with mean 1; None where one observer answered, or all gave equally many answers.
    """
    if not outcomes.of_people:
        return None
    main, held = _once_each(outcomes.answers.observer, recruiters), np.empty(0)
    if outcomes.clean is not None:
        held = _once_each(np.asarray(outcomes.clean.participants, dtype=np.str_), recruiters)
    return None if np.ptp(main) == 0.0 and (not len(held) or np.ptp(held) == 0.0) else (main, held)


def _once_each(observer: NDArray[np.str_], recruiters: Recruiters | None) -> FloatArray:
    """What each observer counts over their number of answers, with mean 1."""
    names, code, number = np.unique(observer, return_inverse=True, return_counts=True)
    each = np.ones(len(names)) if recruiters is None else recruiters.counts_of(names)
    return np.asarray(each[code] * len(observer) / (len(number) * number[code].astype(np.float64)))


def _placed(answers: Observations, scale: ConditionScale | None) -> tuple[Observations, FloatArray]:
    """Answers that have a place on the axis, and the place."""
    place = answers.visual_change
    if scale is not None:
        place = np.clip(scale.place(answers.condition), 0.0, 1.0)
    known = np.isfinite(place)
    return answers.select(known), place[known]


def human_agreement(answers: Observations, clean: Observations) -> FloatArray:
    """Agreement of each answer with a random other person's clean answer to the same original.

    Parameters
    ----------
    answers : Observations
        Answers to judge (corrupted pictures, or the clean answers themselves).
    clean : Observations
        Clean answers.

    Returns
    -------
    ndarray, shape (n,)
        In [0, 1]; NaN where nobody else answered that original clean.

    Notes
    -----
    A U-statistic: the mean over all clean answers of other people, so it does not depend on how many there are.
    Differs from VCR section 3.1, where one observer answers both: here nobody sees an original twice. A miss agrees
    with nothing.
    """
    given = _counts(clean, ("original", "response"))
    total = _counts(clean, ("original",))
    own_given = _counts(clean, ("original", "observer", "response"))
    own_total = _counts(clean, ("original", "observer"))
    agreement = np.full(len(answers), np.nan)
    for row, (original, observer, response) in enumerate(
        zip(answers.original.tolist(), answers.observer.tolist(), answers.response.tolist(), strict=True)
    ):
        others = total.get((original,), 0) - own_total.get((original, observer), 0)
        if others:
            same = given.get((original, response), 0) - own_given.get((original, observer, response), 0)
            agreement[row] = same / others if response != NO_ANSWER else 0.0
    return agreement


def classifier_agreement(predictions: Observations, clean: Observations) -> FloatArray:
    """Whether a classifier predicts for each picture what it predicts for its clean original.

    Parameters
    ----------
    predictions : Observations
    clean : Observations
        Its predictions for clean pictures.

    Returns
    -------
    ndarray, shape (n,)
        1 or 0; NaN where the clean original was not classified.
    """
    expected = dict(
        zip(zip(clean.observer.tolist(), clean.original.tolist(), strict=True), clean.response.tolist(), strict=True)
    )
    keys = zip(predictions.observer.tolist(), predictions.original.tolist(), strict=True)
    wanted = [expected.get(key) for key in keys]
    return np.array(
        [
            np.nan if clean_response is None else float(clean_response == response)
            for clean_response, response in zip(wanted, predictions.response.tolist(), strict=True)
        ],
        dtype=np.float64,
    )


def _counts(rows: Observations, names: tuple[str, ...]) -> dict[tuple[str, ...], int]:
    """Number of rows for every combination of the named columns."""
    counted: dict[tuple[str, ...], int] = {}
    for key in zip(*(getattr(rows, name).tolist() for name in names), strict=True):
        counted[key] = counted.get(key, 0) + 1
    return counted
