from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import StudyRefused
from humanexp.core.models import User
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress
from humanexp.studies import permissions
from humanexp.studies.models import PowerEstimate, Study
from humanexp.studies.power import PowerQuestion, planned_study
from humanexp.studies.roles import Action
from humanexp.studies.selectors import POWER, power_job, subject_of

if TYPE_CHECKING:
    from analysis.power.study import PowerReport


@transaction.atomic
def request_power(*, study: Study, question: PowerQuestion, by: User | None = None) -> tuple[PowerEstimate, Job]:
    """Ask what the design could show; the very same asked again while it is simulated is the job that there is."""
    permissions.check(by, Action.DESIGN, study)
    planned = planned_study(study, question)
    job = power_job(study)
    if job is not None and not job.is_finished:
        asked = PowerEstimate.objects.get(pk=job.parameters["estimate_id"])
        if (asked.question, asked.plan_digest) == (question.to_dict(), study.plan_digest):
            return asked, job
        raise StudyRefused("The power of this study is being simulated already: wait, or cancel that job.")
    estimate = PowerEstimate.objects.create(
        study=study,
        question=question.to_dict(),
        planned=planned.to_dict(),
        plan_digest=study.plan_digest,
        created_by=by,
    )
    record(action="power", subject=f"study:{study.slug}", study=study.slug, by=by, **question.to_dict())
    return estimate, jobs.submit(POWER, subject=subject_of(study), by=by, estimate_id=estimate.pk)


def simulate_power(*, estimate: PowerEstimate, report: Progress) -> PowerEstimate:
    """Simulate the study that was planned, and others of other sizes; sizes found by an earlier attempt stay."""
    from analysis.compute import executor
    from analysis.power.sizes import estimate_sizes
    from analysis.power.study import PlannedStudy, PowerReport

    question = PowerQuestion(**estimate.question)

    def keep(found: PowerReport) -> None:
        estimate.found = [*estimate.found, found.to_dict()]
        estimate.save(update_fields=["found"])

    with executor(settings.COMPUTE) as pool:
        sizes = estimate_sizes(
            PlannedStudy.from_dict(estimate.planned),
            question.difference,
            runs=question.runs,
            seed=question.seed,
            executor=pool,
            known=[PowerReport(**found) for found in estimate.found],
            keep=keep,
            progress=lambda done, total, people: report(done, total, f"studies of {people} people simulated"),
        )
    estimate.report, estimate.completed_at = sizes.to_dict(), clock.now()
    estimate.save(update_fields=["report", "completed_at"])
    return estimate
