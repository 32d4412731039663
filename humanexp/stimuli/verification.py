"""Compare a set's files with its rows, and with the same stimuli made again."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.conf import settings

from humanexp.core.storage import media_path
from humanexp.stimuli import selectors
from humanexp.stimuli.models import StimulusSet

if TYPE_CHECKING:
    from analysis.generation import Verification, VerificationShard


def verify_stimuli(stimulus_set: StimulusSet, *, sample: int | None = None, seed: int = 0) -> Verification:
    """Verify all stimuli of a set, or a random sample of them."""
    from analysis.compute import executor, run_in_order_of_completion, worker_count
    from analysis.generation import Verification, verify_shard

    with executor(settings.COMPUTE) as pool:
        findings = run_in_order_of_completion(
            pool, verify_shard, _shards(stimulus_set, sample, seed), in_flight=2 * worker_count(settings.COMPUTE)
        )
        return Verification().merged(findings)


def _shards(stimulus_set: StimulusSet, sample: int | None, seed: int) -> Iterator[VerificationShard]:
    """One shard an original that has a stimulus in the sample."""
    import numpy as np

    from analysis.generation import StimulusRecord, VerificationShard

    keys = list(stimulus_set.stimuli.order_by("key").values_list("key", flat=True))
    if sample is not None and sample < len(keys):
        keys = [keys[index] for index in np.random.default_rng(seed).choice(len(keys), sample, replace=False)]
    wanted = set(keys)
    originals = {original.key: original for original in selectors.originals_of(stimulus_set)}
    stimuli = stimulus_set.stimuli.select_related("source_image").order_by("source_image__key", "key")
    for original_key, group in itertools.groupby(stimuli.iterator(), key=lambda stimulus: stimulus.source_image.key):
        records = tuple(
            StimulusRecord(
                stimulus=stimulus.key,
                corruption=stimulus.corruption,
                parameter=stimulus.parameter,
                seed=stimulus.seed,
                visual_change=stimulus.visual_change,
                sha256=stimulus.sha256,
                path=str(media_path(stimulus.file)),
            )
            for stimulus in group
            if stimulus.key in wanted
        )
        if records:
            yield VerificationShard(originals[original_key], records, stimulus_set.size_px)
