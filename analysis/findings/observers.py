"""Numbers per observer and condition: accuracy, and error consistency of every pair."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from analysis.agreement import kappa_from_counts
from analysis.findings.abscissa import condition_number
from analysis.findings.observations import Observations

#: More entries than this are not written: pairs that share few pictures are left out first.
MOST_PAIRS = 5000


def accuracy_entries(people: Observations, classifiers: Observations) -> list[dict[str, Any]]:
    """Accuracy of every observer in every condition, people first."""
    entries = []
    for group in (people, classifiers):
        for observer in np.unique(group.observer):
            own = group.select(group.observer == observer)
            for condition in ordered_conditions(own):
                rows = own.condition == condition
                right, trials = int(own.correct[rows].sum()), int(rows.sum())
                entries.append(
                    {
                        "observer": str(observer),
                        "condition": condition,
                        "trials": trials,
                        "correct": right,
                        "accuracy": right / trials,
                    }
                )
    return entries


def human_accuracy_entries(people: Observations) -> list[dict[str, Any]]:
    """Mean over observers of each observer's accuracy, per condition."""
    accuracies: dict[str, list[float]] = {}
    nobody = people.select(np.zeros(len(people), dtype=bool))
    for entry in accuracy_entries(people, nobody):
        accuracies.setdefault(entry["condition"], []).append(entry["accuracy"])
    return [
        {
            "condition": condition,
            "mean_over_observers": float(np.mean(accuracies[condition])),
            "observers": len(accuracies[condition]),
        }
        for condition in ordered_conditions(people)
    ]


def ordered_conditions(rows: Observations) -> list[str]:
    """Conditions that occur: numbers in rising order, then the rest by name."""

    def place(condition: str) -> tuple[bool, float, str]:
        number = condition_number(condition)
        return (True, 0.0, condition) if np.isnan(number) else (False, number, condition)

    return sorted(set(rows.condition.tolist()), key=place)


def error_consistency_entries(
    people: Observations, classifiers: Observations
) -> tuple[list[dict[str, Any]], list[str]]:
    """Error consistency of every pair of observers and condition, on the pictures that both saw.

    Returns
    -------
    list of dict
        ``pair``, ``condition``, ``n``, ``kappa``, ``observed``, ``expected``; pairs without a common picture are left
        out.
    list of str
        Notes.

    Notes
    -----
    A picture is a stimulus; for published trials, whose file names differ between observers, it is the original
    within its condition. Of several answers of one observer to a picture the first counts.
    """
    entries: list[dict[str, Any]] = []
    for condition in ordered_conditions(people) + [
        one for one in ordered_conditions(classifiers) if one not in set(people.condition.tolist())
    ]:
        entries.extend(_pairs_in(condition, people, classifiers))
    least = 1
    written = entries
    while len(written) > MOST_PAIRS:
        least = 10 if least == 1 else 2 * least
        written = [entry for entry in entries if entry["n"] >= least]
    notes = []
    if least > 1:
        notes.append(
            f"Error consistency: {len(entries) - len(written)} pairs of observers with fewer than {least} pictures in "
            "common are left out."
        )
    return written, notes


def _pairs_in(condition: str, people: Observations, classifiers: Observations) -> list[dict[str, Any]]:
    parts = [group.select(group.condition == condition) for group in (people, classifiers)]
    names: list[str] = [str(name) for part in parts for name in np.unique(part.observer)]
    picture = np.concatenate([np.where(part.imported, part.original, part.stimulus) for part in parts])
    observer = np.concatenate([part.observer for part in parts])
    correct = np.concatenate([part.correct for part in parts])
    _, column = np.unique(picture, return_inverse=True)
    position = {name: row for row, name in enumerate(names)}
    row = np.array([position[name] for name in observer.tolist()], dtype=np.int64)
    cells = row * (int(column.max()) + 1 if len(column) else 1) + column
    _, first = np.unique(cells, return_index=True)
    from scipy.sparse import csr_array

    shape = (len(names), int(column.max()) + 1 if len(column) else 1)
    place = (row[first], column[first])
    seen = csr_array((np.ones(len(first)), place), shape=shape)
    right = csr_array((correct[first], place), shape=shape)
    common = (seen @ seen.T).toarray()
    # Entry (a, b): pictures seen by both on which a is right.
    own_right = (right @ seen.T).toarray()
    both_right = (right @ right.T).toarray()
    entries = []
    for a, b in combinations(range(len(names)), 2):
        n = int(common[a, b])
        if not n:
            continue
        observed, expected, kappa = kappa_from_counts(own_right[a, b], own_right[b, a], both_right[a, b], n)
        entries.append(
            {
                "pair": [names[a], names[b]],
                "condition": condition,
                "n": n,
                "kappa": float(kappa),
                "observed": float(observed),
                "expected": float(expected),
            }
        )
    return entries
