"""Makes the checks, one after the other, and stores what they said."""

from __future__ import annotations

import logging
from dataclasses import replace

from django.db import transaction
from django.utils.module_loading import autodiscover_modules

from humanexp.console.models import Preflight
from humanexp.console.preflight.check import Launch, as_stored, check, fingerprint_of
from humanexp.core import clock
from humanexp.core.errors import ApplicationError, StudyRefused
from humanexp.core.models import User, record
from humanexp.core.problems import Problem, Question, Severity, bad
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress, silent
from humanexp.jobs.selectors import latest_for
from humanexp.recruiters import registry
from humanexp.studies.models import Origin, Study
from humanexp.studies.selectors import subject_of

logger = logging.getLogger(__name__)
JOB = "console.preflight"


def request_preflight(*, study: Study, to: str, by: User | None) -> Job:
    """Queue the checks; asked twice, one job."""
    _check(study, to)
    job = latest_job(study)
    if job is not None and not job.is_finished and job.parameters.get("to") == to:
        return job
    return jobs.submit(JOB, subject=subject_of(study), by=by, study_id=study.pk, to=to, by_id=by.pk if by else None)


def latest_job(study: Study) -> Job | None:
    return latest_for(subject_of(study), JOB)


def run_preflight(*, study: Study, to: str, by: User | None = None, report: Progress = silent) -> Preflight:
    """Make every check, whatever the others say. Nothing but the result is written."""
    _check(study, to)
    checks = _every_check()
    launch, began, lines = Launch(study=study, to=to, by=by), clock.now(), []
    fingerprint = fingerprint_of(study, to)
    for number, entry in enumerate(checks):
        report(number, len(checks), entry.subject)
        found = _look(entry, launch)
        lines.append(as_stored(replace(found, key=entry.key, subject=entry.subject)))
    report(len(checks), len(checks))
    with transaction.atomic():
        made = Preflight.objects.create(
            study=study,
            to=to,
            by=by,
            began_at=began,
            ended_at=clock.now(),
            lines=lines,
            is_green=all(line["tone"] != Severity.BAD for line in lines),
            fingerprint=fingerprint,
            balance_cents=launch.balance_cents,
        )
        faults = [line["key"] for line in made.faults]
        record(
            action="preflight",
            subject=f"preflight:{made.pk}",
            study=study.slug,
            by=by,
            to=to,
            is_green=made.is_green,
            **({"faults": ", ".join(faults)} if faults else {}),
        )
    return made


def _every_check() -> list[Question[[Launch]]]:
    # They need everything that a launch depends on: who only queues them, or shows what they said, loads none of it.
    from humanexp.console.preflight import materials, operation, terms

    autodiscover_modules("preflight")  # of other apps
    # whatever was imported first: the page has one order, and a refusal names the first fault of it
    order = [module.__name__ for module in (materials, materials, operation, terms)]
    places = {name: place for place, name in enumerate(order)}
    return sorted(check, key=lambda one: places.get(one.ask.__module__, len(order)))


def _look(entry: Question[[Launch]], launch: Launch) -> Problem:
    """A check that itself breaks has found something, too."""
    try:
        return entry.ask(launch)
    except ApplicationError as error:
        return bad(error.message, "Put this right, then check again.")
    except Exception as error:  # noqa: BLE001  one broken check must not keep the others from being made
        logger.exception("pre-flight check %s", entry.key)
        broke = f"The check itself broke: {type(error).__name__}: {str(error)[:200]}."
        return bad(broke, "The server's log says where.")


def _check(study: Study, to: str) -> None:
    if study.origin == Origin.IMPORTED:
        raise StudyRefused("This study holds imported trials: there is nothing to launch.")
    registry.kind_of(to)  # refuses a name that none has
