"""Answers and findings on their way out: pseudonymous, in the columns of `analysis.tables`."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from analysis.tables import PREDICTIONS, STIMULI, TRIALS, TableSchema
from humanexp.core.errors import InputRefused
from humanexp.core.storage import media_path
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Origin, Study
from humanexp.results.selectors import latest_run
from humanexp.results.tables import predictions_of, trials_of
from humanexp.screening import selectors as screening
from humanexp.screening.timing import certificate_of
from humanexp.stimuli import coverage
from humanexp.stimuli import selectors as stimuli

#: Rows that are written at once.
CHUNK = 2000
DESCRIPTION = "datapackage.json"
FINDINGS = "findings.json"
CERTIFICATE = "timing_certificate"
COVERAGE = "coverage"


def response_lines(study: Study) -> Iterator[str]:
    """The study's answers as CSV, a chunk at a time; `TRIALS.read` reads it back."""
    yield _csv([TRIALS.names])
    if study.origin == Origin.IMPORTED:
        frame = trials_of(study)
        for start in range(0, len(frame), CHUNK):
            yield frame.iloc[start : start + CHUNK].to_csv(index=False, header=False, lineterminator="\n")
        return
    accepted = screening.accepted_sessions(study)
    rows = experiments.trial_rows(study)
    for start in range(0, len(rows), CHUNK):
        chunk = (row | {"accepted": row["session"] in accepted} for row in rows[start : start + CHUNK])
        yield _csv([row[name] for name in TRIALS.names] for row in chunk)


def export_study(study: Study, folder: Path) -> list[Path]:
    """Write the study's tables (CSV and Parquet), its newest findings and a description of every column into a folder.

    The folder is new, empty, or an earlier export of the same study, which is replaced.
    """
    _refuse_foreign_folder(study, folder)
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    resources: list[dict[str, Any]] = []
    for schema, frame in _tables(study):
        for suffix in ("csv", "parquet"):
            path = folder / f"{schema.name}.{suffix}"
            schema.write(frame, path)
            resources.append(_resource(path, schema))
            written.append(path)
    run = latest_run(study)
    if run is not None:
        path = folder / FINDINGS
        path.write_bytes(media_path(run.findings_file).read_bytes())
        resources.append(_resource(path, None))
        written.append(path)
    for path in _coverage(study, folder):
        resources.append(_resource(path, None))
        written.append(path)
    for path in _certificate(study, folder):
        resources.append(_resource(path, None))
        written.append(path)
    package = {
        "profile": "data-package",
        "name": study.slug,
        "title": study.title,
        "humanexp_version": settings.VERSION,
        "configuration": study.configuration,
        "resources": resources,
    }
    path = folder / DESCRIPTION
    path.write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return [*written, path]


def _tables(study: Study) -> Iterator[tuple[TableSchema, Any]]:
    yield TRIALS, trials_of(study)
    predictions = predictions_of(study)
    if len(predictions):
        yield PREDICTIONS, predictions
    if study.stimulus_set is not None:
        yield STIMULI, stimuli.manifest(study.stimulus_set)


def _coverage(study: Study, folder: Path) -> Iterator[Path]:
    """How the study's stimuli cover the range of visual change, as numbers and as a figure."""
    if study.stimulus_set is None or not study.stimulus_set.corruptions:
        return
    path = folder / f"{COVERAGE}.json"
    content = coverage.coverage_json(study.stimulus_set)
    path.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    yield path
    yield coverage.write_figure(study.stimulus_set, folder / f"{COVERAGE}.svg")


def _certificate(study: Study, folder: Path) -> Iterator[Path]:
    """How the pictures were timed, as numbers and as a picture; nothing for a study without timed answers."""
    from analysis.figures.timing import timing_to_file

    certificate = certificate_of(study)
    if not certificate.all.recorded:
        return
    path = folder / f"{CERTIFICATE}.json"
    content = {"study": study.slug, **certificate.to_dict()}
    path.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    yield path
    yield timing_to_file(certificate, folder / f"{CERTIFICATE}.svg", title=study.title)


def _resource(path: Path, schema: TableSchema | None) -> dict[str, Any]:
    content = path.read_bytes()
    described: dict[str, Any] = {
        "name": path.name.replace(".", "-"),
        "path": path.name,
        "format": path.suffix.lstrip("."),
        "bytes": len(content),
        "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
    }
    if path.suffix == ".csv":
        described |= {"profile": "tabular-data-resource", "encoding": "utf-8"}
    if schema is not None:
        described |= {"description": schema.description, "schema": schema.describe()}
    return described


def _refuse_foreign_folder(study: Study, folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputRefused(f"{folder} is a file. Name a folder with --to.")
    if not folder.exists() or not any(folder.iterdir()):
        return
    try:
        name = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))["name"]
    except (OSError, ValueError, KeyError, TypeError):
        name = None
    if name != study.slug:
        raise InputRefused(
            f"{folder} is not empty and holds no earlier export of {study.slug}. Name a new or an empty folder."
        )


def _csv(rows: Iterable[Iterable[Any]]) -> str:
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    return lines.getvalue()
