"""Trials as columns: checked, in an order of their own, with a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import BoolArray, FloatArray
from analysis.curves.binning import bin_index
from analysis.errors import InvalidInput, TooFewResponses

Ids = Sequence[object] | NDArray[np.generic]


@dataclass(frozen=True, eq=False)
class CleanTrials:
    """Trials at an end of the axis: clean pictures at visual change 0, or pure noise at 1, for a soft anchor.

    Parameters
    ----------
    correct : array-like, shape (n,)
        Outcomes in [0, 1].
    participants, images : sequence, shape (n,), optional
        Ids of participants and originals, from the same name space as the curve's.
    weights : array-like, shape (n,), optional
        How much each counts, as for the curve's own trials.
    categories : sequence, shape (n,), optional
        Category of each, as for the curve's own trials.
    """

    correct: ArrayLike
    participants: Ids | None = None
    images: Ids | None = None
    weights: ArrayLike | None = None
    categories: Ids | None = None


@dataclass(frozen=True, eq=False)
class TrialColumns:
    """Checked columns of trials, in an order that does not depend on the order in which they came."""

    visual_change: FloatArray
    correct: FloatArray
    participants: NDArray[np.str_] | None
    images: NDArray[np.str_] | None
    weights: FloatArray | None = None
    categories: NDArray[np.str_] | None = None

    @classmethod
    def read(
        cls,
        visual_change: ArrayLike,
        correct: ArrayLike,
        participants: Ids | None,
        images: Ids | None,
        what: str,
        weights: ArrayLike | None = None,
        categories: Ids | None = None,
    ) -> TrialColumns:
        outcome = np.asarray(correct, dtype=np.float64)
        place = np.asarray(visual_change, dtype=np.float64)
        if outcome.ndim != 1 or place.shape != outcome.shape:
            raise InvalidInput(
                f"Visual change has shape {place.shape} and correct {outcome.shape}: one entry a {what}."
            )
        if not len(outcome):
            raise TooFewResponses(f"There is no {what} to fit a curve to.")
        if not np.all((outcome >= 0.0) & (outcome <= 1.0)):
            raise InvalidInput(f"Outcomes of a {what} lie in [0, 1].")
        counted = None if weights is None else np.asarray(weights, dtype=np.float64)
        if counted is not None and (counted.shape != outcome.shape or not np.all(np.isfinite(counted) & (counted > 0))):
            raise InvalidInput(f"Weights are one finite number above 0 a {what}.")
        bin_index(place)
        people, originals = (
            ids_as_text(participants, len(outcome), "participants"),
            ids_as_text(images, len(outcome), "images"),
        )
        named = ids_as_text(categories, len(outcome), "categories")
        keys: list[NDArray[np.generic]] = [outcome, place]
        if counted is not None:
            keys.insert(0, counted)
        if named is not None:
            keys.insert(0, named)
        keys = [*(ids for ids in (people, originals) if ids is not None), *keys]
        order = np.lexsort(keys)
        return cls(
            place[order],
            outcome[order],
            None if people is None else people[order],
            None if originals is None else originals[order],
            None if counted is None else counted[order],
            None if named is None else named[order],
        )

    def select(self, rows: BoolArray) -> TrialColumns:
        """Keep these rows."""
        return TrialColumns(
            self.visual_change[rows],
            self.correct[rows],
            None if self.participants is None else self.participants[rows],
            None if self.images is None else self.images[rows],
            None if self.weights is None else self.weights[rows],
            None if self.categories is None else self.categories[rows],
        )

    def digest(self) -> str:
        """sha256 of the columns."""
        running = hashlib.sha256()
        for numbers in (self.visual_change, self.correct):
            running.update(np.ascontiguousarray(numbers, dtype="<f8").tobytes())
        for ids in (self.participants, self.images):
            running.update(b"\x00" if ids is None else "\x1f".join(ids.tolist()).encode() + b"\x01")
        if self.weights is not None:
            running.update(np.ascontiguousarray(self.weights, dtype="<f8").tobytes())
        return running.hexdigest()


def ids_as_text(ids: Ids | None, length: int, name: str) -> NDArray[np.str_] | None:
    """Ids as text, one a trial."""
    if ids is None:
        return None
    array = np.asarray(ids)
    if array.shape != (length,):
        raise InvalidInput(f"There are {length} trials but {name} has shape {array.shape}.")
    if array.dtype == object or array.dtype.kind == "f":
        missing = [position for position, one in enumerate(array.tolist()) if one is None or one != one]
        if missing:
            raise InvalidInput(f"Entry {missing[0]} of {name} is empty; every trial needs an id.")
    return array.astype(np.str_)
