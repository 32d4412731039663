"""Retraining as a job. It stands here because people's curves come from a study, and the networks from evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction

from humanexp.core.errors import InvalidRequest
from humanexp.evaluations import retraining as retrainings
from humanexp.evaluations.models import Retraining
from humanexp.experiments.models import Study
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress, handler
from humanexp.results.tables import trials_of

if TYPE_CHECKING:
    import pandas as pd

JOB_KIND = "console.retrain"


@transaction.atomic
def retrain(*, study: Study | None = None, **described: Any) -> tuple[Retraining, Job]:
    """Ask for a network to be trained further; with a study, it is compared with that study's people.

    The other arguments are those of `humanexp.evaluations.retraining.describe`.
    """
    row = retrainings.describe(**described)
    if study is not None and study.stimulus_set_id not in (row.stimulus_set_id, row.evaluation_set_id):
        raise InvalidRequest(f"The people of {study.slug} saw other stimuli than {row.stimulus_set}: name their study.")
    by = described.get("by")
    job = jobs.submit(
        JOB_KIND, subject=row.job_subject, by=by, retraining_id=row.pk, study_id=study.pk if study else None
    )
    return row, job


@handler(JOB_KIND)
def run(progress: Progress, *, retraining_id: int, study_id: int | None) -> dict[str, Any]:
    """Train, and compare before with after."""
    row = Retraining.objects.select_related("stimulus_set", "evaluation_set").get(pk=retraining_id)
    trials: pd.DataFrame | None = trials_of(Study.objects.get(pk=study_id)) if study_id is not None else None
    report = retrainings.train_and_compare(row, trials, progress)
    return {"rows": len(report["rows"]), "clean": report["clean"]["after"]}
