"""Qualification: clean pictures before anything else, in one or more tries. Any try that is passed is enough."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from analysis.acceptance.record import AnsweredTrial, SessionRecord
from analysis.acceptance.rules import Measured, Settings, kind

#: Name of the kind in rule sets.
QUALIFICATION = "qualification"


@kind(QUALIFICATION, "pass_of", "tries")
def qualification(record: SessionRecord, settings: Settings) -> Measured:
    """The best try has at least m of K right; `pass_of` maps K to m."""
    rounds: dict[int, list[AnsweredTrial]] = {}
    for trial in record.with_role(QUALIFICATION):
        rounds.setdefault(trial.block, []).append(trial)
    if not rounds:
        return Measured(passed=None, value=0, threshold=0, trials=0)
    best = max(rounds.values(), key=lambda trials: sum(bool(trial.correct) for trial in trials))
    right = sum(bool(trial.correct) for trial in best)
    needed = needed_of(len(best), settings["pass_of"])
    wrong = tuple(trial.position for trials in rounds.values() for trial in trials if not trial.correct)
    return Measured(passed=right >= needed, value=right, threshold=needed, trials=len(best), positions=wrong)


def needed_of(count: int, pass_of: Mapping[Any, int]) -> int:
    """How many of so many must be right: the share of the nearest entry below, or of the smallest, rounded up."""
    table = {int(k): int(m) for k, m in pass_of.items()}
    nearest = max((k for k in table if k <= count), default=min(table))
    return math.ceil(count * table[nearest] / nearest)


def qualification_rule(rule_set: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Settings of the qualification gate in a rule set as `RuleSet.to_dict` gives it; None where it has none."""
    for rule in rule_set.get("rule", ()):
        if rule["kind"] == QUALIFICATION and rule["severity"] == "gate":
            settings: Mapping[str, Any] = rule["settings"]
            return settings
    return None


def tries_of(rule_set: Mapping[str, Any]) -> int:
    """Tries that a rule set grants; one where it says nothing."""
    settings = qualification_rule(rule_set)
    return 1 if settings is None else int(settings["tries"])
