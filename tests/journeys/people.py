"""`manage.py simulate` whose people write down every reply they hear: `python -m tests.journeys.people FILE STUDY ...`.

A line is written after the reply has arrived in full, by one write: what stands there was acknowledged. ANSWER_S: the
seconds that an answer takes them, so that several are at work at once where signing up takes longer than a session.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time
from typing import Any
from urllib.parse import urlsplit

import django
import requests

ANSWER_S = float(os.environ.get("ANSWER_S", "0"))


class NotingSession(requests.Session):
    """A browser profile that keeps a list."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def request(self, method: str | bytes, url: str | bytes, *args: Any, **arguments: Any) -> requests.Response:
        line = {
            "method": method,
            "path": urlsplit(str(url)).path,
            "session": session_of(arguments.get("headers") or {}),
            "sent": arguments.get("json") or arguments.get("data"),
        }
        if line["path"].endswith("/responses/"):
            time.sleep(ANSWER_S)
        try:
            reply = super().request(method, url, *args, **arguments)
        except requests.RequestException as error:
            self._note({**line, "lost": type(error).__name__})
            raise
        self._note({**line, "status": reply.status_code})
        return reply

    def _note(self, line: dict[str, Any]) -> None:
        os.write(self._descriptor, json.dumps(line).encode() + b"\n")


def session_of(headers: dict[str, str]) -> int | None:
    """The session that a bearer token is for: it is signed, not secret."""
    token = headers.get("Authorization", "").removeprefix("Bearer ")
    if not token:
        return None
    claim = token.partition(":")[0]
    return int(json.loads(base64.urlsafe_b64decode(claim + "=" * (-len(claim) % 4)))[0])


def main(file: str, *arguments: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
    django.setup()
    from humanexp.console.management.commands.simulate import Command
    from humanexp.simulation.participant import PatientConnection

    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    class Noting(Command):
        connect = staticmethod(lambda: PatientConnection(NotingSession(descriptor)))

    Noting().run_from_argv(["people", "simulate", *arguments])


if __name__ == "__main__":
    main(*sys.argv[1:])
