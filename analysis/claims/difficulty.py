"""Claims about models over people's own accuracy: human difficulty in place of visual change."""

from __future__ import annotations

from analysis.claims.claim import Claim

#: Equal ranges of people's accuracy, from 0 to 1.
REGIMES = 5
#: An answer is placed by so many answers of other people to other originals.
ENOUGH_OTHERS = 5
#: A range is shown with so many answers, of so many people and to so many originals.
ENOUGH_ANSWERS, ENOUGH_PEOPLE = 30, 5

AT_DIFFICULTY = Claim(
    name="model-at-difficulty",
    statement=(
        "On pictures on which other people are right in {low} to {high}, people are right in {people} and the model in "
        "{classifier}: a difference of {difference} [{lower}, {upper}]."
    ),
    estimand=(
        "Mean difference in accuracy of the model and people over the answers placed here: for new people and new "
        "originals, at these corruptions and visual changes."
    ),
    conditions=(
        "An answer is placed by other people's answers to other originals of its corruption and tenth of visual change "
        f"(or condition), at least {ENOUGH_OTHERS}. Shown with {ENOUGH_ANSWERS} answers or more, of {ENOUGH_PEOPLE} "
        "people and originals at least. Each range for itself. People saw the pictures for a moment, models have no "
        "limit of time."
    ),
    promise="covers in at least",
    rate=0.93,
)

CLAIMS = (AT_DIFFICULTY,)


def note() -> str:
    """How answers are placed, and what the intervals are."""
    return (
        "Each answer is placed by how often other people are right on other originals of its corruption and tenth of "
        "visual change (or condition), so that luck does not place it. Across: the people whose answers were placed "
        "there. Up: the model on the same pictures. Lines: 95 % intervals of the model's difference from people, each "
        "for itself. A model like people lies on the diagonal (after Xu et al. 2026)."
    )
