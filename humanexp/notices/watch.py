"""Finding what has come up or is resolved and who is to hear of it, and what the job runner looks at outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef

from humanexp.core import clock, probes
from humanexp.core.ownership import is_head
from humanexp.notices import delivery, selectors
from humanexp.notices.delivery import DeliveryFailed
from humanexp.notices.models import Address, Change, Event, Mute, Notice, Observation, Pace
from humanexp.notices.selectors import ALIVE, CERTIFICATE
from humanexp.studies.models import Role, Study
from humanexp.studies.waiting import Waiting

#: What tells events apart: name, study, and what else it is about.
Key = tuple[str, int | None, str]
#: What was resolved longer ago is not said any more.
SAID_WITHIN = timedelta(days=7)
#: UTC hour of the daily message.
DAILY_AT = 6
#: Rows of one statement.
BATCH = 500


@dataclass(frozen=True, kw_only=True)
class Report:
    opened: int
    resolved: int
    planned: int


def look() -> Report:
    """Compare what waits now with what waited at the last look. All reading is done before anything is locked."""
    now = clock.now()
    found = _found()
    opened, resolved = _store(found, now=now)
    return Report(opened=opened, resolved=resolved, planned=_plan(now=now))


def _found() -> dict[Key, Waiting]:
    studies = list(Study.objects.order_by("-pk").defer("plan_notes", "rule_set"))
    found: dict[Key, Waiting] = {}
    for one in (*selectors.waiting_here(), *selectors.waiting_in(studies)):
        found.setdefault(one.event, one)
    return found


def _store(found: Mapping[Key, Waiting], *, now: datetime) -> tuple[int, int]:
    known = {(event.name, event.study_id, event.about): event for event in selectors.open_events()}
    made = [_event(one, now=now) for key, one in found.items() if key not in known]
    changed = []
    for key, event in known.items():
        if (one := found.get(key)) is None:
            continue
        wanted = _event(one, now=now)
        if any(getattr(event, name) != getattr(wanted, name) for name in _SHOWN):
            for name in _SHOWN:
                setattr(event, name, getattr(wanted, name))
            changed.append(event)
    gone = [event.pk for key, event in known.items() if key not in found]
    with transaction.atomic():
        # another runner may have found the same: the constraint keeps one
        Event.objects.bulk_create(made, batch_size=BATCH, ignore_conflicts=True)
        Event.objects.bulk_update(changed, _SHOWN, batch_size=BATCH)
        for start in range(0, len(gone), BATCH):
            Event.objects.filter(pk__in=gone[start : start + BATCH], resolved_at=None).update(resolved_at=now)
    return len(made), len(gone)


_SHOWN = ("text", "tone", "path", "button", "actions", "studies")


def _event(one: Waiting, *, now: datetime) -> Event:
    return Event(
        name=one.key,
        study=one.study,
        about=one.about,
        text=(one.notice or one.text)[:300],
        tone=one.severity,
        path=one.url,
        button=one.button,
        actions=[str(action) for action in one.words.actions],
        studies=sorted(one.studies),
        opened_at=now,
    )


def _plan(*, now: datetime) -> int:
    """Who is to hear what: each address each change of an event once, as its constraint says."""
    addresses = list(Address.objects.select_related("user"))
    users = {address.user_id: address.user for address in addresses if address.user is not None}
    roles = selectors.roles_of(list(users.values()))
    mutes: dict[int, list[Mute]] = {}
    for mute in Mute.objects.filter(user__in=users, until__gt=now):
        mutes.setdefault(mute.user_id, []).append(mute)

    def hears(address: Address, event: Event) -> bool:
        user_id = address.user_id or 0
        is_muted = any(mute.covers(event, now=now) for mute in mutes.get(user_id, ()))
        return not is_muted and is_for(address, event, roles.get(user_id, {}))

    events = list(selectors.open_events()) if addresses else []
    told = set(
        Notice.objects.filter(event__resolved_at=None, change=Change.OPENED).values_list("event_id", "address_id")
    )
    new = [
        Notice(event=event, address=address, change=Change.OPENED, due_at=_due(address, now))
        for address in addresses
        for event in events
        if (event.pk, address.pk) not in told and hears(address, event)
    ]
    by_pk = {address.pk: address for address in addresses}
    over = Notice.objects.filter(address=OuterRef("address"), event=OuterRef("event"), change=Change.RESOLVED)
    said = Notice.objects.filter(change=Change.OPENED, sent_at__isnull=False, event__resolved_at__gt=now - SAID_WITHIN)
    for notice in said.filter(~Exists(over)).select_related("event"):
        address = by_pk.get(notice.address_id)
        if address is not None and hears(address, notice.event):
            due = _due(address, now)
            new.append(Notice(event=notice.event, address=address, change=Change.RESOLVED, due_at=due))
    unsaid = Notice.objects.filter(sent_at=None).select_related("event")
    dropped = [
        notice.pk
        for notice in unsaid
        if notice.address_id in by_pk and _is_void(notice, hears(by_pk[notice.address_id], notice.event))
    ]
    with transaction.atomic():
        for start in range(0, len(dropped), BATCH):
            Notice.objects.filter(pk__in=dropped[start : start + BATCH], sent_at=None).delete()
        Notice.objects.bulk_create(new, batch_size=BATCH, ignore_conflicts=True)
    return len(new)


def _is_void(notice: Notice, is_heard: bool) -> bool:
    """Whether there is no one to tell any more, or nothing: it was resolved before anyone was told of it."""
    was_never_tried = notice.change == Change.OPENED and not notice.attempts
    return not is_heard or (was_never_tried and notice.event.resolved_at is not None)


def is_for(address: Address, event: Event, roles: Mapping[int, Role]) -> bool:
    """Whether whoever has the address can act: by their role in a study, or as an administrator."""
    concerned = event.concerned
    if address.user is None:
        return not concerned
    user = address.user
    if not user.is_active:
        return False
    if is_head(user):
        return not concerned or address.of_all_studies or bool(concerned & set(roles))
    return selectors.may_solve(user, roles, concerned, event.actions)


def _due(address: Address, now: datetime) -> datetime:
    match address.pace:
        case Pace.HOURLY:
            return now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        case Pace.DAILY:
            today = now.replace(hour=DAILY_AT, minute=0, second=0, microsecond=0)
            return today if today > now else today + timedelta(days=1)
    return now


CERTIFICATE_EVERY = timedelta(hours=1)
#: While a recruiter has not been asked, or does not take the keys, people are not paid.
NOT_WELL = ("not-asked", "keys")


def look_at_certificate() -> bool:
    """Once an hour, as callers see it; whether it was looked at now."""
    public, last = urlsplit(settings.PUBLIC_URL), selectors.observation(CERTIFICATE)
    if public.scheme != "https" or (last is not None and clock.now() - last.at < CERTIFICATE_EVERY):
        return False
    try:
        ends = selectors.machine.certificate_ends(public.hostname or "", public.port or 443)
        _observe(CERTIFICATE, {"ends_at": ends.isoformat()})
    except OSError as error:
        _observe(CERTIFICATE, {"fault": (getattr(error, "verify_message", "") or str(error))[:200]})
    return True


def call_while_well() -> str:
    """Call the address of the setting, if it is time; returns why it was not called, empty where it was, or not yet.

    Whoever listens there says so when no call comes. Silence is a message: nothing is called unless all is well.
    """
    if not settings.ALIVE_URL:
        return ""
    last = selectors.observation(ALIVE)
    seen = last.seen if last is not None else {}
    called_at = datetime.fromisoformat(seen["called_at"]) if seen.get("called_at") else None
    every = timedelta(minutes=max(1, settings.ALIVE_EVERY_MINUTES))
    if called_at is not None and timedelta() <= clock.now() - called_at < every - timedelta(seconds=5):
        return ""
    reasons = not_well()
    error = ""
    if not reasons:
        try:
            delivery.call(settings.ALIVE_URL, is_operators=True)
            called_at = clock.now()
        except DeliveryFailed as failed:
            error = failed.message
    told: dict[str, object] = {
        "silent_because": reasons,
        "error": error,
        "called_at": called_at.isoformat() if called_at else None,
    }
    _observe(ALIVE, told)
    return "; ".join(reasons) or error


def not_well() -> list[str]:
    """Why the address is not called. That the database and the job runner work shows in that this is asked at all."""
    faults = [f"{one.key}: {one.text}" for one in probes.problems()]
    return faults + [event.text for event in selectors.open_events().filter(name__in=NOT_WELL)]


@transaction.atomic
def _observe(name: str, seen: dict[str, object]) -> None:
    Observation.objects.update_or_create(name=name, defaults={"at": clock.now(), "seen": seen})
