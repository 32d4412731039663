"""The list of studies that the console opens with."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser

from humanexp.console.steps import Step, next_step
from humanexp.core.models import User
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Origin, Study
from humanexp.results import selectors as results
from humanexp.results.models import TrialImport
from humanexp.screening import selectors as screening


@dataclass(frozen=True)
class ListedStudy:
    study: Study
    accepted: int
    planned: int
    trial_import: TrialImport | None
    step: Step


def listed_studies(user: User | AnonymousUser) -> list[ListedStudy]:
    return [_listed(study) for study in experiments.visible_to(user)]


def _listed(study: Study) -> ListedStudy:
    if study.origin == Origin.IMPORTED:
        return ListedStudy(study, 0, 0, results.trial_import_of(study), next_step(study))
    accepted = len(screening.accepted_sessions(study)) if study.frozen_at else 0
    return ListedStudy(study, accepted, study.planned_sessions, None, next_step(study))
