"""Writes of this app: importing pictures, describing stimulus sets, recording what was made."""

from __future__ import annotations

from humanexp.stimuli.services.generation import (
    DELETION_KIND,
    JOB_KIND,
    SAMPLINGS,
    Described,
    complete_stimulus_set,
    create_stimulus_set,
    delete_stimulus_set,
    plain_functions_beside,
    request_deletion,
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
from humanexp.stimuli.services.import_report import ImportReport
from humanexp.stimuli.services.importing import (
    IMPORT_IMAGES_KIND,
    import_images,
    request_import,
    run_import,
    subject_of_import,
)
from humanexp.stimuli.services.person_sentinels import made_families
from humanexp.stimuli.services.published import Adopted, adopt_pictures, open_pictures
from humanexp.stimuli.services.sources import (
    Rating,
    check_ratings_open,
    delete_source_set,
    describe_source_set,
    freeze_source_set,
    store_ratings,
)

__all__ = [
    "IMPORT_IMAGES_KIND",
    "IMPORT_JOB_KIND",
    "DELETION_KIND",
    "JOB_KIND",
    "SAMPLINGS",
    "Adopted",
    "Described",
    "ImageNetCImport",
    "ImportReport",
    "Rating",
    "adopt_pictures",
    "check_ratings_open",
    "complete_stimulus_set",
    "create_stimulus_set",
    "delete_source_set",
    "delete_stimulus_set",
    "request_deletion",
    "describe_source_set",
    "freeze_source_set",
    "import_imagenet_c",
    "import_images",
    "made_families",
    "open_pictures",
    "plain_functions_beside",
    "request_import",
    "resume_import",
    "run_import",
    "start_generation",
    "store_pilots",
    "store_ratings",
    "store_stimuli",
    "subject_of_import",
]
