"""Writes of this app: importing pictures, describing stimulus sets, recording what was made."""

from __future__ import annotations

from humanexp.stimuli.services.generation import (
    JOB_KIND,
    complete_stimulus_set,
    create_stimulus_set,
    start_generation,
    store_pilots,
    store_stimuli,
)
from humanexp.stimuli.services.importing import ImportReport, import_images

__all__ = [
    "JOB_KIND",
    "ImportReport",
    "complete_stimulus_set",
    "create_stimulus_set",
    "import_images",
    "start_generation",
    "store_pilots",
    "store_stimuli",
]
