"""From a described stimulus set to its files and rows; an interrupted run goes on where it stopped.

Nothing here grows with the number of stimuli: the plan is walked through, and digests, rows and the manifest are read
and written a few at a time.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from django import db
from django.conf import settings

from humanexp.core.storage import media_path
from humanexp.jobs.registry import Progress
from humanexp.stimuli import selectors, services
from humanexp.stimuli.models import Framing, Sampling, StimulusSet
from humanexp.stimuli.selectors.making import digests_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from analysis.generation import Original, Shard, StimulusPlan
    from analysis.generation.originals import Framing as FramingName
    from analysis.generation.plan import Sampling as SamplingName
    from analysis.visual_change import PilotMap

#: Space that stays free: the database must be able to write down why a job stopped.
SPARE_BYTES = 16 * 2**20


def make_stimuli(stimulus_set: StimulusSet, progress: Progress) -> int:
    """Make every stimulus that is not there yet, and complete the set; returns how many it holds."""
    from analysis.compute import executor
    from analysis.generation.files import UNFINISHED

    folder = media_path(folder_of(stimulus_set))
    open_folder(folder)
    try:
        with executor(settings.COMPUTE) as pool:
            originals = selectors.originals_of(stimulus_set)
            pilots = _pilots(stimulus_set, originals, pool, progress)
            plan = _plan(stimulus_set, originals, pilots)
            _make(stimulus_set, plan, pilots, folder, pool, progress)
        progress(len(plan) - 1, len(plan), "writing the manifest")
        close_folder(folder)
    finally:
        shutil.rmtree(folder / UNFINISHED, ignore_errors=True)
    services.complete_stimulus_set(stimulus_set=stimulus_set)
    progress(len(plan), len(plan), "stimuli made")
    return len(plan)


def folder_of(stimulus_set: StimulusSet) -> str:
    return f"stimuli/{stimulus_set.name}"


def open_folder(folder: Path) -> None:
    """Make the folder ready for files: without leftovers of killed processes, and surely writable."""
    from analysis.generation.files import UNFINISHED, told_as_sentence, write_atomically

    unfinished = folder / UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)
    with told_as_sentence(folder):
        write_atomically(unfinished / "probe", b"", beside=unfinished)
        (unfinished / "probe").unlink()
    check_space(folder)


def close_folder(folder: Path) -> None:
    """Bring every file that was written onto the disk, in one go, and remove what was left on its way."""
    from analysis.generation.files import UNFINISHED

    os.sync()
    shutil.rmtree(folder / UNFINISHED, ignore_errors=True)


def check_space(folder: Path) -> None:
    """Stop while the database can still write; raises StorageFailed."""
    from analysis.errors import StorageFailed

    if shutil.disk_usage(folder).free < SPARE_BYTES:
        raise StorageFailed(
            f"The disk under {folder} is full: less than {SPARE_BYTES // 2**20} MB are free. Free some space, then "
            "start again: what is there stays, and the work goes on where it stopped."
        )


def _pilots(
    stimulus_set: StimulusSet, originals: list[Original], pool: Executor, progress: Progress
) -> dict[str, PilotMap]:
    """The stored pilot maps, or, on the first run, newly measured ones."""
    from analysis.compute import run_in_order_of_completion
    from analysis.generation import PilotShard, cut_survey, fit_pilot_shard, pilot_originals, survey_shard, with_survey
    from analysis.visual_change import PilotMap

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
                framing=framing_of(stimulus_set),
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
            framing=framing_of(stimulus_set),
            modules=modules(),
        )
        surveyed = run_in_order_of_completion(pool, survey_shard, survey, tick=tell)
        with contextlib.closing(surveyed):
            pilots = with_survey(pilots, surveyed)
        services.store_pilots(stimulus_set=stimulus_set, pilots={name: pilots[name].to_dict() for name in names})
    return {name: PilotMap.from_dict(stored) for name, stored in stimulus_set.pilots.items()}


def _plan(stimulus_set: StimulusSet, originals: list[Original], pilots: dict[str, PilotMap]) -> StimulusPlan:
    from analysis.generation import plan_stimuli

    return plan_stimuli(
        originals,
        pilots,
        corruptions=stimulus_set.corruptions,
        plain=stimulus_set.plain_functions,
        count=stimulus_set.count_per_corruption,
        seed=stimulus_set.seed,
        size_px=stimulus_set.size_px,
        sampling=cast("SamplingName", Sampling(stimulus_set.sampling).value),
        framing=framing_of(stimulus_set),
    )


def _make(
    stimulus_set: StimulusSet,
    plan: StimulusPlan,
    pilots: dict[str, PilotMap],
    folder: Path,
    pool: Executor,
    progress: Progress,
) -> None:
    from analysis.compute import run_in_order_of_completion
    from analysis.generation import cut_into_shards, generate_shard

    shards = cut_into_shards(
        plan,
        pilots,
        size_px=stimulus_set.size_px,
        folder=folder,
        framing=framing_of(stimulus_set),
        modules=modules(),
    )
    total, done = len(plan), 0

    def tell() -> None:
        # The last step is the manifest.
        progress(min(done, total - 1), total, "stimuli made")

    outcomes = run_in_order_of_completion(pool, generate_shard, _knowing(stimulus_set, shards), tick=tell)
    with contextlib.closing(outcomes):
        for outcome in outcomes:
            services.store_stimuli(stimulus_set=stimulus_set, folder=folder_of(stimulus_set), rows=outcome.rows)
            done += len(outcome.rows) + outcome.found
            db.reset_queries()  # with DEBUG, Django keeps every statement
            check_space(folder)
            tell()


def _knowing(stimulus_set: StimulusSet, shards: Iterable[Shard]) -> Iterator[Shard]:
    """Shards with the digests of what is made already, asked for one shard at a time."""
    if not stimulus_set.stimuli.exists():
        yield from shards
        return
    for shard in shards:
        yield shard.with_digests(digests_of(stimulus_set, shard.names))


def framing_of(stimulus_set: StimulusSet) -> FramingName:
    """Framing of a set as the analysis names it; plain text, for it travels to processes without Django."""
    return cast("FramingName", Framing(stimulus_set.framing).value)


def modules() -> tuple[str, ...]:
    """Modules with corruption functions of the user's own: shards run in processes that have no settings."""
    return tuple(getattr(settings, "CORRUPTION_MODULES", ()))


def _expected(stimulus_set: StimulusSet, originals: list[Original]) -> int:
    swept = stimulus_set.count_per_corruption * len(stimulus_set.corruptions)
    return len(originals) * (1 + len(stimulus_set.plain_functions)) + swept
