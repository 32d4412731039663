"""Reach a wanted visual change: a pilot map from strength to visual change, then a few steps of root finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.corruptions import Corruption, find_corruption
from analysis.corruptions.registry import Picture, apply_corruption
from analysis.errors import InvalidInput
from analysis.visual_change.vif import VifReference

#: Half a bin of 40: nearer than this, a target counts as reached.
TOLERANCE = 1 / 80
#: Steps of root finding after the first try.
MAXIMUM_STEPS = 6
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
        Median over the pictures of the largest visual change, in [0, 1]: targets are drawn up to here.
    worst_reach : float
        The smallest of those values: some pictures end here.
    """

    corruption: str
    version: str
    strengths: tuple[float, ...]
    changes: tuple[float, ...]
    reach: float
    worst_reach: float

    def change_at(self, strength: float) -> float:
        """Mean visual change at a relative strength."""
        return float(np.interp(strength, self.strengths, self.changes))

    def strength_for(self, change: float) -> float:
        """Relative strength in [0, 1] at which the mean picture shows this visual change."""
        # A flat stretch has no inverse; the ramp picks one point of it.
        rising = np.asarray(self.changes) + 1e-9 * np.arange(len(self.changes))
        return float(np.interp(change, rising, self.strengths))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as they are stored with a stimulus set."""
        return {
            "corruption": self.corruption,
            "version": self.version,
            "strengths": list(self.strengths),
            "changes": list(self.changes),
            "reach": self.reach,
            "worst_reach": self.worst_reach,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PilotMap:
        """Map from the values of `to_dict`."""
        return cls(
            corruption=values["corruption"],
            version=values["version"],
            strengths=tuple(values["strengths"]),
            changes=tuple(values["changes"]),
            reach=values["reach"],
            worst_reach=values["worst_reach"],
        )


@dataclass(frozen=True)
class Reached:
    """The best try at a target.

    Parameters
    ----------
    picture : ndarray of uint8, shape (h, w, 3)
    parameter : float
        In the corruption's own unit.
    visual_change : float
        Measured on the picture, in [0, 1].
    evaluations : int
        Pictures corrupted and measured.
    is_reached : bool
        Whether visual change lies within `TOLERANCE` of the target.
    """

    picture: Picture
    parameter: float
    visual_change: float
    evaluations: int
    is_reached: bool


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
        The i-th picture is corrupted with ``seed + i``.
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
    for row, picture in enumerate(pictures):
        reference = VifReference(picture)
        for column, strength in enumerate(strengths):
            corrupted = apply_corruption(corruption, picture, corruption.parameter_at(float(strength)), seed + row)
            changes[row, column] = reference.visual_change(corrupted)
    largest = changes.max(axis=1)
    return PilotMap(
        corruption=corruption.name,
        version=corruption.version,
        strengths=tuple(strengths.tolist()),
        changes=tuple(isotonic_regression(changes.mean(axis=0)).x.tolist()),
        reach=float(np.median(largest)),
        worst_reach=float(largest.min()),
    )


def draw_targets(count: int, reach: float, rng: np.random.Generator, *, bins: int = 40) -> NDArray[np.float64]:
    """Targets that fill the bins of visual change equally, up to a function's reach.

    Parameters
    ----------
    count : int
        Number of targets.
    reach : float
        Largest visual change to aim at, in (0, 1].
    rng : numpy.random.Generator
        Jitters the targets, and chooses the bins that get one more where the count does not divide.
    bins : int
        Bins of equal width over [0, 1]. A bin is filled when its middle can be reached.

    Returns
    -------
    ndarray of float64, shape (count,)
        Rising; within a bin one target a stratum of equal width.
    """
    if not 0.0 < reach <= 1.0:
        raise InvalidInput(f"The reach of a function must lie in (0, 1], not {reach}.")
    edges = np.linspace(0.0, 1.0, bins + 1)
    filled = max(1, int(np.sum((edges[:-1] + edges[1:]) / 2 <= reach)))
    quota = np.full(filled, count // filled)
    quota[rng.permutation(filled)[: count % filled]] += 1
    targets = []
    for j, n in enumerate(quota):
        low, high = edges[j], min(edges[j + 1], reach)
        targets.append(low + (high - low) * (np.arange(n) + rng.random(n)) / max(n, 1))
    return np.concatenate(targets)


def reach_target(
    picture: Picture, reference: VifReference, corruption: Corruption, target: float, seed: int, pilot: PilotMap
) -> Reached:
    """Corrupt a picture so that its visual change comes within `TOLERANCE` of a target, if it can.

    Parameters
    ----------
    picture : ndarray of uint8, shape (h, w, 3)
    reference : VifReference
        Of that picture.
    corruption : Corruption
    target : float
        Wanted visual change, in [0, 1].
    seed : int
        One random field for all tries, so that visual change rises with strength.
    pilot : PilotMap
        Where to start, and which way to go first.

    Returns
    -------
    Reached
        The nearest of at most ``1 + MAXIMUM_STEPS`` tries, reached or not.
    """
    best: Reached | None = None
    # Ends of the search: strength, and visual change minus target; None as long as the end is not measured.
    low, high = _End(0.0, None), _End(1.0, None)
    moved: Literal["low", "high", None] = None
    strength = pilot.strength_for(target)
    evaluation = 0
    while evaluation <= MAXIMUM_STEPS:
        evaluation += 1
        parameter = corruption.parameter_at(strength)
        corrupted = apply_corruption(corruption, picture, parameter, seed)
        change = reference.visual_change(corrupted)
        error = change - target
        if best is None or abs(error) < abs(best.visual_change - target):
            best = Reached(corrupted, parameter, change, evaluation, abs(error) <= TOLERANCE)
        if abs(error) <= TOLERANCE or (strength >= 1.0 and error < 0) or (strength <= 0.0 and error > 0):
            break
        # Illinois: an end that stays twice loses half its weight, so that it moves, too.
        if error < 0:
            low, high = _End(strength, error), high.halved() if moved == "low" else high
            moved = "low"
        else:
            high, low = _End(strength, error), low.halved() if moved == "high" else low
            moved = "high"
        strength = _next_strength(low, high, pilot, strength, error if evaluation == 1 else None)
    if best is None:
        raise InvalidInput("A target needs at least one try.")
    return replace(best, evaluations=evaluation)


class _End(NamedTuple):
    strength: float
    error: float | None

    def halved(self) -> _End:
        return self if self.error is None else _End(self.strength, self.error / 2)


def _next_strength(low: _End, high: _End, pilot: PilotMap, strength: float, first_error: float | None) -> float:
    """Regula falsi between measured ends; before that once along the pilot map, by the error of the first try."""
    width = high.strength - low.strength
    if low.error is not None and high.error is not None:
        guess = low.strength + width * low.error / (low.error - high.error)
        return min(max(guess, low.strength + 0.02 * width), high.strength - 0.02 * width)
    if first_error is not None:
        guess = pilot.strength_for(pilot.change_at(strength) - first_error)
        if low.strength < guess < high.strength:
            return guess
        # The map ends here: the end that is not measured decides whether the target can be reached.
        return high.strength if first_error < 0 else low.strength
    return low.strength + width / 2
