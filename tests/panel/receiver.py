"""A site that keeps what was sent to it: a study's page, or the address of webhooks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from tests.limits import until


@dataclass(frozen=True)
class Delivery:
    headers: dict[str, str]
    body: bytes
    arrived_at: float = field(default_factory=time.time)


class Receiver:
    """At 127.0.0.1, another site than the panel's localhost. It refuses the first `refusals` deliveries."""

    def __init__(self, *, page: str = "", refusals: int = 0) -> None:
        self.page, self.refusals = page, refusals
        self.deliveries: list[Delivery] = []

    def __enter__(self) -> Receiver:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._reply(200, f"<!doctype html><title>Study</title>{receiver.page}")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                receiver.deliveries.append(Delivery(dict(self.headers.items()), body))
                self._reply(500 if len(receiver.deliveries) <= receiver.refusals else 200, "")

            def _reply(self, status: int, text: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait_for(self, enough: Callable[[list[Delivery]], bool]) -> list[Delivery]:
        until(lambda: enough(self.deliveries), lambda: f"enough deliveries came: {len(self.deliveries)}", every_s=0.05)
        return list(self.deliveries)
