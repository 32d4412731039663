"""A door before the practice panel, through which a recruiter's calls pass."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.limits import LIMIT
from tests.panel.server import PanelServer


class Door:
    """Stands before the panel: counts the calls, and holds the first draft until somebody else has done their work."""

    def __init__(self, url: str) -> None:
        self.calls = 0
        self.meanwhile: Callable[[], object] | None = None
        host, _, port = url.removeprefix("http://").partition(":")
        door = self

        class Passing(BaseHTTPRequestHandler):
            def pass_on(self) -> None:
                door.calls += 1
                if self.command == "POST" and self.path.rstrip("/").endswith("/studies") and door.meanwhile:
                    work, door.meanwhile = door.meanwhile, None
                    work()
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                there = HTTPConnection(host, int(port), timeout=LIMIT)
                there.request(self.command, self.path, body, {**self.headers, "Host": f"{host}:{port}"})
                reply = there.getresponse()
                content = reply.read()
                self.send_response(reply.status)
                for name, value in reply.getheaders():
                    if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                there.close()

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = pass_on

            def log_message(self, format: str, *args: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Passing)
        self.url = f"http://localhost:{self.server.server_port}"


@pytest.fixture
def panel_door(panel: PanelServer) -> Iterator[Door]:
    made = Door(panel.url)
    threading.Thread(target=made.server.serve_forever, daemon=True).start()
    yield made
    made.server.shutdown()
    made.server.server_close()
