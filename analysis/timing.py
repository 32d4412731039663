"""Whether a trial was shown as planned, derived from the frames that the browser recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Name and version of the rule; stored with every answer, so that a later rule never passes for this one.
TIMING_RULE = "timing-1"

_NEEDED = (
    "frames_target",
    "frames_shown",
    "n_long_frames",
    "visible_whole_trial",
    "focused_whole_trial",
    "decode_ok",
    "resized",
)


def timing_ok(record: Mapping[str, Any]) -> bool | None:
    """Rule timing-1: the stimulus stayed for the planned frames and nothing disturbed the trial.

    Parameters
    ----------
    record : mapping
        Timing columns of one trial (``analysis.tables.TIMING_COLUMNS``).

    Returns
    -------
    bool or None
        None when a column that the rule reads is missing: the timing is unknown, which is not the same as bad.

    Notes
    -----
    ``frames_shown == frames_target`` and no frame longer than 1.5 refresh intervals between stimulus onset and mask
    offset, page visible and focused throughout, pictures decoded beforehand, window not resized. This project's choice;
    the raw columns stay, so that an analyst can set another threshold.
    """
    if any(record.get(column) is None for column in _NEEDED):
        return None
    return bool(
        record["frames_shown"] == record["frames_target"]
        and record["n_long_frames"] == 0
        and record["visible_whole_trial"]
        and record["focused_whole_trial"]
        and record["decode_ok"]
        and not record["resized"]
    )
