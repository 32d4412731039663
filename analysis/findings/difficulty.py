"""Classifiers over people's own accuracy: human difficulty as an abscissa beside visual change."""

from __future__ import annotations

import numpy as np

from analysis.agreement import at_difficulties, ease_for_others
from analysis.findings.agreement import conditions_of, pictures_of
from analysis.findings.model import Difficulty
from analysis.findings.observations import CLEAN, Observations


def difficulty_entries(people: Observations, classifiers: Observations, *, level: float) -> list[Difficulty]:
    """One entry for every classifier and range of people's accuracy, the hardest range first.

    Parameters
    ----------
    people, classifiers : Observations
    level : float
        Of the intervals.

    Returns
    -------
    list of Difficulty
        Sorted by classifier; on the answers to pictures that the classifier answered, too.

    Notes
    -----
    A collection is a published condition, or a tenth of visual change within a corruption (`conditions_of`); clean
    pictures are left out.
    """
    theirs = people.select(people.corruption != CLEAN)
    if not len(theirs) or not len(classifiers):
        return []
    ease = ease_for_others(theirs.correct, theirs.observer, theirs.original, conditions_of(theirs))
    pictures = pictures_of(theirs)
    entries = []
    for name in np.unique(classifiers.observer).tolist():
        own = classifiers.select(classifiers.observer == name)
        seen, place = np.unique(pictures_of(own), return_inverse=True)
        accuracy = np.bincount(place, weights=own.correct) / np.bincount(place)
        at = np.searchsorted(seen, pictures).clip(max=len(seen) - 1)
        common = seen[at] == pictures
        entries += [
            Difficulty(
                classifier=name,
                placed=one.placed,
                people=one.people,
                accuracy=one.classifier,
                difference=one.difference,
                interval=one.interval,
                n=one.n,
                participants=one.participants,
                originals=one.originals,
                shown=one.shown,
            )
            for one in at_difficulties(
                ease[common],
                theirs.correct[common],
                accuracy[at[common]],
                theirs.observer[common],
                theirs.original[common],
                level=level,
            )
        ]
    return entries
