"""When batches of places are due, by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from analysis.campaigns import BatchTimes


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("times", "last", "due"),
    [
        (BatchTimes(every_hours=6), at(1, 22, 10), at(2, 4, 10)),
        (BatchTimes(every_hours=6, from_hour=8, until_hour=20), at(1, 8), at(1, 14)),
        # 20:00 is over, so the next morning
        (BatchTimes(every_hours=6, from_hour=8, until_hour=20), at(1, 14), at(2, 8)),
        # before the morning of the same day
        (BatchTimes(every_hours=12, from_hour=8, until_hour=20), at(1, 18, 30), at(2, 8)),
        # over midnight
        (BatchTimes(every_hours=3, from_hour=20, until_hour=4), at(1, 23), at(2, 2)),
        (BatchTimes(every_hours=3, from_hour=20, until_hour=4), at(2, 2), at(2, 20)),
        (BatchTimes(every_hours=168), at(1, 0), at(8, 0)),
    ],
)
def test_the_next_batch(times: BatchTimes, last: datetime, due: datetime) -> None:
    assert times.next_after(last) == due
