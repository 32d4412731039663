"""Of how many people a verdict speaks: too few for any, few enough to be wrong more often, and fewer than planned."""

from __future__ import annotations

from collections.abc import Iterable

#: Of fewer people than these nothing is said of people at large: two or three tell nothing of how people differ.
FEWEST = 4
#: From so many people on a false difference is as rare as promised.
ENOUGH = 20
#: Of 100 simulated studies those in which one of a few models that answer as new people would is said to differ, on
#: three corruptions, with 4 to 12 people who differ by a standard deviation of 1 on the logit: 8.0 (12 people) to 11.5
#: (4). With 20 and 40 people it is 6, within the error of the simulation from what is promised.
FALSE_IN_100 = (8, 12)
PROMISED_IN_100 = 5


def too_few_words(people: int) -> str:
    """Why nothing is said of people at large, to follow "no verdict" or "undecided"; nothing where they are enough."""
    if people >= FEWEST:
        return ""
    answered = "1 person" if people == 1 else f"{people} people"
    return f"{answered} answered, and from fewer than {FEWEST} nothing is said of people at large"


def crowd_words(people: Iterable[int]) -> str:
    """How many people verdicts rest on, and how much more often those on few are wrong.

    Parameters
    ----------
    people : iterable of int
        Of each verdict; 0 where an earlier version did not count them. Without a number nothing is said.
    """
    known = sorted({one for one in people if one})
    if not known:
        return ""
    span = f"{known[0]:,}" if len(known) == 1 else f"{known[0]:,} to {known[-1]:,}"
    said = f"Verdicts rest on the answers of {span} people."
    if known[0] >= ENOUGH:
        return said
    low, high = FALSE_IN_100
    return (
        f"{said} With fewer than {ENOUGH} people, {low} to {high} of 100 studies whose models are exactly like people "
        f"say that one differs, not at most {PROMISED_IN_100} (simulated with 4 to 12 people who differ much)."
    )


def provisional_words(counted: int, planned: int) -> str:
    """Before a headline while fewer sessions count than were planned; nothing where none were planned, or all count."""
    return f"Provisional: {counted:,} of {planned:,} planned sessions count so far." if counted < planned else ""
