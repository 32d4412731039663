"""Whether a session counts: ``judge(record, rules) -> Verdict``, pure, versioned, blind to the outcome."""

from __future__ import annotations

from analysis.acceptance.golds import Gold, Withdrawal, gold_slack, hard_golds, tally_golds, withdrawal_of
from analysis.acceptance.qualification import needed_of, qualification_rule
from analysis.acceptance.record import AnsweredTrial, SessionRecord
from analysis.acceptance.verdict import PRACTICE_NOT_PASSED, RuleOutcome, Verdict, judge
from analysis.spec.rules import RULE_SETS, Rule, RuleSet, load_rule_set, read_rule_set

__all__ = [
    "PRACTICE_NOT_PASSED",
    "RULE_SETS",
    "AnsweredTrial",
    "Gold",
    "Rule",
    "RuleOutcome",
    "RuleSet",
    "SessionRecord",
    "Verdict",
    "Withdrawal",
    "gold_slack",
    "hard_golds",
    "judge",
    "load_rule_set",
    "read_rule_set",
    "needed_of",
    "qualification_rule",
    "tally_golds",
    "withdrawal_of",
]
