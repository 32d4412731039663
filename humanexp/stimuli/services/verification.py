"""Compare a set's files and manifest with its rows, and its files with the same stimuli made again."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from django.conf import settings

from analysis.compute import executor, run_in_order_of_completion
from analysis.generation.verification import StimulusRecord, Verification, VerificationShard, verify_shard
from humanexp.core.storage import media_path
from humanexp.stimuli.models import Sampling, Stimulus, StimulusSet, framing_named
from humanexp.stimuli.selectors.sets import (
    bring_originals,
    bring_stimuli,
    files_without_row,
    original_by_pk,
    places_by_original,
    stimuli_by_pk,
)
from humanexp.stimuli.services.generated_sets import folder_of, modules
from humanexp.stimuli.services.manifest import check_manifest, manifest_path

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
