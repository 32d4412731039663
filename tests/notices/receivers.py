"""Servers on loopback that take notices: well, with a fault, or not at all."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.limits import LIMIT


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """Answers 200 until told otherwise."""

    #: 200, another status, "cut" (no answer, the connection ends) or "hang" (none until `release` is set)
    mood: int | str = 200
    calls: list[Call] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    #: done when a call has been read, before it is answered
    on_call: Callable[[Call], object] | None = None

    def __enter__(self) -> Receiver:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                call = Call(
                    self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body
                )
                receiver.calls.append(call)
                if receiver.on_call is not None:
                    receiver.on_call(call)
                if receiver.mood == "cut":
                    self.connection.close()
                    return
                if receiver.mood == "hang":
                    receiver.release.wait(LIMIT)
                    return
                self.send_response(int(receiver.mood))
                if 300 <= int(receiver.mood) < 400:
                    self.send_header("Location", f"{receiver.url}/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.release.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def events(self) -> list[tuple[str, str, str | None]]:
        """State, reason and study of every event of every message, in their order."""
        found = [event for call in self.calls if call.method == "POST" for event in call.json["events"]]
        return [(event["state"], event["reason"], event["study"]) for event in found]
