from __future__ import annotations

from threading import Lock
from typing import Any

import pytest

from humanexp.simulation.participant import PatientConnection


@pytest.fixture
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's server has one connection for all its threads: two requests at once would share a transaction."""
    turn, request = Lock(), PatientConnection.request

    def wait_and_request(self: PatientConnection, method: str, url: str, **arguments: Any) -> Any:
        with turn:
            return request(self, method, url, **arguments)

    monkeypatch.setattr(PatientConnection, "request", wait_and_request)
