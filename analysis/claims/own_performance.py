"""What a participant is told of their own answers."""

from __future__ import annotations

from analysis.claims.claim import Claim

OWN_SHARE = Claim(
    name="own-share",
    statement="You were right in {share} of the pictures; over many more of the kind, between {lower} and {upper}.",
    estimand="One person's mean chance of a right answer over pictures of one stretch of visual change.",
    conditions=(
        "Forced choice; the person saw each original once, and their answers are independent given the pictures. For "
        "each stretch by itself."
    ),
    promise="covers in at least",
    rate=0.95,
)

OWN_GUESSING = Claim(
    name="own-better-than-guessing",
    statement="No sentence that the answers cannot be told apart from guessing.",
    estimand="Whether one person's mean chance of a right answer over all pictures is above that of guessing.",
    conditions="As for the share. Silence about guessing is the claim: it says that the person did better.",
    promise="false claims at most",
    rate=0.05,
)

CLAIMS = (OWN_SHARE, OWN_GUESSING)
