"""The shipped nginx file in front of the real server: slow clients harm nobody, and no log holds an id."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from tests.faults import slow
from tests.faults.test_sockets import sign_in, web_server
from tests.limits import LIMIT, until
from tests.served import ROOT, free_port

pytestmark = pytest.mark.process

WORKER_ID, PANEL_ID = "A1SECRETID", "ID-OF-THE-PANEL"


@dataclass(frozen=True)
class Proxied:
    url: str
    plain_url: str
    certificate: str
    folder: Path

    def get(self, path: str, **arguments: object) -> requests.Response:
        return requests.get(f"{self.url}{path}", verify=self.certificate, timeout=LIMIT, **arguments)  # type: ignore[arg-type]

    @property
    def logs(self) -> str:
        return "\n".join(path.read_text(errors="replace") for path in self.folder.rglob("*.log"))


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> Iterator[Proxied]:
    missing = [program for program in ("nginx", "openssl") if shutil.which(program) is None]
    if missing:
        if os.environ.get("CI") == "true":
            pytest.fail(f"not installed: {', '.join(missing)}")
        pytest.skip(f"not installed: {', '.join(missing)}")
    folder = tmp_path_factory.mktemp("nginx")
    port, plain = free_port(), free_port()
    url = f"https://127.0.0.1:{port}"
    make_certificate(folder)
    media = folder / "media"
    media.mkdir()
    with (
        web_server(media, migrated_database, PUBLIC_URL=url, TRUST_PROXY_HEADER="1") as web,
        nginx(folder, web=web, port=port, plain=plain),
    ):
        yield Proxied(url, f"http://127.0.0.1:{plain}", str(folder / "fullchain.pem"), folder)


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> Iterator[str]:
    """A server that the slow clients leave alone."""
    with web_server(tmp_path_factory.mktemp("idle"), migrated_database) as url:
        yield url


def make_certificate(folder: Path) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        + ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
        + ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")],
        check=True,
        capture_output=True,
    )


@contextlib.contextmanager
def nginx(folder: Path, *, web: str, port: int, plain: int) -> Iterator[None]:
    """The shipped file, with the places of this machine in it."""
    site = (ROOT / "deploy" / "nginx.conf").read_text()
    for shipped, here in (
        ("127.0.0.1:8000;", f"{urlsplit(web).netloc};"),
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("study.example.org", "127.0.0.1"),
        ("/etc/ssl/humanexp", str(folder)),
        ("/var/log/nginx", str(folder)),
    ):
        assert shipped in site, f"deploy/nginx.conf has no {shipped!r} any more"
        site = site.replace(shipped, here)
    site = re.sub(r"listen \[::\][^;]*;", "", site)
    (folder / "site.conf").write_text(site)
    temporary = " ".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.getuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/start.log emerg;"
        f"events {{ worker_connections 8192; }} http {{ {temporary} include {folder}/site.conf; }}"
    )
    with (folder / "output.log").open("wb") as output:
        process = subprocess.Popen(
            ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        until(lambda: process.poll() is not None or _accepts(port), "nginx listens")
        assert process.poll() is None, (folder / "output.log").read_text()
        yield
    finally:
        process.terminate()
        process.wait(LIMIT)


def _accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=LIMIT):
        return True
    return False


def test_the_site_works_behind_it(proxied: Proxied) -> None:
    """Cookies are for TLS alone, forms are accepted, and plain addresses lead to the ones with TLS."""
    with requests.Session() as session:
        page = session.get(f"{proxied.url}/login/", timeout=LIMIT, verify=proxied.certificate)
        assert page.status_code == 200 and "max-age" in page.headers["Strict-Transport-Security"]
        cookie = next(iter(session.cookies))
        assert cookie.secure
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert token is not None
        sent = {"csrfmiddlewaretoken": token[1], "username": "nobody", "password": "wrong"}
        reply = session.post(
            f"{proxied.url}/login/",
            data=sent,
            timeout=LIMIT,
            headers={"Referer": f"{proxied.url}/login/"},
            verify=proxied.certificate,
        )
        assert reply.status_code == 200, reply.text
    elsewhere = {"Host": "elsewhere.example"}
    moved = requests.get(f"{proxied.plain_url}/login/?next=/", headers=elsewhere, allow_redirects=False, timeout=LIMIT)
    assert moved.status_code == 301, "whatever name the request gives"
    assert moved.headers["Location"].startswith("https://127.0.0.1/login/?next=/")


def test_long_bodies_are_for_accounts_that_send_files(proxied: Proxied) -> None:
    """Whoever else sends one is refused by its head, by nginx or by gunicorn, and no piece of it is on the disk."""

    def send(path: str, **arguments: Any) -> requests.Response:
        with requests.Session() as session:
            return session.post(
                f"{proxied.url}{path}",
                files={"model": ("a.onnx", bytes(3_000_000))},
                headers={"Referer": f"{proxied.url}/login/"},
                verify=proxied.certificate,
                timeout=LIMIT,
                **arguments,
            )

    for path in ("/login/", "/take/nowhere/delete/", "/classifiers/models/new", "/classifiers/models/new/"):
        assert send(path).status_code == 413, path
    cookies = sign_in(proxied.folder / "media", PUBLIC_URL=proxied.url)
    data = {"csrfmiddlewaretoken": "a" * 32, "name": "mine"}
    taken = send("/classifiers/models/new/", cookies=cookies, data=data)
    assert taken.status_code == 422 and "This field is required" in taken.text, "its form was read"
    assert not [path for path in (proxied.folder / "client_body").rglob("*") if path.is_file()]


@pytest.mark.parametrize("count", [8, 200])
@pytest.mark.parametrize("kind", list(slow.KINDS))
def test_slow_clients_harm_nobody(proxied: Proxied, idle: str, kind: str, count: int) -> None:
    with slow.clients(proxied.url, count, slow.KINDS[kind], certificate=proxied.certificate):
        found = slow.waits(proxied.url, idle, verify=proxied.certificate)
    assert not found.is_held_up, str(found)


def test_clients_that_do_not_read_harm_nobody(proxied: Proxied, idle: str) -> None:
    """nginx takes the answers over: the threads of the server are free at once."""
    largest = max((ROOT / "static" / "vendor").rglob("*.js"), key=lambda path: path.stat().st_size)
    asking = f"GET /static/{largest.relative_to(ROOT / 'static')} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with slow.clients(proxied.url, 16, asking.encode(), drip_s=60, certificate=proxied.certificate):
        time.sleep(1)
        found = slow.waits(proxied.url, idle, verify=proxied.certificate)
    assert not found.is_held_up, str(found)


def test_no_log_holds_an_id(proxied: Proxied) -> None:
    """Of a page, of what it loads, of a call that fails, and of one that no server answers."""
    query = f"?workerId={WORKER_ID}&p={PANEL_ID}"
    here = {"Referer": f"{proxied.url}/take/nowhere/{query}"}
    proxied.get(f"/take/nowhere/{query}", headers=here)
    proxied.get("/static/css/base.css", headers=here)
    requests.get(f"{proxied.plain_url}/take/nowhere/{query}", headers=here, allow_redirects=False, timeout=LIMIT)
    too_long = f"/take/nowhere/{query}&x=" + "x" * 40_000
    with contextlib.suppress(requests.RequestException):  # it hangs up while the head is still being sent
        assert proxied.get(too_long, headers=here).status_code == 414
    until(lambda: "/take/nowhere/" in proxied.logs and "/static/css/base.css" in proxied.logs, "the calls are logged")
    logs = proxied.logs
    assert WORKER_ID not in logs and PANEL_ID not in logs
    assert "127.0.0.1" not in (proxied.folder / "humanexp.log").read_text(), "nor the address of anybody"
