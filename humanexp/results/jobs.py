from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from humanexp.core.errors import existing
from humanexp.jobs.registry import Progress, handler
from humanexp.results.models import AnalysisRun
from humanexp.results.report import write_report
from humanexp.results.selectors import ANALYSE, REPORT, Selection
from humanexp.results.services import run_analysis
from humanexp.results.set_archives import IMPORT_SET_KIND, run_set_import
from humanexp.studies.models import Study


@handler(ANALYSE, title="Results are computed")
def analyse(
    progress: Progress, *, study_id: int, n_bootstrap: int = 1000, selection: Mapping[str, JsonValue] | None = None
) -> dict[str, int]:
    """Analyse a study and say which run it became."""
    found = Study.objects.select_related("stimulus_set").filter(pk=study_id).first()
    study = existing(found, "The study was deleted before its analysis began.")
    chosen = Selection.model_validate(selection or {})
    run = run_analysis(study=study, n_bootstrap=n_bootstrap, selection=chosen, report=progress)
    return {"analysis_run_id": run.pk}


@handler(IMPORT_SET_KIND, title="A published set is imported")
def import_set(progress: Progress, *, upload: str, title: str, by_id: int) -> dict[str, str]:
    """Import a set that was uploaded and say under which name."""
    return {"set": run_set_import(progress, upload=upload, title=title, by_id=by_id)}


@handler(REPORT, title="The report is written")
def report(progress: Progress, *, analysis_run_id: int) -> dict[str, int]:
    """Write a report on a run and say which one it became."""
    found = AnalysisRun.objects.select_related("study__stimulus_set").filter(pk=analysis_run_id).first()
    run = existing(found, "The analysis was deleted before its report was written.")
    written = write_report(run=run, report=progress)
    return {"report_id": written.pk}
