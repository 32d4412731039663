"""Sending what is due: outside every transaction, side by side, and within a few seconds whatever the addresses do."""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.urls import reverse

from humanexp.core import clock
from humanexp.notices import selectors, transport
from humanexp.notices.models import Address, Change, Notice, Way
from humanexp.notices.transport import DeliveryFailed, Letter, Target

#: Addresses of one turn, and how long a turn waits for all of them together.
AT_ONCE, TURN_S = 20, 10.0
#: A turn that was killed is repeated after this.
LEASE = timedelta(seconds=60)
#: Pauses after failures double from the first to the last.
FIRST_PAUSE, LAST_PAUSE = timedelta(minutes=1), timedelta(hours=1)
#: Events that a message lists; the rest is counted.
LISTED = 50


@dataclass(frozen=True, kw_only=True)
class Sent:
    messages: int
    failed: int


@dataclass(kw_only=True)
class _Turn:
    """One message on its way."""

    address: Address
    target: Target
    letter: Letter
    notices: list[int]
    #: empty: it was taken
    error: str = field(default_factory=lambda: "It did not answer in time.")
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        try:
            transport.deliver(self.target, self.letter)
            self.error = ""
        except DeliveryFailed as error:
            self.error = error.message
        except Exception as error:  # noqa: BLE001  an address of any kind must not keep the others from being told
            self.error = f"It could not be sent: {type(error).__name__}."
        finally:
            self.ended.set()


def send() -> Sent:
    """What is due, one message for each address. A message that may have arrived is repeated under the same name."""
    turns = [turn for address in _addresses() if (turn := _begin(address)) is not None]
    until = time.monotonic() + TURN_S
    for turn in turns:
        threading.Thread(target=turn.run, name=f"notice:{turn.address.pk}", daemon=True).start()
    for turn in turns:
        turn.ended.wait(max(0.0, until - time.monotonic()))
        _record(turn, turn.error)
    return Sent(messages=len(turns), failed=sum(bool(turn.error) for turn in turns))


def _addresses() -> list[Address]:
    due = selectors.unsent(now=clock.now()).order_by().values_list("address", flat=True).distinct()
    return list(Address.objects.filter(pk__in=due).select_related("user").order_by("sent_at", "pk")[:AT_ONCE])


@transaction.atomic
def _begin(address: Address) -> _Turn | None:
    """Take the address for a while, and name the message before it is sent: repeated, it says the same."""
    now = clock.now()
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    if not Address.objects.filter(free, pk=address.pk).update(lease_until=now + LEASE):
        return None
    due = Notice.objects.filter(address=address, sent_at=None, due_at__lte=now)
    begun = due.exclude(batch="").order_by("pk").values_list("batch", flat=True).first()
    batch = begun or secrets.token_hex(16)
    chosen = due.filter(batch=begun) if begun else due
    notices = list(chosen.select_related("event__study").order_by("pk"))
    if not notices:
        Address.objects.filter(pk=address.pk).update(lease_until=None)
        return None
    chosen.filter(pk__in=[notice.pk for notice in notices]).update(batch=batch, attempts=F("attempts") + 1)
    return _Turn(
        address=address,
        target=target_of(address),
        letter=_letter(batch, notices, at=now),
        notices=[notice.pk for notice in notices],
    )


@transaction.atomic
def _record(turn: _Turn, error: str) -> None:
    now = clock.now()
    if not error:
        Notice.objects.filter(pk__in=turn.notices).update(sent_at=now)
    ended(turn.address, error)


def ended(address: Address, error: str) -> None:
    """How an attempt ended."""
    now, mine = clock.now(), Address.objects.filter(pk=address.pk)
    if not error:
        mine.update(sent_at=now, failures=0, last_error="", last_error_at=None, try_after=None, lease_until=None)
        return
    pause = min(LAST_PAUSE, FIRST_PAUSE * 2 ** min(address.failures, 10))
    mine.update(
        failures=F("failures") + 1,
        last_error=error[:300],
        last_error_at=now,
        try_after=now + pause,
        lease_until=None,
    )


def target_of(address: Address) -> Target:
    to = address.target
    if address.way == Way.EMAIL and not to and address.user is not None:
        to = address.user.email
    return Target(way=address.way, target=to, secret=address.secret, is_operators=address.user_id is None)


def test_letter(*, at: datetime) -> Letter:
    """What is sent to try an address out."""
    key = secrets.token_hex(16)
    text = "This is a test: messages from HumanExp arrive here."
    payload = {"version": 1, "id": key, "test": True, "sent_at": at.isoformat(), "events": [], "more": 0}
    return Letter(key=key, subject=_subject("test message"), lines=(text, _page()), payload=payload)


def _letter(key: str, notices: list[Notice], *, at: datetime) -> Letter:
    shown, more = notices[:LISTED], max(0, len(notices) - LISTED)
    lines = [_line(notice) for notice in shown]
    if more:
        lines.append(f"{more} more event{'' if more == 1 else 's'}.")
    lines.append(f"Everything that needs you: {_page()}")
    if len(notices) == 1:
        told = notices[0].event.text if notices[0].change == Change.OPENED else "resolved"
    else:
        told = f"{len(notices)} events"
    payload = {
        "version": 1,
        "id": key,
        "test": False,
        "sent_at": at.isoformat(),
        "events": [_row(notice) for notice in shown],
        "more": more,
        "page": _page(),
    }
    return Letter(key=key, subject=_subject(told), lines=tuple(lines), payload=payload)


def _line(notice: Notice) -> str:
    event = notice.event
    where = f"{event.study.title}: " if event.study is not None else ""
    if notice.change == Change.RESOLVED:
        return f"Resolved: {where}{event.text}"
    return f"{where}{event.text}\n{event.button}: {settings.PUBLIC_URL}{event.path}"


def _row(notice: Notice) -> dict[str, object]:
    event = notice.event
    return {
        "id": f"{event.pk}-{notice.change}",
        "state": notice.change,
        "reason": event.name,
        "study": event.study.slug if event.study is not None else None,
        "text": event.text,
        "url": f"{settings.PUBLIC_URL}{event.path}",
        "opened_at": event.opened_at.isoformat(),
        "resolved_at": event.resolved_at.isoformat() if event.resolved_at else None,
    }


def _subject(told: str) -> str:
    host = urlsplit(settings.PUBLIC_URL).hostname or ""
    return f"[HumanExp {host}] {told}".replace("\n", " ")[:180]


def _page() -> str:
    return f"{settings.PUBLIC_URL}{reverse('notices:waiting')}"
