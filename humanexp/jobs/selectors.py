from __future__ import annotations

from django.db.models import Q, QuerySet

from humanexp.jobs.models import FINISHED, Job, JobState
from humanexp.jobs.registry import kinds_in_lane


def recent(limit: int) -> QuerySet[Job]:
    """Newest first, without the pulse of repeating jobs and without short ones that went well."""
    short = Q(state=JobState.DONE, kind__in=kinds_in_lane(is_prompt=True))
    return Job.objects.exclude(subject="periodic").exclude(short)[:limit]


def unfinished() -> QuerySet[Job]:
    return Job.objects.exclude(state__in=FINISHED)


def latest_for(subject: str, kind: str | None = None) -> Job | None:
    """The newest job about a subject, e.g. latest_for("stimulus_set:7")."""
    jobs = Job.objects.filter(subject=subject)
    if kind:
        jobs = jobs.filter(kind=kind)
    return jobs.order_by("-pk").first()


def by_pk(pk: int) -> Job | None:
    return Job.objects.filter(pk=pk).first()
