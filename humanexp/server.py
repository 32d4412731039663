"""gunicorn's threads see requests that have arrived: waiting for a slow or silent client takes up none of them.

The worker's loop collects the head and a short body of each request without blocking. A long or chunked body (pictures
that are uploaded) is read by a thread, but never by more than half of them, and only while it comes at a fair rate. An
answer that does not fit into the system's buffers is sent by its thread; of the clients that are waited for so, at most
half as many as there are threads, the slowest is hung up on for the next one.
"""

from __future__ import annotations

import errno
import fcntl
import re
import select
import selectors
import socket
import struct
import sys
import termios
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import quote

from gunicorn.errors import ConfigError
from gunicorn.glogging import Logger
from gunicorn.http.unreader import SocketUnreader
from gunicorn.workers.gthread import TConn, ThreadWorker

#: From its first byte, a request's head has so long, and its short body as long again.
HEAD_S, BODY_S = 10.0, 20.0
#: More than gunicorn's own limits of a head let through.
LONGEST_HEAD = 256 * 1024
#: Bodies up to this are collected by the loop: all that participants' pages and forms send.
SHORT_BODY = 1024 * 1024
#: A longer body waits so long for its turn, and then comes at this rate at least, pauses and all, once it had a start.
TURN_S, FAIR_BYTES_PER_S, START_S = 60.0, 8 * 1024, 15.0
#: A thread waits so long for one piece of a body, or for a client to take one of an answer.
STALLED_S = 15
#: For one answer, a thread waits no longer than this in all, however steadily the client takes it.
ANSWER_S = 300.0
#: A connection that is to end waits so long for its client.
LINGER_S = 2.0

_LENGTH = re.compile(rb"\r\ncontent-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
_UNTOLD_LENGTH = re.compile(rb"\r\n(?:transfer-encoding|expect)[ \t]*:", re.IGNORECASE)


class FairReader(SocketUnreader):  # type: ignore[misc]
    """The rest of a long body, from a client that keeps sending."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        self._began_at, self._bytes = time.monotonic(), 0

    def begin(self) -> None:
        """Another request."""
        self._began_at, self._bytes = time.monotonic(), 0

    def chunk(self, size_hint: int | None = None) -> bytes:
        try:
            block: bytes = super().chunk(size_hint)
        except BlockingIOError as error:
            raise _gone() from error
        self._bytes += len(block)
        late_s = time.monotonic() - self._began_at - START_S
        if self._bytes < late_s * FAIR_BYTES_PER_S:
            raise _gone()
        return block


def _gone() -> ConnectionResetError:
    """To the application, who is too slow has hung up."""
    return ConnectionResetError(errno.ECONNRESET, "the client was too slow")


class SlowReaders:
    """Clients for whom threads wait in the middle of an answer. There are few places: the slowest loses its own."""

    def __init__(self, places: int) -> None:
        self._places, self._waited_for = places, set[Peer]()
        self._lock = threading.Lock()

    @contextmanager
    def place_for(self, peer: Peer) -> Iterator[None]:
        with self._lock:
            self._leave_at_most(self._places - 1)
            self._waited_for.add(peer)
        try:
            yield
        finally:
            with self._lock:
                self._waited_for.discard(peer)

    def keep_to(self, places: int) -> None:
        with self._lock:
            self._places = places
            self._leave_at_most(places)

    def _leave_at_most(self, count: int) -> None:
        while len(self._waited_for) > count:
            slowest = min(self._waited_for, key=Peer.bytes_per_s)
            self._waited_for.discard(slowest)
            slowest.hang_up()


class Peer(socket.socket):
    """A client that takes its answer, pauses and all, at a fair rate and in the end."""

    def begin(self, slow_readers: SlowReaders) -> None:
        """Another answer."""
        self._slow_readers = slow_readers
        #: since when the client was first waited for
        self._since: float | None = None
        self._waited_s, self._taken, self._held_at_first = 0.0, 0, 0

    def sendall(self, answer: Any, flags: int = 0) -> None:
        rest = memoryview(answer).cast("B")
        while rest:
            try:
                taken = self.send(rest, flags | socket.MSG_DONTWAIT)
            except BlockingIOError:
                self._wait()
                continue
            if self._since is not None:
                self._taken += taken
            rest = rest[taken:]

    def bytes_per_s(self) -> tuple[float, float]:
        """Since it was first waited for, the system's buffers apart; among equals, the longest waited for is first."""
        since = time.monotonic() if self._since is None else self._since
        # A client that has just begun to be waited for is told from one that takes nothing by what leaves the
        # system's buffers: they accept more only when a good part of them is free.
        taken = self._taken + self._held_at_first - self._held()
        return taken / (time.monotonic() - since + 0.01), since

    def hang_up(self) -> None:
        """Whoever waits for it goes on, and finds the connection closed."""
        with suppress(OSError):
            self.shutdown(socket.SHUT_RDWR)

    def _held(self) -> int:
        """Bytes in the system's buffers that the client has not taken yet; 0 where the system does not say."""
        try:
            return int.from_bytes(fcntl.ioctl(self, termios.TIOCOUTQ, bytes(4)), sys.byteorder)
        except OSError:
            return 0

    def _wait(self) -> None:
        began_at = time.monotonic()
        if self._since is None:
            self._since, self._held_at_first = began_at, self._held()
        with self._slow_readers.place_for(self):
            poller = select.poll()
            poller.register(self, select.POLLOUT)
            takes_more = poller.poll(STALLED_S * 1000)
        self._waited_s += time.monotonic() - began_at
        is_slow = self._waited_s > START_S and self._taken < self._waited_s * FAIR_BYTES_PER_S
        if not takes_more or is_slow or self._waited_s > ANSWER_S:
            raise _gone()


class AccessLines(Logger):  # type: ignore[misc]
    """Writes paths as they were sent, with their percent signs: a line break in one would begin a line of its own."""

    def atoms(self, resp: Any, req: Any, environ: Any, request_time: Any) -> dict[str, Any]:
        found: dict[str, Any] = super().atoms(resp, req, environ, request_time)
        return {**found, "U": quote(str(environ.get("PATH_INFO", "")), encoding="latin-1")}


class Connection(TConn):  # type: ignore[misc]
    """A connection, and what has arrived of its next request."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.arrived = bytearray()
        #: where the head ends; -1 as long as it has not
        self.head_end = -1
        self.until = time.monotonic() + self.cfg.keepalive
        self.is_long = False
        #: answered for the last time; what still comes is not looked at
        self.is_over = False

    def add(self, block: bytes) -> None:
        if not self.arrived:
            self.until = time.monotonic() + HEAD_S
        searched = max(0, len(self.arrived) - 3)
        self.arrived += block
        if self.head_end < 0 and (end := self.arrived.find(b"\r\n\r\n", searched)) >= 0:
            self.head_end = end + 4
            self.until = time.monotonic() + BODY_S

    @property
    def missing(self) -> int | None:
        """Bytes of a short body that are still to come; None when it is long, or nobody knows how long."""
        head = bytes(self.arrived[: self.head_end])
        if _UNTOLD_LENGTH.search(head):
            return None
        length = int(found[1]) if (found := _LENGTH.search(head)) else 0
        return None if length > SHORT_BODY else max(0, self.head_end + length - len(self.arrived))

    def take(self) -> None:
        """Hand what has arrived to the parser; the loop begins anew with the next request."""
        if not self.initialized:
            self.init()
            self.parser.unreader = FairReader(self.sock)
        self.parser.unreader.begin()
        self.parser.unreader.unread(bytes(self.arrived))
        self.arrived, self.head_end = bytearray(), -1


class PatientWorker(ThreadWorker):  # type: ignore[misc]
    """gunicorn's worker of threads, in front of which requests arrive."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        #: connections whose next request is on its way, the longest silent first
        self.arriving: dict[Connection, None] = {}
        self.waiting: deque[Connection] = deque()
        self.half = max(1, self.cfg.threads // 2)
        self.long_bodies, self.slow_readers = 0, SlowReaders(self.half)

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        super().check_config(cfg, log)
        if cfg.is_ssl:
            raise ConfigError("TLS is the proxy's: deploy/nginx.conf shows how.")

    def accept(self, listener: socket.socket) -> None:
        try:
            sock, address = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self._make_room()
            elif error.errno not in (errno.EAGAIN, errno.ECONNABORTED, errno.EWOULDBLOCK):
                raise
            return
        limit = struct.pack("ll", STALLED_S, 0)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            sock.setsockopt(socket.SOL_SOCKET, option, limit)
        self.nr_conns += 1
        peer = Peer(fileno=sock.detach())
        self._wait_for(Connection(self.cfg, peer, address, listener.getsockname()))
        if self.nr_conns >= self.worker_connections:
            self._make_room()

    def handle(self, conn: Connection) -> object:
        conn.data_ready = True
        conn.sock.setblocking(True)
        conn.sock.begin(self.slow_readers)
        conn.take()
        return super().handle(conn)

    def handle_request(self, req: Any, conn: Connection) -> object:
        if conn.is_long:
            req.force_close()  # an answer may come before the body has been read
        return super().handle_request(req, conn)

    def _keepalive_after(self, conn: Connection, keepalive: object) -> bool:
        """Whether the connection stays: what the application left of a short body has arrived, and is passed over."""
        return bool(keepalive) and bool(conn.parser.finish_body())

    def finish_request(self, conn: Connection, outcome: Future[object]) -> None:
        """The answer is out: the connection waits for its next request, or ends."""
        if conn.is_long:
            conn.is_long = False
            self._count_long(-1)
            if self.waiting:
                self._read_long(self.waiting.popleft())
        stays = not outcome.cancelled() and outcome.exception() is None and outcome.result()
        if not stays:
            self._end(conn)
            return
        conn.until = time.monotonic() + self.cfg.keepalive
        read_ahead = conn.parser.unreader.take_buffered()
        self._wait_for(conn)
        if read_ahead:
            conn.add(read_ahead)
            self._consider(conn)

    def murder_pending(self) -> None:
        """Called once a second: whose time is over is hung up on."""
        now = time.monotonic()
        if not self.alive:
            for conn in (*self.arriving, *self.waiting):
                conn.until = min(conn.until, now + LINGER_S)
        for conn in [conn for conn in self.arriving if conn.until < now]:
            self._drop(conn)
        while self.waiting and self.waiting[0].until < now:
            self._close(self.waiting.popleft())

    def _wait_for(self, conn: Connection) -> None:
        conn.sock.setblocking(False)
        self.arriving[conn] = None
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._receive, conn))

    def _receive(self, conn: Connection, sock: socket.socket) -> None:
        try:
            block = sock.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            block = b""
        if not block:
            self._drop(conn)
        if not block or conn.is_over:
            return
        conn.add(block)
        self._consider(conn)

    def _consider(self, conn: Connection) -> None:
        """A request that has arrived goes to a thread."""
        if conn.head_end < 0:
            if len(conn.arrived) > LONGEST_HEAD:
                self._drop(conn)
            return
        missing = conn.missing
        if missing:
            return
        self._leave(conn)
        if missing == 0:
            self.enqueue_req(conn)
        elif self.long_bodies < self.half:
            self._read_long(conn)
        else:
            conn.until = time.monotonic() + TURN_S
            self.waiting.append(conn)

    def _read_long(self, conn: Connection) -> None:
        conn.is_long = True
        self._count_long(1)
        self.enqueue_req(conn)

    def _count_long(self, change: int) -> None:
        """Between long bodies and slow readers, one thread is left for everybody else."""
        self.long_bodies += change
        self.slow_readers.keep_to(max(1, min(self.half, self.cfg.threads - 1 - self.long_bodies)))

    def _make_room(self) -> None:
        """Before nobody new can come, whoever has been silent longest goes."""
        if self.arriving:
            self._drop(next(iter(self.arriving)))

    def _leave(self, conn: Connection) -> None:
        del self.arriving[conn]
        self.poller.unregister(conn.sock)

    def _drop(self, conn: Connection) -> None:
        self._leave(conn)
        self._close(conn)

    def _close(self, conn: Connection) -> None:
        self.nr_conns -= 1
        conn.close()

    def _end(self, conn: Connection) -> None:
        """Hang up when the client has, or soon: closed at once, it might lose the end of its answer."""
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._close(conn)
            return
        conn.is_over, conn.until = True, time.monotonic() + LINGER_S
        self._wait_for(conn)
