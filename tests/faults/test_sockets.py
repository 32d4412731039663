"""Clients that are slow, silent or greedy hold up nobody else, at the built-in server without a proxy."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from humanexp.server import Peer, SlowReaders
from tests.faults import slow
from tests.limits import LIMIT, until
from tests.served import ROOT, answers, free_port

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> Iterator[str]:
    with web_server(tmp_path_factory.mktemp("web"), migrated_database) as url:
        yield url


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> Iterator[str]:
    """Another one, which the slow clients leave alone."""
    with web_server(tmp_path_factory.mktemp("idle"), migrated_database) as url:
        yield url


@contextlib.contextmanager
def web_server(folder: Path, database: Path, **changes: str) -> Iterator[str]:
    """gunicorn as the README starts it, over an empty database."""
    (folder / "humanexp.sqlite3").write_bytes(database.read_bytes())
    settings = {"DJANGO_SETTINGS_MODULE": "humanexp.settings", "MEDIA_ROOT": str(folder)}
    with web_process(folder, {**os.environ, **settings}, **changes) as url:
        yield url


@contextlib.contextmanager
def web_process(folder: Path, environment: Mapping[str, str], **changes: str) -> Iterator[str]:
    """Its address, once it answers; its log is web.log in the folder."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with (folder / "web.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", f"--bind=127.0.0.1:{port}", "--access-logfile=-", "humanexp.wsgi"],
            cwd=ROOT,
            env={**environment, "PUBLIC_URL": url, **changes},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        until(lambda: process.poll() is not None or answers(url), "the server answers")
        assert process.poll() is None, (folder / "web.log").read_text()
        yield url
    finally:
        process.terminate()
        process.wait(LIMIT)


@pytest.mark.parametrize("count", [8, 50, 200])
@pytest.mark.parametrize("kind", list(slow.KINDS))
def test_others_are_answered_as_if_they_were_alone(web: str, idle: str, kind: str, count: int) -> None:
    with slow.clients(web, count, slow.KINDS[kind]):
        time.sleep(0.5)
        found = slow.waits(web, idle)
    sys.stdout.write(f"{count} x {kind}: {found}\n")
    assert not found.is_held_up, str(found)


@pytest.mark.bench
@pytest.mark.parametrize("kind", list(slow.KINDS))
def test_others_are_answered_within_two_seconds(web: str, idle: str, kind: str) -> None:
    """Measured well under a tenth of it."""
    with slow.clients(web, 200, slow.KINDS[kind]):
        time.sleep(0.5)
        found = slow.waits(web, idle)
    assert max(found.seconds) < 2.0, str(found)


def asked_for_files(count: int = 20) -> bytes:
    """Requests at once for what is, taken together, larger than any buffer."""
    largest = max((ROOT / "static" / "vendor").rglob("*.js"), key=lambda path: path.stat().st_size)
    head = f"GET /{largest.relative_to(ROOT)} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    return f"{head}\r\n".encode() * (count - 1) + f"{head}Connection: close\r\n\r\n".encode()


@pytest.mark.parametrize("count", [8, 50])
@pytest.mark.parametrize("bytes_per_s", [0, 12_000], ids=["nothing", "a fair trickle"])
def test_who_reads_slowly_again_and_again_holds_up_nobody(web: str, idle: str, bytes_per_s: int, count: int) -> None:
    """A fair trickle is above the rate at which a client is hung up on; a round of it lasts minutes."""
    with slow.readers(web, count, asked_for_files(), bytes_per_s=bytes_per_s):
        time.sleep(1)
        for path in ("/healthz", "/run/"):
            found = slow.waits(web, idle, times=15, pause_s=0.3, path=path)
            sys.stdout.write(f"{count} x {bytes_per_s} B/s, {path}: {found}\n")
            assert not found.is_held_up, str(found)


def test_slow_readers_and_long_bodies_together_leave_a_thread(web: str, idle: str) -> None:
    with slow.readers(web, 16, asked_for_files(), bytes_per_s=0), slow.clients(web, 16, slow.LONG_BODY):
        time.sleep(1)
        found = slow.waits(web, idle, times=15, pause_s=0.3)
    assert not found.is_held_up, str(found)


def test_whoever_reads_slowly_but_steadily_gets_all_of_it(web: str) -> None:
    place = urlsplit(web)
    with slow.readers(web, 8, asked_for_files(), bytes_per_s=0), socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.settimeout(LIMIT)
        reader.connect((place.hostname, place.port))
        reader.sendall(asked_for_files(8))
        received = 0
        while block := reader.recv(65536):
            received += len(block)
            time.sleep(0.0005)
    largest = max(path.stat().st_size for path in (ROOT / "static" / "vendor").rglob("*.js"))
    assert received > 8 * largest


def test_whoever_has_just_begun_to_take_an_answer_is_not_the_slowest() -> None:
    """The steady client is waited for longer than the silent one, and its buffers do not accept more yet."""
    places = SlowReaders(2)
    with contextlib.ExitStack() as opened:
        steady, steady_ended = answered_by_a_thread(places, opened)
        _, silent_ended = answered_by_a_thread(places, opened)
        for _ in range(50):
            assert steady.recv(4096)
        answered_by_a_thread(places, opened)
        assert silent_ended.wait(LIMIT)
        assert not steady_ended.is_set()


def answered_by_a_thread(places: SlowReaders, opened: contextlib.ExitStack) -> tuple[socket.socket, threading.Event]:
    """A client that is being waited for, and whether its thread has given up."""
    listener = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
    client = opened.enter_context(socket.socket())
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(listener.getsockname())
    peer = Peer(fileno=listener.accept()[0].detach())
    peer.begin(places)
    ended = threading.Event()

    def answer() -> None:
        with contextlib.suppress(OSError), peer:
            peer.sendall(bytes(20_000_000))
        ended.set()

    thread = threading.Thread(target=answer)
    thread.start()
    opened.callback(thread.join, LIMIT)
    opened.callback(client.close)
    time.sleep(0.5)
    return client, ended


def test_a_request_in_pieces_and_two_at_once_are_answered(web: str) -> None:
    """What proxies and browsers do: keep a connection, send a head in pieces, send the next request at once."""
    place = urlsplit(web)
    with socket.create_connection((place.hostname, place.port), timeout=LIMIT) as made:
        for piece in (b"GET /healthz HT", b"TP/1.1\r\nHost: 127.0.0.1\r", b"\n\r", b"\n"):
            made.sendall(piece)
            time.sleep(0.05)
        assert made.recv(4096).startswith(b"HTTP/1.1 200")
        made.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 2)
        time.sleep(0.5)
        assert made.recv(8192).count(b"HTTP/1.1 200") == 2


@pytest.mark.parametrize("length", [0, 10, 900_000, 3_000_000])
def test_bodies_of_every_length_arrive_whole(web: str, length: int) -> None:
    """A form without its token is refused, and the connection still knows where the next request begins."""
    with requests.Session() as session:
        for _ in range(3):
            assert session.post(f"{web}/login/", data=b"x" * length, timeout=LIMIT).status_code in {403, 413}
            assert session.get(f"{web}/healthz", timeout=LIMIT).status_code == 200


def sign_in(folder: Path, **changes: str) -> dict[str, str]:
    """The cookies of an account of the site whose files lie there."""
    script = (
        "import django; django.setup()\n"
        "from django.conf import settings; from django.test import Client; from humanexp.core.models import User\n"
        "client = Client(); client.force_login(User.objects.create_superuser('ada'))\n"
        "print(settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value)\n"
        "print(settings.CSRF_COOKIE_NAME, 'a' * 32)"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "humanexp.settings", "MEDIA_ROOT": str(folder), **changes}
    said = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    ).stdout
    return dict(line.split() for line in said.splitlines()[-2:])


def test_whoever_is_slow_but_steady_is_served(web: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Of the long bodies, those of accounts alone are read."""
    place = urlsplit(web)
    folder = next(tmp_path_factory.getbasetemp().glob("web*/web.log")).parent
    # Without the cookie of its token the form is refused before it has been read.
    cookies = "; ".join(f"{name}={value}" for name, value in sign_in(folder).items())
    body = b'--b\r\nContent-Disposition: form-data; name="name"\r\n\r\n' + bytes(1_200_000) + b"\r\n--b--\r\n"
    with socket.create_connection((place.hostname, place.port), timeout=LIMIT) as made:
        made.sendall(
            slow.POST.replace(b"/login/", b"/classifiers/models/new/")
            + b"Content-Type: multipart/form-data; boundary=b\r\n"
            + f"Connection: close\r\nContent-Length: {len(body)}\r\nCookie: {cookies}\r\n\r\n".encode()
        )
        for begins in range(0, len(body), 100_000):
            made.sendall(body[begins : begins + 100_000])
            time.sleep(0.2)
        assert made.recv(4096).startswith(b"HTTP/1.1 403")


@pytest.mark.gate
@pytest.mark.promise(5)
def test_no_log_of_the_server_holds_an_id(web: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    requests.get(
        f"{web}/take/nowhere/%0aFORGED?workerId=A1SECRETID&p=ID-OF-THE-PANEL",
        headers={"Referer": f"{web}/take/nowhere/?workerId=A1SECRETID", "Connection": "close"},
        timeout=LIMIT,
    )
    log = next(tmp_path_factory.getbasetemp().glob("web*/web.log"))
    until(lambda: "/take/nowhere/%0AFORGED" in log.read_text(), "the call is in the log, and begins no line of its own")
    assert "SECRETID" not in log.read_text() and "PANEL" not in log.read_text()
