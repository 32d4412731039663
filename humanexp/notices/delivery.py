"""Sending what is due, by mail, and by calls that follow no redirect and read no answer.

It is sent outside every transaction, side by side, and within a few seconds whatever the addresses do.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from ipaddress import ip_address
from smtplib import SMTPException
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.db.models import F, Q
from django.urls import reverse

from humanexp.addresses import is_loopback
from humanexp.core import clock
from humanexp.core.errors import ApplicationError, InvalidRequest
from humanexp.notices import selectors
from humanexp.notices.models import Address, Change, Notice, Way

#: To connect, and for each piece of an answer.
TIMEOUT_S = 5.0
SIGNATURE = "X-HumanExp-Signature"


class DeliveryFailed(ApplicationError, problem="delivery-failed", status_code=502):
    """The address did not take the message."""


@dataclass(frozen=True, kw_only=True)
class Letter:
    """A message in every form that an address may want."""

    #: the same each time that the message is repeated
    key: str
    subject: str
    lines: tuple[str, ...]
    payload: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where a letter goes, as a thread without a database needs to know it."""

    way: str
    target: str
    secret: str = ""
    #: the operator has set it: it may be in the lab's own network
    is_operators: bool = False


def deliver(target: Target, letter: Letter) -> None:
    """Raises DeliveryFailed where the address does not take it, or has not said so in time."""
    if target.way == Way.EMAIL:
        _mail(target.target, letter)
        return
    payload = letter.payload if target.way == Way.WEBHOOK else {"text": "\n".join([letter.subject, *letter.lines])}
    body = json.dumps(payload, ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json; charset=utf-8", "Idempotency-Key": letter.key}
    if target.secret:
        headers[SIGNATURE] = signature(target.secret, body, at=int(clock.now().timestamp()))
    call(target.target, body=body, headers=headers, is_operators=target.is_operators)


def signature(secret: str, body: bytes, *, at: int) -> str:
    """`t=SECONDS,v1=HEX`: HMAC-SHA-256 of the seconds, a dot and the bytes of the body."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={signed.hexdigest()}"


def call(
    url: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None, is_operators: bool = False
) -> None:
    """POST, or GET without a body. Any answer from 200 to 299 will do; redirects are not followed."""
    parts = urlsplit(url)
    place = _reachable(url, is_operators=is_operators)
    connection = _Pinned(parts.hostname or "", place, secure=parts.scheme == "https")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    told = {"User-Agent": f"HumanExp/{settings.VERSION}", "Connection": "close", **(headers or {})}
    try:
        connection.request("POST" if body is not None else "GET", path, body=body, headers=told)
        status = connection.getresponse().status
    except TimeoutError as error:
        raise DeliveryFailed("It did not answer in time.") from error
    except ssl.SSLError as error:
        raise DeliveryFailed(f"Its certificate is refused: {error.reason or 'unknown reason'}.") from error
    except ConnectionRefusedError as error:
        raise DeliveryFailed("It cannot be reached: the connection is refused.") from error
    except (OSError, http.client.HTTPException) as error:
        raise DeliveryFailed("It cannot be reached, or ended the connection without an answer.") from error
    finally:
        connection.close()
    if 300 <= status < 400:
        raise DeliveryFailed(f"It redirects (status {status}): enter the address that it redirects to.")
    if not 200 <= status < 300:
        raise DeliveryFailed(f"It answered with status {status}.")


def check_url(url: str) -> None:
    """Refuse an address of a person that no message may go to; raises InvalidRequest. The name is not looked up yet."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError as error:
        raise InvalidRequest("The port of the address is not a number.") from error
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.username or parts.fragment or port == 0:
        raise InvalidRequest("Enter an address that begins with https://, without a name and password.")
    if not _is_allowed(parts.hostname, port) and parts.scheme != "https":
        raise InvalidRequest("Messages go only to https:// addresses. An operator allows others in NOTICE_HOSTS.")


def _is_allowed(host: str, port: int | None) -> bool:
    """Named by the operator, or on this machine where nothing else reaches the site."""
    is_at_home = is_loopback(urlsplit(settings.PUBLIC_URL).hostname or "")
    return bool({host, f"{host}:{port}"} & set(settings.NOTICE_HOSTS)) or is_at_home and is_loopback(host)


def _reachable(url: str, *, is_operators: bool) -> tuple[str, int]:
    """Where to connect. A name is looked up once, and what is looked at is what is called."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError) as error:
        raise DeliveryFailed("Its name is not known.") from error
    if not is_operators:
        try:
            check_url(url)
        except InvalidRequest as error:
            raise DeliveryFailed(error.message) from error
        if not _is_allowed(host, parts.port) and not all(ip_address(one.split("%")[0]).is_global for one in found):
            raise DeliveryFailed("It leads into a private network. An operator allows it in NOTICE_HOSTS.")
    return found[0], port


class _Pinned(http.client.HTTPConnection):
    """A connection to a place that was looked up before; the certificate is that of the name."""

    def __init__(self, host: str, place: tuple[str, int], *, secure: bool) -> None:
        super().__init__(host, place[1], timeout=TIMEOUT_S)
        self._place, self._secure = place, secure

    def connect(self) -> None:
        self.sock = socket.create_connection(self._place, timeout=TIMEOUT_S)
        if self._secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)


def _mail(to: str, letter: Letter) -> None:
    host = urlsplit(settings.PUBLIC_URL).hostname or "localhost"
    headers = {"Message-ID": f"<{letter.key}@{host}>", "Auto-Submitted": "auto-generated"}
    try:
        EmailMessage(
            letter.subject,
            "\n\n".join(letter.lines),
            to=[to],
            headers=headers,
            connection=get_connection(timeout=TIMEOUT_S),
        ).send()
    except TimeoutError as error:
        raise DeliveryFailed("The mail server did not answer in time.") from error
    except (SMTPException, OSError) as error:
        raise DeliveryFailed(f"The mail server did not take it: {type(error).__name__}.") from error


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
            deliver(self.target, self.letter)
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
