"""Whether a session counts: ``judge(record, rules) -> Verdict``, pure, versioned, blind to the outcome."""

from __future__ import annotations

from analysis.acceptance.golds import Gold, Withdrawal, gold_slack, hard_golds, tally_golds, withdrawal_of
from analysis.acceptance.qualification import needed_of, qualification_rule, tries_of
from analysis.acceptance.record import AnsweredTrial, SessionRecord
from analysis.acceptance.rule_sets import RULE_SETS, Rule, RuleSet, load_rule_set, read_rule_set
from analysis.acceptance.verdict import RuleOutcome, Verdict, judge

__all__ = [
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
    "tries_of",
    "withdrawal_of",
]
