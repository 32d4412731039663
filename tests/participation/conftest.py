from __future__ import annotations

import datetime

import pytest

from humanexp.core import clock


@pytest.fixture(autouse=True)
def without_guards(unhurried, open_gates):
    """Nearly every test answers trials at once or opens a campaign; `test_pace` puts the pace back."""


class HandClock:
    def __init__(self) -> None:
        self.time = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
        self.passed_s = 0.0

    def now(self):
        return self.time

    def monotonic_s(self):
        return self.passed_s

    def pass_s(self, seconds):
        """Less than none: somebody sets the clock back."""
        self.time += datetime.timedelta(seconds=seconds)
        self.passed_s += max(0.0, seconds)


@pytest.fixture
def hand_clock(monkeypatch):
    made = HandClock()
    monkeypatch.setattr(clock, "system_clock", made)
    return made
