from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings

from analysis.energy import Meter
from analysis.errors import AnalysisError
from humanexp.core.errors import JobError
from humanexp.jobs.registry import Progress, handler
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors.sets import stimulus_set_by_pk
from humanexp.stimuli.services import generation, imagenet_c, imports
from humanexp.stimuli.services.generated_sets import make_stimuli
from humanexp.stimuli.services.generation import delete_stimulus_set
from humanexp.stimuli.services.imagenet_c import import_pictures
from humanexp.stimuli.services.imports import run_import


@handler(generation.JOB_KIND, title="Stimuli are made")
def generate(progress: Progress, *, stimulus_set_id: int) -> dict[str, Any]:
    """Make the stimuli of a set; a picture that cannot be used ends the job with its name."""
    stimulus_set, meter = stimulus_set_by_pk(stimulus_set_id), Meter("cpu", settings.ENERGY)
    try:
        with meter:
            return {"count": make_stimuli(stimulus_set, progress)}
    except AnalysisError as error:
        raise JobError(str(error)) from error
    finally:
        generation.add_energy(stimulus_set=stimulus_set, spent=meter.share(1.0))


@handler(generation.DELETION_KIND, title="Stimuli are deleted")
def delete(progress: Progress, *, stimulus_set_id: int) -> dict[str, Any]:
    """Delete a set; one that an earlier try deleted is gone already."""
    stimulus_set = StimulusSet.objects.filter(pk=stimulus_set_id).first()
    return {"count": delete_stimulus_set(stimulus_set=stimulus_set, progress=progress)} if stimulus_set else {}


@handler(imagenet_c.IMPORT_JOB_KIND, title="ImageNet-C is imported")
def import_imagenet_c(progress: Progress, *, stimulus_set_id: int, folder: str, n_pictures: int) -> dict[str, Any]:
    """Take over the pictures of a folder in the layout of ImageNet-C."""
    stimulus_set = stimulus_set_by_pk(stimulus_set_id)
    return {"count": import_pictures(stimulus_set, Path(folder), n_pictures, progress)}


@handler(imports.IMPORT_IMAGES_KIND, title="Pictures are imported", takes=run_import)
def import_images(progress: Progress, **parameters: Any) -> dict[str, Any]:
    """Import pictures that were uploaded, or lie in the storage."""
    report = run_import(progress, **parameters)
    return {"count": report.n_images} if report else {}
