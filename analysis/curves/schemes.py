"""What a band resamples, chosen by how the answers were collected, with the reason in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.curves.bootstrap import Scheme
from analysis.curves.trials import TrialColumns


@dataclass(frozen=True)
class SchemeChoice:
    """A resampling scheme and why it was taken."""

    scheme: Scheme
    reason: str


def choose_scheme(trials: TrialColumns) -> SchemeChoice:
    """Resample whatever ids are known: people and originals, one of them, or single trials.

    Parameters
    ----------
    trials : TrialColumns

    Notes
    -----
    Of all schemes only the two-way one has the right spread whether people gave many answers or few and originals were
    answered often or once (Cameron, Gelbach and Miller 2011); where an observer is a classifier, or nothing is known of
    people, originals alone are what another study would change.
    """
    n = len(trials.correct)
    people = None if trials.participants is None else len(np.unique(trials.participants))
    originals = None if trials.images is None else len(np.unique(trials.images))
    if people is not None and originals is not None:
        return SchemeChoice(
            "two-way",
            f"Both people and originals are resampled: {people} people gave {n / people:.1f} answers each, and each of "
            f"{originals} originals got {n / originals:.1f}; answers that share either resemble each other.",
        )
    if originals is not None:
        return SchemeChoice(
            "image",
            f"The {originals} originals are resampled: one observer answered, so pictures are all that another study "
            "would change.",
        )
    if people is not None:
        return SchemeChoice(
            "participant",
            f"The {people} people are resampled, because it is not known which answers share an original; where "
            "originals repeat, the band is too narrow.",
        )
    return SchemeChoice(
        "naive",
        "Single answers are resampled, because neither people nor originals are known; where answers share either, the "
        "band is too narrow.",
    )


def scheme_by_hand(scheme: Scheme, trials: TrialColumns) -> SchemeChoice:
    """A scheme that the caller asked for, and what it leaves out."""
    default = choose_scheme(trials)
    if default.scheme == scheme:
        return default
    return SchemeChoice(scheme, f"The scheme {scheme} was asked for; these answers call for {default.scheme}.")
