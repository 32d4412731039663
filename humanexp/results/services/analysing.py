from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable

from humanexp.core.errors import StudyRefused
from humanexp.core.models import User
from humanexp.core.storage import media_path, write_whole
from humanexp.experiments.models import Origin, Study
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.results import tables
from humanexp.results.models import AnalysisRun
from humanexp.results.selectors import ANALYSE, analysis_job, subject_of
from humanexp.screening import services as screening

STEPS = 3
#: Refits per resampled unit.
N_BOOTSTRAP = 1000
Report = Callable[[int, int, str], None]


def _silent(done: int, total: int, message: str) -> None:
    """Nobody listens."""


def run_analysis(
    *,
    study: Study,
    seed: int | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
    by: User | None = None,
    report: Report = _silent,
) -> AnalysisRun:
    """Judge the sessions, compute every finding, store the JSON and one row. The row appears when all is there."""
    from analysis.findings import analyse

    started = time.perf_counter()
    report(0, STEPS, "judging sessions and gathering answers")
    if study.origin == Origin.COLLECTED:
        screening.judge_study(study)
    inputs = tables.analysis_tables(study)
    if inputs["trials"].empty and inputs["predictions"].empty:
        raise StudyRefused("There is nothing to analyse yet: the study has no answers. Recruit participants first.")
    report(1, STEPS, "fitting curves, bands and comparisons")
    seed = study.seed if seed is None else seed
    found = analyse(**inputs, study=study.slug, seed=seed, n_bootstrap=n_bootstrap)
    report(2, STEPS, "storing the findings")
    relative = f"results/{study.slug}/findings-{secrets.token_hex(6)}.json"
    path = media_path(relative)
    write_whole(path, json.dumps(found, allow_nan=False).encode())
    try:
        return AnalysisRun.objects.create(
            study=study,
            version=found["version"],
            seed=seed,
            n_bootstrap=n_bootstrap,
            data_digest=found["data_digest"],
            findings_file=relative,
            trials=len(inputs["trials"]),
            seconds=time.perf_counter() - started,
            created_by=by,
        )
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def request_analysis(*, study: Study, n_bootstrap: int = N_BOOTSTRAP, by: User | None = None) -> Job:
    """Queue an analysis; while one waits or runs, that one is the answer."""
    job = analysis_job(study)
    if job is not None and not job.is_finished:
        return job
    return jobs.submit(ANALYSE, subject=subject_of(study), by=by, study_id=study.pk, n_bootstrap=n_bootstrap)
