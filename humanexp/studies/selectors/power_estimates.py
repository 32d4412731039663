"""Questions about estimates of power that are stored or under way."""

from __future__ import annotations

from django.db.models import QuerySet

from humanexp.jobs import selectors as jobs
from humanexp.jobs.models import Job
from humanexp.studies.models import PowerEstimate, Study

#: Kind of the job that simulates.
POWER = "studies.power"


def subject_of(study: Study) -> str:
    """Under this subject jobs about the study are found, and belong to its people."""
    return f"study:{study.pk}"


def power_job(study: Study) -> Job | None:
    """The newest one."""
    return jobs.latest_for(subject_of(study), POWER)


def estimates_of(study: Study) -> QuerySet[PowerEstimate]:
    """Those that are complete, the newest first."""
    return study.power_estimates.exclude(completed_at=None).select_related("created_by")


def estimate_by_pk(study: Study, pk: str) -> PowerEstimate | None:
    """The one that is asked for, else the newest."""
    found = estimates_of(study)
    return (found.filter(pk=int(pk)).first() if pk.isdecimal() else None) or found.first()
