"""The decision itself."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from analysis.acceptance.record import SessionRecord
from analysis.acceptance.rules import FUNCTIONS
from analysis.spec.rules import RuleSet, Severity

#: The reason of a session that ended with practice whose criterion was not met. It is no rule's: there is nothing to
#: judge.
PRACTICE_NOT_PASSED = "practice not passed"


@dataclass(frozen=True, kw_only=True)
class RuleOutcome:
    """What one rule found in one session; `passed` is None when there were too few trials to judge by."""

    kind: str
    severity: Severity
    reason: str
    passed: bool | None
    value: float
    threshold: float
    trials: int
    positions: tuple[int, ...]
    #: of the person, whose trials were read together
    sessions: int = 1

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `sessions` is there where they are several."""
        values = {**dataclasses.asdict(self), "positions": list(self.positions)}
        return values if self.sessions > 1 else {name: value for name, value in values.items() if name != "sessions"}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a session counts, and why.

    Parameters
    ----------
    accepted : bool
        No gate failed.
    reasons : tuple of str
        Reasons of the gates that failed, in the order of the rules.
    flags : tuple of str
        Reasons of the flags that were raised.
    evidence : tuple of RuleOutcome
        One for every rule.
    rule_set, rule_version : str
    """

    accepted: bool
    reasons: tuple[str, ...]
    flags: tuple[str, ...]
    evidence: tuple[RuleOutcome, ...]
    rule_set: str
    rule_version: str


def judge(record: SessionRecord, rules: RuleSet) -> Verdict:
    """Judge one session.

    Parameters
    ----------
    record : SessionRecord
        Its answers, in any order; what no rule may read has been removed from it on construction.
    rules : RuleSet

    Returns
    -------
    Verdict
        A function of its arguments alone. Payment is decided elsewhere and never by a rule.
    """
    evidence = []
    for rule in rules.rules:
        measured = FUNCTIONS[rule.kind](record, rule.settings)
        evidence.append(
            RuleOutcome(
                kind=rule.kind,
                severity=rule.severity,
                reason=rule.reason,
                passed=measured.passed,
                value=float(measured.value),
                threshold=float(measured.threshold),
                trials=measured.trials,
                positions=measured.positions,
                sessions=measured.sessions,
            )
        )
    failed = [outcome for outcome in evidence if outcome.passed is False]
    reasons = tuple(dict.fromkeys(outcome.reason for outcome in failed if outcome.severity == "gate"))
    flags = tuple(dict.fromkeys(outcome.reason for outcome in failed if outcome.severity == "flag"))
    return Verdict(
        accepted=not reasons,
        reasons=reasons,
        flags=flags,
        evidence=tuple(evidence),
        rule_set=rules.name,
        rule_version=rules.version,
    )
