"""Weights over visual change other than equal ones: which degrees of damage matter where a network will be used."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.errors import InvalidInput

Point = tuple[float, float]


@dataclass(frozen=True)
class ChangeWeights:
    """A table of visual change and weight, linear between its rows; validates itself.

    Parameters
    ----------
    points : tuple of (float, float)
        Visual change, from 0 to 1 and never falling, and weight, at least 0. Two rows with one visual change are a
        jump. Only the ratios of weights count.
    name : str
        What they stand for, as pages print it.

    Raises
    ------
    InvalidInput
        With the row that cannot be used, and what it must be.

    Notes
    -----
    VCR, section 3.1, note 3: "distributions other than uniform can be used based on the application. For example, one
    may wish to favour robustness against heavy snow conditions for NNs deployed in arctic areas."
    """

    points: tuple[Point, ...]
    name: str = ""

    def __post_init__(self) -> None:
        for row, (change, weight) in enumerate(self.points, 1):
            if not (math.isfinite(weight) and weight >= 0.0):
                raise InvalidInput(f"Row {row} has the weight {weight:g}: give a number of at least 0.")
            if not 0.0 <= change <= 1.0:
                raise InvalidInput(f"Row {row} has the visual change {change:g}: give a number from 0 to 1.")
        changes = [change for change, _ in self.points]
        if not changes or changes[0] != 0.0 or changes[-1] != 1.0:
            raise InvalidInput("The first row must have the visual change 0, and the last one 1.")
        for row, (before, change) in enumerate(zip(changes, changes[1:], strict=False), 2):
            if change < before:
                raise InvalidInput(f"Row {row} has the visual change {change:g} after {before:g}: sort the rows.")
            if changes.count(change) > 2:
                raise InvalidInput(f"Row {row}: more than two rows have the visual change {change:g}; a jump has two.")
        if not self._area(0.0, 1.0) > 0.0:
            raise InvalidInput("All weights are 0: give at least one visual change a weight above 0.")

    @property
    def digest(self) -> str:
        """First 12 digits of the table's sha256: the same for equal rows, whatever they are called."""
        rows = json.dumps([[float(change), float(weight)] for change, weight in self.points])
        return hashlib.sha256(rows.encode()).hexdigest()[:12]

    @property
    def called(self) -> str:
        """The name, or what stands for it."""
        return self.name or "the study's weights"

    def mass(self, lower: float, upper: float) -> float:
        """Share of all weight that lies between two visual changes, in [0, 1]."""
        return self._area(lower, upper) / self._area(0.0, 1.0)

    def pieces(self, lower: float, upper: float) -> Iterator[tuple[Point, Point]]:
        """Straight pieces of the weights between two visual changes, scaled to a mass of 1 over [0, 1]."""
        whole = self._area(0.0, 1.0)
        for (start, low), (end, high) in self._straight(lower, upper):
            yield (start, low / whole), (end, high / whole)

    def _area(self, lower: float, upper: float) -> float:
        pieces = self._straight(lower, upper)
        return math.fsum((end - start) * (low + high) / 2.0 for (start, low), (end, high) in pieces)

    def _straight(self, lower: float, upper: float) -> Iterator[tuple[Point, Point]]:
        for (left, first), (right, last) in zip(self.points, self.points[1:], strict=False):
            start, end = max(left, lower), min(right, upper)
            if start < end:
                slope = (last - first) / (right - left)
                yield (start, first + slope * (start - left)), (end, first + slope * (end - left))
