"""A proxy between the platform and a recruiter that lies: it cuts, doubles, delays and rewrites calls and replies.

with lying(market.url) as liar:
    liar.tell("SendBonus", "html", times=2)   # by name, or
    liar.share, liar.random = 0.3, Random(1)  # any of them, in so many calls
"""

from __future__ import annotations

import http.client
import json
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.limits import LIMIT

HTML = b"<!doctype html><title>Sign in</title><p>Welcome to the airport's network."


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Liar:
    upstream: str
    #: of the calls that nothing was ordered for, so many are lied about
    share: float = 0.0
    random: random.Random = field(default_factory=lambda: random.Random(0))
    #: lies told, by their names
    told: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    url: str = ""
    _orders: list[list[Any]] = field(default_factory=list)
    _deck: list[str] = field(default_factory=list)
    _dues: list[bool] = field(default_factory=list)
    _last: dict[str, Reply] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, operation: str, lie: str, times: int = 1) -> None:
        assert lie in LIES, lie
        self._orders.append([operation, lie, times])

    def stop(self) -> None:
        self._orders.clear()
        self._dues.clear()
        self.share = 0.0

    def lie_about(self, operation: str) -> str:
        """Which lie this call meets; "" is the truth."""
        with self._lock:
            self.calls += 1
            lie = ""
            for order in self._orders:
                if order[0] in (operation, "*") and order[2]:
                    order[2] -= 1
                    lie = order[1]
                    break
            else:
                if self._is_due():
                    lie = self._drawn()
            if lie:
                self.told[lie] += 1
            return lie

    def _is_due(self) -> bool:
        """The share is kept to in every twenty calls; which of them is chance."""
        if not self._dues:
            lies = round(20 * self.share)
            self._dues = [True] * lies + [False] * (20 - lies)
            self.random.shuffle(self._dues)
        return self._dues.pop()

    def _drawn(self) -> str:
        """Each as often as any other, in random order."""
        if not self._deck:
            self._deck = sorted(LIES)
            self.random.shuffle(self._deck)
        return self._deck.pop()

    def ask(self, path: str, headers: dict[str, str], body: bytes) -> Reply:
        """What the other side says, unchanged."""
        place = urlsplit(self.upstream)
        connection = http.client.HTTPConnection(place.hostname or "", place.port or 80, timeout=LIMIT)
        try:
            connection.putrequest("POST", path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                if name.lower() not in ("connection", "content-length", "expect"):
                    connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Reply(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def another(self, operation: str, truth: Reply) -> Reply:
        """The longest reply to some other kind of call; this one is remembered."""
        with self._lock:
            others = [reply for name, reply in self._last.items() if name != operation]
            self._last[operation] = truth
            return max(others, key=lambda reply: len(reply.body), default=Reply(200, {}, b""))


def _json_reply(truth: Reply, body: bytes) -> Reply:
    """With the other side's headers, the request id among them."""
    return Reply(200, truth.headers, body)


def _cut(liar: Liar, operation: str, truth: Reply) -> Reply:
    return _json_reply(truth, truth.body[: len(truth.body) // 2])


def _empty(liar: Liar, operation: str, truth: Reply) -> Reply:
    return _json_reply(truth, b"")


def _no_id(liar: Liar, operation: str, truth: Reply) -> Reply:
    headers = {name: value for name, value in truth.headers.items() if name.lower() != "x-amzn-requestid"}
    return Reply(truth.status, headers, truth.body)


def _html(liar: Liar, operation: str, truth: Reply) -> Reply:
    return Reply(200, {"Content-Type": "text/html"}, HTML)


def _portal(liar: Liar, operation: str, truth: Reply) -> Reply:
    return Reply(403, {"Content-Type": "text/html"}, HTML)


def _gateway(liar: Liar, operation: str, truth: Reply) -> Reply:
    return Reply(502, {"Content-Type": "text/html"}, HTML)


def _renamed(liar: Liar, operation: str, truth: Reply) -> Reply:
    """Every member has another name; nothing that was asked for is in it."""
    body = json.loads(truth.body or b"{}")
    return _json_reply(truth, json.dumps({f"X{name}": value for name, value in body.items()}).encode())


def _of_another(liar: Liar, operation: str, truth: Reply) -> Reply:
    return liar.another(operation, truth)


#: Lies about a reply. The call itself has arrived, and was carried out.
REWRITES = {
    "cut": _cut,
    "empty": _empty,
    "no-id": _no_id,
    "html": _html,
    "portal": _portal,
    "gateway": _gateway,
    "renamed": _renamed,
    "of-another": _of_another,
}
#: Others: the connection ends before the call arrived, after it, or within the reply; the call arrives twice, or late;
#: `unsaid`: a page of HTML comes for a call that never arrived.
LIES = frozenset({*REWRITES, "drop-before", "drop-after", "hang-up", "double", "delay", "unsaid"})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    liar: Liar

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        operation = self.headers.get("X-Amz-Target", "").rpartition(".")[2]
        lie = self.liar.lie_about(operation)
        headers = dict(self.headers.items())
        if lie == "drop-before":
            self._hang_up()
            return
        if lie == "unsaid":
            self._write(Reply(200, {"Content-Type": "text/html"}, HTML))
            return
        if lie == "delay":
            time.sleep(0.3)
        truth = self.liar.ask(self.path, headers, body)
        if lie == "double":
            truth = self.liar.ask(self.path, headers, body)
        if lie == "drop-after":
            self._hang_up()
            return
        told = REWRITES[lie](self.liar, operation, truth) if lie in REWRITES else truth
        self.liar.another(operation, truth)
        self._write(told, whole=lie != "hang-up")

    def _write(self, reply: Reply, *, whole: bool = True) -> None:
        self.send_response_only(reply.status)
        for name, value in reply.headers.items():
            if name.lower() not in ("content-length", "connection", "transfer-encoding", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(reply.body if whole else reply.body[: len(reply.body) // 2])
        self.close_connection = True

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The platform hangs up, too."""


@contextmanager
def lying(upstream: str) -> Iterator[Liar]:
    """A proxy on loopback for the length of a `with`; it tells the truth until it is told otherwise."""
    liar = Liar(upstream)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"liar": liar}))
    liar.url = f"http://localhost:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield liar
    finally:
        server.shutdown()
        server.server_close()
        thread.join(LIMIT)
