from __future__ import annotations

import pytest

from analysis.timing import timing_ok

GOOD = {
    "frames_target": 12,
    "frames_shown": 12,
    "n_long_frames": 0,
    "visible_whole_trial": True,
    "focused_whole_trial": True,
    "decode_ok": True,
    "resized": False,
}


def test_a_clean_record_is_good():
    assert timing_ok(GOOD) is True


@pytest.mark.parametrize(
    "fault",
    [
        {"frames_shown": 13},
        {"frames_shown": 11},
        {"n_long_frames": 1},
        {"visible_whole_trial": False},
        {"focused_whole_trial": False},
        {"decode_ok": False},
        {"resized": True},
    ],
)
def test_every_single_fault_is_bad(fault):
    assert timing_ok({**GOOD, **fault}) is False


@pytest.mark.parametrize("column", GOOD)
def test_a_missing_column_is_unknown_not_bad(column):
    assert timing_ok({**GOOD, column: None}) is None
    assert timing_ok({}) is None
