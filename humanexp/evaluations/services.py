from __future__ import annotations

import re
from pathlib import Path

from django.db import transaction

from humanexp.core import clock
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import relative_to_media
from humanexp.evaluations.models import EvaluationRun
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.stimuli.models import StimulusSet

JOB_KIND = "evaluations.evaluate"


def subject_of(run: EvaluationRun) -> str:
    return f"evaluation:{run.pk}"


@transaction.atomic
def evaluate(
    *, stimulus_set: StimulusSet, spec: str, name: str = "", device: str = "cpu", by: User | None = None
) -> tuple[EvaluationRun, Job]:
    """Ask for a classifier's predictions on every stimulus of a set. The same name again makes them anew."""
    if stimulus_set.completed_at is None:
        raise InvalidRequest(f"The stimulus set {stimulus_set} is not complete yet: let its job finish first.")
    if spec.startswith("python:") and by is not None:
        raise InvalidRequest("python: runs code and is for the command line alone: use manage.py evaluate.")
    run, _created = EvaluationRun.objects.update_or_create(
        stimulus_set=stimulus_set,
        name=name or default_name(spec),
        defaults={"spec": spec, "device": device, "created_by": by, "completed_at": None, "predictions_file": ""},
    )
    return run, jobs.submit(JOB_KIND, subject=subject_of(run), by=by, evaluation_id=run.pk)


def complete(
    *,
    run: EvaluationRun,
    predictions_file: Path,
    count: int,
    accuracy_clean: float | None,
    classifier_digest: str,
    label_space: int,
    preprocessing: str,
) -> EvaluationRun:
    run.predictions_file = relative_to_media(predictions_file)
    run.count = count
    run.accuracy_clean = accuracy_clean
    run.classifier_digest = classifier_digest
    run.label_space = label_space
    run.preprocessing = preprocessing[:300]
    run.completed_at = clock.now()
    run.save()
    return run


def default_name(spec: str) -> str:
    """Name on the dashboard when none is given: the last part of the adapter string, without folder and suffix."""
    reference = spec.split(":", 1)[-1]
    if re.search(r"\.(pt2|onnx|csv|parquet)$", reference):
        reference = Path(reference).stem
    return reference.replace(":", "/")[:80]
