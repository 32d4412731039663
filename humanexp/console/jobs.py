from __future__ import annotations

from typing import Any

from django.conf import settings

from humanexp.console import sites
from humanexp.console.classifiers import RETRAIN
from humanexp.console.preflight.check import JOB, run_preflight
from humanexp.core import file_store
from humanexp.core.models import User
from humanexp.evaluations.models import Retraining
from humanexp.evaluations.services.retraining import train_and_compare
from humanexp.jobs.registry import Progress, handler
from humanexp.results.tables import trials_of
from humanexp.screening.services import judge_study
from humanexp.studies.models import Study


@handler(JOB, title="Pre-flight check")
def preflight(progress: Progress, *, study_id: int, to: str, by_id: int | None = None) -> dict[str, Any]:
    """Try out everything that a launch depends on."""
    study = Study.objects.select_related("family", "protocol", "stimulus_set").get(pk=study_id)
    by = User.objects.filter(pk=by_id).first() if by_id else None
    made = run_preflight(study=study, to=to, by=by, report=progress)
    return {"preflight": made.pk, "is_green": made.is_green}


@handler(RETRAIN, title="A network is retrained")
def retrain(
    progress: Progress,
    *,
    retraining_id: int,
    study_id: int | None,
    allow_download: bool = False,
    allow_code: bool = False,
) -> dict[str, Any]:
    """Train, and compare before with after."""
    row = Retraining.objects.select_related("stimulus_set", "evaluation_set").get(pk=retraining_id)
    trials = None
    if study_id is not None:
        study = Study.objects.get(pk=study_id)
        judge_study(study)
        trials = trials_of(study)
    report = train_and_compare(row, trials, progress, allow_download=allow_download, allow_code=allow_code)
    return {"rows": len(report["rows"]), "clean": report["clean"]["after"]}


@handler(sites.JOB, title="Sites on this machine are kept up", every_s=30, is_prompt=True)
def keep_sites(progress: Progress) -> dict[str, Any]:
    """Start what is wanted, end what is not."""
    return sites.keep()


if settings.FILE_STORE:

    @handler("console.collect_files", title="Files that nobody names are deleted", every_s=3600)
    def collect_files(progress: Progress) -> dict[str, Any]:
        """In the storage, and among this machine's copies."""
        progress(0, 1, "files looked at")
        return {"collected": file_store.collect(), "copies": file_store.sweep_copies()}
