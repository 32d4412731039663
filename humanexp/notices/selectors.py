"""What waits for a person, over all studies and at the installation (disk, certificate), and who may solve it."""

from __future__ import annotations

import shutil
import socket
import ssl
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from django.conf import settings
from django.db.models import Count, Q, QuerySet
from django.urls import reverse
from django.utils.formats import date_format

from humanexp.console.models import Backup
from humanexp.console.study_words import WORDS
from humanexp.core import clock, probes
from humanexp.core.models import User
from humanexp.core.ownership import is_head
from humanexp.core.problems import Problem, Severity
from humanexp.jobs.selectors import failed_for_good
from humanexp.notices.models import Address, Event, Mute, Notice, Observation
from humanexp.participation.models import FINISHED, Session
from humanexp.recruiters import registry
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.states import LISTED, CampaignState
from humanexp.recruiting.alerts import attention_of
from humanexp.screening.selectors import flagged_in
from humanexp.studies.models import MAY, Action, Origin, Role, Study, StudyMembership, StudyState
from humanexp.studies.permissions import studies_with
from humanexp.studies.waiting import Waiting, Words, in_words

#: To connect, and for each answer of the handshake.
CERTIFICATE_S = 5.0


class Machine(Protocol):
    def free_mb(self) -> float: ...

    def certificate_ends(self, host: str, port: int) -> datetime:
        """When the certificate ends that is shown there; OSError where none is shown, or it is refused."""


class ThisMachine:
    def free_mb(self) -> float:
        return shutil.disk_usage(settings.MEDIA_ROOT).free / 1e6

    def certificate_ends(self, host: str, port: int) -> datetime:
        context = ssl.create_default_context()
        with (
            socket.create_connection((host, port), timeout=CERTIFICATE_S) as plain,
            context.wrap_socket(plain, server_hostname=host) as secure,
        ):
            shown = secure.getpeercert() or {}
        ends = shown.get("notAfter")
        if not isinstance(ends, str):
            raise ssl.SSLError("the certificate names no end")
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(ends), UTC)


machine: Machine = ThisMachine()


#: With less free space, the disk is nearly full; `readyz` turns red later.
NEARLY_FULL_MB = 2_000
CERTIFICATE_ENDS_WITHIN = timedelta(days=14)
#: Older failures are history.
FAILED_WITHIN = timedelta(days=14)
#: Share of the places of running campaigns that are taken.
NEARLY_TAKEN = 0.9
#: Of a recruiter's account, not of a study: said once for all studies that use it.
OF_AN_ACCOUNT = ("keys", "paused")
#: The program puts it right: it waits for no person.
BY_ITSELF = ("taken-over", "stuck-payment", "doubtful-hit")
#: The program holds a campaign, and each for itself.
OF_A_CAMPAIGN = ("wage", "wage-again", "top-up-held", "returns")
#: What waits at the installation has its own sentences.
OF_ADMINISTRATORS = Words(text="", resolution="", actions=())
#: What an observation is called.
CERTIFICATE, ALIVE = "certificate", "alive"


def waiting_for(user: User) -> list[Waiting]:
    """What this person may solve, the installation first, then study by study; looked up now."""
    studies = studies_with(user, Action.SEE).order_by("-pk").defer("plan_notes", "rule_set")
    roles = roles_of([user]).get(user.pk, {})
    found = [one for one in waiting_in(list(studies)) if may_solve(user, roles, one.concerned, one.words.actions)]
    return [*(waiting_here() if is_head(user) else ()), *found]


def may_solve(user: User, roles: Mapping[int, Role], concerned: Collection[int], actions: Sequence[str]) -> bool:
    """Whether a role of this person, in any of the studies that it concerns, allows one of these actions."""
    if not user.is_active:
        return False
    return is_head(user) or any(
        roles[pk] in MAY[Action(action)] for pk in concerned if pk in roles for action in actions
    )


def roles_of(users: Collection[User]) -> dict[int, dict[int, Role]]:
    """By person and study."""
    found: dict[int, dict[int, Role]] = {}
    rows = StudyMembership.objects.filter(user__in=users).order_by()
    for user, study, role in rows.values_list("user", "study", "role"):
        found.setdefault(user, {})[study] = Role(role)
    return found


def waiting_in(studies: Sequence[Study]) -> list[Waiting]:
    """Of these studies, in a number of queries that does not depend on theirs."""
    by_pk = {study.pk: study for study in studies}
    recruiting = attention_of([study for study in studies if study.origin == Origin.COLLECTED])
    others: dict[int, list[Waiting]] = {}
    for pk, one in _outside_recruitment(by_pk):
        others.setdefault(pk, []).append(one)
    found: list[Waiting] = []
    accounts: dict[str, Waiting] = {}
    for study in studies:
        for one in recruiting.get(study.pk, ()):
            if one.key in OF_AN_ACCOUNT:
                key = f"{one.key} {one.environment}"
                of_all = accounts.get(key, replace(one, study=None, about=one.environment))
                accounts[key] = replace(of_all, studies=of_all.studies | {study.pk})
            elif one.key in OF_A_CAMPAIGN:
                found.append(replace(one, about=f"campaign {one.subject_pk}"))
            elif one.key not in BY_ITSELF:
                found.append(one)
        found += others.get(study.pk, ())
    return [*accounts.values(), *found]


def _outside_recruitment(studies: Mapping[int, Study]) -> Iterator[tuple[int, Waiting]]:
    subjects = {f"study:{key}": pk for pk, study in studies.items() for key in (pk, study.slug)}
    for job in failed_for_good(since=clock.now() - FAILED_WITHIN):
        if (pk := subjects.get(job.subject)) is not None:
            failed = in_words("failed-job", WORDS, subject_pk=job.pk, about=job.kind)
            yield pk, replace(failed, study=studies[pk], url=reverse("jobs:job", args=[job.pk]))
    for pk, count in sorted(flagged_in(studies.values()).items()):
        yield pk, in_words("flagged", WORDS, count=count).within(studies[pk])
    collecting = {
        pk for pk, study in studies.items() if study.state == StudyState.COLLECTING and study.planned_sessions
    }
    live = list(Campaign.objects.filter(study__in=collecting, state=CampaignState.LIVE))
    collecting &= {campaign.study_id for campaign in live}
    if not collecting:
        return
    done = Session.objects.filter(study__in=collecting, state__in=FINISHED, is_verified__in=[True]).order_by()
    finished = dict(done.values_list("study").annotate(n=Count("*")))
    taken = _taken(live)
    places = Counter[int]()
    for campaign in live:
        places[campaign.study_id] += campaign.assignments
    for pk in sorted(collecting):
        if finished.get(pk, 0) >= studies[pk].planned_sessions:
            yield pk, in_words("all-finished", WORDS).within(studies[pk])
        elif taken[pk] >= NEARLY_TAKEN * places[pk]:
            yield pk, in_words("nearly-full", WORDS).within(studies[pk])


def _taken(live: Collection[Campaign]) -> Counter[int]:
    """Places by study: where a recruiter names people, those whom it lists; at a link, those who finished."""
    rows = Assignment.objects.filter(campaign__in=live)
    listed = Q(state__in=LISTED) & registry.at(vouches=True)
    rows = rows.filter(listed | registry.at(vouches=False) & Q(session__state__in=FINISHED)).order_by()
    return Counter(dict(rows.values_list("campaign__study").annotate(n=Count("pk"))))


def waiting_here() -> list[Waiting]:
    """At the installation: for administrators."""
    found = {one.key: one for one in probes.problems()}
    if (free_mb := machine.free_mb()) < NEARLY_FULL_MB:
        found["disk"] = replace(probes.nearly_full(free_mb), key="disk")
    return [_here(one) for one in (*found.values(), *_observed(), *_backup(), *_failed_jobs())]


def _here(found: Problem) -> Waiting:
    url = found.url or reverse("notices:waiting")
    return Waiting(**vars(found) | {"url": url, "button": found.button or "Look"}, words=OF_ADMINISTRATORS)


def _observed() -> Iterator[Problem]:
    seen = {row.name: row.seen for row in Observation.objects.filter(name__in=[CERTIFICATE, ALIVE])}
    certificate, alive = seen.get(CERTIFICATE, {}), seen.get(ALIVE, {})
    if settings.PUBLIC_URL.startswith("https://") and certificate:
        if certificate.get("fault"):
            yield Problem(
                key="certificate",
                severity=Severity.BAD,
                text=f"The certificate of this site could not be checked: {certificate['fault']}.",
                remedy="Open the public address in a browser, and renew or repair the certificate.",
                notice="The certificate of this site could not be checked.",
            )
        elif certificate.get("ends_at"):
            ends = datetime.fromisoformat(certificate["ends_at"])
            if ends - clock.now() < CERTIFICATE_ENDS_WITHIN:
                yield Problem(
                    key="certificate-ends",
                    severity=Severity.WARN,
                    text=f"The certificate of this site ends on {date_format(ends, 'j F Y')}.",
                    remedy="Renew it; then check that the renewal runs by itself.",
                )
    if settings.ALIVE_URL and alive.get("error"):
        yield Problem(
            key="alive",
            severity=Severity.WARN,
            text=f"The address of ALIVE_URL was not called successfully: {alive['error']}",
            remedy="Check the address, and whether this server can reach it.",
            url=reverse("notices:settings"),
            button="Notices",
            notice="The address that is called while all is well could not be called.",
        )


def _backup() -> Iterator[Problem]:
    """By the rules of doctor: without people's answers nothing would be lost."""
    proved = Backup.objects.exclude(verified_at=None).first()
    if proved is None:
        if Session.objects.filter(is_scripted=False).exists():
            yield Problem(
                key="no-backup",
                severity=Severity.BAD,
                text="People have taken part, and no backup was ever verified.",
                remedy="Set up a backup every night: docs/operate/backup.md says how.",
            )
    elif clock.now() - proved.made_at > timedelta(hours=settings.BACKUP_MAX_AGE_HOURS):
        yield Problem(
            key="backup",
            severity=Severity.BAD,
            text=f"The last verified backup is from {date_format(proved.made_at, 'j F Y, H:i')} UTC.",
            remedy="Look at the log of the backup, and run it again.",
        )


def _failed_jobs() -> Iterator[Problem]:
    failed = [job for job in failed_for_good(since=clock.now() - FAILED_WITHIN) if not job.subject.startswith("study:")]
    if failed:
        yield Problem(
            key="failed-job",
            severity=Severity.BAD,
            text=f"{len(failed)} job{'' if len(failed) == 1 else 's'} failed.",
            remedy="The page of the job says why. Remove the cause and resume it.",
            url=reverse("jobs:jobs"),
            button="Jobs",
        )


def waiting_count(user: User) -> int:
    """For the navigation: as the job runner last found it, what this person may solve."""
    events = open_events().order_by()
    if is_head(user) and user.is_active:
        return events.count()
    if not events.exists():
        return 0
    roles = roles_of([user]).get(user.pk, {})
    alike = events.filter(study__in=roles).values_list("study", "actions").annotate(n=Count("pk"))
    of_studies: int = sum(n for study, actions, n in alike if may_solve(user, roles, {study}, actions))
    others = (event for event in events.filter(study=None) if event.studies)
    return of_studies + sum(may_solve(user, roles, event.concerned, event.actions) for event in others)


def open_events() -> QuerySet[Event]:
    return Event.objects.filter(resolved_at=None).order_by("pk")


def addresses_of(user: User) -> QuerySet[Address]:
    return Address.objects.filter(user=user).order_by("pk")


def addresses_here() -> QuerySet[Address]:
    """Those that NOTICE_ADDRESSES names."""
    return Address.objects.filter(user=None).order_by("pk")


def failing(user: User) -> QuerySet[Address]:
    """Addresses whose last attempt failed: this person's, and for an administrator the installation's."""
    mine = Q(user=user) | Q(user=None) if is_head(user) else Q(user=user)
    return Address.objects.filter(mine).exclude(last_error="").order_by("pk")


def mutes_of(user: User) -> QuerySet[Mute]:
    return Mute.objects.filter(user=user, until__gt=clock.now()).select_related("study").order_by("until", "pk")


def unsent(*, now: datetime) -> QuerySet[Notice]:
    """Due, of addresses that may be tried now."""
    free = (Q(address__try_after=None) | Q(address__try_after__lte=now)) & (
        Q(address__lease_until=None) | Q(address__lease_until__lte=now)
    )
    return Notice.objects.filter(free, sent_at=None, due_at__lte=now).order_by("pk")


def observation(name: str) -> Observation | None:
    return Observation.objects.filter(name=name).first()
