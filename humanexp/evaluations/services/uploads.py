"""Uploads: tables of predictions, all taken or none, and models, checked in quarantine before they reach the shelf."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction

from analysis.classifiers.decision import read_labels
from analysis.classifiers.quarantine import kind_of, try_out
from analysis.classifiers.recorded import TableReport, check_table, examine_table
from analysis.errors import ClassifierUnavailable
from analysis.labels.space import LabelSpace
from humanexp.core import file_store, ownership
from humanexp.core.errors import InputRefused, InvalidRequest, NotFound
from humanexp.core.models import User, record
from humanexp.core.storage import media_path, relative_to_media, sweep
from humanexp.evaluations.models import EvaluationRun, UploadedModel
from humanexp.evaluations.services.evaluations import check_may_predict, evaluate
from humanexp.evaluations.specs import SHELF, TABLES, is_network_name, on_shelf
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors.sets import stimuli_of_curves

SUFFIXES = (".csv", ".parquet")
MOST_TABLE_MB = 200
_MOST_MAPPING = 5 * 10**6
#: A table that was shown and never confirmed is forgotten after this long.
_KEPT_S = 24 * 3600
_WAITING = "evaluations/uploads"


def examine(*, stimulus_set: StimulusSet, table: UploadedFile[Any]) -> tuple[TableReport, str]:
    """What a table says about a set, and the name under which it waits for confirmation; empty if it is not usable.

    A table with problems is kept nowhere.
    """
    sweep(media_path(_WAITING).glob("*"), older_than_s=_KEPT_S)
    file_store.forget_left(_WAITING, older_than_s=_KEPT_S)
    suffix = Path(str(table.name)).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputRefused(f"{table.name}: tables of predictions are .csv or .parquet files.")
    if (table.size or 0) > MOST_TABLE_MB * 10**6:
        raise InputRefused(
            f"{table.name} is larger than {MOST_TABLE_MB} MB: use manage.py evaluate --classifier table:FILE."
        )
    folder = media_path(_WAITING)
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    written = folder / f".{time.monotonic_ns()}{suffix}"
    try:
        with written.open("wb") as file:
            for chunk in table.chunks():
                digest.update(chunk)
                file.write(chunk)
        report = examine_table(written, _keys(stimulus_set), name=str(table.name), space=stimulus_set.source_set.space)
        if not report.is_usable:
            return report, ""
        name = f"{digest.hexdigest()}{suffix}"
        written.replace(folder / name)
        file_store.publish(f"{_WAITING}/{name}")
        return report, name
    finally:
        written.unlink(missing_ok=True)


def take(*, stimulus_set: StimulusSet, waiting: str, name: str, by: User | None) -> tuple[EvaluationRun, Job]:
    """Take a table that was examined: examined once more, for the set may have changed, and evaluated as a job."""
    path = media_path(f"{_WAITING}/{Path(waiting).name}")
    if not waiting or not path.is_file():
        raise NotFound("The table is not waiting any more: upload it again.")
    check_may_predict(stimulus_set=stimulus_set, name=name, by=by)
    check_table(examine_table(path, _keys(stimulus_set), name=name, space=stimulus_set.source_set.space))
    kept = media_path(TABLES) / path.name
    kept.parent.mkdir(parents=True, exist_ok=True)
    path.replace(kept)
    file_store.publish(f"{TABLES}/{path.name}")
    file_store.forget(f"{_WAITING}/{path.name}")
    return evaluate(stimulus_set=stimulus_set, spec=f"table:{TABLES}/{path.name}", name=name, by=by)


def uploaded_labels(mapping: UploadedFile[Any], space: LabelSpace | None = None) -> tuple[str, ...]:
    """Labels of a mapping file that came with a form; refuses what is none, as `read_labels` does."""
    if (mapping.size or 0) > _MOST_MAPPING:
        raise InputRefused(f"{mapping.name} is larger than a mapping file: one row per output.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        path.write_bytes(mapping.read())
        return read_labels(path, space)


def _keys(stimulus_set: StimulusSet) -> list[str]:
    return list(stimuli_of_curves(stimulus_set).order_by("key").values_list("key", flat=True))


CHECK_KIND = "evaluations.check_model"
MOST_MODEL_MB = 1000
#: The picture that a network is tried out with, in the size of the usual protocol.
_SIZE_PX = 224
_MODELS_WAITING = "evaluations/models"
#: What a check that was cancelled left behind is forgotten after this long.
_MODELS_KEPT_S = 7 * 24 * 3600
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-]{0,59}")


def receive(
    *, file: UploadedFile[Any], name: str, description: Mapping[str, Any], architecture: str = "", by: User | None
) -> tuple[UploadedModel, Job]:
    """Store a network's file, recognise it by its content, and queue its check; nothing of it is loaded here.

    Every account may: a new model changes nothing that anyone else has, as a new set of pictures does not.
    """
    row = UploadedModel(
        name=name, description=dict(description), lab_id=ownership.lab_of(by), created_by=by, size=file.size or 0
    )
    _check_name(name)
    if row.size > MOST_MODEL_MB * 10**6:
        raise InputRefused(f"{file.name} is larger than {MOST_MODEL_MB} MB: put it into the server's shelf yourself.")
    waiting = media_path(_MODELS_WAITING)
    waiting.mkdir(parents=True, exist_ok=True)
    sweep((path for path in waiting.rglob("*") if path.is_file()), older_than_s=_MODELS_KEPT_S)
    file_store.forget_left(_MODELS_WAITING, older_than_s=_MODELS_KEPT_S)
    written = waiting / f".{time.monotonic_ns()}"
    try:
        row.sha256 = _written(file, written)
        suffix = _kind(written)
        if (suffix == ".safetensors") != bool(architecture):
            raise InvalidRequest(*_about_architecture(architecture))
        if architecture and not is_network_name(architecture):
            raise InvalidRequest(
                f"{architecture!r} names no network of a library: write timm:resnet50 or torchvision:resnet50.",
                fields={"architecture": "timm:NAME or torchvision:NAME"},
            )
        row.architecture = architecture
        stored = waiting / f"{time.monotonic_ns()}{suffix}"
        row.waiting_file = relative_to_media(stored)
        written.rename(stored)
        file_store.publish(row.waiting_file)
        return _queued(row, by)
    except BaseException:
        if row.waiting_file and row.pk is None:
            _remove(row.waiting_file)
        raise
    finally:
        written.unlink(missing_ok=True)


def _queued(row: UploadedModel, by: User | None) -> tuple[UploadedModel, Job]:
    try:
        with transaction.atomic():
            row.save()
            record(action="upload-model", subject=f"model:{row.name}", by=by, size=row.size, sha256=row.sha256)
            return row, jobs.submit(CHECK_KIND, subject=row.job_subject, by=by, model_id=row.pk)
    except IntegrityError as error:
        row.pk = None
        raise _taken(row.name) from error


def check_and_shelve(row: UploadedModel, progress: Progress) -> UploadedModel:
    """Try the network out in a process of its own, and put it on the shelf, or keep why it is refused."""
    if row.spec or row.refusal:
        return row
    waiting = media_path(row.waiting_file)
    if not waiting.is_file():
        return _refused(row, "The file waited too long for its check and was deleted: upload it again.")
    progress(0, 1, f"{row.name}: tried out")
    with tempfile.TemporaryDirectory(dir=waiting.parent, prefix=".trial.") as folder:
        # Apart from all other files: what a network names beside itself is not there.
        trial = Path(folder) / f"{row.name}{waiting.suffix}"
        shutil.copy2(waiting, trial)
        _describe(row, trial)
        try:
            try_out(_spec(row, trial), _SIZE_PX, tick=lambda: progress(0, 1, f"{row.name}: tried out"))
        except ClassifierUnavailable as error:
            return _refused(row, str(error).replace(f"{folder}/", ""))
        shelf = media_path(SHELF)
        shelf.mkdir(parents=True, exist_ok=True)
        final = shelf / trial.name
        if final.exists() and _digest(final) != row.sha256:
            return _refused(row, f"{final.name} stands on the shelf already: choose another name.")
        trial.with_suffix(".json").replace(final.with_suffix(".json"))
        trial.replace(final)  # the network's file comes last: the shelf offers what is whole
    file_store.publish(f"{SHELF}/{final.with_suffix('.json').name}", f"{SHELF}/{final.name}")
    received, row.spec, row.waiting_file = row.waiting_file, _spec(row, final), ""
    row.save(update_fields=["spec", "waiting_file"])
    _remove(received)
    progress(1, 1, f"{row.name}: on the shelf")
    return row


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refused(row: UploadedModel, why: str) -> UploadedModel:
    _remove(row.waiting_file)
    row.refusal, row.waiting_file = why, ""
    row.save(update_fields=["refusal", "waiting_file"])
    return row


def _remove(waiting: str) -> None:
    file_store.local_path(waiting).unlink(missing_ok=True)
    file_store.forget(waiting)


def _spec(row: UploadedModel, path: Path) -> str:
    scheme = {".pt2": "export", ".onnx": "onnx"}.get(path.suffix)
    return f"{scheme}:{path}" if scheme else f"{row.architecture}@{path}"


def _describe(row: UploadedModel, path: Path) -> None:
    provenance = {"uploaded_sha256": row.sha256, "by": row.created_by.get_username() if row.created_by else ""}
    fields = {"name": row.name, **row.description, "provenance": provenance}
    if row.architecture:
        fields["architecture"] = row.architecture
    path.with_suffix(".json").write_text(json.dumps(fields, indent=1) + "\n", encoding="utf-8")


def _written(file: UploadedFile[Any], path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("wb") as stream:
        for chunk in file.chunks():
            digest.update(chunk)
            stream.write(chunk)
    return digest.hexdigest()


def _kind(path: Path) -> str:
    try:
        return kind_of(path)
    except ClassifierUnavailable as error:
        raise InputRefused(str(error)) from error


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidRequest(
            f"{name!r} is no name of a model: up to 60 letters, digits, - and _, beginning with a letter or digit.",
            fields={"name": "letters, digits, - and _"},
        )
    if on_shelf(name) or UploadedModel.objects.filter(name=name, refusal="").exists():
        raise _taken(name)


def _taken(name: str) -> InvalidRequest:
    return InvalidRequest(
        f"A model named {name} stands on the shelf already, or is being checked: choose another name.",
        fields={"name": "taken"},
    )


def _about_architecture(given: str) -> tuple[str]:
    if given:
        return ("The file is a whole program, so it needs no architecture: leave the field empty.",)
    return ("The file holds weights alone: name the network that they belong to, such as timm:resnet50.",)
