from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache

from django.db.models import QuerySet
from pydantic import JsonValue

from analysis.findings.model.findings import Findings
from humanexp.core.errors import NotFound, existing
from humanexp.core.storage import media_path
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import latest_for, unfinished
from humanexp.participation.models import Session
from humanexp.participation.sessions import taken_back
from humanexp.results.inclusion import Selection
from humanexp.results.models import AnalysisPlan, AnalysisRun, Report, TrialImport
from humanexp.studies.models import Study
from humanexp.studies.selectors import subject_of

#: Job kinds of an analysis and of a report.
ANALYSE, REPORT = "results.analyse", "results.report"


def runs(study: Study) -> QuerySet[AnalysisRun]:
    return AnalysisRun.objects.filter(study=study)


def latest_run(study: Study) -> AnalysisRun | None:
    """The newest analysis as planned: runs with another choice of sessions or trials stand beside it."""
    return runs(study).filter(selection={}).first()


def run_of(study: Study, pk: str) -> AnalysisRun:
    """One of the study's runs, by its number as it stands in an address."""
    run = runs(study).filter(pk=pk).first() if pk.isdecimal() else None
    return existing(run, f"This study has no analysis {pk!r}.")


def run_with(study: Study, selection: Selection) -> AnalysisRun | None:
    """The newest run with this choice, if it is no older than the newest planned one."""
    planned = latest_run(study)
    found = runs(study).filter(selection=selection.to_dict()).first()
    return found if found and (planned is None or found.created_at >= planned.created_at) else None


def other_choices(study: Study) -> list[AnalysisRun]:
    """The newest run of every choice that is not the planned one, the newest first."""
    newest: dict[Selection, AnalysisRun] = {}
    for run in runs(study).exclude(selection={}):
        newest.setdefault(Selection.model_validate(run.selection), run)
    return list(newest.values())


def withdrawn_since(run: AnalysisRun) -> int:
    """Sessions that the run was made with, and whose people took them back since.

    An analysis looks at sessions that were finished: who gave up half way was never in it.
    """
    began_at = run.created_at - timedelta(seconds=run.seconds)
    withdrawn = taken_back(run.study, since=began_at, opened_before=run.created_at)
    return withdrawn.filter(completed_at__lt=run.created_at).count()


def self_reports(study: Study) -> dict[str, dict[str, JsonValue]]:
    """What participants said of their sight and knowledge, by session."""
    reported = Session.objects.filter(study=study).values_list("code", "environment")
    return {code: environment.get("self_report") or {} for code, environment in reported}


def plan_of(study: Study) -> AnalysisPlan | None:
    return AnalysisPlan.objects.filter(study=study).select_related("frozen_by").first()


def latest_report(run: AnalysisRun) -> Report | None:
    return Report.objects.filter(run=run).first()


def report_job(study: Study) -> Job | None:
    """The newest job that writes a report on this study."""
    return latest_for(subject_of(study), REPORT)


def analyses_under_way(study: Study) -> list[Job]:
    return list(unfinished().filter(subject=subject_of(study), kind=ANALYSE))


def findings(run: AnalysisRun) -> Findings:
    """What the run found."""
    with _found_again(run):
        return _read(run.findings_file)


def findings_json(run: AnalysisRun) -> dict[str, JsonValue]:
    """The same as it is stored: also what other versions wrote into it."""
    with _found_again(run):
        content: dict[str, JsonValue] = json.loads(media_path(run.findings_file).read_bytes())
    return content


@contextmanager
def _found_again(run: AnalysisRun) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise NotFound(
            f"The findings of analysis {run.pk} are gone from {run.findings_file}. Run the analysis again."
        ) from None


@lru_cache(maxsize=16)
def _read(findings_file: str) -> Findings:
    return Findings.read(media_path(findings_file).read_bytes())


def trial_import_of(study: Study) -> TrialImport | None:
    return TrialImport.objects.filter(study=study).first()


def analysis_job(study: Study) -> Job | None:
    """The newest job that analyses this study."""
    return latest_for(subject_of(study), ANALYSE)
