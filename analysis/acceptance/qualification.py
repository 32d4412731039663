"""Qualification: clean pictures before anything else, in one or more tries. Any try that is passed is enough."""

from __future__ import annotations

import math
from collections.abc import Mapping

from analysis.acceptance.record import AnsweredTrial, SessionRecord
from analysis.acceptance.rules import Measured, kind
from analysis.spec.rules import QualificationSettings, RuleSet

#: Name of the kind in rule sets.
QUALIFICATION = "qualification"


@kind(QUALIFICATION)
def qualification(record: SessionRecord, settings: QualificationSettings) -> Measured:
    """The best try has at least m of K right; `pass_of` maps K to m."""
    rounds: dict[int, list[AnsweredTrial]] = {}
    for trial in record.with_role(QUALIFICATION):
        rounds.setdefault(trial.block, []).append(trial)
    if not rounds:
        return Measured(passed=None, value=0, threshold=0, trials=0)
    best = max(rounds.values(), key=lambda trials: sum(bool(trial.correct) for trial in trials))
    right = sum(bool(trial.correct) for trial in best)
    needed = needed_of(len(best), settings.pass_of)
    wrong = tuple(trial.position for trials in rounds.values() for trial in trials if not trial.correct)
    return Measured(passed=right >= needed, value=right, threshold=needed, trials=len(best), positions=wrong)


def needed_of(count: int, pass_of: Mapping[str, int]) -> int:
    """How many of so many must be right: the share of the nearest entry below, or of the smallest, rounded up."""
    table = {int(k): int(m) for k, m in pass_of.items()}
    nearest = max((k for k in table if k <= count), default=min(table))
    return math.ceil(count * table[nearest] / nearest)


def qualification_rule(rule_set: Mapping[str, object]) -> QualificationSettings | None:
    """Settings of the qualification gate of a stored rule set; None where there is none, or no rules at all."""
    return RuleSet.from_dict(rule_set).qualification if rule_set else None
