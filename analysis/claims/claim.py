"""What a claim is, of how many people it speaks, and what is said of networks that guess."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Claim:
    """A sentence or an interval, declared once for every page, figure, table, report and JSON that shows it.

    Parameters
    ----------
    name : str
        By which simulations and surfaces refer to it: lower case, hyphens.
    statement : str
        What is said, as a reader meets it; names of numbers stand in braces.
    estimand : str
        The quantity that it is about.
    conditions : str
        Exposure, task, crowd and screening for which it is said, and what the method takes for granted.
    promise : {"false claims at most", "covers in at least", "comes true in at least"}
        What the rate counts: studies that say it although it is not so, intervals that contain the truth, or studies in
        which what was foretold happens.
    rate : float
        In [0, 1].
    """

    name: str
    statement: str
    estimand: str
    conditions: str
    promise: Literal["false claims at most", "covers in at least", "comes true in at least"]
    rate: float


#: Models beside people; corruptions by people's curves, or told apart by people; crowds of several recruiters.
Judged = Literal["models", "corruptions", "recruiters"]

#: Of fewer people than these nothing is said of people at large: two or three tell nothing of how people differ.
FEWEST = 4
#: From so many people on nothing is said of the rate. It falls slowly: where people differ as much as below, and answer
#: as often, it is 11 of 100 with 20 people and 7 with 40.
ENOUGH = 20
#: Of 100 simulated studies those in which one of two models that answer as new people would is said to differ, on three
#: corruptions, with 4 to 19 people who differ by a standard deviation of 1 on the logit and answer 200 times each on a
#: corruption (`benchmarks.claims.models_beside_people`); and those in which equal crowds of 4 to 19 people are said to
#: differ (`benchmarks.claims.recruiters`). Of equal corruptions, and of pairs at which people guess, no more than
#: promised are (`benchmarks.claims.corruptions`, `benchmarks.claims.telling_apart`).
FALSE_IN_100 = (10, 11)
FALSE_RECRUITERS_IN_100 = 8
PROMISED_IN_100 = 5

_OF_FEW: Mapping[Judged, str] = {
    "models": f"{FALSE_IN_100[0]} to {FALSE_IN_100[1]} of 100 studies whose models are exactly like people say that "
    f"one differs, not at most {PROMISED_IN_100} (simulated with 4 to 19 people who differ much)",
    "corruptions": f"at most {PROMISED_IN_100} of 100 studies of corruptions that are alike say that they differ, as "
    "with more",
    "recruiters": f"up to {FALSE_RECRUITERS_IN_100} of 100 studies whose recruiters send equal crowds say that these "
    f"differ, not at most {PROMISED_IN_100}",
}


def too_few_words(people: int) -> str:
    """Why nothing is said of people at large, to follow "no verdict" or "undecided"; nothing where they are enough."""
    if people >= FEWEST:
        return ""
    return f"{_answered(people)}, and from fewer than {FEWEST} nothing is said of people at large"


def crowd_words(judged: Mapping[Judged, Iterable[int]], *, answered: int = 0) -> str:
    """How many people stand behind what is said of people, and how much more often verdicts on few are wrong.

    Parameters
    ----------
    judged : mapping of kind to iterable of int
        On how many people each verdict rests; 0 where an earlier version did not count them. Verdicts that are
        withheld because too few answered need not be left out.
    answered : int
        Who answered in sessions that count; 0 where an earlier version did not count them.
    """
    by_kind = {kind: known for kind, own in judged.items() if (known := [one for one in own if one >= FEWEST])}
    people = sorted(one for known in by_kind.values() for one in known)
    if not people:
        if not answered:
            return ""
        return f"{too_few_words(answered) or _answered(answered)}."
    span = f"{people[0]:,}" if people[0] == people[-1] else f"{people[0]:,} to {people[-1]:,}"
    said = f"Verdicts rest on the answers of {span} people."
    of_few = [_OF_FEW[kind] for kind, known in by_kind.items() if min(known) < ENOUGH]
    return f"{said} With fewer than {ENOUGH} people, {'; '.join(of_few)}." if of_few else said


def provisional_words(counted: int, planned: int) -> str:
    """Before a headline while fewer sessions count than were planned; nothing where none were planned, or all count."""
    return f"Provisional: {counted:,} of {planned:,} planned sessions count so far." if counted < planned else ""


def _answered(people: int) -> str:
    return "1 person answered" if people == 1 else f"{people:,} people answered"


#: Pictures from which on it is said.
ENOUGH_PICTURES = 10
#: Chance that a network which only guesses names so many right or more; below it, it is taken to see something.
_LEVEL = 0.01


def is_guessing(right: int, shown: int, chance: float) -> bool:
    """Whether so many right answers to clean pictures are no more than guessing gives.

    Parameters
    ----------
    right, shown : int
        Clean pictures named right, and all of them.
    chance : float
        Mean chance of a right guess over the pictures, in (0, 1).

    Notes
    -----
    Exact one-sided binomial test against chance at .01; with fewer than 10 pictures nothing is said. Where chance
    differs between pictures, right answers spread less than that (Hoeffding 1956).
    """
    from scipy.stats import binom

    return shown >= ENOUGH_PICTURES and float(binom.sf(right - 1, shown, chance)) > _LEVEL


def guessing_words(name: str, right: int, shown: int) -> str:
    """What is said of a network that `is_guessing`, with what usually is the cause."""
    return (
        f"{name} names {right:,} of {shown:,} clean pictures right, no more than by guessing. Look at the order of its "
        "labels, its mean and std, and the order of its colours before you use its numbers."
    )
