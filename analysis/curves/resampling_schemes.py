"""What a band resamples, chosen by how the answers were collected, with the reason in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.curves.bootstrap import UNITS, Scheme
from analysis.curves.trials import TrialColumns
from analysis.errors import InvalidInput


@dataclass(frozen=True)
class SchemeChoice:
    """A resampling scheme and why it was taken."""

    scheme: Scheme
    reason: str


def choose_scheme(trials: TrialColumns) -> SchemeChoice:
    """Resample whatever ids are known: people and originals, one of them, or single trials.

    Of whom or what there is only one, nothing is known that another study would change: it is not resampled.

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
    people, originals = _several(trials.participants), _several(trials.images)
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
            f"The {people} people are resampled, because no two originals are known; where originals repeat, the band "
            "is too narrow.",
        )
    return SchemeChoice(
        "naive",
        "Single answers are resampled, because neither several people nor several originals are known; where answers "
        "share either, the band is too narrow.",
    )


def _several(ids: NDArray[np.str_] | None) -> int | None:
    """Different ids; None where there are none, or one."""
    found = 0 if ids is None else len(np.unique(ids))
    return found if found > 1 else None


def scheme_by_hand(scheme: Scheme, trials: TrialColumns) -> SchemeChoice:
    """A scheme that the caller asked for, and what it leaves out.

    Raises
    ------
    InvalidInput
        If there is only one of what it would resample.
    """
    for unit, ids in (("participant", trials.participants), ("image", trials.images)):
        if unit in UNITS[scheme] and ids is not None and _several(ids) is None:
            raise InvalidInput(
                f"The scheme {scheme} resamples {unit}s, but there is only one ({ids[0]}), of which no spread follows. "
                "Leave the scheme out: one that these answers allow is taken."
            )
    default = choose_scheme(trials)
    if default.scheme == scheme:
        return default
    return SchemeChoice(scheme, f"The scheme {scheme} was asked for; these answers call for {default.scheme}.")
