"""From a described stimulus set to its files and rows; an interrupted run goes on where it stopped."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from humanexp.core.storage import media_path
from humanexp.jobs.registry import Progress
from humanexp.stimuli import selectors, services
from humanexp.stimuli.models import StimulusSet

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from analysis.generation import Original
    from analysis.visual_change import PilotMap


def make_stimuli(stimulus_set: StimulusSet, progress: Progress) -> int:
    """Make every stimulus that is not there yet, and complete the set; returns how many it holds."""
    from analysis.compute import executor

    with executor(settings.COMPUTE) as pool:
        originals = selectors.originals_of(stimulus_set)
        pilots = _pilots(stimulus_set, originals, pool, progress)
        count = _make(stimulus_set, originals, pilots, pool, progress)
    _remove_leftovers(media_path(folder_of(stimulus_set)))
    services.complete_stimulus_set(stimulus_set=stimulus_set)
    return count


def folder_of(stimulus_set: StimulusSet) -> str:
    return f"stimuli/{stimulus_set.name}"


def _pilots(
    stimulus_set: StimulusSet, originals: list[Original], pool: Executor, progress: Progress
) -> dict[str, PilotMap]:
    """The stored pilot maps, or, on the first run, newly measured ones."""
    from analysis.generation import PilotShard, fit_pilot_shard, pilot_originals
    from analysis.visual_change import PilotMap

    if set(stimulus_set.pilots) != set(stimulus_set.corruptions):
        progress(0, _total(stimulus_set, originals), "measuring how strength maps to visual change")
        chosen = tuple(pilot_originals(originals, stimulus_set.seed))
        shards = [
            PilotShard(name, chosen, stimulus_set.size_px, stimulus_set.seed) for name in stimulus_set.corruptions
        ]
        measured = {pilot.corruption: pilot.to_dict() for pilot in pool.map(fit_pilot_shard, shards)}
        services.store_pilots(stimulus_set=stimulus_set, pilots=measured)
    return {name: PilotMap.from_dict(stored) for name, stored in stimulus_set.pilots.items()}


def _make(
    stimulus_set: StimulusSet,
    originals: list[Original],
    pilots: dict[str, PilotMap],
    pool: Executor,
    progress: Progress,
) -> int:
    from analysis.compute import run_in_order_of_completion, worker_count
    from analysis.generation import cut_into_shards, generate_shard, plan_stimuli

    folder = folder_of(stimulus_set)
    digests = selectors.digests_by_key(stimulus_set)
    image_ids = selectors.image_ids_by_key(stimulus_set.source_set)
    plans = plan_stimuli(
        originals,
        pilots,
        count=stimulus_set.count_per_corruption,
        seed=stimulus_set.seed,
        size_px=stimulus_set.size_px,
    )
    shards = cut_into_shards(
        (plan.with_digests(digests) for plan in plans),
        pilots,
        size_px=stimulus_set.size_px,
        folder=media_path(folder),
    )
    total, done = _total(stimulus_set, originals), 0
    outcomes = run_in_order_of_completion(pool, generate_shard, shards, in_flight=2 * worker_count(settings.COMPUTE))
    with contextlib.closing(outcomes):
        for outcome in outcomes:
            services.store_stimuli(stimulus_set=stimulus_set, folder=folder, image_ids=image_ids, rows=outcome.rows)
            done += len(outcome.rows) + outcome.found
            progress(done, total, "stimuli made")
    return done


def _total(stimulus_set: StimulusSet, originals: list[Original]) -> int:
    return len(originals) + stimulus_set.count_per_corruption * len(stimulus_set.corruptions)


def _remove_leftovers(folder: Path) -> None:
    """Half-written files of killed processes."""
    for path in folder.rglob(".*.part"):
        path.unlink(missing_ok=True)
