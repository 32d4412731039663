"""What observers score on sets of pictures: beside each other, by condition, and from a reference set to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot
from typing import Literal

import numpy as np

from analysis.agreement.shape_bias import share_of
from analysis.entry import Entry
from analysis.findings.agreement import conditions_of
from analysis.findings.factors import accuracy_by_value
from analysis.findings.model.agreement import FactorAccuracy, Favourite
from analysis.findings.model.entry import HUMANS, Interval
from analysis.findings.observations import Observations
from analysis.labels.space import LabelSpace
from analysis.study.analysis_plan import LEVEL

Kind = Literal["chance", "humans", "human", "classifier"]
CHANCE = "chance"


@dataclass(frozen=True, eq=False)
class SetAnswers:
    """Answers of people and models to the pictures of one set.

    Attributes
    ----------
    name : str
    people, models : Observations
    space : LabelSpace
        Of the pictures.
    rules : mapping of model to str
        How a model's outputs became answers, in words; rows are compared across sets under one rule alone. A model
        without an entry answered elsewhere.
    reference : str
        Name of the set from which drops are measured; empty: of none.
    factors : mapping of factor to mapping of original to value
    alternatives : mapping of model to int
        Labels that each of its questions offered, of models that were offered fewer than all.
    """

    name: str
    people: Observations
    models: Observations
    space: LabelSpace
    rules: Mapping[str, str] = field(default_factory=dict)
    reference: str = ""
    factors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    alternatives: Mapping[str, int] = field(default_factory=dict)


class Score(Entry):
    """Share of right answers of one observer to one set.

    Attributes
    ----------
    observer, kind : str
        "humans" are all people together; chance is that of whoever guesses among the labels that trials offered.
    n, pictures : int
        Answers, and different originals behind them; 0 for chance.
    accuracy : float
    interval : tuple of float or None
        For new pictures, and for people together for new people, too.
    favourite : Favourite or None
        The wrong answer given most.
    alternatives : int or None
        Labels that each question offered, where a model was offered fewer than all: its accuracy compares with none of
        another number.
    """

    observer: str
    kind: Kind
    n: int
    pictures: int
    accuracy: float
    interval: Interval | None = None
    favourite: Favourite | None = None
    alternatives: int | None = None


class ConditionScore(Entry):
    """The same in one condition: a published one, or a corruption and a tenth of visual change."""

    observer: str
    kind: Kind
    condition: str
    n: int
    accuracy: float
    interval: Interval


class SetScores(Entry):
    """Every observer on one set: chance, people together, each person, models from the best; and by factor."""

    set: str
    labels: int
    scores: tuple[Score, ...]
    conditions: tuple[ConditionScore, ...]
    factors: tuple[FactorAccuracy, ...] = ()


class Drop(Entry):
    """How much lower an observer scores on a set than on its reference, on the labels that both have.

    Attributes
    ----------
    labels : int
        That both sets have pictures of.
    reference_accuracy, accuracy, drop : float or None
        Of these labels alone; None where they may not be compared.
    interval : tuple of float or None
    withheld : str
        Why they may not be compared.
    """

    observer: str
    kind: Kind
    set: str
    reference: str
    labels: int
    reference_accuracy: float | None = None
    accuracy: float | None = None
    drop: float | None = None
    interval: Interval | None = None
    withheld: str = ""


def set_scores(answers: SetAnswers, *, level: float = LEVEL) -> SetScores:
    """Shares of right answers of all observers on one set.

    Parameters
    ----------
    answers : SetAnswers
    level : float
        Of the intervals, in (0, 1).

    Returns
    -------
    SetScores

    Notes
    -----
    Missed, refused and unreadable answers are wrong. Intervals as in `analysis.findings.factors` (Korn and Graubard
    1998 over people and pictures); one observer's is for new pictures alone.
    """
    observers = _observers(answers)
    scores = [_chance(answers)] if observers else []
    scores += [
        Score(observer=CHANCE, kind="chance", n=0, pictures=0, accuracy=1.0 / count, alternatives=count)
        for count in sorted(set(answers.alternatives.values()))
    ]
    scores += [
        _score(name, kind, rows, level, answers.alternatives.get(name) if kind == "classifier" else None)
        for name, kind, rows in observers
    ]
    conditions = [
        _condition(name, kind, condition, rows.select(own == condition), level)
        for name, kind, rows in observers
        if kind != "human"
        for own in (conditions_of(rows),)
        for condition in np.unique(own).tolist()
    ]
    return SetScores(
        set=answers.name,
        labels=len(answers.space),
        scores=tuple(scores),
        conditions=tuple(conditions),
        factors=tuple(accuracy_by_value(answers.factors, answers.people, answers.models, level=level)),
    )


def drops(sets: Sequence[SetAnswers], *, level: float = LEVEL) -> tuple[Drop, ...]:
    """From every reference set to the sets that name it, observer by observer.

    Parameters
    ----------
    sets : sequence of SetAnswers
        With the reference sets; a set whose reference is not among them has no drop.
    level : float
        Of the intervals, in (0, 1).

    Returns
    -------
    tuple of Drop
        By set; people first.

    Notes
    -----
    After ImageNet-D (Zhang et al. 2024, Table 1): both accuracies are of the labels of which both sets have pictures,
    an answer counting as right or wrong alike under one rule; under two rules nothing is said. Interval: from those of
    both accuracies (Newcombe 1998, method 10; Zou and Donner 2008), as for sets of different pictures and people.
    """
    by_name = {one.name: one for one in sets}
    found: list[Drop] = []
    for one in sets:
        reference = by_name.get(one.reference)
        if reference is None:
            continue
        before = {name: (kind, rows) for name, kind, rows in _observers(reference)}
        for name, kind, rows in _observers(one):
            if kind != "human" and name in before:
                found.append(_drop(name, kind, one, reference, rows, before[name][1], level))
    return tuple(found)


def _drop(
    name: str, kind: Kind, one: SetAnswers, reference: SetAnswers, rows: Observations, before: Observations,
    level: float,
) -> Drop:  # fmt: skip
    both = sorted(set(rows.category.tolist()) & set(before.category.tolist()))
    entry = Drop(observer=name, kind=kind, set=one.name, reference=reference.name, labels=len(both))
    rule, rule_before = one.rules.get(name, ""), reference.rules.get(name, "")
    if one.space.identity != reference.space.identity:
        return entry.model_copy(update={"withheld": "the sets have different labels"})
    if rule != rule_before:
        said = f"two rules: {rule_before or 'not known'} on {reference.name}, {rule or 'not known'} on {one.name}"
        return entry.model_copy(update={"withheld": said})
    if not both:
        return entry.model_copy(update={"withheld": "the sets have no label in common"})
    (first, (low, high)), (second, (lower, upper)) = (
        _accuracy(kind, part.select(np.isin(part.category, both)), level) for part in (before, rows)
    )
    drop = first - second
    ends = drop - hypot(first - low, upper - second), drop + hypot(high - first, second - lower)
    return entry.model_copy(
        update={
            "reference_accuracy": first,
            "accuracy": second,
            "drop": drop,
            "interval": (max(-1.0, ends[0]), min(1.0, ends[1])),
        }
    )


def _observers(answers: SetAnswers) -> list[tuple[str, Kind, Observations]]:
    """People together, each person, models from the best; nobody without answers."""
    people, models = answers.people, answers.models
    found: list[tuple[str, Kind, Observations]] = [(HUMANS, "humans", people)] if len(people) else []
    names = np.unique(people.observer).tolist()
    found += [(name, "human", people.select(people.observer == name)) for name in names]
    own = [(name, models.select(models.observer == name)) for name in np.unique(models.observer).tolist()]
    ordered = sorted(own, key=lambda pair: (-float(pair[1].correct.mean()), pair[0]))
    return found + [(name, "classifier", rows) for name, rows in ordered]


def _chance(answers: SetAnswers) -> Score:
    """Of people's trials, where there are people: these may offer some labels only."""
    rows = answers.people if len(answers.people) else answers.models
    chance = rows.chance(len(answers.space))
    return Score(
        observer=CHANCE,
        kind="chance",
        n=0,
        pictures=0,
        accuracy=1.0 / len(answers.space) if chance is None else chance,
    )


def _score(name: str, kind: Kind, rows: Observations, level: float, alternatives: int | None) -> Score:
    accuracy, interval = _accuracy(kind, rows, level)
    wrong = Counter(rows.response[rows.correct != 1.0].tolist())
    most = min(wrong, key=lambda one: (-wrong[one], one)) if wrong else None
    return Score(
        observer=name,
        kind=kind,
        n=len(rows),
        pictures=len(np.unique(rows.original)),
        accuracy=accuracy,
        interval=interval,
        favourite=None if most is None else Favourite(response=most, share=wrong[most] / wrong.total()),
        alternatives=alternatives,
    )


def _condition(name: str, kind: Kind, condition: str, rows: Observations, level: float) -> ConditionScore:
    accuracy, interval = _accuracy(kind, rows, level)
    return ConditionScore(
        observer=name, kind=kind, condition=condition, n=len(rows), accuracy=accuracy, interval=interval
    )


def _accuracy(kind: Kind, rows: Observations, level: float) -> tuple[float, Interval]:
    """Of one observer for new pictures; of people together for new people, too."""
    people = rows.observer if kind == "humans" else None
    return share_of(rows.correct == 1.0, people=people, pictures=rows.original, level=level)
