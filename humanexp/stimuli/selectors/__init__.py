"""Reads of this app: source sets, stimulus sets, and what a set holds."""

from __future__ import annotations

from humanexp.stimuli.selectors.making import bring_originals, bring_stimuli, originals_of
from humanexp.stimuli.selectors.sets import (
    count_corrupted,
    find_stimulus_set,
    jobs_of,
    manifest,
    manifest_rows,
    stimuli_of_curves,
    stimulus_by_pk,
    stimulus_set_by_name,
    stimulus_set_by_pk,
    stimulus_sets,
)
from humanexp.stimuli.selectors.sources import has_pictures, source_set_by_name, source_set_by_pk, source_sets

__all__ = [
    "bring_originals",
    "bring_stimuli",
    "count_corrupted",
    "find_stimulus_set",
    "has_pictures",
    "jobs_of",
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
