"""Sessions that were answered to their end, for rules to judge."""

from __future__ import annotations

from tests.factories import Tab, new_session

TIMING = {
    "t_refresh_median_ms": 16.67,
    "max_frame_gap_ms": 16.7,
    "dur_stim_taken_ms": 200.1,
    "frames_target": 12,
    "frames_shown": 12,
    "n_long_frames": 0,
    "visible_whole_trial": True,
    "focused_whole_trial": True,
    "decode_ok": True,
    "resized": False,
}


def finished(client, study, code, answer=None):
    """A session answered to its end: rightly, or as `answer(trial)` says."""
    session = new_session(study, code)
    tab = Tab(client, session, f"tab-{code:>08}".replace(" ", "0"))
    tab.take_lease()
    for trial in session.trials.all():
        response = answer(trial) if answer else trial.correct_response
        assert tab.answer(trial.position, response, timing=TIMING).status_code == 201
    assert tab.post("complete/", {}).status_code == 200
    session.refresh_from_db()
    return session


def always_dog(trial):
    return "dog"
