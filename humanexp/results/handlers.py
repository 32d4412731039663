from __future__ import annotations

from typing import Any

from humanexp.core.errors import NotFound
from humanexp.experiments.models import Study
from humanexp.jobs.registry import Progress, handler
from humanexp.results.selectors import ANALYSE
from humanexp.results.services import run_analysis


@handler(ANALYSE)
def analyse(progress: Progress, *, study_id: int, n_bootstrap: int = 1000) -> dict[str, Any]:
    """Analyse a study and say which run it became."""
    study = Study.objects.select_related("stimulus_set").filter(pk=study_id).first()
    if study is None:
        raise NotFound("The study was deleted before its analysis began.")
    run = run_analysis(study=study, n_bootstrap=n_bootstrap, report=progress)
    progress(3, 3, "done")
    return {"analysis_run_id": run.pk}
