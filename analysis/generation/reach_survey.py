"""How far single originals can go: surveyed before the plan is made, so that high targets go to those who reach them.

The pilot pictures show how far originals differ. Where no target exceeds what the weakest of them reaches, nothing is
surveyed. Otherwise one picture is made and measured at full strength for each of as many originals as the higher
targets need: at most one evaluation an original and function. Functions along a random direction are not surveyed:
there the direction decides more than the original, and `reach_target` draws others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.corruptions import find_corruption, load_modules
from analysis.generation.originals import Framing
from analysis.generation.plan import field_seed, order_originals
from analysis.generation.shards import prepare_reference
from analysis.native_size import at_native_size
from analysis.original import Original
from analysis.visual_change.targeting import PilotMap, draw_targets, full_change

#: Two in five originals reach the highest targets: so many are surveyed for each target that not everybody reaches.
SURVEYED_PER_TARGET = 2.5
#: Fewer than these tell little of all others.
MINIMUM_SURVEYED = 40
#: Originals a shard holds.
SHARD_ORIGINALS = 8


@dataclass(frozen=True)
class SurveyShard:
    """Work of surveying some originals, one after the other in the order of the plan.

    Parameters
    ----------
    first : int
        Place of the first in that order.
    originals : tuple of Original
    corruptions : tuple of tuple of str
        Functions that each of them is surveyed for.
    size_px, seed, framing, modules, enlarged
        As for generating.
    """

    first: int
    originals: tuple[Original, ...]
    corruptions: tuple[tuple[str, ...], ...]
    size_px: int
    seed: int
    framing: Framing = "whole"
    modules: tuple[str, ...] = ()
    enlarged: int = 1


@dataclass(frozen=True)
class SurveyOutcome:
    """Reach of a shard's originals, by function; rounded down to a ten-thousandth."""

    first: int
    reaches: Mapping[str, tuple[float, ...]]


def survey_sizes(pilots: Mapping[str, PilotMap], *, count: int, n_originals: int) -> dict[str, int]:
    """How many originals are surveyed for each function; functions that need no survey are left out."""
    sizes = {}
    for name, pilot in pilots.items():
        targets = draw_targets(count, pilot.reach, np.random.default_rng(0))
        hard = int(np.sum(np.minimum(targets, pilot.reach) > pilot.worst_reach))
        if hard and find_corruption(name).redraws == 1:
            sizes[name] = min(n_originals, max(MINIMUM_SURVEYED, math.ceil(SURVEYED_PER_TARGET * hard)))
    return sizes


def cut_survey(
    originals: Sequence[Original],
    pilots: Mapping[str, PilotMap],
    *,
    count: int,
    seed: int,
    size_px: int,
    framing: Framing = "whole",
    modules: Sequence[str] = (),
    enlarged: int = 1,
) -> Iterator[SurveyShard]:
    """Shards of the survey that a plan with these arguments needs; there may be none."""
    load_modules(modules)
    sizes = survey_sizes(pilots, count=count, n_originals=len(originals))
    called_up = order_originals(originals, seed)[: max(sizes.values(), default=0)]
    for first in range(0, len(called_up), SHARD_ORIGINALS):
        some = tuple(called_up[first : first + SHARD_ORIGINALS])
        corruptions = tuple(
            tuple(name for name, size in sorted(sizes.items()) if place < size)
            for place in range(first, first + len(some))
        )
        yield SurveyShard(first, some, corruptions, size_px, seed, framing, tuple(modules), enlarged)


def survey_shard(shard: SurveyShard) -> SurveyOutcome:
    """Measure originals at full strength, each with the first random field that it would get.

    Raises
    ------
    PictureRefused
        Naming the original that cannot be used.
    """
    load_modules(shard.modules)
    reaches: dict[str, list[float]] = {}
    for original, names in zip(shard.originals, shard.corruptions, strict=True):
        picture, reference = prepare_reference(original, shard.size_px, shard.framing, shard.enlarged)
        for name in names:
            field = field_seed(shard.seed, original, name, 0)
            corruption = at_native_size(find_corruption(name), shard.enlarged)
            change = full_change(picture, reference, corruption, field)
            reaches.setdefault(name, []).append(math.floor(change * 1e4) / 1e4)
    return SurveyOutcome(shard.first, {name: tuple(found) for name, found in reaches.items()})


def with_survey(pilots: Mapping[str, PilotMap], outcomes: Iterable[SurveyOutcome]) -> dict[str, PilotMap]:
    """Pilot maps that know the reach of the surveyed originals; the outcomes may come in any order."""
    found: dict[str, list[float]] = {name: [] for name in pilots}
    for outcome in sorted(outcomes, key=lambda outcome: outcome.first):
        for name, reaches in outcome.reaches.items():
            found[name].extend(reaches)
    return {name: pilot.surveyed(found[name]) for name, pilot in pilots.items()}
