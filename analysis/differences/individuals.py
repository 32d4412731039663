"""What single people would be called, judged against all others as a model is."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np

from analysis.differences.answers import AnswersToOne
from analysis.differences.beside import Beside, ModelBesidePeople, beside_people
from analysis.differences.compared import Compared

#: People who are judged: those with the most answers.
MOST_PEOPLE = 40
#: Joint draws for each of them.
_DRAWS = 1000
#: So much of the axis must be measured to judge a person.
_MEASURED = 0.5


@dataclass(frozen=True)
class Called:
    """How many people would be called what.

    Parameters
    ----------
    people : int
        Who was judged.
    answers : int
        Their answers on the median.
    matches, differs, undecided : int
    too_few : int
        Of the undecided: those who did not answer often enough for the rule.
    """

    people: int
    answers: int
    matches: int
    differs: int
    undecided: int
    too_few: int


def individuals(
    study: Compared,
    *,
    margin: float,
    window_margin: float,
    seed: int = 0,
    most: int = MOST_PEOPLE,
    tick: Callable[[], None] = lambda: None,
) -> dict[str | None, Called]:
    """Judge people one at a time against all others, by the rule for a study with one model.

    Parameters
    ----------
    study : Compared
    margin, window_margin, seed
        As in `beside_people`.
    most : int
        So many people with the most answers are judged.
    tick : callable
        Called now and then; what it raises is let through.

    Returns
    -------
    dict of corruption, or None for all of them, to Called
        Corruptions that fewer than three people answered are left out.

    Notes
    -----
    The rule asks for five answers of either side in every cell of .05 of the axis. A person who gave fewer in more than
    half of them is undecided, which says nothing about whether they are like the others.
    """
    people = {name: own.answers for name, own in study.people.items() if own.answers.people is not None}
    counts: dict[str, int] = {}
    for own in people.values():
        if own.people is not None:
            for name, count in zip(own.people.names.tolist(), np.bincount(own.people.codes).tolist(), strict=True):
                counts[name] = counts.get(name, 0) + count
    chosen = sorted(counts, key=lambda name: (-counts[name], name))[:most]
    attentive = study.attentive() if chosen else {}
    found: dict[str, ModelBesidePeople] = {}
    for name in chosen:
        tick()
        parts = {corruption: _parted(own, name) for corruption, own in people.items()}
        found |= beside_people(
            {corruption: others for corruption, (others, _) in parts.items()},
            {name: {corruption: own for corruption, (_, own) in parts.items() if len(own)}},
            attentive=attentive,
            conditions=study.conditions,
            margin=margin,
            window_margin=window_margin,
            seed=seed,
            draws=_DRAWS,
        )
    called: dict[str | None, Called] = {
        corruption: _called([corruption], {corruption: own}, chosen, found)
        for corruption, own in people.items()
        if own.people is not None and len(own.people.names) > 2
    }
    if called and len(called) == len(people):
        called[None] = _called(list(people), people, chosen, found)
    return called


def _parted(answers: AnswersToOne, name: str) -> tuple[AnswersToOne, AnswersToOne]:
    """Answers of all others, and of this person as one observer."""
    if answers.people is None:
        return answers, answers.select(np.zeros(len(answers), dtype=np.bool_))
    rows = (answers.people.names == name)[answers.people.codes]
    return answers.select(~rows), replace(answers.select(rows), people=None)


def _is_measured(one: Beside) -> bool:
    """Whether enough of the axis stands behind it."""
    low, high = one.ranges[0]
    return high - low - sum(end - start for start, end in one.gaps) >= _MEASURED


def _called(
    corruptions: Collection[str],
    people: dict[str, AnswersToOne],
    chosen: Collection[str],
    found: dict[str, ModelBesidePeople],
) -> Called:
    """Counts over these corruptions; who was not judged on one of them cannot match."""
    matches = differs = undecided = too_few = 0
    numbers = []
    for name in chosen:
        given = sum(
            int((own.people.names == name)[own.people.codes].sum()) for own in people.values() if own.people is not None
        )
        if not given:
            continue
        numbers.append(given)
        judged = found[name].corruptions if name in found else {}
        known = [judged[one] for one in corruptions if one in judged and _is_measured(judged[one])]
        if len(known) == len(corruptions) and all(one.matches for one in known):
            matches += 1
        elif any(one.differs for one in known):
            differs += 1
        else:
            undecided += 1
            too_few += len(known) < len(corruptions)
    return Called(len(numbers), int(np.median(numbers)) if numbers else 0, matches, differs, undecided, too_few)
