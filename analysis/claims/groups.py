"""Kinds of networks and families of functions beside people: what is claimed of their means, and in which words."""

from __future__ import annotations

from analysis.claims.claim import Claim

_CONDITIONS = (
    "people see a picture for the study's exposure and a mask, models have no limit of time; the functions on which "
    "all networks were compared with people; inference is to new people like these and new originals of these "
    "categories, of these networks and these functions: nothing is said of a population of networks"
)
MEANS = Claim(
    name="group-means",
    statement="The mean accuracy of these networks ({kind}), or with these functions ({family}), is {difference} above "
    "or below that of people (95 % interval {low} to {high}).",
    estimand="mean over the networks of a kind and all functions, or over all networks and the functions of a family, "
    "of the network's accuracy minus that of people over everything measured",
    conditions=_CONDITIONS,
    promise="covers in at least",
    rate=0.95,
)
DIFFER = Claim(
    name="groups-differ",
    statement="These networks ({kind}) are right more often than these ({other}), by {difference}; with these "
    "functions ({family}) these networks fall further behind people than with these ({other}).",
    estimand="difference of two of these means, of two kinds or of two families",
    conditions=f"{_CONDITIONS}; corrected over all pairs of kinds and of families together",
    promise="false claims at most",
    rate=0.05,
)
REVERSED = Claim(
    name="order-reversed",
    statement="At the fixed levels {network} is ahead of {other}, and over visual change it is behind.",
    estimand="signs of the difference of mean accuracy over the five levels, and of that (or of consistency) over bins "
    "of visual change, of the same function or of all together",
    conditions="two networks that answered the same pictures; inference is to new originals of these categories and to "
    "these weights; both halves must be shown (intersection-union), corrected over all pairs of networks, functions "
    "and properties",
    promise="false claims at most",
    rate=0.05,
)
CLAIMS = (MEANS, DIFFER, REVERSED)


def kinds_words(first: str, second: str, *, counts: tuple[int, int], difference: float, differ: bool) -> str:
    """What is said of two kinds of networks, whose names are given; in a difference of kinds people cancel.

    Parameters
    ----------
    first, second : str
        The kind with the higher mean first.
    counts : (int, int)
        Networks of each.
    difference : float
        At least 0.
    differ : bool
    """
    named = [
        f"the {n} network{'' if n == 1 else 's'} “{kind}”" for kind, n in zip((first, second), counts, strict=True)
    ]
    if not differ:
        return f"{named[0]} and {named[1]}: not shown to differ"
    return f"{named[0]} {'is' if counts[0] == 1 else 'are'} right more often than {named[1]}, by {difference:.3f}"


def families_words(first: str, second: str, *, difference: float, differ: bool) -> str:
    """What is said of two families of functions, the one with the higher mean of networks minus people first."""
    if not differ:
        return f"{first} and {second}: not shown to differ"
    return f"beside people these networks do worse with {second} than with {first}, by {difference:.3f}"


#: Beside every table with means over groups.
GROUPS_NOTE = (
    "Means over these networks and these functions, each pair counting once; nothing is said of other networks of a "
    "kind. Intervals each for itself, over people and originals; pairs of groups are corrected together."
)
#: Beside every table with means of consistency over groups.
CONSISTENCY_NOTE = (
    "Means of the curves of consistency, each pair of network and function counting once. They have no intervals, and "
    "no groups are said to differ: people are compared with each other's answers to clean pictures and networks with "
    "their own, and no variance of that difference is calibrated."
)
#: Beside every table with reversals.
REVERSALS_NOTE = (
    "Ranks are places by the numbers, and describe these pictures. An order is shown to be reversed where both "
    "differences are, corrected over all pairs of networks, functions and properties; over visual change the means of "
    "20 bins count equally, so that they differ a little from differences of R̂."
)
