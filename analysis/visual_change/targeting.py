"""Reach a wanted visual change: a pilot map from strength to change, and a few steps of root finding."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.corruptions import find_corruption
from analysis.corruptions.registry import Corruption, Picture, apply_corruption
from analysis.errors import InvalidInput
from analysis.native_size import at_native_size
from analysis.visual_change.coverage import BINS
from analysis.visual_change.vif import VifReference

#: Share of originals that reach the highest targets.
REACHING_SHARE = 0.4
PILOT_PICTURES = 20
PILOT_LEVELS = 12
#: From fewer pictures than these, nothing is learned about single ones.
_FEWEST_PORTRAITS = 10
#: Components of the pictures' curves that are predicted, and the ridge, in pictures: so much that the first try hits
#: for most photographs outside the pilot.
_COMPONENTS, _RIDGE = 3, 5.0
#: Standard deviations beyond which a portrait tells no more.
_FARTHEST = 3.0


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
    portrait_means, portrait_sds : tuple of float, shape (12,)
        Of the portraits of the pictures, `VifReference.portrait`; empty where there were too few.
    slopes : tuple of float, shape (12 * n_levels,)
        By how much visual change at each strength differs for a standard deviation of each number of the portrait.
    """

    corruption: str
    version: str
    strengths: tuple[float, ...]
    changes: tuple[float, ...]
    reach: float
    worst_reach: float
    spreads: tuple[float, ...] = ()
    survey: tuple[float, ...] = ()
    portrait_means: tuple[float, ...] = ()
    portrait_sds: tuple[float, ...] = ()
    slopes: tuple[float, ...] = ()

    def of_picture(self, portrait: NDArray[np.float64]) -> PilotMap:
        """Map with the changes that are expected of a picture of this portrait, shape (12,), itself."""
        if not self.slopes:
            return self
        scores = (portrait - np.asarray(self.portrait_means)) / np.asarray(self.portrait_sds)
        slopes = np.reshape(self.slopes, (len(scores), len(self.changes)))
        own = np.asarray(self.changes) + np.clip(scores, -_FARTHEST, _FARTHEST) @ slopes
        return replace(self, changes=tuple(np.maximum.accumulate(np.clip(own, 0.0, 1.0)).tolist()))

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
    corruption_name: str, pictures: Sequence[Picture], *, seed: int, levels: int = PILOT_LEVELS, enlarged: int = 1
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
    enlarged : int
        How many times the pictures are enlarged; they are corrupted at their native size.

    Raises
    ------
    InvalidInput
        Without a picture, or with fewer than two levels.
    """
    from scipy.optimize import isotonic_regression

    if not pictures or levels < 2:
        raise InvalidInput("A pilot needs at least one picture and two levels.")
    corruption = at_native_size(find_corruption(corruption_name), enlarged)
    strengths = np.linspace(0.0, 1.0, levels)
    changes = np.empty((len(pictures), levels))
    portraits, largest = [], []
    for row, picture in enumerate(pictures):
        reference = VifReference(picture)
        portraits.append(reference.portrait)
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
        **(_by_portrait(np.array(portraits), changes) if len(pictures) >= _FEWEST_PORTRAITS else {}),
    )


def _by_portrait(portraits: NDArray[np.float64], changes: NDArray[np.float64]) -> dict[str, tuple[float, ...]]:
    """Ridge regression of the pictures' curves, shape (n, n_levels), on their portraits, shape (n, 12).

    Of the curves, only the components in which the pictures differ most: the others are noise.
    """
    means, sds = portraits.mean(axis=0), portraits.std(axis=0)
    sds[sds < 1e-9] = 1.0
    scores = (portraits - means) / sds
    left, sizes, components = np.linalg.svd(changes - changes.mean(axis=0), full_matrices=False)
    weights = left[:, :_COMPONENTS] * sizes[:_COMPONENTS]
    slopes = np.linalg.solve(scores.T @ scores + _RIDGE * np.eye(scores.shape[1]), scores.T @ weights)
    found = slopes @ components[:_COMPONENTS]
    return {
        "portrait_means": tuple(means.tolist()),
        "portrait_sds": tuple(sds.tolist()),
        "slopes": tuple(found.ravel().tolist()),
    }


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


#: Half a bin of 40: nearer than this, a target counts as reached.
TOLERANCE = 1 / 80
#: Steps of root finding after the first try.
MAXIMUM_STEPS = 6
#: Halvings of the last bracket after those, where the path is so bent that they do not arrive.
MAXIMUM_HALVINGS = 6
#: Stretches of a winding path that are looked at before a target counts as out of reach.
SCAN_LEVELS = 8


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
    seed : int
        The one used: where the first does not reach the target, others may be drawn.
    reach_low, reach_high : float or None
        Smallest and largest visual change of all tries, where the target was not reached.
    """

    picture: Picture
    parameter: float
    visual_change: float
    evaluations: int
    is_reached: bool
    seed: int
    reach_low: float | None = None
    reach_high: float | None = None


def draw_targets(count: int, reach: float, rng: np.random.Generator, *, bins: int = BINS) -> NDArray[np.float64]:
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
        Bins of equal width over [0, 1]. A bin is filled when its lower end can be reached. In the last one, targets
        keep `TOLERANCE` from that end, so that what is made for the bin falls into it; they may exceed the reach by
        that much. The last of the paper's bins, if it begins higher up, is filled once more in the same way.

    Returns
    -------
    ndarray of float64, shape (count,)
        Rising; within a bin one target a stratum of equal width.
    """
    if not 0.0 < reach <= 1.0:
        raise InvalidInput(f"The reach of a function must lie in (0, 1], not {reach}.")
    last, last_of_paper = (min(int(reach * n), n - 1) / n for n in (bins, bins - 1))
    edges = np.arange(round(last * bins) + 1) / bins
    stretches = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    for low in sorted({last, max(last, last_of_paper)}):
        low_safe = min(low + TOLERANCE, 1.0)
        stretches.append((low_safe, max(low_safe, min(reach, last + 1 / bins))))
    quota = np.full(len(stretches), count // len(stretches))
    quota[rng.permutation(len(stretches))[: count % len(stretches)]] += 1
    targets = [
        low + (high - low) * (np.arange(n) + rng.random(n)) / max(n, 1)
        for (low, high), n in zip(stretches, quota.tolist(), strict=True)
    ]
    return np.sort(np.concatenate(targets))


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
        Where its ``redraws`` exceed 1, that many seeds are tried, `redrawn_seed` after ``seed``, until one reaches.
    target : float
        Wanted visual change, in [0, 1].
    seed : int
        One random field for all strengths, so that visual change rises with strength.
    pilot : PilotMap
        Where to start, and which way to go first.

    Returns
    -------
    Reached
        The nearest of all tries, reached or not. Where it is not reached, both ends of the path are among the tries.
    """
    tries: list[_Try] = []
    pilot = pilot.of_picture(reference.portrait)

    def measure(strength: float, used: int) -> float:
        parameter = corruption.parameter_at(strength)
        corrupted = apply_corruption(corruption, picture, parameter, used)
        change = reference.visual_change(corrupted)
        tries.append(_Try(strength, used, parameter, corrupted, change))
        return change - target

    best: _Try | None = None
    for number in range(corruption.redraws):
        used = redrawn_seed(seed, number)
        _search(partial(measure, used=used), target, pilot)
        best = min(tries, key=lambda one: abs(one.change - target))
        # Only the best picture is kept.
        tries = [one if one is best else one._replace(picture=None) for one in tries]
        if abs(best.change - target) <= TOLERANCE:
            break
    else:
        if corruption.redraws > 1 and best is not None:
            _scan(partial(measure, used=best.seed))
            best = min(tries, key=lambda one: abs(one.change - target))
    if best is None or best.picture is None:
        raise InvalidInput(f"{corruption.name} allows no try at all: its redraws must be at least 1.")
    is_reached = abs(best.change - target) <= TOLERANCE
    if not is_reached:
        for end in (0.0, 1.0):
            if not any(one.strength == end and one.seed == best.seed for one in tries):
                measure(end, best.seed)
    return Reached(
        picture=best.picture,
        parameter=best.parameter,
        visual_change=best.change,
        evaluations=len(tries),
        is_reached=is_reached,
        seed=best.seed,
        reach_low=None if is_reached else min(one.change for one in tries),
        reach_high=None if is_reached else max(one.change for one in tries),
    )


class _Try(NamedTuple):
    strength: float
    seed: int
    parameter: float
    picture: Picture | None
    change: float


class _End(NamedTuple):
    """End of a search: strength, and visual change minus target; None as long as it is not measured."""

    strength: float
    error: float | None

    def halved(self) -> _End:
        return self if self.error is None else _End(self.strength, self.error / 2)


def _search(measure: Callable[[float], float], target: float, pilot: PilotMap) -> None:
    """Look for a strength at which ``measure``, visual change minus target, comes within `TOLERANCE` of 0."""
    low, high = _End(0.0, None), _End(1.0, None)
    moved: Literal["low", "high", None] = None
    strength = pilot.strength_for(target)
    for step in range(1 + MAXIMUM_STEPS + MAXIMUM_HALVINGS):
        error = measure(strength)
        if abs(error) <= TOLERANCE or (strength >= 1.0 and error < 0) or (strength <= 0.0 and error > 0):
            return
        # Illinois: an end that stays twice loses half its weight, so that it moves, too.
        if error < 0:
            low, high = _End(strength, error), high.halved() if moved == "low" else high
            moved = "low"
        else:
            high, low = _End(strength, error), low.halved() if moved == "high" else low
            moved = "high"
        lean = pilot.lean_of(strength, target + error)
        if low.error is None or high.error is None:
            strength = _along_the_map(low, high, pilot, target, lean)
        elif step < MAXIMUM_STEPS:
            strength = _between(low, high, low.error, high.error, pilot, lean)
        else:
            strength = (low.strength + high.strength) / 2


def _scan(measure: Callable[[float], float]) -> None:
    """Look along a path that winds: its full strength need not be its furthest."""
    points = []
    for level in range(SCAN_LEVELS + 1):
        strength = level / SCAN_LEVELS
        error = measure(strength)
        if abs(error) <= TOLERANCE:
            return
        points.append(_End(strength, error))
        if level and (error > 0) != ((points[-2].error or 0.0) > 0):
            one, other = points[-2:]
            for _ in range(MAXIMUM_HALVINGS):
                middle = (one.strength + other.strength) / 2
                error = measure(middle)
                if abs(error) <= TOLERANCE:
                    return
                if (error > 0) == ((one.error or 0.0) > 0):
                    one = _End(middle, error)
                else:
                    other = _End(middle, error)
            return


def _along_the_map(low: _End, high: _End, pilot: PilotMap, target: float, lean: float) -> float:
    """Next try with one end measured: as if the picture were as far off the map everywhere as at the last try."""
    guess = pilot.strength_for(target, lean)
    width = high.strength - low.strength
    if low.error is not None:
        # The map ends here, or leads nowhere: the end that is not measured decides whether the target is in reach.
        return guess if low.strength + 1e-3 * width < guess < high.strength else high.strength
    return guess if low.strength < guess < high.strength - 1e-3 * width else low.strength


def _between(low: _End, high: _End, below: float, above: float, pilot: PilotMap, lean: float) -> float:
    """Next try between two measured ends: regula falsi on the map's own, nearly straight, scale."""
    width = high.strength - low.strength
    left, right = pilot.change_at(low.strength, lean), pilot.change_at(high.strength, lean)
    share = below / (below - above)
    if right - left > 0.2 * (above - below):
        guess = pilot.strength_for(left + share * (right - left), lean)
    else:
        guess = low.strength + width * share
    return min(max(guess, low.strength + 0.02 * width), high.strength - 0.02 * width)
