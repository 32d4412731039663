"""Whether anybody could see and answer a trial, derived from what the browser reported.

A trial that nobody attended to says nothing about seeing. It is set aside: it enters no curve, no count and no
denominator of a rule. What was answered plays no part in the decision, and a missed answer alone is no reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Without any input from the first fixation until so long into the question, nobody was there.
ABSENT_AFTER_MS = 10_000


def is_set_aside(record: Mapping[str, Any]) -> bool:
    """Decide whether a trial with limited time counts.

    Parameters
    ----------
    record : mapping
        Timing columns of one trial (``analysis.tables.TIMING_COLUMNS``). What a column does not say is no reason to
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
