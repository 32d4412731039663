from __future__ import annotations

import datetime

import pytest

from humanexp.core import clock
from tests.clocks import HandClock


@pytest.fixture(autouse=True)
def without_guards(unhurried, open_gates):
    """Nearly every test answers trials at once or opens a campaign; `test_pace` puts the pace back."""


@pytest.fixture
def hand_clock(monkeypatch):
    made = HandClock(datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC))
    monkeypatch.setattr(clock, "system_clock", made)
    return made
