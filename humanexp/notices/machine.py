"""The port to what surrounds the site: its disk and its certificate."""

from __future__ import annotations

import shutil
import socket
import ssl
from datetime import UTC, datetime
from typing import Protocol

from django.conf import settings

#: To connect, and for each answer of the handshake.
CERTIFICATE_S = 5.0


class Machine(Protocol):
    def free_mb(self) -> float: ...

    def certificate_ends(self, host: str, port: int) -> datetime:
        """When the certificate ends that is shown there; OSError where none is shown, or it is refused."""


class ThisMachine:
    def free_mb(self) -> float:
        return shutil.disk_usage(settings.MEDIA_ROOT).free / 1e6

    def certificate_ends(self, host: str, port: int) -> datetime:
        context = ssl.create_default_context()
        with (
            socket.create_connection((host, port), timeout=CERTIFICATE_S) as plain,
            context.wrap_socket(plain, server_hostname=host) as secure,
        ):
            shown = secure.getpeercert() or {}
        ends = shown.get("notAfter")
        if not isinstance(ends, str):
            raise ssl.SSLError("the certificate names no end")
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(ends), UTC)


machine: Machine = ThisMachine()
