"""From a described stimulus set to its files and rows; an interrupted run goes on where it stopped.

Nothing here grows with the number of stimuli: the plan is walked through, and digests, rows and the manifest are read
and written a few at a time.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from django import db
from django.conf import settings

from analysis.compute import executor, run_in_order_of_completion
from analysis.errors import StorageFailed
from analysis.generation.files import UNFINISHED, told_as_sentence, write_atomically
from analysis.generation.plan import Sampling as SamplingName, StimulusPlan, pilot_originals, plan_stimuli
from analysis.generation.reach_survey import cut_survey, survey_shard, with_survey
from analysis.generation.shards import PilotShard, Shard, ShardOutcome, cut_into_shards, fit_pilot_shard, generate_shard
from analysis.original import Original
from analysis.persons.sentinels import CUE_CONFLICT, find_sentinel
from analysis.visual_change.targeting import PilotMap
from humanexp.core import file_store
from humanexp.core.storage import media_path
from humanexp.jobs.registry import Progress
from humanexp.stimuli.models import Sampling, StimulusSet, framing_named
from humanexp.stimuli.selectors.sets import bring_originals, conflicts_of, digests_of, originals_of
from humanexp.stimuli.services.generation import complete_stimulus_set, store_pilots, store_stimuli

if TYPE_CHECKING:
    from concurrent.futures import Executor

#: Space that stays free: the database must be able to write down why a job stopped.
SPARE_BYTES = 16 * 2**20


def make_stimuli(stimulus_set: StimulusSet, progress: Progress) -> int:
    """Make every stimulus that is not there yet, and complete the set; returns how many it holds."""
    folder = media_path(folder_of(stimulus_set))
    file_store.bring(folder_of(stimulus_set))  # what another machine has made of it
    open_folder(folder)
    try:
        with executor(settings.COMPUTE) as pool:
            bring_originals(stimulus_set.source_set)
            originals = originals_of(stimulus_set)
            pilots = _pilots(stimulus_set, originals, pool, progress)
            plan = _plan(stimulus_set, originals, pilots)
            shards = cut_into_shards(
                plan,
                pilots,
                size_px=stimulus_set.size_px,
                folder=folder,
                framing=framing_named(stimulus_set.framing),
                modules=modules(),
            )
            outcomes = stored_as_made(
                stimulus_set,
                pool,
                generate_shard,
                _knowing(stimulus_set, shards),
                total=len(plan),
                progress=progress,
                told="stimuli made",
            )
            count = sum(outcome.n_done for outcome in outcomes)
        progress(count - 1, count, "writing the manifest")
        close_folder(folder)
    finally:
        shutil.rmtree(folder / UNFINISHED, ignore_errors=True)
    complete_stimulus_set(stimulus_set=stimulus_set)
    progress(count, count, "stimuli made")
    return count


def folder_of(stimulus_set: StimulusSet) -> str:
    return f"stimuli/{stimulus_set.name}"


def open_folder(folder: Path) -> None:
    """Make the folder ready for files: without leftovers of killed processes, and surely writable."""
    unfinished = folder / UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)
    with told_as_sentence(folder):
        write_atomically(unfinished / "probe", b"", beside=unfinished)
        (unfinished / "probe").unlink()
    check_space(folder)


def close_folder(folder: Path) -> None:
    """Bring every file that was written onto the disk, in one go, and remove what was left on its way."""
    os.sync()
    shutil.rmtree(folder / UNFINISHED, ignore_errors=True)


def check_space(folder: Path) -> None:
    """Stop while the database can still write; raises StorageFailed."""
    if shutil.disk_usage(folder).free < SPARE_BYTES:
        raise StorageFailed(
            f"The disk under {folder} is full: less than {SPARE_BYTES // 2**20} MB are free. Free some space, then "
            "start again: what is there stays, and the work goes on where it stopped."
        )


def _pilots(
    stimulus_set: StimulusSet, originals: list[Original], pool: Executor, progress: Progress
) -> dict[str, PilotMap]:
    """The stored pilot maps, or, on the first run, newly measured ones."""
    swept = stimulus_set.corruptions if stimulus_set.sampling == Sampling.EVEN else []
    names = [*swept, *stimulus_set.plain_functions]
    if not names:
        return {}
    if set(stimulus_set.pilots) != set(names):
        chosen = tuple(pilot_originals(originals, stimulus_set.seed))
        shards = [
            PilotShard(
                corruption=name,
                originals=chosen,
                size_px=stimulus_set.size_px,
                seed=stimulus_set.seed,
                framing=framing_named(stimulus_set.framing),
                modules=modules(),
            )
            for name in names
        ]

        def tell() -> None:
            progress(0, _expected(stimulus_set, originals), "measuring how strength maps to visual change")

        tell()
        measured = run_in_order_of_completion(pool, fit_pilot_shard, shards, tick=tell)
        with contextlib.closing(measured):
            pilots = {pilot.corruption: pilot for pilot in measured}
        survey = cut_survey(
            originals,
            {name: pilots[name] for name in swept},
            count=stimulus_set.count_per_corruption,
            seed=stimulus_set.seed,
            size_px=stimulus_set.size_px,
            framing=framing_named(stimulus_set.framing),
            modules=modules(),
        )
        surveyed = run_in_order_of_completion(pool, survey_shard, survey, tick=tell)
        with contextlib.closing(surveyed):
            pilots = with_survey(pilots, surveyed)
        store_pilots(stimulus_set=stimulus_set, pilots={name: pilots[name].to_dict() for name in names})
    return {name: PilotMap.from_dict(stored) for name, stored in stimulus_set.pilots.items()}


def _plan(stimulus_set: StimulusSet, originals: list[Original], pilots: dict[str, PilotMap]) -> StimulusPlan:
    brought = conflicts_of(stimulus_set)
    return plan_stimuli(
        originals,
        pilots,
        corruptions=stimulus_set.corruptions,
        plain=stimulus_set.plain_functions,
        person_families=[name for name in stimulus_set.person_families if find_sentinel(name).make is not None],
        brought={CUE_CONFLICT.name: brought} if brought else {},
        count=stimulus_set.count_per_corruption,
        seed=stimulus_set.seed,
        size_px=stimulus_set.size_px,
        sampling=cast("SamplingName", Sampling(stimulus_set.sampling).value),
        framing=framing_named(stimulus_set.framing),
    )


def stored_as_made(
    stimulus_set: StimulusSet,
    pool: Executor,
    work: Callable[[Shard], ShardOutcome],
    shards: Iterable[Shard],
    *,
    total: int,
    progress: Progress,
    told: str,
) -> Iterator[ShardOutcome]:
    """Outcomes of a set's shards, in whatever order they end; their rows are in the database by then."""
    done, folder = 0, folder_of(stimulus_set)

    def tell() -> None:
        # The last step is the manifest; and a folder that is imported may have grown since it was looked through.
        progress(min(done, total - 1), total, told)

    tell()
    outcomes = run_in_order_of_completion(pool, work, shards, tick=tell)
    with contextlib.closing(outcomes):
        for outcome in outcomes:
            file_store.publish(*(f"{folder}/{row['file']}" for row in outcome.rows))
            store_stimuli(stimulus_set=stimulus_set, folder=folder, rows=outcome.rows)
            done += outcome.n_done
            db.reset_queries()  # with DEBUG, Django keeps every statement
            check_space(media_path(folder))
            tell()
            yield outcome


def _knowing(stimulus_set: StimulusSet, shards: Iterable[Shard]) -> Iterator[Shard]:
    """Shards with the digests of what is made already, asked for one shard at a time."""
    if not stimulus_set.stimuli.exists():
        yield from shards
        return
    for shard in shards:
        yield shard.with_digests(digests_of(stimulus_set, shard.names))


def modules() -> tuple[str, ...]:
    """Modules with corruption functions of the user's own: shards run in processes that have no settings."""
    return tuple(getattr(settings, "CORRUPTION_MODULES", ()))


def _expected(stimulus_set: StimulusSet, originals: list[Original]) -> int:
    swept = stimulus_set.count_per_corruption * len(stimulus_set.corruptions)
    return len(originals) * (1 + len(stimulus_set.plain_functions)) + swept
