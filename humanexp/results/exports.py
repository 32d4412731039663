"""Answers and findings on their way out: pseudonymous, in the columns of `analysis.tables`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from analysis.findings.model.entry import N_BOOTSTRAP
from analysis.findings.model.findings import Findings
from analysis.labels.files import default_labels, labels_to_toml
from analysis.tables.comparisons import COMPARISONS
from analysis.tables.schema import TableSchema
from analysis.tables.sessions import CLOSING, SESSIONS, SETUP, coarse_trials
from analysis.tables.stimuli import EXPORTED_PREDICTIONS, FACTORS, LEVEL_PREDICTIONS, stimuli_table
from analysis.tables.trials import ANSWERS, TRIALS
from humanexp.core.batches import batches_of
from humanexp.core.errors import InputRefused
from humanexp.evaluations.selectors import comparisons_on, decisions_on
from humanexp.results.charts.curves import sheet_names, sheet_of
from humanexp.results.models import AnalysisRun
from humanexp.results.selectors import findings, findings_json, latest_run, plan_of, withdrawn_sentence, withdrawn_since
from humanexp.results.tables import (
    CHUNK,
    analysis_settings,
    answers_of,
    closing_of,
    curve_predictions_of,
    factors_of,
    level_predictions_of,
    network_kinds,
    participant_codes,
    predictions_of,
    session_summary,
    sessions_of,
    setup_of,
    trial_chunks,
)
from humanexp.screening.selectors import certificate_of
from humanexp.stimuli.selectors import coverage
from humanexp.stimuli.selectors.sets import NOT_MEASURED, manifest_rows
from humanexp.studies.models import Population, Study

if TYPE_CHECKING:
    import pandas as pd

DESCRIPTION = "datapackage.json"
README = "README.md"
ANALYSIS = "analysis.json"
FINDINGS = "findings.json"
#: Its key for sessions that were withdrawn after the analysis.
WITHDRAWN = "sessions_withdrawn_since"
#: Folder of the trial files of the model-vs-human toolbox.
TRIAL_FILES = "model-vs-human"
#: Folder of the scripts that fit a mixed model to the answers, in R and in Python.
MIXED_MODEL = "mixed-model"
#: `analysis.findings.reproduction.LABELS`, which is heavy to import.
LABELS = "labels.toml"
#: For readers' own environments (R with lme4, Python with bambi): copied, never imported; each names what it needs.
MIXED_MODEL_SCRIPTS = tuple(
    Path(__file__).resolve().parent / "mixed_models" / f"mixed_model.{suffix}" for suffix in ("R", "py")
)
CERTIFICATE = "timing_certificate"
COVERAGE = "coverage"
#: Before the name of a sheet of curves.
SHEET = "curves"


def response_lines(study: Study) -> Iterator[str]:
    """The study's answers as CSV, a chunk at a time; `TRIALS.read` reads it back."""
    yield ",".join(TRIALS.names) + "\n"
    for chunk in trial_chunks(study):
        yield TRIALS.to_csv(coarse_trials(chunk), header=False)


def export_study(study: Study, folder: Path, beside: Mapping[str, object] | None = None) -> list[Path]:
    """Write all that is needed to analyse a study again, and its newest findings, into a folder.

    The folder is new, empty, or an earlier export of the same study, which is replaced. `beside` are further keys of
    the findings, of which results know nothing. Large studies are written a chunk at a time.
    """
    _clear(study, folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = list(_write_all(study, folder, dict(beside or {})))
    package = {
        "profile": "data-package",
        "name": study.slug,
        "title": study.title,
        "description": _who_answered(study),
        "humanexp_version": settings.VERSION,
        "configuration": study.configuration,
        "resources": [_resource(path, folder, schema) for path, schema in written],
    }
    text = json.dumps(package, indent=2, ensure_ascii=False) + "\n"
    return [*(path for path, _ in written), _written(folder / DESCRIPTION, text)]


def _write_all(study: Study, folder: Path, beside: dict[str, object]) -> Iterator[tuple[Path, TableSchema | None]]:
    """Write one file after the other; tables come with their schema."""
    for schema, frames in _tables(study):
        paths = [folder / f"{schema.name}.{suffix}" for suffix in ("csv", "parquet")]
        schema.write_chunks(frames, *paths)
        for path in paths:
            yield path, schema
    others = (
        *_trial_files(study, folder),
        *_mixed_model(folder, study.alternatives),
        *_labels(study, folder),
        *_findings(study, folder, beside),
        *_coverage(study, folder),
        *_certificate(study, folder),
    )
    for path in others:
        yield path, None
    yield _written(folder / README, _readme(study)), None


def _tables(study: Study) -> Iterator[tuple[TableSchema, Iterable[pd.DataFrame]]]:
    yield TRIALS, map(coarse_trials, trial_chunks(study))
    for schema, frame in (
        (EXPORTED_PREDICTIONS, _decided(study, predictions_of(study))),
        (LEVEL_PREDICTIONS, level_predictions_of(study)),
        (ANSWERS, answers_of(study)),
        (COMPARISONS, comparisons_on(study.slug)),
        (SESSIONS, sessions_of(study)),
        (CLOSING, closing_of(study)),
        (SETUP, setup_of(study)),
        (FACTORS, factors_of(study)),
    ):
        if frame is not None and len(frame):
            yield schema, [frame]
    if study.stimulus_set is not None and study.stimulus_set.metric != NOT_MEASURED:
        table = stimuli_table(study.stimulus_set.enlarged)
        yield table, (table.frame(chunk) for chunk in batches_of(CHUNK, manifest_rows(study.stimulus_set)))


def _decided(study: Study, predictions: pd.DataFrame) -> pd.DataFrame:
    """Predictions with how each classifier decided; empty cells where its answers came with imported trials."""
    found = decisions_on(study.stimulus_set) if study.stimulus_set is not None else {}
    names = predictions["classifier"]
    columns = {
        column: names.map({name: getattr(one, column) for name, one in found.items()}).astype("string")
        for column in ("rule", "decide", "labels_identity")
    }
    return predictions.assign(**columns)


def _trial_files(study: Study, folder: Path) -> list[Path]:
    """The same answers as trial files of the model-vs-human toolbox."""
    from analysis.model_vs_human import TrialFiles

    has_options = study.alternatives < len(study.space) or study.offers_none
    files = TrialFiles(folder / TRIAL_FILES, participant_codes(study), with_options=has_options)
    for chunk in trial_chunks(study):
        files.add_trials(chunk)
    files.add_predictions(curve_predictions_of(study))
    return files.paths


def _mixed_model(folder: Path, choices: int) -> Iterator[Path]:
    """Scripts that read the exported trials with lme4 and with bambi, for so many choices a trial."""
    (folder / MIXED_MODEL).mkdir(exist_ok=True)
    for script in MIXED_MODEL_SCRIPTS:
        text = script.read_text(encoding="utf-8")
        for written in ("CHOICES = {}", "CHOICES <- {}", "g = 1 / {}"):
            text = text.replace(written.format(16), written.format(choices))
        yield _written(folder / MIXED_MODEL / script.name, text)


def _labels(study: Study, folder: Path) -> Iterator[Path]:
    """The labels among which people and networks answered, where they are not those that the analysis takes unasked."""
    if study.space is not default_labels():
        yield _written(folder / LABELS, labels_to_toml(study.space))


def _findings(study: Study, folder: Path, beside: dict[str, object]) -> Iterator[Path]:
    """The newest findings, and how they were computed; without an analysis, how one would be."""
    from analysis.findings.reproduction import describe_analysis

    run = latest_run(study)
    used: Mapping[str, object] = {
        **analysis_settings(study),
        "network_kinds": network_kinds(study),
        "seed": study.seed,
        "n_bootstrap": N_BOOTSTRAP,
    }
    sessions: Mapping[str, object] | None = None
    if run is not None:
        found, beside = findings(run), beside | since_of(run)
        used = found.settings.to_json() if found.settings else used
        sessions = found.sessions.to_json() if found.sessions else None
        yield _json_file(folder / FINDINGS, {**findings_json(run), **beside}, indent=None)
        yield from _sheets(found, folder)
    frozen = plan_of(study)
    plan = None
    if frozen is not None:
        plan = {"content": frozen.content, "digest": frozen.digest, "frozen_at": frozen.frozen_at.isoformat()}
    description = describe_analysis(
        study=study.slug,
        settings=used,
        sessions=session_summary(study) if sessions is None else sessions,
        beside=beside,
        plan=plan,
    )
    yield _json_file(folder / ANALYSIS, description)


def _sheets(found: Findings, folder: Path) -> Iterator[Path]:
    """The curves of all corruptions, one file a measure, at the width of a journal's page."""
    from analysis.figures.paper import sheet_to_file

    for name in sheet_names(found):
        yield sheet_to_file(sheet_of(found, name), folder / f"{SHEET}-{name}.pdf", title=f"{found.study}: {name}")


def since_of(run: AnalysisRun) -> dict[str, int]:
    """What stands beside the findings: how many of their sessions were withdrawn since, if any were."""
    withdrawn = withdrawn_since(run)
    return {WITHDRAWN: withdrawn} if withdrawn else {}


def _readme(study: Study) -> str:
    run = latest_run(study)
    withdrawn = withdrawn_since(run) if run is not None else 0
    since = f"\n\n{FINDINGS}: {withdrawn_sentence(withdrawn)} The tables are without them." if withdrawn else ""
    labels = f"\n| {LABELS} | the {len(study.space)} labels among which people and networks answered |"
    labels = labels if study.space is not default_labels() else ""
    factors = "\n| factors (.csv and .parquet) | what is known of the pictures: a row a picture and factor |"
    more = labels + (factors if factors_of(study) is not None else "")
    return f"""# {study.title}

Exported from HumanExp {settings.VERSION}. {_who_answered(study)}

| file | what it is |
| --- | --- |
| trials, predictions, sessions, stimuli (.csv and .parquet) | one row an answer, a prediction, a session, a stimulus |
| closing (.csv and .parquet) | what people said at the end, if they were asked; texts that a person cleared |
| {DESCRIPTION} | every column: meaning, unit, range; every file: size and sha256; the study's configuration |
| {ANALYSIS} | settings and seed of the analysis, the frozen plan, and the versions it ran with |
| {FINDINGS} | every number of the dashboard, unrounded |
| {SHEET}-accuracy.pdf, {SHEET}-consistency.pdf | the curves of all corruptions, a panel each |
| {TRIAL_FILES}/ | the same answers as the model-vs-human toolbox reads them, a folder a corruption |
| {MIXED_MODEL}/ | the answers as a mixed model with crossed random effects: a script for lme4, one for bambi |{more}
| {COVERAGE}, {CERTIFICATE} | where in the range of visual change the stimuli lie; how they were timed |

In CSV a text that a spreadsheet would run as a formula has an apostrophe in front.

Every number again, with Python 3.11, numpy, scipy, pandas, pyarrow and pydantic, and the folder `analysis` of HumanExp:

    python -m analysis.findings FOLDER --json again.json --check

On the platform of the export the result is identical, elsewhere within 1e-9.

The same answers with person, category and original as random effects and a guess rate of 1/{study.alternatives}, with R
and lme4, or with Python and bambi:

    Rscript {MIXED_MODEL}/mixed_model.R
    python {MIXED_MODEL}/mixed_model.py{since}
"""


def _who_answered(study: Study) -> str:
    from analysis.reporting.methods import SCRIPTED

    return SCRIPTED if study.population == Population.SCRIPTED else "People appear by code alone."


def _coverage(study: Study, folder: Path) -> Iterator[Path]:
    """How the study's stimuli cover the range of visual change, as numbers and as a figure."""
    if study.stimulus_set is None or not study.stimulus_set.corruptions:
        return
    yield _json_file(folder / f"{COVERAGE}.json", coverage.coverage_json(study.stimulus_set))
    yield coverage.write_figure(study.stimulus_set, folder / f"{COVERAGE}.svg")


def _certificate(study: Study, folder: Path) -> Iterator[Path]:
    """How the pictures were timed, as numbers and as a picture; nothing for a study without timed answers."""
    from analysis.timing.figure import timing_to_file

    certificate = certificate_of(study)
    if not certificate.all.recorded:
        return
    yield _json_file(folder / f"{CERTIFICATE}.json", {"study": study.slug, **certificate.to_json()})
    yield timing_to_file(certificate, folder / f"{CERTIFICATE}.svg", title=study.title)


def _json_file(path: Path, content: object, *, indent: int | None = 2) -> Path:
    return _written(path, json.dumps(content, indent=indent, allow_nan=False) + "\n")


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _resource(path: Path, folder: Path, schema: TableSchema | None) -> dict[str, object]:
    name = path.relative_to(folder).as_posix()
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    described: dict[str, object] = {
        "name": name.lower().replace("/", "-").replace(".", "-"),
        "path": name,
        "format": path.suffix.lstrip("."),
        "bytes": path.stat().st_size,
        "hash": f"sha256:{digest}",
    }
    if path.suffix == ".csv":
        described |= {"profile": "tabular-data-resource", "encoding": "utf-8"}
    if schema is not None:
        described |= {"description": schema.description, "schema": schema.describe()}
    return described


def _clear(study: Study, folder: Path) -> None:
    """Remove an earlier export of the study; refuse any other folder that is not empty."""
    if folder.exists() and not folder.is_dir():
        raise InputRefused(f"{folder} is a file. Name a folder with --to.")
    if not folder.exists() or not any(folder.iterdir()):
        return
    try:
        package = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        name, resources = package["name"], [str(one["path"]) for one in package["resources"]]
    except (OSError, ValueError, KeyError, TypeError):
        name, resources = None, []
    if name != study.slug:
        raise InputRefused(
            f"{folder} is not empty and holds no earlier export of {study.slug}. Name a new or an empty folder."
        )
    for path in resources:
        written = (folder / path).resolve()
        if written.is_relative_to(folder.resolve()):
            written.unlink(missing_ok=True)
