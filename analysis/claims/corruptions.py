"""Corruptions beside each other by people's, or a model's, performance: what is claimed, and in which words."""

from __future__ import annotations

from typing import Literal

from analysis.claims.claim import Claim
from analysis.claims.models import undecided_words

Verdict = Literal["equivalent", "different", "undecided"]

_CONDITIONS = (
    "the study's exposure and task; accepted sessions of this crowd, or one model; inference is to new people like "
    "these and new originals of these categories"
)
EQUIVALENT = Claim(
    name="corruptions-equivalent",
    statement="{first} and {second} are equivalent for people: mean accuracies over the measured windows within "
    "{margin}, every window of .15 within {band_margin}.",
    estimand="performance on the first corruption minus that on the second (means over people) at equal visual change, "
    "averaged over windows of .15 and over everything that both measured, of answers that came from looking",
    conditions=f"{_CONDITIONS}; a narrower difference than a window is not claimed absent; at least four in five "
    "answers surely came from looking, and margins shrink by the share that may not have; at the level of one pair",
    promise="false claims at most",
    rate=0.05,
)
DIFFERENT = Claim(
    name="corruptions-different",
    statement="{first} and {second} are different for people.",
    estimand=EQUIVALENT.estimand,
    conditions=f"{_CONDITIONS}; corrected over windows and pairs together",
    promise="false claims at most",
    rate=0.05,
)
DIFFERENCE = Claim(
    name="corruption-minus-corruption",
    statement="Performance on {first} is {difference} above or below that on {second} (90 % interval {low} to {high}).",
    estimand="mean difference over everything that both measured, of the answers as they are",
    conditions=_CONDITIONS,
    promise="covers in at least",
    rate=0.90,
)
CLAIMS = (EQUIVALENT, DIFFERENT, DIFFERENCE)


def verdict_words(
    verdict: str,
    *,
    differs: bool,
    difference: float,
    gaps: int,
    careless: bool,
    answers_to_match: int,
    answers_to_differ: int,
    too_few: str = "",
) -> str:
    """The verdict on a pair; if it is open, why, and what would decide it.

    Parameters
    ----------
    verdict : {"equivalent", "different", "undecided"}
    differs : bool
        A difference was shown; by less than the margins, if they are equivalent.
    difference : float
    gaps : int
        Stretches that were not measured.
    careless : bool
        They would be equivalent, had more answers surely come from looking.
    answers_to_match, answers_to_differ : int
    too_few : str
        Why nothing is said of people at large; empty where enough answered.
    """
    if too_few:
        return f"undecided: {too_few}"
    if verdict == "equivalent":
        return f"equivalent, differs by {abs(difference):.3f}" if differs else "equivalent"
    if verdict == "different":
        return "different"
    return undecided_words(
        gaps=gaps,
        careless=careless,
        alike="two corruptions without any difference to be equivalent",
        answers_to_match=answers_to_match,
        answers_to_differ=answers_to_differ,
    )


def planned_words(*, people: int, equivalent: float, low: float, high: float, different: float) -> str:
    """What a study of this size would say of two corruptions without any difference, before anybody is invited.

    Parameters
    ----------
    people : int
    equivalent : float
        Share of simulated studies in which they are equivalent, and what the number of runs leaves open of it.
    low, high : float
    different : float
        Share in which they are different, falsely.
    """
    return (
        f"Where nothing differs, {people:,} people show two corruptions to be equivalent in {100 * equivalent:.0f} % "
        f"of such studies ({100 * low:.0f} to {100 * high:.0f} %), and find a false difference in "
        f"{100 * different:.0f} %."
    )


def method_sentence(*, pairs: int, margin: float, window_margin: float, window: float) -> str:
    """How corruptions were compared, for methods and results."""
    return (
        "Whether two corruptions are alike for people was asked of the difference of their mean accuracies at equal "
        "visual change (means over people, each counting once; categories weighted as along the curves) over "
        "everything measured and over every window of "
        f"{window:g} of visual change, without a curve in between; variances are two-way over people and originals. "
        f"Two corruptions are equivalent where all 90 % intervals lie within {margin:g} and {window_margin:g}, margins "
        "shrunk by the share of answers that may not have come from looking; they are different where a step-down over "
        f"{'the windows of the pair' if pairs == 1 else f'all {pairs} pairs with their windows'} says so at level 0.05."
    )
