"""A network that is trained further, and compared with a study's people.

This is here because people's curves come from a study and classifiers from evaluations.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction

from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User, record
from humanexp.core.storage import media_path
from humanexp.evaluations.models import Retraining
from humanexp.evaluations.services.retraining import Wanted, describe
from humanexp.evaluations.specs import SHELF
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import latest_for
from humanexp.participation.sessions import session_counts
from humanexp.studies.models import Study

if TYPE_CHECKING:
    pass


RETRAIN = "console.retrain"


@transaction.atomic
def retrain(
    *,
    study: Study | None = None,
    allow_download: bool = False,
    by: User | None = None,
    owner: User | None = None,
    **wanted: Any,
) -> tuple[Retraining, Job]:
    """Ask for a network to be trained further; with a study, it is compared with that study's people.

    The other arguments are those of `humanexp.evaluations.services.retraining.Wanted`. The very same while it is under
    way is the job that there is.
    """
    described = Wanted(**wanted, people_of=study.slug if study else "")
    row = describe(described, by=by, owner=owner)
    seen = {row.stimulus_set_id, row.evaluation_set_id} - {None}
    if study is not None and study.stimulus_set_id not in seen:
        raise InvalidRequest(
            f"The people of {study.slug} saw other stimuli than {row.stimulus_set or 'those of the test'}: name their "
            "study.",
            fields={"study": "of these stimuli"},
        )
    if study is not None and not session_counts(study)["completed"]:
        raise InvalidRequest(
            f"No one has finished a session of {study.slug} yet: wait, or compare with no one.",
            fields={"study": "with answers"},
        )
    under_way = latest_for(row.job_subject, RETRAIN)
    if under_way is not None and not under_way.is_finished:
        return row, under_way
    record(
        action="retrain", subject=f"network:{Path(row.out).stem}", study=row.people_of, by=by, before=row.spec,
        stimuli=row.material,
    )  # fmt: skip
    return row, jobs.submit(
        RETRAIN,
        subject=row.job_subject,
        by=by,
        retraining_id=row.pk,
        study_id=study.pk if study else None,
        allow_download=allow_download,
        # The command line may name a researcher's own factory; an account may not.
        allow_code=by is None,
    )


def retrain_onto_shelf(*, name: str, **asked: Any) -> tuple[Retraining, Job]:
    """The same from the console: the network comes to stand where it can be evaluated."""
    out = media_path(f"{SHELF}/{name}.pt2")
    if out.exists() or out.with_suffix(".json").exists():
        raise InvalidRequest(f"There is a network {name} already: choose another name.", fields={"name": "a new one"})
    out.parent.mkdir(parents=True, exist_ok=True)
    return retrain(out=out, **asked)
