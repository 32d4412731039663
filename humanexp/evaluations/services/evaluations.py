from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.db import transaction

from analysis.classifiers.shards import Asked, Joined
from humanexp.core import clock, ownership
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.core.ownership import Right
from humanexp.core.storage import media_path, relative_to_media
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.specs import check_safe, check_spec, checked_specs, default_name
from humanexp.jobs import selectors as job_selectors, services as jobs
from humanexp.jobs.models import Job
from humanexp.stimuli import services as stimuli
from humanexp.stimuli.models import SourceSet, StimulusSet

JOB_KIND = "evaluations.evaluate"
GOLD_KIND = "evaluations.select_gold"


@transaction.atomic
def evaluate(
    *,
    stimulus_set: StimulusSet,
    spec: str,
    name: str = "",
    device: str = "cpu",
    rule: str = "mean",
    own_labels: bool = False,
    labels: Path | None = None,
    allow_download: bool = False,
    by: User | None = None,
    owner: User | None = None,
) -> tuple[EvaluationRun, Job]:
    """Ask for a classifier's predictions on every stimulus of a set.

    The same name again makes them anew; until that is done, and if it fails, the earlier predictions stay. The very
    same again while it is under way, also under a process that was killed, is the job that there is. `owner`: whose
    they are where no account asks; what the command line may ask for goes beyond what accounts may.
    """
    spec = check_spec(spec) if by is None else check_safe(spec)
    if stimulus_set.completed_at is None:
        raise InvalidRequest(f"The stimulus set {stimulus_set} is not complete yet: let its job finish first.")
    _check_own_labels(stimulus_set, own_labels=own_labels)
    name = name or default_name(spec)
    before = check_may_predict(stimulus_set=stimulus_set, name=name, by=by)
    run = before or EvaluationRun.objects.create(
        stimulus_set=stimulus_set,
        name=name,
        spec=spec,
        device=device,
        rule=rule,
        own_labels=own_labels,
        lab_id=stimulus_set.lab_id,
        created_by=by or owner,
    )
    asked: dict[str, Any] = {
        "evaluation_id": run.pk,
        "spec": spec,
        "device": device,
        "rule": rule,
        "own_labels": own_labels,
        "labels": str(labels.resolve()) if labels else "",
        # python: runs code; only the command line, which leaves no account behind, may ask for it.
        "allow_code": by is None,
        "allow_download": allow_download,
    }
    under_way = job_selectors.latest_for(run.job_subject, JOB_KIND)
    if under_way is not None and not under_way.is_finished and under_way.parameters == asked:
        return run, under_way
    _check_idle(run)
    action = "replace-predictions" if run.completed_at else "evaluate"
    record(action=action, subject=f"stimulus set:{stimulus_set.name}", by=by, name=run.name, spec=spec)
    return run, jobs.submit(JOB_KIND, subject=run.job_subject, by=by, **asked)


def check_may_predict(*, stimulus_set: StimulusSet, name: str, by: User | None) -> EvaluationRun | None:
    """The predictions that are there under a name; refuses an account that may neither replace nor add them.

    They appear in every study on the set, whoever put them there.
    """
    before = EvaluationRun.objects.filter(stimulus_set=stimulus_set, name=name).first()
    if before is None:
        ownership.check(by, Right.ADD, stimulus_set)
    else:
        ownership.check(by, Right.CHANGE, before)
    return before


@transaction.atomic
def select_gold(*, source_set: SourceSet, specs: Sequence[str], device: str = "cpu", by: User | None = None) -> Job:
    """Ask classifiers about every clean original, so that gold pictures can be those that all of them name right."""
    ownership.check(by, Right.CHANGE, source_set)
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


def complete(
    *, run: EvaluationRun, asked: Asked, joined: Joined, predictions_file: Path, preprocessing: str,
    versions: dict[str, str],
) -> EvaluationRun:  # fmt: skip
    """Put the predictions, and all that decided them, in the place of what the run held before."""
    before = run.predictions_file
    EvaluationRun.objects.filter(pk=run.pk).update(
        spec=asked.spec,
        device=asked.device,
        rule=asked.rule,
        own_labels=asked.own_labels,
        labels_file=asked.labels[-300:],
        classifier_digest=asked.digest,
        label_space=joined.label_space,
        preprocessing=preprocessing[:300],
        versions=versions,
        predictions_file=relative_to_media(predictions_file),
        predictions_sha256=joined.sha256,
        count=joined.count,
        accuracy_clean=joined.n_clean_correct / joined.n_clean if joined.n_clean else None,
        seconds=joined.seconds,
        completed_at=clock.now(),
    )
    run.refresh_from_db()
    if before and before != run.predictions_file:
        media_path(before).unlink(missing_ok=True)
    return run


@transaction.atomic
def delete(*, run: EvaluationRun, by: User | None = None) -> None:
    """Delete a run with its predictions; analyses that are stored already keep their numbers."""
    ownership.check(by, Right.CHANGE, run)
    _check_idle(run)
    record(action="delete-predictions", subject=f"stimulus set:{run.stimulus_set.name}", by=by, name=run.name)
    folder = run.folder
    run.delete()
    transaction.on_commit(lambda: shutil.rmtree(media_path(folder), ignore_errors=True))


def _check_idle(run: EvaluationRun) -> None:
    job = job_selectors.latest_for(run.job_subject, JOB_KIND)
    if job is not None and not job.is_finished:
        raise Conflict(f"{run.name} is being evaluated on {run.stimulus_set} already: wait, or cancel that job.")


def _check_own_labels(stimulus_set: StimulusSet, *, own_labels: bool) -> None:
    nameless = stimulus_set.source_set.images.filter(wnid="").count() if own_labels else 0
    if nameless:
        raise InvalidRequest(
            f"{nameless} pictures of {stimulus_set.source_set} have no WordNet id, so an answer among a network's own "
            "labels cannot be right or wrong: import them from folders named by WordNet id, or decide among the 16 "
            "categories."
        )
