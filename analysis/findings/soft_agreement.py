"""Soft agreement of a study: people's answers predicted by the rest of people, and by models that keep a confidence."""

from __future__ import annotations

import numpy as np

from analysis.agreement.soft import shares_of_confidence, soft_agreement
from analysis.claims.agreement import ENOUGH_ANSWERING, ENOUGH_PICTURES
from analysis.findings.agreement import pictures_of, places_among
from analysis.findings.model.agreement import SoftAgreement
from analysis.findings.model.entry import HUMANS
from analysis.findings.observations import Observations
from analysis.labels.space import LabelSpace


def soft_agreement_entries(
    people: Observations, classifiers: Observations, space: LabelSpace, *, level: float
) -> list[SoftAgreement]:
    """People predicted by the rest of people, then every model with a confidence, by name.

    Parameters
    ----------
    people, classifiers : Observations
    space : LabelSpace
    level : float
        Of the intervals.

    Returns
    -------
    list of SoftAgreement
        Empty unless pictures of `ENOUGH_PICTURES` different originals were answered by `ENOUGH_ANSWERING` people each;
        models that have a confidence on fewer of them are left out.

    Notes
    -----
    The first answer of every person to a picture counts, if it names a label. Trials that offered labels of their own
    are left out. Predictions keep the response and its probability: `shares_of_confidence`.
    """
    number = {label: place for place, label in enumerate(space.ids)}
    named = np.array([number.get(one, -1) for one in people.response.tolist()], dtype=np.int64)
    kept = (named >= 0) & (people.offered == 0)
    theirs, answer = people.select(kept), named[kept]
    pictures, shown_first, picture = np.unique(pictures_of(theirs), return_index=True, return_inverse=True)
    _, person = np.unique(theirs.observer, return_inverse=True)
    _, once = np.unique(person * max(len(pictures), 1) + picture, return_index=True)
    enough = np.bincount(picture[once], minlength=len(pictures)) >= ENOUGH_ANSWERING
    once = once[enough[picture[once]]]
    names, originals = pictures[enough], theirs.original[shown_first][enough]
    counts = np.zeros((len(names), len(space)))
    np.add.at(counts, ((np.cumsum(enough) - 1)[picture[once]], answer[once]), 1.0)
    if len(np.unique(originals)) < ENOUGH_PICTURES:
        return []
    ceiling = soft_agreement(counts, originals=originals, level=level)
    entries = [SoftAgreement.of(ceiling, observer=HUMANS, kind="humans")]
    known = classifiers.select(~np.isnan(classifiers.confidence) & (classifiers.offered == 0))
    for name in np.unique(known.observer).tolist():
        own = known.select(known.observer == name)
        among, there = places_among(names, pictures_of(own))
        place, first = np.unique(among[there], return_index=True)
        own = own.select(np.flatnonzero(there)[first])
        if len(np.unique(originals[place])) < ENOUGH_PICTURES:
            continue
        response = np.array([number.get(one, -1) for one in own.response.tolist()], dtype=np.int64)
        shares = shares_of_confidence(response, own.confidence, len(space))
        found = soft_agreement(counts[place], shares, originals=originals[place], level=level)
        entries.append(SoftAgreement.of(found, observer=name, kind="classifier"))
    return entries
