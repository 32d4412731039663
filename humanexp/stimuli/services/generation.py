"""Stimulus sets created, started, completed and deleted."""

from __future__ import annotations

import array
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import PROTECT, ForeignObjectRel, ProtectedError

from analysis.energy import summed
from analysis.generation.files import storage_sentence
from analysis.generation.shards import METRIC_NAME
from analysis.visual_change.coverage import coverage_report
from humanexp.core import clock, file_store, ownership
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User, record
from humanexp.core.names import check_new_name
from humanexp.core.ownership import Right
from humanexp.core.storage import media_path
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress, silent
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.models import Sampling, Stimulus, StimulusSet
from humanexp.stimuli.selectors.sets import changes_of, image_ids_of, making_of
from humanexp.stimuli.services.descriptions import Described, check_description
from humanexp.stimuli.services.set_files import write_manifest
from humanexp.stimuli.services.sources import freeze_source_set

JOB_KIND = "stimuli.generate"
DELETION_KIND = "stimuli.delete"
_ROWS_PER_DELETION = 500


@transaction.atomic
def create_stimulus_set(described: Described, *, by: User | None = None) -> StimulusSet:
    """Keep the description of a set, whose stimuli are made by a job; its pictures are frozen."""
    name, source_set = described.name, described.source_set
    check_new_name(name, taken=StimulusSet.objects.filter(name=name).exists(), what="stimulus set")
    check_description(described)
    for pictures in filter(None, (source_set, described.cue_conflicts)):
        freeze_source_set(source_set=pictures, by=by)
    return StimulusSet.objects.create(
        name=name, metric=METRIC_NAME, lab_id=source_set.lab_id, created_by=by, **described.columns()
    )


@transaction.atomic
def start_generation(*, stimulus_set: StimulusSet, by: User | None = None) -> Job:
    """Queue the set's job; one that failed or was cancelled goes on, one that waits or runs is left alone."""
    ownership.check(by, Right.CHANGE, stimulus_set)
    if stimulus_set.sampling == Sampling.IMPORTED:
        raise InvalidRequest(f"The stimuli of {stimulus_set} were imported: start their import again instead.")
    return jobs.start(JOB_KIND, subject=stimulus_set.job_subject, by=by, stimulus_set_id=stimulus_set.pk)


def store_pilots(*, stimulus_set: StimulusSet, pilots: Mapping[str, Mapping[str, Any]]) -> StimulusSet:
    """Keep the pilot maps: a resumed job must plan the very same stimuli."""
    stimulus_set.pilots = dict(pilots)
    stimulus_set.save(update_fields=["pilots"])
    return stimulus_set


@transaction.atomic
def store_stimuli(*, stimulus_set: StimulusSet, folder: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Record made stimuli. A stimulus made a second time is the same one, so its row is written over."""
    if not rows:
        return
    source_sets = [one for one in (stimulus_set.source_set, stimulus_set.cue_conflicts) if one is not None]
    ids = image_ids_of(source_sets, list({row["original"] for row in rows}))
    fields = (
        *("source_image_id", "corruption", "corruption_version", "parameter", "seed", "target", "visual_change"),
        *("evaluations", "reached", "reach_low", "reach_high", "sha256", "file"),
    )
    Stimulus.objects.bulk_create(
        [
            Stimulus(
                stimulus_set=stimulus_set,
                key=row["stimulus"],
                source_image_id=ids[row["original"]],
                corruption=row["corruption"],
                corruption_version=row["corruption_version"] or "",
                parameter=row["parameter"],
                seed=row["seed"],
                target=row["target"],
                visual_change=row["visual_change"],
                evaluations=row["evaluations"],
                reached=row["reached"],
                reach_low=row.get("reach_low"),
                reach_high=row.get("reach_high"),
                sha256=row["sha256"],
                file=f"{folder}/{row['file']}",
            )
            for row in rows
        ],
        update_conflicts=True,
        unique_fields=["stimulus_set", "key"],
        update_fields=[field.removesuffix("_id") for field in fields],
        batch_size=500,
    )


def complete_stimulus_set(*, stimulus_set: StimulusSet) -> StimulusSet:
    """Count what the set covers, write its manifest, and only then let studies use it."""
    coverage: dict[str, Any] = {}
    for name in stimulus_set.corruptions:
        changes = array.array("d", changes_of(stimulus_set, name))
        coverage[name] = {**coverage_report({name: changes})[name], **making_of(stimulus_set, name)}
    stimulus_set.manifest_sha256 = write_manifest(stimulus_set)
    file_store.publish(f"stimuli/{stimulus_set.name}")
    stimulus_set.coverage = coverage
    stimulus_set.completed_at = clock.now()
    stimulus_set.save(update_fields=["coverage", "manifest_sha256", "completed_at"])
    return stimulus_set


def add_energy(*, stimulus_set: StimulusSet, spent: Mapping[str, Any]) -> None:
    """Count what an attempt took, whatever it came to."""
    stimulus_set.energy = summed([stimulus_set.energy, spent])
    StimulusSet.objects.filter(pk=stimulus_set.pk).update(energy=stimulus_set.energy)


@transaction.atomic
def request_deletion(*, stimulus_set: StimulusSet, by: User | None = None) -> Job:
    """Queue the deletion of a set: rows go at some thousand a second. Refused at once where it would be refused."""
    ownership.check(by, Right.CHANGE, stimulus_set)
    _withdraw(stimulus_set)
    record(action="delete-stimuli", subject=f"stimulus set:{stimulus_set.name}", by=by)
    return jobs.submit(DELETION_KIND, subject=stimulus_set.job_subject, by=by, stimulus_set_id=stimulus_set.pk)


def delete_stimulus_set(*, stimulus_set: StimulusSet, progress: Progress = silent) -> int:
    """Delete a set with its rows and files; refused while something uses it or makes it. Returns the number of stimuli.

    First the set counts as incomplete, so that no study takes it up; then files, then rows. Whatever interrupts this
    leaves an incomplete set that can be deleted again, or made again.
    """
    _withdraw(stimulus_set)
    _remove_folder(stimulus_set)
    count, total = 0, stimulus_set.stimuli.count()
    while pks := list(stimulus_set.stimuli.order_by("pk").values_list("pk", flat=True)[:_ROWS_PER_DELETION]):
        _deleting(stimulus_set, Stimulus.objects.filter(pk__in=pks))
        count += len(pks)
        progress(count, total, "stimuli deleted")
    _deleting(stimulus_set, StimulusSet.objects.filter(pk=stimulus_set.pk))
    return count


@transaction.atomic
def _withdraw(stimulus_set: StimulusSet) -> None:
    job = latest_for(stimulus_set.job_subject)
    if job is not None and not job.is_finished and job.kind != DELETION_KIND:
        raise Conflict(f"The stimuli of {stimulus_set} are being made: cancel that job first, then delete the set.")
    _check_unused(stimulus_set)
    stimulus_set.completed_at = None
    stimulus_set.save(update_fields=["completed_at"])


def _check_unused(stimulus_set: StimulusSet) -> None:
    """Whoever points at the set or at a stimulus with PROTECT uses it; this app need not know who that is."""
    for model, path in ((StimulusSet, ""), (Stimulus, "__stimulus_set")):
        for relation in model._meta.get_fields(include_hidden=True):
            if not isinstance(relation, ForeignObjectRel) or relation.on_delete is not PROTECT:
                continue
            users = relation.related_model._base_manager.filter(**{f"{relation.field.name}{path}": stimulus_set})
            user = users.first()
            if user is not None:
                raise _used(stimulus_set, user)


def _deleting(stimulus_set: StimulusSet, rows: Any) -> None:
    try:
        rows.delete()
    except ProtectedError as error:
        raise _used(stimulus_set, next(iter(error.protected_objects))) from error


def _used(stimulus_set: StimulusSet, user: Any) -> Conflict:
    return Conflict(
        f"The stimulus set {stimulus_set} is used by the {user._meta.verbose_name} {user}: what people saw is kept."
    )


def _remove_folder(stimulus_set: StimulusSet) -> None:
    """Out of the way by one rename, then file by file."""
    file_store.forget(f"stimuli/{stimulus_set.name}")
    folder = media_path(f"stimuli/{stimulus_set.name}")
    doomed = folder.with_name(f".{stimulus_set.name}.deleted")
    try:
        if doomed.exists():
            shutil.rmtree(doomed)
        if folder.exists():
            folder.rename(doomed)
            shutil.rmtree(doomed)
    except OSError as error:
        raise InvalidRequest(storage_sentence(folder, error)) from error
