"""Questions about studies, the sets that one can be made from, and estimates of their power."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from analysis.study.study import StudyConfiguration
from humanexp.core.errors import NotFound, existing
from humanexp.core.models import User
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.models import StimulusSet
from humanexp.studies.models import PowerEstimate, Study

#: Kind of the job that simulates.
POWER = "studies.power"


def study_by_slug(slug: str) -> Study:
    """The study with this name, for commands and jobs; pages start from `visible_to`."""
    found = Study.objects.select_related("family", "protocol", "stimulus_set").filter(slug=slug).first()
    return existing(found, f"There is no study {slug!r}.")


def visible_to(user: User | AnonymousUser) -> QuerySet[Study]:
    """Studies that this researcher may see: staff see all, others those in which they have a role."""
    studies = Study.objects.select_related("family", "protocol", "stimulus_set")
    if not user.is_authenticated:
        return studies.none()
    return studies if user.is_staff or user.is_superuser else studies.filter(memberships__user=user)


def study_for(user: User | AnonymousUser, slug: str) -> Study:
    """The study with this name, for a page of this researcher."""
    return existing(
        visible_to(user).filter(slug=slug).first(), f"There is no study {slug!r}, or it belongs to someone else."
    )


def configuration_of(study: Study) -> StudyConfiguration:
    """The validated snapshot as a value."""
    if not study.configuration:
        raise NotFound("The trials of this study were imported: it has no configuration.")
    return StudyConfiguration.from_dict(study.configuration)


def stimulus_sets() -> list[StimulusSet]:
    """Complete sets of stimuli, from which studies can be made; the newest first."""
    return list(StimulusSet.objects.exclude(completed_at=None).order_by("-completed_at"))


def has_stimuli() -> bool:
    """Whether a study could be made."""
    return StimulusSet.objects.exclude(completed_at=None).exists()


def subject_of(study: Study) -> str:
    """Under this subject jobs about the study are found, and belong to its people."""
    return f"study:{study.pk}"


def power_job(study: Study) -> Job | None:
    """The newest one."""
    return latest_for(subject_of(study), POWER)


def estimates_of(study: Study) -> QuerySet[PowerEstimate]:
    """Those that are complete, the newest first."""
    return study.power_estimates.exclude(completed_at=None).select_related("created_by")


def estimate_by_pk(study: Study, pk: str) -> PowerEstimate | None:
    """The one that is asked for, else the newest."""
    found = estimates_of(study)
    return (found.filter(pk=int(pk)).first() if pk.isdecimal() else None) or found.first()
