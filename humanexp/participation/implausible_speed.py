"""Which answers come faster than anybody can look and decide, as the message between two blocks understands it.

The time stays on the server, and differs from what the rules of the study ask: whoever learns to stay just above it has
not learned what a rule reads.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.study.rules import FastSettings, RuleSet

#: Of the answers of 90 published observers at most 0.2 % came sooner than 0.3 s (`analysis/rule_sets/vcr.toml`).
UNDER_MS = 340.0
#: How far the time moves away from that of a rule.
STEP_MS = 25.0

#: The message comes when so many answers, and this share of them, came too fast.
LEAST, SHARE = 8, 0.2


def asks_to_slow_down(*, fast: int, answered: int) -> bool:
    """Whether the page asks before the next block, after so many answers in time."""
    return fast >= max(LEAST, SHARE * answered)


def too_fast_ms(rule_set: Mapping[str, object]) -> float:
    """Answers sooner than this are implausibly fast; never the time of a rule of the study."""
    rules = RuleSet.from_dict(rule_set).settings_of(FastSettings) if rule_set else []
    taken = {float(settings.under_ms) for settings in rules}
    under_ms = UNDER_MS
    while any(abs(under_ms - other) < STEP_MS for other in taken):
        under_ms += STEP_MS
    return under_ms
