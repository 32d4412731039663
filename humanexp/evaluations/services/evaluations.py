from __future__ import annotations

import secrets
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from analysis.classifiers.networks import check_precision
from analysis.classifiers.shards import Joined
from analysis.errors import ClassifierUnavailable
from analysis.observers.kinds import KINDS
from humanexp.core import clock, file_store, ownership
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User, record
from humanexp.core.ownership import Right
from humanexp.core.storage import media_path, relative_to_media
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.programs import kind_of_retrained
from humanexp.evaluations.specs import check_safe, check_spec, checked_specs, default_name
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.stimuli.services.sources import check_ratings_open

JOB_KIND = "evaluations.evaluate"
TOGETHER_KIND = "evaluations.evaluate_together"
GOLD_KIND = "evaluations.select_gold"


@dataclass(frozen=True, kw_only=True)
class How:
    """How classifiers are asked: the same for all that look at the pictures together."""

    device: str = "cpu"
    rule: str = "mean"
    decide: str = "among"
    own_labels: bool = False
    #: mapping file of networks with their own labels
    labels: Path | None = None
    allow_download: bool = False
    #: numbers that a torch network computes with on CUDA
    precision: str = "float32"
    #: of the networks, an id of `KINDS`; empty: what is known of each
    kind: str = ""

    def parameters(self, by: User | None) -> dict[str, Any]:
        """Of the job. python: runs code; only the command line, which leaves no account behind, may ask for it."""
        labels = str(self.labels.resolve()) if self.labels else ""
        told = {name: value for name, value in asdict(self).items() if name != "kind"}
        return {**told, "labels": labels, "allow_code": by is None}


@transaction.atomic
def evaluate(
    *,
    stimulus_set: StimulusSet,
    spec: str,
    name: str = "",
    how: How | None = None,
    by: User | None = None,
    owner: User | None = None,
) -> tuple[EvaluationRun, Job]:
    """Ask for a classifier's predictions on every stimulus of a set.

    The same name again makes them anew; until that is done, and if it fails, the earlier predictions stay. The very
    same again while it is under way, also under a process that was killed, is the job that there is. `owner`: whose
    they are where no account asks; what the command line may ask for goes beyond what accounts may.
    """
    how = how or How()
    _check(stimulus_set, how)
    run, spec = _run(stimulus_set, spec, name, how, by=by, owner=owner)
    asked = {"evaluation_id": run.pk, "spec": spec, **how.parameters(by)}
    if (same := _under_way(run, JOB_KIND, asked)) is not None:
        return run, same
    check_idle(run)
    EvaluationRun.objects.filter(pk=run.pk).update(together="")
    run.together = ""
    _record(run, spec, by)
    return run, jobs.submit(JOB_KIND, subject=run.job_subject, by=by, **asked)


@transaction.atomic
def evaluate_together(
    *,
    stimulus_set: StimulusSet,
    specs: Sequence[str],
    how: How | None = None,
    by: User | None = None,
    owner: User | None = None,
) -> tuple[list[EvaluationRun], Job]:
    """Ask for the predictions of several classifiers in one pass over the pictures; each gets a run of its own.

    Predictions, refusals and repetition are as in `evaluate`.
    """
    how = how or How()
    _check(stimulus_set, how)
    found = [_run(stimulus_set, spec, "", how, by=by, owner=owner) for spec in dict.fromkeys(specs)]
    runs = [run for run, _ in found]
    if len({run.pk for run in runs}) < len(runs):
        raise InvalidRequest("Two of these classifiers have one name: evaluate them one after another, with --name.")
    evaluations = [{"evaluation_id": run.pk, "spec": spec} for run, spec in found]
    asked = {"evaluations": evaluations, **how.parameters(by)}
    if (same := _under_way(runs[0], TOGETHER_KIND, asked)) is not None:
        return runs, same
    subject = f"evaluations:{secrets.token_hex(8)}"
    for run, spec in found:
        check_idle(run)
        run.together = subject
        run.save(update_fields=["together"])
        _record(run, spec, by)
    return runs, jobs.submit(TOGETHER_KIND, subject=subject, by=by, **asked)


def _check(stimulus_set: StimulusSet, how: How) -> None:
    if stimulus_set.completed_at is None:
        raise InvalidRequest(f"The stimulus set {stimulus_set} is not complete yet: let its job finish first.")
    _check_own_labels(stimulus_set, how)
    _check_kind(how.kind)
    try:
        check_precision(how.precision, how.device)
    except ClassifierUnavailable as error:
        raise InvalidRequest(str(error)) from error


def _run(
    stimulus_set: StimulusSet, spec: str, name: str, how: How, *, by: User | None, owner: User | None
) -> tuple[EvaluationRun, str]:
    """The row under a name, there already or new, and the adapter string as it is stored."""
    spec = check_spec(spec) if by is None else check_safe(spec)
    name = name or default_name(spec)
    before = check_may_predict(stimulus_set=stimulus_set, name=name, by=by)
    run = before or EvaluationRun.objects.create(
        stimulus_set=stimulus_set,
        name=name,
        spec=spec,
        device=how.device,
        rule=how.rule,
        decide=how.decide,
        own_labels=how.own_labels,
        kind=how.kind,
        lab_id=stimulus_set.lab_id,
        created_by=by or owner,
    )
    if how.kind and run.kind != how.kind:
        run.kind = how.kind
        run.save(update_fields=["kind"])
    return run, spec


def _under_way(run: EvaluationRun, kind: str, asked: dict[str, Any]) -> Job | None:
    """The job that does the very same already."""
    job = latest_for(run.job_subject, kind)
    return job if job is not None and not job.is_finished and job.parameters == asked else None


def _record(run: EvaluationRun, spec: str, by: User | None) -> None:
    action = "replace-predictions" if run.completed_at else "evaluate"
    record(action=action, subject=f"stimulus set:{run.stimulus_set.name}", by=by, name=run.name, spec=spec)


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
    check_ratings_open(source_set)
    under_way = latest_for(source_set.job_subject, GOLD_KIND)
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


def complete(*, run: EvaluationRun, joined: Joined, predictions_file: Path, **facts: object) -> EvaluationRun:
    """Put the predictions, and all that decided them, in the place of what the run held before."""
    before = {run.predictions_file, run.answers_file}
    made = relative_to_media(predictions_file)
    file_store.publish(made, *([str(facts["answers_file"])] if facts.get("answers_file") else []))
    EvaluationRun.objects.filter(pk=run.pk).update(
        **{"labels_file": "", "answers_file": "", "asking": {}, "energy": {}, **facts},
        labels_identity=run.stimulus_set.source_set.space.identity,
        label_space=joined.label_space,
        predictions_file=made,
        predictions_sha256=joined.sha256,
        count=joined.count,
        accuracy_clean=joined.n_clean_correct / joined.n_clean if joined.n_clean else None,
        seconds=joined.seconds,
        completed_at=clock.now(),
    )
    if retrained := kind_of_retrained(run.spec):
        EvaluationRun.objects.filter(pk=run.pk, kind="").update(kind=retrained)
    run.refresh_from_db()
    for file in before - {run.predictions_file, run.answers_file, ""}:
        file_store.forget(file)
        file_store.local_path(file).unlink(missing_ok=True)
    return run


@transaction.atomic
def delete(*, run: EvaluationRun, by: User | None = None) -> None:
    """Delete a run with its predictions; analyses that are stored already keep their numbers."""
    ownership.check(by, Right.CHANGE, run)
    check_idle(run)
    record(action="delete-predictions", subject=f"stimulus set:{run.stimulus_set.name}", by=by, name=run.name)
    folder = run.folder
    run.delete()
    file_store.forget(folder)
    transaction.on_commit(lambda: shutil.rmtree(media_path(folder), ignore_errors=True))


@transaction.atomic
def set_kind(*, run: EvaluationRun, kind: str, by: User | None = None) -> EvaluationRun:
    """Say of which kind a network is; empty: what is known of its adapter string. The next analysis groups by it."""
    ownership.check(by, Right.CHANGE, run)
    _check_kind(kind)
    if kind != run.kind:
        record(action="set-kind", subject=f"stimulus set:{run.stimulus_set.name}", by=by, name=run.name, kind=kind)
        run.kind = kind
        run.save(update_fields=["kind"])
    return run


def _check_kind(kind: str) -> None:
    if kind and kind not in KINDS:
        raise InvalidRequest(
            f"There is no kind of networks {kind!r}: choose one of {', '.join(KINDS)}.",
            fields={"kind": "one of the list"},
        )


def check_idle(run: EvaluationRun) -> None:
    """Refuse while a job about the run is under way."""
    job = latest_for(run.job_subject)
    if job is None or job.is_finished:
        return
    if job.is_interrupted:
        raise Conflict(
            f"The process that evaluated {run.name} on {run.stimulus_set} died. Its job goes on where it stopped once "
            "the command that began it is repeated, or run_jobs runs; or cancel the job."
        )
    raise Conflict(f"{run.name} is being evaluated on {run.stimulus_set} already: wait, or cancel that job.")


def _check_own_labels(stimulus_set: StimulusSet, how: How) -> None:
    if not how.own_labels:
        return
    if how.decide != "among":
        raise InvalidRequest(
            "All outputs compete anyway where a network answers with its own labels: choose its own labels, or the "
            "open decision.",
            fields={"decide": "among, with its own labels"},
        )
    source_set = stimulus_set.source_set
    nameless = source_set.images.filter(wnid="").count()
    if nameless:
        raise InvalidRequest(
            f"{nameless} pictures of {source_set} have no WordNet id, so an answer among a network's own labels cannot "
            "be right or wrong: import them from folders named by WordNet id, or decide among the "
            f"{len(source_set.space)} labels of {source_set.space.name}."
        )
