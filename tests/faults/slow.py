"""Clients that send next to nothing and stay."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import statistics
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import requests

from humanexp.server import BODY_S, HEAD_S, STALLED_S
from tests.limits import LIMIT

IDLE = b""
UNFINISHED_HEAD = b"GET /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
POST = b"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\n"
SHORT_BODY = POST + b"Content-Length: 5000\r\n\r\nusername="
LONG_BODY = SHORT_BODY.replace(b"5000", b"500000000")
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nuse"
KINDS = {
    "idle": IDLE,
    "unfinished head": UNFINISHED_HEAD,
    "short body": SHORT_BODY,
    "long body": LONG_BODY,
    "chunked body": CHUNKED,
}


@contextlib.contextmanager
def clients(
    url: str, count: int, beginning: bytes, *, drip_s: float = 2.0, certificate: str | None = None
) -> Iterator[None]:
    """So many connections that begin a request and then send a byte now and then; who is hung up on comes again."""
    place = urlsplit(url)
    stop = threading.Event()
    open_ones: list[socket.socket] = []

    def connect() -> socket.socket:
        made = socket.create_connection((place.hostname, place.port), timeout=5)
        if certificate is not None:
            made = ssl.create_default_context(cafile=certificate).wrap_socket(made, server_hostname=place.hostname)
        if beginning:
            made.sendall(beginning)
        return made

    def keep() -> None:
        while not stop.wait(drip_s):
            for place_in_list, one in enumerate(open_ones):
                try:
                    one.sendall(b"a" if beginning else b"")
                except OSError:
                    one.close()
                    with contextlib.suppress(OSError):
                        open_ones[place_in_list] = connect()

    open_ones += [connect() for _ in range(count)]
    keeper = threading.Thread(target=keep, daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stop.set()
        keeper.join(LIMIT)
        for one in open_ones:
            one.close()


@contextlib.contextmanager
def readers(url: str, count: int, asking: bytes, *, bytes_per_s: int) -> Iterator[None]:
    """So many clients that ask for something large and take next to none of it; who is hung up on asks again."""
    place = urlsplit(url)
    stop = threading.Event()

    def ask() -> socket.socket:
        made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.settimeout(5)
        made.connect((place.hostname, place.port))
        made.sendall(asking)
        return made

    def read() -> None:
        reader = ask()
        while not stop.wait(0.25):
            try:
                reader.settimeout(0.1)
                # Its end is looked for by all; those that read nothing look without taking.
                taken = reader.recv(bytes_per_s // 4 or 1, 0 if bytes_per_s else socket.MSG_PEEK)
                is_over = not taken or _has_hung_up(reader)
            except TimeoutError:
                is_over = False
            except OSError:
                is_over = True
            if is_over:
                reader.close()
                with contextlib.suppress(OSError):
                    reader = ask()
        reader.close()

    threads = [threading.Thread(target=read, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(LIMIT)


def _has_hung_up(reader: socket.socket) -> bool:
    """What has arrived before the end stands in the way of seeing it, but not of hearing of it."""
    poller = select.poll()
    poller.register(reader, select.POLLRDHUP)
    return bool(poller.poll(0))


@dataclass(frozen=True)
class Waits:
    """How long others waited for a page, each on a connection of its own; and in turn with them, for an idle server."""

    seconds: list[float]
    idle: list[float]

    @property
    def is_held_up(self) -> bool:
        """Who stands behind a slow client waits until the server gives that one up.

        A machine that is busy with other things makes the idle server slow, too, and a stall meets few of many calls.
        """
        return _late(self.seconds) > _late(self.idle) + min(HEAD_S, BODY_S, STALLED_S) / 2

    def __str__(self) -> str:
        return f"{_summary(self.seconds)}; of an idle server: {_summary(self.idle)}"


def waits(
    url: str, idle: str, *, times: int = 10, pause_s: float = 0.15, verify: bool | str = True, path: str = "/healthz"
) -> Waits:
    found = Waits([], [])
    for _ in range(times):
        found.idle.append(_answered_s(f"{idle}{path}", verify))
        found.seconds.append(_answered_s(f"{url}{path}", verify))
        time.sleep(pause_s)
    return found


def _answered_s(address: str, verify: bool | str) -> float:
    began_at = time.monotonic()
    reply = requests.get(address, timeout=LIMIT, headers={"Connection": "close"}, verify=verify)
    assert reply.status_code == 200, reply.text
    return time.monotonic() - began_at


def _late(seconds: list[float]) -> float:
    """The 90th percentile."""
    return sorted(seconds)[int(0.9 * (len(seconds) - 1))]


def _summary(found: list[float]) -> str:
    return f"median {1000 * statistics.median(found):.0f} ms, most {1000 * max(found):.0f} ms"
