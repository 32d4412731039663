"""Whether anybody could see and answer a trial, derived from what the browser reported.

A trial that nobody attended to says nothing about seeing. It is set aside: it enters no curve, no count and no
denominator of a rule. What was answered plays no part in the decision, and a missed answer alone is no reason.

Whether a trial was shown as planned, derived from the frames that the browser recorded.

A rule is a function of the timing columns of one trial, registered under its name and version. Stored answers keep the
name of the rule that judged them; the raw columns stay, so that an analyst can apply another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

#: Without any input from the first fixation until so long into the question, nobody was there.
ABSENT_AFTER_MS = 10_000


def is_set_aside(record: Mapping[str, Any]) -> bool:
    """Decide whether a trial with limited time counts.

    Parameters
    ----------
    record : mapping
        Timing columns of one trial (``tables.trials.TIMING_COLUMNS``). What a column does not say is no reason to
        set the trial aside.

    Returns
    -------
    bool
        True if the page lost focus or visibility during the trial, or if no input of any kind came from the first
        fixation until ``ABSENT_AFTER_MS`` into the question.

    Notes
    -----
    This project's choice; what it does to an area when honest people miss many trials is simulated by
    ``benchmarks/absence.py``.
    """
    if record.get("visible_whole_trial") is False or record.get("focused_whole_trial") is False:
        return True
    watched_ms, last_input_ms = record.get("input_watched_ms"), record.get("last_input_ms")
    if watched_ms is None or watched_ms < ABSENT_AFTER_MS:
        return False
    # Negative: the last input came before the trial.
    return last_input_ms is None or bool(last_input_ms < 0)


Record = Mapping[str, Any]

#: timing-2: how far the stimulus may depart from its plan, in refresh intervals. Half a frame, less what the page's
#: clock and the message that tells of a frame's taking are uncertain by.
TOLERANCE_FRAMES = 0.45
#: timing-2: a longer silence of the main thread makes the whole record doubtful, wherever in the trial it lay.
LONGEST_GAP_FRAMES = 3.5

_CIRCUMSTANCES = ("visible_whole_trial", "focused_whole_trial", "decode_ok", "resized")


def timing_1(record: Record) -> bool | None:
    """By timestamps alone: the planned frames, and no frame longer than 1.5 refresh intervals.

    Parameters
    ----------
    record : mapping
        Timing columns of one trial (``analysis.tables.trials.TIMING_COLUMNS``).

    Returns
    -------
    bool or None
        None when a column that the rule reads is missing: the timing is unknown, which is not the same as bad.

    Notes
    -----
    ``frames_shown == frames_target`` and no frame longer than 1.5 refresh intervals between stimulus onset and mask
    offset, page visible and focused throughout, pictures decoded beforehand, window not resized. The timestamps of
    animation frames do not show a callback that ran late, so this rule misses most of the trials whose stimulus a busy
    page held too long, and it refuses trials in which a frame was lost while nothing changed on the screen.
    """
    if _lacks(record, "frames_target", "frames_shown", "n_long_frames", *_CIRCUMSTANCES):
        return None
    return bool(
        record["frames_shown"] == record["frames_target"] and record["n_long_frames"] == 0 and _undisturbed(record)
    )


def timing_2(record: Record) -> bool | None:
    """By what the browser took: stimulus and blank within half a frame of their plan.

    Parameters
    ----------
    record : mapping
        Timing columns of one trial (``analysis.tables.trials.TIMING_COLUMNS``), measured by engine 2.0 or later.

    Returns
    -------
    bool or None
        None when a column that the rule reads is missing: the timing is unknown, which is not the same as bad.

    Notes
    -----
    With refresh interval ``T``: ``|dur_stim_taken_ms - frames_target T| <= 0.45 T``, and the same for the blank where
    the protocol has one; no step of a contrast ramp missed; no gap between animation frames over ``3.5 T`` from
    stimulus onset to mask offset; page visible and focused throughout, pictures decoded beforehand, window not resized.
    This project's choice; how well it tells trials that were off is measured by ``benchmarks/presentation.py``.
    """
    needed = ("t_refresh_median_ms", "frames_target", "dur_stim_taken_ms", "max_frame_gap_ms")
    if _lacks(record, *needed, *_CIRCUMSTANCES):
        return None
    refresh_ms = record["t_refresh_median_ms"]
    blank_frames = record.get("isi_frames_target") or 0
    if blank_frames and _lacks(record, "dur_isi_taken_ms"):
        return None

    def within(lasted_ms: float, frames: int) -> bool:
        return bool(abs(lasted_ms - frames * refresh_ms) <= TOLERANCE_FRAMES * refresh_ms)

    return bool(
        within(record["dur_stim_taken_ms"], record["frames_target"])
        and (not blank_frames or within(record["dur_isi_taken_ms"], blank_frames))
        and not record.get("n_ramp_steps_missed")
        and record["max_frame_gap_ms"] <= LONGEST_GAP_FRAMES * refresh_ms
        and _undisturbed(record)
    )


def _lacks(record: Record, *columns: str) -> bool:
    return any(record.get(column) is None for column in columns)


def _undisturbed(record: Record) -> bool:
    return bool(
        record["visible_whole_trial"]
        and record["focused_whole_trial"]
        and record["decode_ok"]
        and not record["resized"]
    )


#: Every rule by name and version; a new rule is a function and a line here.
TIMING_RULES: Mapping[str, Callable[[Record], bool | None]] = {"timing-1": timing_1, "timing-2": timing_2}

#: The rule that judges new answers; its name is stored with each of them.
TIMING_RULE = "timing-2"


def timing_ok(record: Record, rule: str = TIMING_RULE) -> bool | None:
    """Judge one trial by a rule of `TIMING_RULES`; None where the timing is unknown."""
    return TIMING_RULES[rule](record)
