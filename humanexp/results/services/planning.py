from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from pydantic import JsonValue

from analysis.findings.model.entry import N_BOOTSTRAP
from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, StudyRefused
from humanexp.core.models import User
from humanexp.participation.models import Response, counting
from humanexp.results.models import AnalysisPlan
from humanexp.results.tables import analysis_settings
from humanexp.studies import permissions
from humanexp.studies.models import Origin, Study
from humanexp.studies.roles import Action

if TYPE_CHECKING:
    from analysis.reporting.plan import FrozenPlan


def freeze_analysis_plan(*, study: Study, by: User | None = None) -> AnalysisPlan:
    """Freeze what is asked and how it is analysed. Once a study; it says how many answers there were already."""
    permissions.check(by, Action.ANALYSE, study)
    if study.origin == Origin.IMPORTED:
        raise StudyRefused("The trials of this study were published before: there is nothing left to plan.")
    plan = plan_as_it_stands(study)
    answers = Response.objects.filter(counting("session"), session__study=study).count()
    try:
        with transaction.atomic():
            record(
                action="freeze-analysis-plan",
                subject=f"study:{study.slug}",
                study=study.slug,
                by=by,
                digest=plan.digest,
                answers_before=answers,
            )
            return AnalysisPlan.objects.create(
                study=study,
                content=plan.content,
                digest=plan.digest,
                answers_before=answers,
                frozen_at=clock.now(),
                frozen_by=by,
            )
    except IntegrityError:
        raise Conflict(
            "This study's analysis plan is frozen already, and a frozen plan never changes. What is done otherwise is "
            "listed as a deviation."
        ) from None


def plan_as_it_stands(study: Study) -> FrozenPlan:
    """The plan that would be frozen now."""
    from analysis.reporting.plan import freeze_plan

    settings = {**analysis_settings(study), "n_bootstrap": N_BOOTSTRAP, "selection": None}
    return freeze_plan(study_snapshot(study), settings)


def study_snapshot(study: Study) -> Mapping[str, JsonValue]:
    """What the study is: its configuration, its rules, its stimuli."""
    return {
        "title": study.title,
        "configuration": study.configuration,
        "digest": study.digest,
        "rules": study.rule_set,
        "stimuli": None if study.stimulus_set is None else study.stimulus_set.name,
        "sessions": study.planned_sessions,
        "plan_digest": study.plan_digest,
    }
