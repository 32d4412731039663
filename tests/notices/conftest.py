from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from humanexp.core import clock
from humanexp.core.models import User
from humanexp.notices import addresses, selectors
from tests.clocks import HandClock
from tests.notices.receivers import Receiver
from tests.notices.surroundings import HandMachine, runner_beats


@pytest.fixture
def hand_clock(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    """The port of time, set by hand."""
    made = HandClock(datetime(2026, 5, 1, 18, tzinfo=UTC))
    monkeypatch.setattr(clock, "system_clock", made)
    return made


@pytest.fixture(autouse=True)
def hand_machine(monkeypatch: pytest.MonkeyPatch) -> HandMachine:
    """The port to disk and certificate."""
    made = HandMachine()
    monkeypatch.setattr(selectors, "machine", made)
    return made


@pytest.fixture(autouse=True)
def full_allowance() -> None:
    addresses.TESTS.clear()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        yield server


@pytest.fixture
def owner(db: Any) -> User:
    return User.objects.create_user("olga", email="olga@lab.example", password="x")


@pytest.fixture
def beating(hand_clock: HandClock, db: Any) -> None:
    """A job runner is there."""
    runner_beats()
