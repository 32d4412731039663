"""Tables of predictions that were uploaded: examined whole, shown, and taken all or not at all."""

from __future__ import annotations

import hashlib
import tempfile
import time
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile

from analysis.classifiers.decision import read_labels
from analysis.classifiers.recorded import TableReport, check_table, examine_table
from humanexp.core import file_store
from humanexp.core.errors import InputRefused, NotFound
from humanexp.core.models import User
from humanexp.core.storage import media_path, sweep
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.services.evaluations import check_may_predict, evaluate
from humanexp.evaluations.specs import TABLES
from humanexp.jobs.models import Job
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
        report = examine_table(written, _keys(stimulus_set), name=str(table.name))
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
    check_table(examine_table(path, _keys(stimulus_set), name=name))
    kept = media_path(TABLES) / path.name
    kept.parent.mkdir(parents=True, exist_ok=True)
    path.replace(kept)
    file_store.publish(f"{TABLES}/{path.name}")
    file_store.forget(f"{_WAITING}/{path.name}")
    return evaluate(stimulus_set=stimulus_set, spec=f"table:{TABLES}/{path.name}", name=name, by=by)


def uploaded_labels(mapping: UploadedFile[Any]) -> tuple[str, ...]:
    """Labels of a mapping file that came with a form; refuses what is none, as `read_labels` does."""
    if (mapping.size or 0) > _MOST_MAPPING:
        raise InputRefused(f"{mapping.name} is larger than a mapping file: one row per output.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        path.write_bytes(mapping.read())
        return read_labels(path)


def _keys(stimulus_set: StimulusSet) -> list[str]:
    return list(stimuli_of_curves(stimulus_set).order_by("key").values_list("key", flat=True))
