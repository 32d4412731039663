"""How far a command is, on a terminal and in a log."""

from __future__ import annotations

import io

import pytest

from humanexp.core import commands
from humanexp.core.commands import ProgressLine


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(commands, "time", clock)
    return clock


def lines(clock: Clock, *steps: tuple[float, int, int]) -> list[str]:
    stream = io.StringIO()
    line = ProgressLine(stream)
    for seconds, done, total in steps:
        clock.now = 1000.0 + seconds
        line(done, total, "made")
    return stream.getvalue().splitlines()


def test_short_work_says_nothing_until_its_end(clock: Clock) -> None:
    assert lines(clock, (0.1, 1, 3), (0.2, 2, 3)) == []


def test_a_slow_beginning_promises_no_time(clock: Clock) -> None:
    told = lines(clock, (10, 1, 1000), *((10 + k, 1 + 4 * k, 1000) for k in range(1, 31)))
    assert told == ["1 of 1000 made", "121 of 1000 made, 4.0/s, 4 min left"]


def test_what_an_earlier_run_made_does_not_count_as_fast(clock: Clock) -> None:
    told = lines(clock, (0, 900, 1000), (60, 930, 1000), (90, 945, 1000))
    assert told[-1] == "945 of 1000 made, 0.5/s, 110 s left"


def test_slow_work_is_counted_by_the_minute(clock: Clock) -> None:
    assert lines(clock, (0, 0, 10), (30, 1, 10))[-1] == "1 of 10 made, 2.0/min, 4 min left"


def test_work_of_unknown_length_says_what_it_does(clock: Clock) -> None:
    assert lines(clock, (3, 0, 0)) == ["made"]
