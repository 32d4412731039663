"""Accuracy per observer and condition."""

from __future__ import annotations

import numpy as np

from analysis.findings.abscissa import condition_number
from analysis.findings.model import Accuracy, HumanAccuracy
from analysis.findings.observations import Observations


def accuracy_entries(people: Observations, classifiers: Observations) -> list[Accuracy]:
    """Accuracy of every observer in every condition, people first."""
    entries = []
    for group in (people, classifiers):
        for observer in np.unique(group.observer):
            own = group.select(group.observer == observer)
            for condition in ordered_conditions(own):
                rows = own.condition == condition
                right, trials = int(own.correct[rows].sum()), int(rows.sum())
                entries.append(
                    Accuracy(
                        observer=str(observer),
                        condition=condition,
                        trials=trials,
                        correct=right,
                        accuracy=right / trials,
                    )
                )
    return entries


def human_accuracy_entries(people: Observations) -> list[HumanAccuracy]:
    """Mean over observers of each observer's accuracy, per condition."""
    accuracies: dict[str, list[float]] = {}
    nobody = people.select(np.zeros(len(people), dtype=bool))
    for entry in accuracy_entries(people, nobody):
        accuracies.setdefault(entry.condition, []).append(entry.accuracy)
    return [
        HumanAccuracy(
            condition=condition,
            mean_over_observers=float(np.mean(accuracies[condition])),
            observers=len(accuracies[condition]),
        )
        for condition in ordered_conditions(people)
    ]


def ordered_conditions(rows: Observations) -> list[str]:
    """Conditions that occur: numbers in rising order, then the rest by name."""

    def place(condition: str) -> tuple[bool, float, str]:
        number = condition_number(condition)
        return (True, 0.0, condition) if np.isnan(number) else (False, number, condition)

    return sorted(set(rows.condition.tolist()), key=place)
