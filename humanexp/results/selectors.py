from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from django.db.models import QuerySet

from humanexp.core.errors import NotFound
from humanexp.core.storage import media_path
from humanexp.experiments.models import Study
from humanexp.jobs import selectors as jobs
from humanexp.jobs.models import Job
from humanexp.results.models import AnalysisRun, TrialImport

#: Job kind of an analysis.
ANALYSE = "results.analyse"


def runs(study: Study) -> QuerySet[AnalysisRun]:
    return AnalysisRun.objects.filter(study=study)


def latest_run(study: Study) -> AnalysisRun | None:
    return runs(study).first()


def findings(run: AnalysisRun) -> dict[str, Any]:
    """What the run found. The value is shared between callers: read it, never change it."""
    try:
        return _read(run.findings_file)
    except FileNotFoundError:
        raise NotFound(
            f"The findings of analysis {run.pk} are gone from {run.findings_file}. Run the analysis again."
        ) from None


@lru_cache(maxsize=16)
def _read(findings_file: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(media_path(findings_file).read_bytes())
    return found


def trial_import_of(study: Study) -> TrialImport | None:
    return TrialImport.objects.filter(study=study).first()


def analysis_job(study: Study) -> Job | None:
    """The newest job that analyses this study."""
    return jobs.latest_for(subject_of(study), ANALYSE)


def subject_of(study: Study) -> str:
    return f"study:{study.pk}"
