"""Reads of this app: source sets, stimulus sets, and what a set holds."""

from __future__ import annotations

from humanexp.stimuli.selectors.sets import (
    changes_by_corruption,
    count_corrupted,
    digests_by_key,
    find_stimulus_set,
    job_of,
    jobs_of,
    making_by_corruption,
    manifest,
    manifest_rows,
    originals_of,
    stimuli_of_curves,
    stimulus_by_pk,
    stimulus_set_by_name,
    stimulus_set_by_pk,
    stimulus_sets,
)
from humanexp.stimuli.selectors.sources import image_ids_by_key, source_set_by_name, source_set_by_pk, source_sets

__all__ = [
    "changes_by_corruption",
    "count_corrupted",
    "digests_by_key",
    "find_stimulus_set",
    "image_ids_by_key",
    "job_of",
    "jobs_of",
    "making_by_corruption",
    "manifest",
    "manifest_rows",
    "originals_of",
    "source_set_by_name",
    "source_set_by_pk",
    "source_sets",
    "stimuli_of_curves",
    "stimulus_by_pk",
    "stimulus_set_by_name",
    "stimulus_set_by_pk",
    "stimulus_sets",
]
