"""What waits for a person, over all studies and at the installation, and who may solve it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Q, QuerySet
from django.urls import reverse
from django.utils.formats import date_format

from humanexp.console.models import Backup
from humanexp.console.study_words import WORDS
from humanexp.core import clock, probes
from humanexp.core.models import User
from humanexp.core.ownership import is_head
from humanexp.jobs.selectors import failed_for_good
from humanexp.notices import machine
from humanexp.notices.models import Address, Event, Mute, Notice, Observation
from humanexp.notices.words import HERE
from humanexp.participation.models import FINISHED, Session
from humanexp.recruiters import registry
from humanexp.recruiters.models.campaigns import Assignment, Campaign
from humanexp.recruiters.states import LISTED, CampaignState
from humanexp.recruiting.alert_words import Attention, told
from humanexp.recruiting.alerts import attention_of
from humanexp.screening.selectors import flagged_in
from humanexp.studies.models import Origin, Study, StudyMembership, StudyState
from humanexp.studies.permissions import studies_with
from humanexp.studies.roles import MAY, Action, Role

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
#: What an observation is called.
CERTIFICATE, ALIVE = "certificate", "alive"
Key = tuple[str, int | None, str]


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """Something that waits for a person, and where they solve it."""

    found: Attention
    study: Study | None
    path: str
    about: str = ""
    #: keys of the studies whose members it concerns, where there is no single one
    studies: frozenset[int] = frozenset()

    @property
    def key(self) -> Key:
        """Two of the same are one event."""
        return (self.found.name, self.study.pk if self.study is not None else None, self.about)

    @property
    def concerned(self) -> set[int]:
        return {self.study.pk} if self.study is not None else set(self.studies)


def waiting_for(user: User) -> list[Waiting]:
    """What this person may solve, the installation first, then study by study; looked up now."""
    studies = studies_with(user, Action.SEE).order_by("-pk").defer("plan_notes", "rule_set")
    roles = roles_of([user]).get(user.pk, {})
    found = [one for one in waiting_in(list(studies)) if may_solve(user, roles, one.concerned, one.found.actions)]
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
    for one in _outside_recruitment(by_pk):
        if one.study is not None:
            others.setdefault(one.study.pk, []).append(one)
    found: list[Waiting] = []
    accounts: dict[Key, Waiting] = {}
    for study in studies:
        for attention in recruiting.get(study.pk, ()):
            if attention.name in BY_ITSELF:
                continue
            one = _of_study(study, attention)
            if attention.name in OF_AN_ACCOUNT:
                known = accounts.get(one.key, one)
                accounts[one.key] = replace(known, studies=known.studies | one.studies)
            else:
                found.append(one)
        found += others.get(study.pk, ())
    return [*accounts.values(), *found]


def _of_study(study: Study, found: Attention) -> Waiting:
    path = found.address(study.slug)
    if found.name in OF_AN_ACCOUNT:
        return Waiting(found=found, study=None, path=path, about=found.environment, studies=frozenset({study.pk}))
    # the program holds a campaign, and each for itself
    about = f"campaign {found.subject_pk}" if found.name in ("wage", "wage-again", "top-up-held", "returns") else ""
    return Waiting(found=found, study=study, path=path, about=about)


def _outside_recruitment(studies: Mapping[int, Study]) -> Iterator[Waiting]:
    subjects = {f"study:{key}": pk for pk, study in studies.items() for key in (pk, study.slug)}
    for job in failed_for_good(since=clock.now() - FAILED_WITHIN):
        if (pk := subjects.get(job.subject)) is not None:
            failed = told("failed-job", subject_pk=job.pk, among=WORDS)
            yield Waiting(found=failed, study=studies[pk], path=reverse("jobs:job", args=[job.pk]), about=job.kind)
    for pk, count in sorted(flagged_in(studies.values()).items()):
        yield _of_study(studies[pk], told("flagged", count=count, among=WORDS))
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
            yield _of_study(studies[pk], told("all-finished", among=WORDS))
        elif taken[pk] >= NEARLY_TAKEN * places[pk]:
            yield _of_study(studies[pk], told("nearly-full", among=WORDS))


def _taken(live: Collection[Campaign]) -> Counter[int]:
    """Places by study: where a recruiter names people, those whom it lists; at a link, those who finished."""
    rows = Assignment.objects.filter(campaign__in=live)
    listed = Q(state__in=LISTED) & registry.at(vouches=True)
    rows = rows.filter(listed | registry.at(vouches=False) & Q(session__state__in=FINISHED)).order_by()
    return Counter(dict(rows.values_list("campaign__study").annotate(n=Count("pk"))))


def waiting_here() -> list[Waiting]:
    """At the installation: for administrators."""
    return list(_here())


def _here() -> Iterator[Waiting]:
    faults = {name: fault for name, fault in probes.faults().items() if fault and name != "disk"}
    for name, fault in faults.items():
        if name in HERE:
            yield _at(name, fault=fault)
        else:
            yield _at("fault", about=name, question=name, fault=fault)
    if (free_mb := machine.machine.free_mb()) < NEARLY_FULL_MB:
        yield _at("disk", free=f"{free_mb:.0f}")
    yield from _observed()
    yield from _backup()
    failed = [job for job in failed_for_good(since=clock.now() - FAILED_WITHIN) if not job.subject.startswith("study:")]
    if failed:
        yield _at("failed-job", count=len(failed))


def _at(
    name: str, *, about: str = "", count: int = 1, fault: str = "", free: str = "", day: str = "", question: str = ""
) -> Waiting:
    words = told(name, among=HERE, count=count, fault=fault, free=free, day=day, question=question)
    found = replace(words, actions=())
    return Waiting(found=found, study=None, path=reverse(HERE[name].page), about=about)


def _observed() -> Iterator[Waiting]:
    seen = {row.name: row.seen for row in Observation.objects.filter(name__in=[CERTIFICATE, ALIVE])}
    certificate, alive = seen.get(CERTIFICATE, {}), seen.get(ALIVE, {})
    if settings.PUBLIC_URL.startswith("https://") and certificate:
        if certificate.get("fault"):
            yield _at("certificate", fault=certificate["fault"])
        elif certificate.get("ends_at"):
            ends = datetime.fromisoformat(certificate["ends_at"])
            if ends - clock.now() < CERTIFICATE_ENDS_WITHIN:
                yield _at("certificate-ends", day=date_format(ends, "j F Y"))
    if settings.ALIVE_URL and alive.get("error"):
        yield _at("alive", fault=alive["error"])


def _backup() -> Iterator[Waiting]:
    """By the rules of doctor: without people's answers nothing would be lost."""
    proved = Backup.objects.exclude(verified_at=None).first()
    if proved is None:
        if Session.objects.filter(is_scripted=False).exists():
            yield _at("no-backup")
    elif clock.now() - proved.made_at > timedelta(hours=settings.BACKUP_MAX_AGE_HOURS):
        yield _at("backup", day=date_format(proved.made_at, "j F Y, H:i"))


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
