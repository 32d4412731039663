"""Questions about studies, and about the sets that one can be made from."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from analysis.spec.study import StudyConfiguration
from humanexp.core.errors import NotFound
from humanexp.core.models import User
from humanexp.stimuli.models import StimulusSet
from humanexp.studies.models import Study


def study_by_slug(slug: str) -> Study:
    """The study with this name, for commands and jobs; pages start from `visible_to`."""
    study = Study.objects.select_related("family", "protocol", "stimulus_set").filter(slug=slug).first()
    if study is None:
        raise NotFound(f"There is no study {slug!r}.")
    return study


def visible_to(user: User | AnonymousUser) -> QuerySet[Study]:
    """Studies that this researcher may see: staff see all, others those in which they have a role."""
    studies = Study.objects.select_related("family", "protocol", "stimulus_set")
    if not user.is_authenticated:
        return studies.none()
    return studies if user.is_staff or user.is_superuser else studies.filter(memberships__user=user)


def study_for(user: User | AnonymousUser, slug: str) -> Study:
    """The study with this name, for a page of this researcher."""
    study = visible_to(user).filter(slug=slug).first()
    if study is None:
        raise NotFound(f"There is no study {slug!r}, or it belongs to someone else.")
    return study


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
