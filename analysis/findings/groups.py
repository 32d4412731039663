"""Answers by the groups of a partition of labels: a wrong answer may lie in the picture's group or in another."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from analysis.agreement.shape_bias import share_of
from analysis.findings.model.agreement import GroupAccuracy
from analysis.findings.model.entry import HUMANS
from analysis.findings.observations import Observations
from analysis.labels.files import default_labels
from analysis.labels.lists import ids_in
from analysis.labels.space import LabelSpace


def group_entries(
    people: Observations, classifiers: Observations, space: LabelSpace, *, level: float
) -> list[GroupAccuracy]:
    """How often answers lie in the group of the picture, by partition, observer and corruption.

    Parameters
    ----------
    people, classifiers : Observations
    space : LabelSpace
    level : float
        Of the intervals, in (0, 1).

    Returns
    -------
    list of GroupAccuracy
        By partition, observer (people together first) and corruption; empty for the product's own labels, whose
        findings never had any.

    Notes
    -----
    Pictures whose category is in no group, or accepted labels in several, are left out. An answer without a label (none
    in time, "none of these", outside) is in no group. Chance is the share of the labels offered that are in the group,
    where trials offer all labels; with options of their own it is not given. Intervals are those of shape bias (Korn
    and Graubard 1998 over people and pictures).
    """
    if space.identity == default_labels().identity:
        return []
    observers = [(HUMANS, people)] if len(people) else []
    for name in np.unique(classifiers.observer).tolist():
        observers.append((name, classifiers.select(classifiers.observer == name)))
    return [
        _entry(partition, name, corruption, own, groups, len(space), level)
        for partition in space.partitions
        for groups in (_group_of(space, partition),)
        for name, rows in observers
        for corruption in np.unique(rows.corruption).tolist()
        for own in (_in_one_group(rows.of(corruption), groups),)
        if len(own)
    ]


def _group_of(space: LabelSpace, partition: str) -> Mapping[str, str]:
    """Group of each label that is in one."""
    return {one: group for group, ids in space.groups(partition).items() for one in ids}


def _groups_of(rows: Observations, groups: Mapping[str, str]) -> list[set[str]]:
    """Groups of what is right for each picture; "" is that of a label in none."""
    right = (ids_in(accepted) or (category,) for accepted, category in zip(rows.accepted, rows.category, strict=True))
    return [{groups.get(str(one), "") for one in ids} for ids in right]


def _in_one_group(rows: Observations, groups: Mapping[str, str]) -> Observations:
    return rows.select(np.array([len(one) == 1 and "" not in one for one in _groups_of(rows, groups)], dtype=np.bool_))


def _entry(
    partition: str,
    observer: str,
    corruption: str,
    rows: Observations,
    groups: Mapping[str, str],
    n_labels: int,
    level: float,
) -> GroupAccuracy:
    (shown,) = zip(*map(tuple, _groups_of(rows, groups)), strict=True)
    given = [groups.get(one, "") for one in rows.response.tolist()]
    within: NDArray[np.bool_] = np.array([own == one for own, one in zip(shown, given, strict=True)], dtype=np.bool_)
    wrong = rows.correct == 0.0
    share, interval = share_of(within, people=rows.observer, pictures=rows.original, level=level)
    sizes = {group: list(groups.values()).count(group) for group in set(shown)}
    named = wrong & np.array([one != "" for one in given], dtype=np.bool_)
    return GroupAccuracy(
        partition=partition,
        population=observer,
        corruption=corruption,
        n=len(rows),
        accuracy=float(rows.correct.mean()),
        within=share,
        interval=interval,
        wrong=int(named.sum()),
        wrong_within=int((named & within).sum()),
        chance=None if rows.offered.any() else float(np.mean([sizes[group] / n_labels for group in shown])),
    )
