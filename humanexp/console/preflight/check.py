"""The list of all checks before a launch: they are made one after the other, stored, and let it through or not."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import Literal

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Max
from django.utils.module_loading import autodiscover_modules

from analysis.study.study import StudyConfiguration
from humanexp.console.models import Preflight
from humanexp.core import clock
from humanexp.core.errors import ApplicationError, StudyRefused
from humanexp.core.models import User, record
from humanexp.core.problems import Problem, Question, Questions, Severity, bad
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress, silent
from humanexp.jobs.selectors import latest_for
from humanexp.ledger.terms import SuggestedTerms, suggested_terms
from humanexp.recruiters import money, registry
from humanexp.recruiters.money import Quote
from humanexp.recruiters.port import Capabilities
from humanexp.recruiting import approvals
from humanexp.recruiting.launch import quote
from humanexp.studies.models import Origin, Study
from humanexp.studies.selectors import configuration_of, subject_of


def fingerprint_of(study: Study, to: str) -> str:
    """SHA-256 over what could change between the check and the launch."""
    told = json.dumps([_study(study), _stimuli(study), _recruiter(to)], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()


def _study(study: Study) -> list[object]:
    return [study.pk, study.digest, study.plan_digest, study.rule_set, study.title]


def _stimuli(study: Study) -> object:
    if study.stimulus_set is None:
        return None
    digest = hashlib.sha256()
    for sha256 in study.stimulus_set.stimuli.order_by("pk").values_list("sha256", flat=True).iterator():
        digest.update(sha256.encode())
    counts = study.stimulus_set.stimuli.aggregate(count=Count("pk"), last=Max("pk"))
    return [study.stimulus_set_id, counts, digest.hexdigest()]


def _recruiter(to: str) -> list[object]:
    return [to, settings.PUBLIC_URL, settings.RECRUITER_ORIGINS, *registry.kind_of(to).told_apart_by]


#: Accounts empty, certificates end, servers move: after a day the same is asked again.
HOLDS = timedelta(days=1)
Name = Literal["none", "red", "stale", "green"]


@dataclass(frozen=True, kw_only=True)
class LatestPreflight:
    """The newest pre-flight for one recruiter, and what it is worth now."""

    name: Name
    preflight: Preflight | None = None
    #: why it is stale
    why: str = ""

    @property
    def is_green(self) -> bool:
        return self.name == "green"


def newest_of(study: Study) -> Preflight | None:
    """The last result for any recruiter, whether or not it still holds: the gate itself looks closer."""
    return Preflight.objects.filter(study=study).defer("fingerprint").first()


def standing_of(study: Study, to: str) -> LatestPreflight:
    newest = Preflight.objects.filter(study=study, to=to).select_related("by").first()
    if newest is None:
        return LatestPreflight(name="none")
    if newest.fingerprint != fingerprint_of(study, to):
        why = "The study, its stimuli or the recruiter have changed since."
        return LatestPreflight(name="stale", preflight=newest, why=why)
    if clock.now() - newest.ended_at > HOLDS:
        return LatestPreflight(name="stale", preflight=newest, why="It is more than a day old.")
    return LatestPreflight(name="green" if newest.is_green else "red", preflight=newest)


def refuse(*, study: Study, to: str, price: Quote) -> str:
    """The gate that recruitment asks before a launch."""
    where = registry.name_of(to)
    standing = standing_of(study, to)
    match standing.name:
        case "none":
            return f"Run the pre-flight check for {where} first: nothing has been tried out yet."
        case "stale":
            return f"Run the pre-flight check for {where} again. {standing.why}"
        case "red":
            faults = standing.preflight.faults if standing.preflight else []
            text = (
                "The pre-flight check for %(where)s found %(n)d thing to put right first: %(first)s"
                if len(faults) == 1
                else "The pre-flight check for %(where)s found %(n)d things to put right first, the first: %(first)s"
            )
            first = f"{faults[0]['title']}: {faults[0]['detail']}" if faults else ""
            return text % {"where": where, "n": len(faults), "first": first}
    held = standing.preflight.balance_cents if standing.preflight else None
    if held is not None and price.total_cents > held:
        return (
            f"This costs {money.shown(price.total_cents, price.currency)}, and at the check the account "
            f"held {money.shown(held, price.currency)}: add money and check again."
        )
    return ""


@dataclass(kw_only=True)
class Launch:
    """The launch that is being rehearsed."""

    study: Study
    to: str
    by: User | None = None
    #: what the recruiter's account holds, once a check has asked
    balance_cents: int | None = field(default=None, init=False)

    @cached_property
    def configuration(self) -> StudyConfiguration:
        return configuration_of(self.study)

    @cached_property
    def terms(self) -> SuggestedTerms:
        return suggested_terms(self.study)

    @cached_property
    def price(self) -> Quote:
        """Of every place that is left."""
        return quote(
            to=self.to,
            assignments=max(1, self.terms.assignments),
            reward_cents=self.terms.reward_cents if self.can.vouches else 0,
        )

    @property
    def can(self) -> Capabilities:
        """What the recruiter can do."""
        return registry.capabilities_of(self.to)

    @property
    def is_at_home(self) -> bool:
        """The platform answers on this machine alone."""
        return approvals.is_at_home()

    @property
    def is_rehearsal(self) -> bool:
        """No stranger can come: nobody but this machine reaches the platform, or the recruiter is a sandbox."""
        return approvals.is_rehearsal(self.to)

    @property
    def recruiter_address(self) -> str:
        """Where the recruiter answers; empty where there is no other side."""
        return registry.kind_of(self.to).address


#: Pre-flight's own; those of other apps register theirs in a module `preflight`.
check = Questions[[Launch]]()


def as_stored(found: Problem) -> dict[str, str]:
    return {
        "key": found.key,
        "title": found.subject,
        "tone": found.severity,
        "detail": found.text,
        "remedy": found.remedy,
        "url": found.url,
        "action": found.button,
    }


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
    from humanexp.console.preflight import operation, terms

    autodiscover_modules("preflight")  # of other apps
    # whatever was imported first: the page has one order, and a refusal names the first fault of it
    order = [module.__name__ for module in (operation, terms)]
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
