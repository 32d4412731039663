"""What is said of oracle-oriented robustness, and of a network before and after retraining."""

from __future__ import annotations

from analysis.claims.claim import Claim

#: How the intervals of the scores came about, for pages; no place for a number, so that it can be stored with them.
SCORE_INTERVALS = (
    "Intervals: 95 %, for other pictures of these categories; exact binomial bounds of the shares, and of OOR the "
    "bounds that follow from those of CA and SA and their correlation."
)
#: Of scores that were stored before intervals were exact.
RESAMPLED_INTERVALS = "Intervals: 95 %, pictures resampled; too narrow with few pictures and with shares near 1."
NO_VALIDATED = "The oracle accepted no picture: nothing is known of what the model does on counterfactuals."
NONE_RIGHT = "The model names no clean picture right: OOR may be as large as you like, and has a lower bound alone."

#: Beside what retraining brought.
THESE_WEIGHTS = (
    "Intervals of the difference are about these two sets of weights, for other pictures and other people; another "
    "training gives another result. They are paired: the same originals are drawn for both networks, and for people."
)

_SEARCH = (
    "one model, one generator, one oracle and one budget, as they are; pictures drawn independently from those that "
    "the set stands for, and no two of one object"
)

RETRAINING = Claim(
    name="retraining-difference",
    statement="After retraining {quantity} of {model} is {difference} higher or lower (95 % interval {low} to {high}), "
    "for these two sets of weights.",
    estimand="area, HMRI or MRSI of the network after minus before, of the true curves of these two sets of weights; "
    "never of the recipe: another training, or another seed, gives another result",
    conditions="both networks on the same stimuli, of originals that neither was trained on; accepted sessions of this "
    "crowd; inference is to new people like these and new originals of these categories",
    promise="covers in at least",
    rate=0.95,
)

CLAIMS = (
    RETRAINING,
    Claim(
        name="shares-of-a-search",
        statement="SA {low} to {high}; likewise VR, CA, and SA over the validated pictures",
        estimand="probability that a new picture is named right, that its counterfactual is accepted, and that a clean "
        "or counterfactual picture is named right given that it was accepted",
        conditions=_SEARCH,
        promise="covers in at least",
        rate=0.95,
    ),
    Claim(
        name="oriented-robustness",
        statement="{model} keeps {oor} of its clean accuracy ({low} to {high}) on {n} counterfactuals that the oracle "
        "accepts",
        estimand="ratio of the probability that an accepted counterfactual is named right to the probability that a "
        "clean picture is, over all pictures or over the accepted ones",
        conditions=_SEARCH,
        promise="covers in at least",
        rate=0.95,
    ),
)
