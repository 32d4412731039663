"""Retraining as a job. It stands here because people's curves come from a study, and the networks from evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils.translation import gettext_noop

from humanexp.core.audit import record
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.evaluations import retraining as retrainings
from humanexp.evaluations.models import Retraining
from humanexp.evaluations.specs import SHELF
from humanexp.jobs import selectors as job_selectors
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress, handler
from humanexp.participation.selectors import session_counts
from humanexp.results.tables import trials_of
from humanexp.screening import services as screening
from humanexp.studies.models import Study

if TYPE_CHECKING:
    import pandas as pd

JOB_KIND = "console.retrain"


@transaction.atomic
def retrain(
    *, study: Study | None = None, allow_download: bool = False, by: User | None = None, **described: Any
) -> tuple[Retraining, Job]:
    """Ask for a network to be trained further; with a study, it is compared with that study's people.

    The other arguments are those of `humanexp.evaluations.retraining.describe`. The very same while it is under way is
    the job that there is.
    """
    row = retrainings.describe(**described, people_of=study.slug if study else "", by=by)
    if study is not None and study.stimulus_set_id not in (row.stimulus_set_id, row.evaluation_set_id):
        raise InvalidRequest(
            f"The people of {study.slug} saw other stimuli than {row.stimulus_set}: name their study.",
            fields={"study": "of these stimuli"},
        )
    if study is not None and not session_counts(study)["completed"]:
        raise InvalidRequest(
            f"No one has finished a session of {study.slug} yet: wait, or compare with no one.",
            fields={"study": "with answers"},
        )
    under_way = job_selectors.latest_for(row.job_subject, JOB_KIND)
    if under_way is not None and not under_way.is_finished:
        return row, under_way
    record(
        action="retrain", subject=f"network:{Path(row.out).stem}", study=row.people_of, by=by, before=row.spec,
        stimuli=row.stimulus_set.name,
    )  # fmt: skip
    return row, jobs.submit(
        JOB_KIND,
        subject=row.job_subject,
        by=by,
        retraining_id=row.pk,
        study_id=study.pk if study else None,
        allow_download=allow_download,
    )


def retrain_onto_shelf(*, name: str, **asked: Any) -> tuple[Retraining, Job]:
    """The same from the console: the network comes to stand where it can be evaluated."""
    out = media_path(f"{SHELF}/{name}.pt2")
    if out.exists() or out.with_suffix(".json").exists():
        raise InvalidRequest(f"There is a network {name} already: choose another name.", fields={"name": "a new one"})
    out.parent.mkdir(parents=True, exist_ok=True)
    return retrain(out=out, **asked)


@handler(JOB_KIND, title=gettext_noop("A network is retrained"))
def run(
    progress: Progress, *, retraining_id: int, study_id: int | None, allow_download: bool = False
) -> dict[str, Any]:
    """Train, and compare before with after."""
    row = Retraining.objects.select_related("stimulus_set", "evaluation_set").get(pk=retraining_id)
    trials: pd.DataFrame | None = None
    if study_id is not None:
        study = Study.objects.get(pk=study_id)
        screening.judge_study(study)
        trials = trials_of(study)
    report = retrainings.train_and_compare(row, trials, progress, allow_download=allow_download)
    return {"rows": len(report["rows"]), "clean": report["clean"]["after"]}
