"""Models beside people: what is claimed, and in which words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from analysis.claims.claim import Claim

_CONDITIONS = (
    "people see a picture for the study's exposure and a mask, models have no limit of time; accepted sessions of this "
    "crowd; inference is to new people like these and new originals of these categories"
)

DIFFERS = Claim(
    name="model-differs-from-people",
    statement="{model} differs from people (above / below / crosses) on {count} of {corruptions} corruptions.",
    estimand="the model's accuracy minus that of people (the mean over people), averaged over windows of .15 of visual "
    "change and over everything measured",
    conditions=f"{_CONDITIONS}; corrected over models, corruptions and windows together",
    promise="false claims at most",
    rate=0.05,
)
MATCHES = Claim(
    name="model-matches-people",
    statement="{model} matches people on {corruption}: areas within {margin}, every window of .15 within "
    "{window_margin}.",
    estimand=DIFFERS.estimand,
    conditions=f"{_CONDITIONS}; a narrower difference than a window is not claimed absent; at least four in five of "
    "people's answers surely came from looking; at the level of one model and corruption, all of which must match",
    promise="false claims at most",
    rate=0.05,
)
DIFFERENCE = Claim(
    name="model-minus-people",
    statement="{model}'s area is {difference} above or below that of people (95 % interval {low} to {high}).",
    estimand="mean over corruptions of the model's accuracy minus that of people, over everything measured",
    conditions=_CONDITIONS,
    promise="covers in at least",
    rate=0.95,
)
MEAN_INDICES = Claim(
    name="mean-hmri-and-mrsi",
    statement="{model} on average over {corruptions} corruptions: HMRI {hmri} (95 % interval {low} to {high}), MRSI "
    "{mrsi} (95 % interval {low} to {high}).",
    estimand="means over corruptions of HMRI and MRSI of the true curves (VCR, section 3.3); no verdict rests on them",
    conditions=f"{_CONDITIONS}; an interval reaches the edge (HMRI 1, MRSI 0) on every corruption on which the model "
    "was not shown to lead or to fall behind",
    promise="covers in at least",
    rate=0.95,
)
CLAIMS = (DIFFERS, MATCHES, DIFFERENCE, MEAN_INDICES)


def verdict_words(*, matches: bool, differs: bool, direction: str | None, difference: float) -> str:
    """The verdict on a model, to follow its name."""
    if matches:
        return f"matches people, differs by {abs(difference):.3f}" if differs else "matches people"
    if differs:
        return f"differs from people ({direction})"
    return "undecided"


def overall_word(*, matches: bool, differs: bool) -> Literal["matches", "differs", "undecided"]:
    """One word; what matches and differs, by less than the margins, matches."""
    if matches:
        return "matches"
    return "differs" if differs else "undecided"


def undecided_words(*, gaps: int, careless: bool, answers_to_match: int, answers_to_differ: int, gap: float) -> str:
    """Why nothing is said of a model, and what would decide it."""
    if gaps:
        return "undecided: a part of the range between was not measured"
    if careless:
        return "undecided: this crowd could not have shown it, too few of its answers surely came from looking"
    return (
        f"undecided: {answers_to_match:,} answers would show a model without any difference to match, and "
        f"{answers_to_differ:,} a difference of {gap:g} in area"
    )


def method_sentence(*, pairs: int, margin: float, window_margin: float, window: float) -> str:
    """How models were judged, for methods and results."""
    return (
        "Whether a model matches people in accuracy was asked of the difference of their mean accuracies (the mean "
        "over people, each counting once) over everything measured and over every window of "
        f"{window:g} of visual change, without a curve in between; variances are two-way over people "
        "and originals. A model matches where all 90 % "
        f"intervals lie within {margin:g} and {window_margin:g}; it differs where a step-down over all {pairs} pairs "
        "of model and corruption with their windows says so at level 0.05."
    )


def models_sentence(matching: Sequence[str], differing: Sequence[str], undecided: Sequence[str], *, where: str) -> str:
    """How many models match people, differ, or are undecided; ``where`` names the corruptions.

    A model that matches and differs, by less than the margins, counts among the matching ones. Nothing is said of
    words that no model has: "none matches" would be read as shown.
    """
    total = len(matching) + len(differing) + len(undecided)
    if not matching and not differing:
        subject = f"the model {undecided[0]}" if total == 1 else f"any of {total} models"
        return f"Whether {subject} matches people {where} is undecided"
    if total == 1:
        return f"The model {(*matching, *differing)[0]} {'matches' if matching else 'differs from'} people {where}"
    groups = ((matching, "matches", "match", "people"), (differing, "differs", "differ", "from people"))
    parts = [
        f"{_counted(names)} {one if len(names) == 1 else several} {rest}"
        for names, one, several, rest in groups
        if names
    ]
    if undecided:
        parts.append(f"{_counted(undecided)} {'is' if len(undecided) == 1 else 'are'} undecided")
    listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return f"Of {total} models, {where}, {listed}"


def _counted(names: Sequence[str]) -> str:
    """How many, with their names as long as they are few."""
    return f"{len(names)} ({', '.join(names)})" if len(names) < 4 else str(len(names))
