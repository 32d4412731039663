from __future__ import annotations

import pytest

from analysis.timing.rules import TIMING_RULE, TIMING_RULES, timing_ok

T = 1000 / 60
GOOD = {
    "t_refresh_median_ms": T,
    "frames_target": 12,
    "frames_shown": 12,
    "dur_stim_taken_ms": 200.0,
    "n_long_frames": 0,
    "max_frame_gap_ms": T,
    "visible_whole_trial": True,
    "focused_whole_trial": True,
    "decode_ok": True,
    "resized": False,
}
CIRCUMSTANCES = [
    {"visible_whole_trial": False},
    {"focused_whole_trial": False},
    {"decode_ok": False},
    {"resized": True},
]


def judged(rule, **changes):
    return timing_ok({**GOOD, **changes}, rule)


@pytest.mark.parametrize("rule", TIMING_RULES)
def test_a_clean_record_is_good(rule):
    assert judged(rule) is True


@pytest.mark.parametrize("rule", TIMING_RULES)
@pytest.mark.parametrize("fault", CIRCUMSTANCES)
def test_every_single_disturbance_is_bad(rule, fault):
    assert judged(rule, **fault) is False


@pytest.mark.parametrize("fault", [{"frames_shown": 13}, {"frames_shown": 11}, {"n_long_frames": 1}])
def test_timing_1_reads_the_timestamps(fault):
    assert judged("timing-1", **fault) is False


@pytest.mark.parametrize(
    "column",
    ["frames_target", "visible_whole_trial", "focused_whole_trial", "decode_ok", "resized"],
)
@pytest.mark.parametrize("rule", TIMING_RULES)
def test_a_missing_column_is_unknown_not_bad(rule, column):
    assert judged(rule, **{column: None}) is None
    assert timing_ok({}, rule) is None


@pytest.mark.parametrize("column", ["t_refresh_median_ms", "dur_stim_taken_ms", "max_frame_gap_ms"])
def test_a_record_of_an_older_engine_is_unknown_to_timing_2(column):
    assert judged("timing-2", **{column: None}) is None
    assert judged("timing-1", **{column: None}) is True


# 0.45 of 16.67 ms is 7.5 ms.
@pytest.mark.parametrize(("taken_ms", "expected"), [(207.4, True), (207.6, False), (192.6, True), (192.4, False)])
def test_timing_2_allows_under_half_a_frame(taken_ms, expected):
    assert judged("timing-2", dur_stim_taken_ms=taken_ms) is expected


def test_timing_2_sees_a_late_callback_behind_faultless_timestamps():
    late = {"dur_stim_taken_ms": 213.0}
    assert judged("timing-1", **late) is True
    assert judged("timing-2", **late) is False


def test_a_frame_lost_while_nothing_changed_is_no_fault_to_timing_2():
    lost = {"n_long_frames": 1, "max_frame_gap_ms": 2 * T}
    assert judged("timing-1", **lost) is False
    assert judged("timing-2", **lost) is True


# 3.5 frames are 58.3 ms.
@pytest.mark.parametrize(("gap_ms", "expected"), [(58.0, True), (59.0, False)])
def test_a_long_silence_is_a_fault_wherever_it_lay(gap_ms, expected):
    assert judged("timing-2", max_frame_gap_ms=gap_ms) is expected


def test_a_missed_step_of_a_ramp_is_a_fault():
    assert judged("timing-2", n_ramp_steps_missed=0) is True
    assert judged("timing-2", n_ramp_steps_missed=1) is False


def test_a_blank_must_last_as_planned():
    blank = {"isi_frames_target": 1}
    assert judged("timing-2", **blank, dur_isi_taken_ms=T + 1) is True
    assert judged("timing-2", **blank, dur_isi_taken_ms=2 * T) is False
    assert judged("timing-2", **blank, dur_isi_taken_ms=None) is None


def test_the_tolerance_goes_with_the_screen():
    # 144 Hz: 29 frames are 201.4 ms, 0.45 frames are 3.1 ms.
    fast = {"t_refresh_median_ms": 1000 / 144, "frames_target": 29, "max_frame_gap_ms": 7.0}
    assert judged("timing-2", **fast, dur_stim_taken_ms=203.0) is True
    assert judged("timing-2", **fast, dur_stim_taken_ms=205.0) is False


def test_new_answers_are_judged_by_timing_2():
    assert TIMING_RULE == "timing-2"
    late = {**GOOD, "dur_stim_taken_ms": 213.0}
    assert timing_ok(late) is False
