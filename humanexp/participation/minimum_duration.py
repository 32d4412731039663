"""How fast a session can go at most: no faster than its pictures are shown.

The rule is kept block by block: from the moment at which a block's pictures could first be fetched (the last answer of
the block before, or the opening of the session) to the arrival of any of its answers, at least the time has passed that
the pictures of all its trials up to that one take. Answers that waited for the network arrive in a burst and are
accepted; answers that nobody can have given yet are not.

Both moments come from the machine's clock, which may be set. Forward, a block is paced less; back, which is noticed by
a session that was seen later than now, its block is timed anew, so that nobody waits for the clock.
"""

from __future__ import annotations

from analysis.study.protocol import ProtocolConfig
from humanexp.studies.tasks import Task

#: Phases are whole frames, up to half a frame shorter than the protocol says; clocks of two machines differ a little.
SHARE = 0.9


def least_s(task: Task, protocol: ProtocolConfig | None) -> float:
    """Seconds that the phases of one trial take."""
    if protocol is None or not task.is_timed:
        return 0.0
    shown_ms = task.showings * (protocol.fixation_ms + protocol.stimulus_ms + protocol.mask_ms)
    if protocol.fixed_response_window:
        shown_ms += protocol.response_ms
    return shown_ms / 1000
