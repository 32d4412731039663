"""The analysis of a study, planned and carried out."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import IntegrityError, transaction
from pydantic import JsonValue

from analysis.findings.model.entry import N_BOOTSTRAP
from analysis.findings.model.people import Settings
from humanexp.core import clock, file_store
from humanexp.core.errors import Conflict, StudyRefused
from humanexp.core.models import User, record
from humanexp.core.storage import media_path, write_whole
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress, silent
from humanexp.participation.models import Response, counting
from humanexp.results import tables
from humanexp.results.inclusion import Selection
from humanexp.results.models import AnalysisPlan, AnalysisRun
from humanexp.results.selectors import ANALYSE, analyses_under_way, self_reports
from humanexp.screening.services import judge_study
from humanexp.studies import permissions
from humanexp.studies.models import Action, Origin, Study
from humanexp.studies.selectors import subject_of

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

    settings = {**tables.analysis_settings(study), "n_bootstrap": N_BOOTSTRAP, "selection": None}
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


def run_analysis(
    *,
    study: Study,
    seed: int | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
    selection: Selection | None = None,
    by: User | None = None,
    report: Progress = silent,
) -> AnalysisRun:
    """Judge the sessions, compute every finding, store the JSON and one row. The row appears when all is there.

    A `selection` other than the planned one stands in the JSON, and the run beside the planned ones.
    """
    from analysis.compute import executor
    from analysis.findings.analysing import analyse

    started = time.perf_counter()
    report(0, 0, "judging sessions and gathering answers")
    if study.origin == Origin.COLLECTED:
        judge_study(study)
    inputs = tables.analysis_tables(study)
    selection = selection or Selection()
    if not selection.is_whole:
        inputs["trials"] = selection.of_trials(inputs["trials"], self_reports(study))
        inputs["predictions"] = selection.of_predictions(inputs["predictions"])
        if inputs["answers"] is not None:
            inputs["answers"] = selection.of_predictions(inputs["answers"])
    # Published networks may be imported without people; a study of one's own is about people.
    if inputs["trials"].empty and (study.origin == Origin.COLLECTED or inputs["predictions"].empty):
        if not selection.is_whole:
            raise StudyRefused("Nothing is left to analyse with this choice of sessions and trials: limit it less.")
        raise StudyRefused("There is nothing to analyse yet: the study has no answers. Recruit participants first.")
    seed = study.seed if seed is None else seed
    planned = Settings.planned(**tables.analysis_settings(study), seed=seed, n_bootstrap=n_bootstrap)
    with executor(settings.COMPUTE) as pool:
        found = analyse(
            **inputs,
            settings=planned,
            study=study.slug,
            executor=pool,
            report=report,
        )
    if not selection.is_whole:
        found = found.model_copy(update={"selection": selection.to_dict()})
    relative = f"results/{study.slug}/findings-{secrets.token_hex(6)}.json"
    path = media_path(relative)
    write_whole(path, json.dumps(found.to_json(), allow_nan=False).encode())
    try:
        file_store.publish(relative)
        return AnalysisRun.objects.create(
            study=study,
            version=found.version,
            seed=seed,
            n_bootstrap=n_bootstrap,
            data_digest=found.data_digest,
            findings_file=relative,
            trials=len(inputs["trials"]),
            selection=selection.to_dict(),
            seconds=time.perf_counter() - started,
            created_by=by,
        )
    except BaseException:
        path.unlink(missing_ok=True)
        file_store.forget(relative)
        raise


def request_analysis(
    *, study: Study, n_bootstrap: int = N_BOOTSTRAP, selection: Selection | None = None, by: User | None = None
) -> Job:
    """Queue an analysis; while one with the same choice waits or runs, that one is the answer."""
    permissions.check(by, Action.ANALYSE, study)
    chosen = (selection or Selection()).to_dict()
    for job in analyses_under_way(study):
        if job.parameters.get("selection", {}) == chosen:
            return job
    with transaction.atomic():
        record(action="analyse", subject=f"study:{study.slug}", study=study.slug, by=by)
        return jobs.submit(
            ANALYSE, subject=subject_of(study), by=by, study_id=study.pk, n_bootstrap=n_bootstrap, selection=chosen
        )
