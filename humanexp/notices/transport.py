"""The port through which messages leave: mail, and calls that follow no redirect and read no answer."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from smtplib import SMTPException
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

from humanexp.addresses import is_loopback
from humanexp.core import clock
from humanexp.core.errors import ApplicationError, InvalidRequest
from humanexp.notices.models import Way

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
