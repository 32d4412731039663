from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from django.db import transaction

from analysis.classifiers import SCHEMES
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import relative_to_media
from humanexp.evaluations.models import EvaluationRun
from humanexp.jobs import selectors as job_selectors
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.stimuli import services as stimuli
from humanexp.stimuli.models import SourceSet, StimulusSet

JOB_KIND = "evaluations.evaluate"
GOLD_KIND = "evaluations.select_gold"
MOST_CLASSIFIERS = 20


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


@transaction.atomic
def select_gold(*, source_set: SourceSet, specs: Sequence[str], device: str = "cpu", by: User | None = None) -> Job:
    """Ask classifiers about every clean original, so that gold pictures can be those that all of them name right."""
    names = checked_specs(specs, allow_code=by is None)
    if not source_set.images.exists():
        raise InvalidRequest(f"The set of pictures {source_set} is empty: import pictures first.")
    stimuli.check_ratings_open(source_set)
    under_way = job_selectors.latest_for(source_set.job_subject, GOLD_KIND)
    if under_way is not None and not under_way.is_finished:
        raise InvalidRequest(f"The pictures of {source_set} are being classified already: wait, or cancel that job.")
    return jobs.submit(
        GOLD_KIND,
        subject=source_set.job_subject,
        by=by,
        source_set_id=source_set.pk,
        specs=names,
        device=device,
        allow_code=by is None,
    )


def checked_specs(specs: Sequence[str], *, allow_code: bool) -> list[str]:
    """Classifiers to be asked, each once; refuses what names none before anything is loaded."""
    names = list(dict.fromkeys(spec.strip() for spec in specs if spec.strip()))
    if not names or len(names) > MOST_CLASSIFIERS:
        raise InvalidRequest(
            f"Name one to {MOST_CLASSIFIERS} classifiers, for example export:fixtures/classifiers/clean.pt2.",
            fields={"classifiers": "one a line"},
        )
    unknown = [spec for spec in names if spec.partition(":")[0] not in SCHEMES or not spec.partition(":")[2]]
    if unknown:
        raise InvalidRequest(
            f"{unknown[0]!r} names no classifier: write SCHEME:REFERENCE, where SCHEME is one of {', '.join(SCHEMES)}.",
            fields={"classifiers": "SCHEME:REFERENCE"},
        )
    if not allow_code and any(spec.startswith("python:") for spec in names):
        raise InvalidRequest(
            "python: runs code and is for the command line alone: use manage.py select_gold.",
            fields={"classifiers": "no python: here"},
        )
    return names


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
