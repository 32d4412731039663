"""How fast a session can go at most, and which answers come faster than anybody can look and decide.

The time stays on the server, and differs from what the rules of the study ask: whoever learns to stay just above it has
not learned what a rule reads.

The rule is kept block by block: from the moment at which a block's pictures could first be fetched (the last answer of
the block before, or the opening of the session) to the arrival of any of its answers, at least the time has passed that
the pictures of all its trials up to that one take. Answers that waited for the network arrive in a burst and are
accepted; answers that nobody can have given yet are not.

Both moments come from the machine's clock, which may be set. Forward, a block is paced less; back, which is noticed by
a session that was seen later than now, its block is timed anew, so that nobody waits for the clock.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.study.protocol import ProtocolConfig
from analysis.study.rules import FastSettings, RuleSet
from humanexp.studies.tasks.base import Task

#: Of the answers of 90 published observers at most 0.2 % came sooner than 0.3 s (`analysis/rule_sets/vcr.toml`).
UNDER_MS = 340.0
#: How far the time moves away from that of a rule.
STEP_MS = 25.0

#: The message comes when so many answers, and this share of them, came too fast.
LEAST, IMPLAUSIBLE_SHARE = 8, 0.2


def asks_to_slow_down(*, fast: int, answered: int) -> bool:
    """Whether the page asks before the next block, after so many answers in time."""
    return fast >= max(LEAST, IMPLAUSIBLE_SHARE * answered)


def too_fast_ms(rule_set: Mapping[str, object]) -> float:
    """Answers sooner than this are implausibly fast; never the time of a rule of the study."""
    rules = RuleSet.from_dict(rule_set).settings_of(FastSettings) if rule_set else []
    taken = {float(settings.under_ms) for settings in rules}
    under_ms = UNDER_MS
    while any(abs(under_ms - other) < STEP_MS for other in taken):
        under_ms += STEP_MS
    return under_ms


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
