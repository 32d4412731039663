"""Of how many people a verdict speaks: too few for any, few enough to be wrong more often, and fewer than planned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

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
