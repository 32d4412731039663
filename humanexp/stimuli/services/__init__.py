"""Writes of this app: importing pictures, describing stimulus sets, recording what was made."""

from __future__ import annotations

from humanexp.stimuli.services.collecting import ImportReport
from humanexp.stimuli.services.generation import (
    JOB_KIND,
    SAMPLINGS,
    complete_stimulus_set,
    create_stimulus_set,
    delete_stimulus_set,
    published_functions,
    start_generation,
    store_pilots,
    store_stimuli,
)
from humanexp.stimuli.services.imagenet_c import (
    IMPORT_JOB_KIND,
    ImageNetCImport,
    import_imagenet_c,
    resume_import,
)
from humanexp.stimuli.services.importing import import_images

__all__ = [
    "IMPORT_JOB_KIND",
    "JOB_KIND",
    "SAMPLINGS",
    "ImageNetCImport",
    "ImportReport",
    "complete_stimulus_set",
    "create_stimulus_set",
    "delete_stimulus_set",
    "import_imagenet_c",
    "import_images",
    "published_functions",
    "resume_import",
    "start_generation",
    "store_pilots",
    "store_stimuli",
]
