"""Published conditions as an abscissa: numbers, rescaled to [0, 1] and flipped where performance rises."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import FloatArray
from analysis.findings.observations import Observations

#: A plain number, or one behind a single letter (contrast "c05").
_NUMBER = re.compile(r"^[A-Za-z]?([-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)$")


@dataclass(frozen=True)
class ConditionScale:
    """How conditions of one experiment become values in [0, 1].

    Parameters
    ----------
    offset, factor : float
        ``(number - offset) / factor``.
    flipped : bool
        Whether the result is then taken from 1.
    notes : tuple of str
        What was done, in sentences; empty when nothing was.
    """

    offset: float
    factor: float
    flipped: bool
    notes: tuple[str, ...]

    def place(self, conditions: NDArray[np.str_]) -> FloatArray:
        """Values of conditions in [0, 1]; NaN where a condition is no number."""
        numbers = condition_numbers(conditions)
        scaled = (numbers - self.offset) / self.factor
        return np.asarray(1.0 - scaled if self.flipped else scaled, dtype=np.float64)


def condition_number(condition: str) -> float:
    """Return the number in a condition, NaN where there is none (``1-0-10``, ``bw``, ``inf``)."""
    match = _NUMBER.match(condition.strip())
    number = float(match.group(1)) if match else math.nan
    return number if math.isfinite(number) else math.nan


def condition_numbers(conditions: NDArray[np.str_]) -> FloatArray:
    """`condition_number` of every entry."""
    names, code = np.unique(conditions, return_inverse=True)
    return np.array([condition_number(str(name)) for name in names], dtype=np.float64)[code]


def condition_scale(experiment: str, people: Observations, classifiers: Observations) -> ConditionScale | None:
    """Choose the scale of an experiment's conditions.

    Parameters
    ----------
    experiment : str
        Name for the notes.
    people, classifiers : Observations
        Its answers; the direction is read off people where there are any.

    Returns
    -------
    ConditionScale or None
        None when fewer than two conditions are numbers: there is no curve then.
    """
    numbers = condition_numbers(np.concatenate([people.condition, classifiers.condition]))
    known = numbers[np.isfinite(numbers)]
    if len(np.unique(known)) < 2:
        return None
    notes = []
    offset, factor = 0.0, 1.0
    lowest, highest = float(known.min()), float(known.max())
    if lowest < 0.0:
        offset, factor = lowest, highest - lowest
        notes.append(f"{experiment}: conditions from {lowest:g} to {highest:g} were rescaled to [0, 1].")
    elif highest > 1.0:
        factor = highest
        notes.append(f"{experiment}: conditions were divided by {highest:g} to lie in [0, 1].")
    judges = people if len(people) else classifiers
    flipped = _rises(condition_numbers(judges.condition), judges.correct)
    if flipped:
        notes.append(f"{experiment}: the axis was flipped, because accuracy rises with the condition.")
    left_out = int(np.sum(~np.isfinite(numbers)))
    if left_out:
        notes.append(f"{experiment}: {left_out} answers in conditions that are no numbers are in no curve.")
    notes.append(f"{experiment}: areas are over the experiment's own condition, not over visual change.")
    return ConditionScale(offset, factor, flipped, tuple(notes))


def _rises(numbers: FloatArray, correct: FloatArray) -> bool:
    """Whether accuracy grows with the number (sign of the covariance)."""
    known = np.isfinite(numbers)
    if not known.any():
        return False
    return bool(np.sum((numbers[known] - numbers[known].mean()) * correct[known]) > 0.0)
