"""From a described stimulus set to its files and rows, and both compared with the same stimuli made again.

An interrupted run continues where it stopped.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from django import db
from django.conf import settings

from analysis.compute import executor, run_in_order_of_completion
from analysis.corruptions import load_plugins, plugged
from analysis.errors import StorageFailed
from analysis.generation.files import UNFINISHED, told_as_sentence, write_atomically
from analysis.generation.plan import Sampling as SamplingName, StimulusPlan, pilot_originals, plan_stimuli
from analysis.generation.reach_survey import cut_survey, survey_shard, with_survey
from analysis.generation.shards import PilotShard, Shard, ShardOutcome, cut_into_shards, fit_pilot_shard, generate_shard
from analysis.generation.verification import StimulusRecord, Verification, VerificationShard, verify_shard
from analysis.original import Original
from analysis.persons.sentinels import CUE_CONFLICT, find_sentinel
from analysis.visual_change.targeting import PilotMap
from humanexp.core import file_store
from humanexp.core.storage import media_path
from humanexp.jobs.registry import Progress
from humanexp.stimuli.models import Sampling, Stimulus, StimulusSet, framing_named
from humanexp.stimuli.selectors.sets import (
    bring_originals,
    bring_stimuli,
    conflicts_of,
    digests_of,
    files_without_row,
    original_by_pk,
    originals_of,
    places_by_original,
    stimuli_by_pk,
)
from humanexp.stimuli.services.generation import complete_stimulus_set, store_pilots, store_stimuli
from humanexp.stimuli.services.set_files import check_manifest, manifest_path

if TYPE_CHECKING:
    from concurrent.futures import Executor


#: Space that stays free: the database must be able to write down why a job stopped.
SPARE_BYTES = 16 * 2**20


def make_stimuli(stimulus_set: StimulusSet, progress: Progress) -> int:
    """Make every stimulus that is not there yet, and complete the set; returns how many it holds."""
    load_plugins(stimulus_set.corruptions)
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
                enlarged=stimulus_set.enlarged,
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
                enlarged=stimulus_set.enlarged,
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
            enlarged=stimulus_set.enlarged,
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
        enlarged=stimulus_set.enlarged,
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
    """Modules and plug-ins with corruption functions of the user's own: shards run in processes without settings."""
    return (*getattr(settings, "CORRUPTION_MODULES", ()), *plugged())


def _expected(stimulus_set: StimulusSet, originals: list[Original]) -> int:
    swept = stimulus_set.count_per_corruption * len(stimulus_set.corruptions)
    return len(originals) * (1 + len(stimulus_set.plain_functions)) + swept


_RECORDS_PER_SHARD = 32


@dataclass(frozen=True)
class SetVerification:
    """What was found in a set."""

    stimuli: Verification
    #: rows of the manifest; None for a set that is not complete, or was completed before manifests were written
    manifest_rows: int | None
    #: how manifest, rows and folder disagree, one sentence each
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return self.stimuli.passed and not self.problems


def verify_stimuli(stimulus_set: StimulusSet, *, sample: int | None = None, seed: int = 0) -> SetVerification:
    """Verify all stimuli of a set, or a random sample of them, and the manifest of a complete one."""
    load_plugins(stimulus_set.corruptions)
    if sample is None:
        bring_originals(stimulus_set.source_set)
        bring_stimuli(stimulus_set)
    with executor(settings.COMPUTE) as pool:
        found = Verification().merged(
            run_in_order_of_completion(pool, verify_shard, _shards(stimulus_set, sample, seed))
        )
    rows, problems = None, list(_stray_files(stimulus_set)) if sample is None else []
    if stimulus_set.completed_at is not None and stimulus_set.manifest_sha256:
        manifest = check_manifest(stimulus_set)
        rows = manifest.rows
        problems = [*manifest.problems, *problems]
    return SetVerification(stimuli=found, manifest_rows=rows, problems=tuple(problems))


def _shards(stimulus_set: StimulusSet, sample: int | None, seed: int) -> Iterator[VerificationShard]:
    """Stimuli of one original at a time, those of the sample alone."""
    wanted = _sampled(places_by_original(stimulus_set), stimulus_set.stimuli.count(), sample, seed)
    for image_pk, group in itertools.groupby(wanted, key=lambda place: place[0]):
        original = original_by_pk(image_pk)
        while pks := [pk for _, pk in itertools.islice(group, _RECORDS_PER_SHARD)]:
            yield VerificationShard(
                original=original,
                records=tuple(_record(stimulus) for stimulus in stimuli_by_pk(pks)),
                size_px=stimulus_set.size_px,
                framing=framing_named(stimulus_set.framing),
                is_imported=stimulus_set.sampling == Sampling.IMPORTED,
                modules=modules(),
                enlarged=stimulus_set.enlarged,
            )


def _sampled(places: Iterator[tuple[int, int]], total: int, sample: int | None, seed: int) -> Iterator[tuple[int, int]]:
    """A random part of a stream, every part of that size being equally likely; the stream is read once."""
    if sample is None or sample >= total:
        yield from places
        return
    rng, wanted, left = np.random.default_rng(seed), sample, total
    for place in places:
        # Selection sampling: Knuth, The Art of Computer Programming, volume 2, 3.4.2, algorithm S.
        if rng.random() * left < wanted:
            wanted -= 1
            yield place
        left -= 1


def _record(stimulus: Stimulus) -> StimulusRecord:
    return StimulusRecord(
        stimulus=stimulus.key,
        corruption=stimulus.corruption,
        version=stimulus.corruption_version,
        parameter=stimulus.parameter,
        seed=stimulus.seed,
        visual_change=stimulus.visual_change,
        sha256=stimulus.sha256,
        path=str(media_path(stimulus.file)),
    )


def _stray_files(stimulus_set: StimulusSet) -> Iterator[str]:
    """Files in the set's folder that no row names, folder by folder."""
    root = folder_of(stimulus_set)
    manifest = manifest_path(stimulus_set)
    count, first = 0, ""
    for folder, _, names in os.walk(media_path(root)):
        relative = os.path.relpath(folder, media_path(root))
        inside = root if relative == os.curdir else f"{root}/{relative}"
        files = [f"{inside}/{name}" for name in names if inside != root or name != manifest.name]
        strays = files_without_row(stimulus_set, files)
        count += len(strays)
        first = first or next(iter(sorted(strays)), "")
    if count:
        yield f"{count} files belong to no stimulus, the first of them {first}"
