"""A pilot map from the strength of a corruption to visual change, measured on a few pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.corruptions import Corruption, find_corruption
from analysis.corruptions.registry import Picture, apply_corruption
from analysis.errors import InvalidInput
from analysis.visual_change.vif import VifReference

#: Share of originals that reach the highest targets.
REACHING_SHARE = 0.4
PILOT_PICTURES = 20
PILOT_LEVELS = 12


@dataclass(frozen=True)
class PilotMap:
    """Mean visual change of a corruption over its relative strength, from a few pictures.

    Parameters
    ----------
    corruption, version : str
        Function that was piloted.
    strengths : tuple of float, shape (n_levels,)
        Relative strengths in [0, 1], rising.
    changes : tuple of float, shape (n_levels,)
        Isotonic mean of visual change, in [0, 1].
    reach : float
        Visual change that two in five originals reach, in [0, 1]: targets are drawn up to here, so that what half of
        them reach lies safely within.
    worst_reach : float
        What the weakest of the pictures reaches.
    spreads : tuple of float, shape (n_levels,)
        Standard deviation of visual change between the pictures.
    survey : tuple of float
        Reach of single originals, in the order in which a plan calls them up; see `analysis.generation.reach_survey`.
    """

    corruption: str
    version: str
    strengths: tuple[float, ...]
    changes: tuple[float, ...]
    reach: float
    worst_reach: float
    spreads: tuple[float, ...] = ()
    survey: tuple[float, ...] = ()

    def surveyed(self, reaches: Sequence[float]) -> PilotMap:
        """Map that knows the reach of single originals."""
        return replace(self, survey=tuple(reaches), reach=reach_of(reaches)) if reaches else self

    def change_at(self, strength: float, lean: float = 0.0) -> float:
        """Visual change at a relative strength, of a picture ``lean`` standard deviations off the mean everywhere."""
        return float(np.interp(strength, self.strengths, self._leaning(lean)))

    def strength_for(self, change: float, lean: float = 0.0) -> float:
        """Relative strength in [0, 1] at which such a picture shows this visual change."""
        return float(np.interp(change, self._leaning(lean), self.strengths))

    def lean_of(self, strength: float, change: float) -> float:
        """By how many standard deviations a picture is off that shows this visual change at this strength."""
        if not self.spreads:
            return 0.0
        spread = float(np.interp(strength, self.strengths, self.spreads))
        return (change - self.change_at(strength)) / max(spread, 1e-3)

    def _leaning(self, lean: float) -> NDArray[np.float64]:
        changes = np.asarray(self.changes)
        if lean and self.spreads:
            changes = np.maximum.accumulate(np.clip(changes + lean * np.asarray(self.spreads), 0.0, 1.0))
        # A flat stretch has no inverse; the ramp picks one point of it.
        return np.asarray(changes + 1e-9 * np.arange(len(changes)))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as they are stored with a stimulus set."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PilotMap:
        """Map from the values of `to_dict`."""
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**given)


def fit_pilot_map(
    corruption_name: str, pictures: Sequence[Picture], *, seed: int, levels: int = PILOT_LEVELS
) -> PilotMap:
    """Measure visual change over the strengths of a corruption on a few pictures.

    Parameters
    ----------
    corruption_name : str
        Name in `analysis.corruptions.CORRUPTIONS`.
    pictures : sequence of ndarray of uint8, shape (h, w, 3)
        About 20 originals, in the size that is shown.
    seed : int
        The i-th picture is corrupted with ``seed + i``; at full strength also with the seeds drawn after it, as many as
        a target may try.
    levels : int
        Strengths tried a picture, evenly over [0, 1].

    Raises
    ------
    InvalidInput
        Without a picture, or with fewer than two levels.
    """
    from scipy.optimize import isotonic_regression

    if not pictures or levels < 2:
        raise InvalidInput("A pilot needs at least one picture and two levels.")
    corruption = find_corruption(corruption_name)
    strengths = np.linspace(0.0, 1.0, levels)
    changes = np.empty((len(pictures), levels))
    largest = []
    for row, picture in enumerate(pictures):
        reference = VifReference(picture)
        for column, strength in enumerate(strengths):
            corrupted = apply_corruption(corruption, picture, corruption.parameter_at(float(strength)), seed + row)
            changes[row, column] = reference.visual_change(corrupted)
        redrawn = (redrawn_seed(seed + row, number) for number in range(1, corruption.redraws))
        others = [full_change(picture, reference, corruption, used) for used in redrawn]
        largest.append(max([float(changes[row].max()), *others]))
    return PilotMap(
        corruption=corruption.name,
        version=corruption.version,
        strengths=tuple(strengths.tolist()),
        changes=tuple(isotonic_regression(changes.mean(axis=0)).x.tolist()),
        reach=reach_of(largest),
        worst_reach=min(largest),
        spreads=tuple(changes.std(axis=0).tolist()),
    )


def full_change(picture: Picture, reference: VifReference, corruption: Corruption, seed: int) -> float:
    """Visual change of a picture at full strength."""
    return reference.visual_change(apply_corruption(corruption, picture, corruption.parameter_at(1.0), seed))


def reach_of(largest: Sequence[float]) -> float:
    """Visual change that two in five of these reach."""
    return float(np.quantile(largest, 1.0 - REACHING_SHARE))


def redrawn_seed(seed: int, number: int) -> int:
    """Seed of the ``number``-th draw for a stimulus: the first is the stimulus' own, others are hashed from it."""
    if number == 0:
        return seed
    return int.from_bytes(hashlib.blake2b(f"redraw/{seed}/{number}".encode(), digest_size=6).digest(), "big")
