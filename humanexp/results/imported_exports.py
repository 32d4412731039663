"""Studies that an installation has exported, imported by another: their tables, labels and settings as they were."""

from __future__ import annotations

import hashlib
import io
import json
import secrets
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.db import transaction

from analysis.labels.files import default_labels, labels_to_toml
from analysis.tables.schema import TableSchema
from analysis.tables.stimuli import PREDICTIONS
from analysis.tables.trials import ANSWERS, TRIALS
from humanexp.core import file_store
from humanexp.core.errors import InputRefused
from humanexp.core.models import User
from humanexp.core.storage import media_path, write_whole
from humanexp.results.models import TrialImport
from humanexp.studies.models import Origin, Study, StudyFamily, StudyState

if TYPE_CHECKING:
    import pandas as pd

    from analysis.findings.reproduction import ExportedStudy

#: Settings that an analysis chooses anew.
_CHOSEN_ANEW = ("seed", "n_bootstrap")


def digest_of_export(folder: Path) -> str:
    """By which the same export is recognised: of its tables and of how they were analysed."""
    from analysis.findings.reproduction import BESIDE, DESCRIPTION, LABELS, table_file

    tables = [table_file(folder, schema) for schema in (TRIALS, *BESIDE)]
    files = [path for path in (*tables, folder / DESCRIPTION, folder / LABELS) if path is not None and path.is_file()]
    digests = [f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def observers_in(exported: ExportedStudy) -> dict[str, str]:
    """Kind of every observer; refused where a person and a model have one name."""
    people = sorted(set(exported.trials["participant"]))
    asked = [table for schema in (PREDICTIONS, ANSWERS) if (table := exported.table(schema)) is not None]
    models = sorted({str(name) for table in asked for name in table["classifier"]})
    both = next((name for name in models if name in people), None)
    if both is not None:
        raise InputRefused(f"{exported.folder}: {both!r} is a person and a model. Rename one of them.")
    return dict.fromkeys(people, "human") | dict.fromkeys(models, "classifier")


def labels_document_of(exported: ExportedStudy) -> str:
    """The labels as a file; empty where they are those that the product takes unasked."""
    labels = exported.labels
    return "" if labels is None or labels.identity == default_labels().identity else labels_to_toml(labels)


def archive_of(exported: ExportedStudy) -> bytes:
    """What is kept of an export: its tables, and how they were analysed."""
    from analysis.findings.reproduction import BESIDE, DESCRIPTION

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive, tempfile.TemporaryDirectory() as folder:
        for schema in (TRIALS, *BESIDE):
            table = exported.trials if schema is TRIALS else exported.table(schema)
            if table is not None:
                _add(archive, schema, table, Path(folder))
        told = {
            "study": exported.study,
            "settings": exported.settings.to_json(),
            "sessions": exported.sessions,
            "beside": dict(exported.beside),
        }
        archive.writestr(DESCRIPTION, json.dumps(told))
    return stream.getvalue()


def _add(archive: zipfile.ZipFile, schema: TableSchema, table: pd.DataFrame, folder: Path) -> None:
    path = folder / f"{schema.name}.parquet"
    schema.write(table, path)
    archive.write(path, path.name)


def kept_export(study: Study) -> ExportedStudy | None:
    """The export of which an imported study was made; None for others."""
    if study.origin != Origin.IMPORTED:
        return None
    file = TrialImport.objects.filter(study=study).values_list("export_file", flat=True).first()
    return _read(file) if file else None


def settings_of(exported: ExportedStudy) -> Mapping[str, object]:
    """How the study was analysed, as `analysis.findings.model.people.Settings.planned` takes it."""
    told = exported.settings.to_json()
    return {"recruiter_weights": {}, "network_kinds": {}} | {
        name: value for name, value in told.items() if name not in _CHOSEN_ANEW
    }


@lru_cache(maxsize=4)
def _read(file: str) -> ExportedStudy:
    from analysis.findings.reproduction import read_export

    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(media_path(file)) as archive:
            archive.extractall(folder)
        return read_export(Path(folder))


@dataclass(frozen=True)
class Imported:
    trial_import: TrialImport
    #: False when the very same files had been imported before
    is_new: bool
    #: what was decided about the files' meaning, a sentence each
    notes: tuple[str, ...] = ()


def import_export(*, folder: Path, slug: str, title: str, by: User | None) -> Imported:
    """Make a study of what another installation has exported; its analysis is the one of the export."""
    from analysis.findings.lists import check_lists
    from analysis.findings.reproduction import read_export
    from analysis.tables.trials import TRIALS

    exported, digest = read_export(folder), digest_of_export(folder)
    before = Study.objects.filter(slug=slug).first()
    if before is not None:
        return Imported(same_files(before, digest), is_new=False)
    observers, space = observers_in(exported), exported.labels or default_labels()
    check_lists(exported.trials, space)
    trials = TRIALS.validate(exported.trials.assign(study=slug), source=str(folder))
    archive, mark = archive_of(exported), secrets.token_hex(6)
    files = (f"results/imports/{slug}-{mark}.parquet", f"results/imports/{slug}-export-{mark}.zip")
    try:
        media_path(files[0]).parent.mkdir(parents=True, exist_ok=True)
        TRIALS.write(trials, media_path(files[0]))
        write_whole(media_path(files[1]), archive)
        file_store.publish(*files)
        made = record_import(
            slug=slug,
            title=title,
            by=by,
            digest=digest,
            files=[{"name": folder.name, "sha256": digest, "trials": len(trials)}],
            observers=observers,
            kinds={},
            trials=len(trials),
            trials_file=files[0],
            export_file=files[1],
            labels_document=labels_document_of(exported),
            seed=exported.settings.seed,
        )
    except BaseException:
        for file in files:
            file_store.local_path(file).unlink(missing_ok=True)
            file_store.forget(file)
        raise
    return Imported(made, is_new=True)


def same_files(study: Study, digest: str) -> TrialImport:
    """The import that is already there, if it is of these files; another study of that name is kept as it is."""
    there = TrialImport.objects.filter(study=study).first()
    if there is None:
        raise InputRefused(
            f"The study {study.slug!r} exists, and its trials were collected here. Choose another name with --study."
        )
    if there.digest != digest:
        raise InputRefused(
            f"The study {study.slug!r} holds {there.trials} trials of other files, and imported trials "
            "never change. Import these files under another name with --study."
        )
    return there


@transaction.atomic
def record_import(
    *,
    slug: str,
    title: str,
    by: User | None,
    digest: str,
    files: list[dict[str, object]],
    observers: dict[str, str],
    kinds: dict[str, dict[str, int]],
    trials: int,
    trials_file: str,
    export_file: str = "",
    labels_document: str = "",
    seed: int = 0,
) -> TrialImport:
    """A study of its own, and the row of its import."""
    if StudyFamily.objects.filter(slug=slug).exists():
        raise InputRefused(f"There are already studies in a family called {slug!r}. Choose another name with --study.")
    study = Study.objects.create(
        family=StudyFamily.objects.create(slug=slug),
        slug=slug,
        title=title,
        origin=Origin.IMPORTED,
        state=StudyState.STOPPED,
        digest=digest,
        labels_document=labels_document,
        seed=seed,
        created_by=by,
    )
    return TrialImport.objects.create(
        study=study,
        digest=digest,
        files=files,
        observers=observers,
        kinds=kinds,
        trials=trials,
        trials_file=trials_file,
        export_file=export_file,
        created_by=by,
    )
