from __future__ import annotations

import json

import numpy as np
import pytest

from analysis.errors import InvalidInput
from analysis.timing.certificate import EDGES, certify
from analysis.timing.figure import timing_to_file

T = 20.0  # 50 Hz: 200 ms are ten frames


def trial(taken_ms, *, participant="P-A", timestamps_ms=200.0, **changes):
    return {
        "participant": participant,
        "t_refresh_median_ms": T,
        "frames_target": 10,
        "frames_shown": round(timestamps_ms / T),
        "dur_stim_ms": timestamps_ms,
        "dur_stim_taken_ms": taken_ms,
        "max_frame_gap_ms": T,
        "n_long_frames": 0,
        "lag_stim_on_ms": 1.0,
        "lag_stim_off_ms": 2.0,
        "n_onset_waits": 0,
        "visible_whole_trial": True,
        "focused_whole_trial": True,
        "decode_ok": True,
        "resized": False,
        "dpr": 1.5,
        "fullscreen": True,
        "engine_version": "2.0",
        **changes,
    }


# Departures in frames: 0, +0.25, -0.5, +1, and one trial without a record.
FIVE = [
    trial(200.0),
    trial(205.0, lag_stim_off_ms=7.0),
    trial(190.0, participant="P-B", fullscreen=False),
    trial(220.0, participant="P-B", timestamps_ms=220.0, n_long_frames=2, n_onset_waits=3),
    {"participant": "P-B"},
]


def test_counts_by_hand():
    summary = certify(FIVE).all
    assert (summary.trials, summary.recorded) == (5, 4)
    # Half a frame is still within; the rule, with 0.45 frames, is stricter.
    assert summary.within_half_frame == 3 / 4
    assert summary.within_half_frame_by_timestamps == 3 / 4
    assert (summary.ok, summary.not_ok, summary.unknown) == (2, 2, 1)
    assert summary.ok_share == 1 / 2
    assert (summary.long_frames, summary.trials_with_long_frames, summary.onset_waits) == (2, 1, 3)
    assert summary.refresh_hz == {"50": 4}
    assert summary.pixel_ratios == {"1.5": 4}
    assert summary.engines == {"2.0": 4}
    assert summary.fullscreen == 3 / 4


def test_percentiles_are_those_of_the_departures():
    summary = certify(FIVE).all
    # -10, 0, 5, 20 ms
    assert summary.departure_ms["p50"] == pytest.approx(2.5)
    assert summary.departure_frames["p50"] == pytest.approx(0.125)
    assert summary.departure_ms["p95"] == pytest.approx(np.percentile([-10, 0, 5, 20], 95))
    # The larger lag of onset and offset: 2, 7, 2, 2 ms
    assert summary.lag_ms["p50"] == pytest.approx(2.0)
    assert summary.lag_ms["p99"] == pytest.approx(np.percentile([2, 2, 2, 7], 99))


def test_every_recorded_trial_stands_in_the_histogram():
    summary = certify([*FIVE, trial(1000.0), trial(20.0)]).all
    by_edge = dict(zip(EDGES, summary.histogram, strict=False))
    assert sum(summary.histogram) == summary.recorded == 6
    assert (by_edge[-0.5], by_edge[0.0], by_edge[0.25], by_edge[1.0]) == (1, 1, 1, 1)
    assert summary.histogram[0] == 1 and summary.histogram[-1] == 1, "what lies beyond is counted in the outer bins"


def test_participants_by_code():
    certificate = certify(FIVE)
    assert list(certificate.participants) == ["P-A", "P-B"]
    assert certificate.participants["P-A"].ok == 2
    assert certificate.participants["P-B"].within_half_frame == 1 / 2
    assert certificate.participants["P-B"].unknown == 1


def test_another_rule_may_be_asked():
    late = [trial(213.0)]
    assert certify(late).all.not_ok == 1
    assert certify(late, rule="timing-1").all.ok == 1


def test_older_engines_are_summed_up_by_timestamps():
    old = [trial(None, timestamps_ms=220.0, engine_version="1.0"), trial(None, engine_version="1.0")]
    summary = certify(old).all
    assert summary.recorded == 2 and summary.within_half_frame == 1 / 2
    assert summary.unknown == 2, "timing-2 cannot judge them"


@pytest.mark.parametrize(
    ("refresh_ms", "rate"), [(16.7, "60"), (16.68, "60"), (13.33, "75"), (6.94, "144"), (6.06, "165"), (25.0, "40")]
)
def test_screens_are_named_after_the_usual_rates(refresh_ms, rate):
    assert certify([trial(200.0, t_refresh_median_ms=refresh_ms)]).all.refresh_hz == {rate: 1}


@pytest.mark.parametrize("records", [[], [{"participant": "P-A"}]])
def test_without_records_shares_are_unknown_not_zero(records):
    summary = certify(records).all
    assert summary.within_half_frame is None and summary.fullscreen is None and summary.ok_share is None
    assert summary.departure_ms == {} and sum(summary.histogram) == 0


def test_the_certificate_is_json():
    told = json.loads(json.dumps(certify(FIVE).to_json(), allow_nan=False))
    assert told["all"]["ok_share"] == 0.5
    assert len(told["histogram_edges_frames"]) == len(told["all"]["histogram"]) + 1
    assert set(told["participants"]) == {"P-A", "P-B"}


def test_the_picture_says_the_share(tmp_path):
    path = timing_to_file(certify(FIVE), tmp_path / "timing.svg", title="Pictures")
    drawn = path.read_text()
    assert "4 presentations, 75.00 % within half a frame" in drawn and "each of 2 participants" in drawn
    again = timing_to_file(certify(FIVE), tmp_path / "again.svg", title="Pictures")
    assert again.read_bytes() == path.read_bytes()


def test_nothing_is_drawn_without_records(tmp_path):
    with pytest.raises(InvalidInput, match="No trial"):
        timing_to_file(certify([]), tmp_path / "timing.svg", title="Pictures")
    with pytest.raises(InvalidInput, match=r"\.svg"):
        timing_to_file(certify(FIVE), tmp_path / "timing.gif", title="Pictures")
