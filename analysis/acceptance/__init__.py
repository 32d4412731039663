"""Whether a session counts: ``judge(record, rules) -> Verdict``, pure, versioned, blind to the outcome."""

from __future__ import annotations

from analysis.acceptance.golds import GOLD_FLOOR, GOLD_MINIMUM, Gold, is_otherwise_accepted, tally_golds
from analysis.acceptance.qualification import needed_of, qualification_rule, tries_of
from analysis.acceptance.record import AnsweredTrial, SessionRecord
from analysis.acceptance.rule_sets import RULE_SETS, Rule, RuleSet, load_rule_set
from analysis.acceptance.verdict import RuleOutcome, Verdict, judge

__all__ = [
    "GOLD_FLOOR",
    "GOLD_MINIMUM",
    "RULE_SETS",
    "AnsweredTrial",
    "Gold",
    "Rule",
    "RuleOutcome",
    "RuleSet",
    "SessionRecord",
    "Verdict",
    "is_otherwise_accepted",
    "judge",
    "load_rule_set",
    "needed_of",
    "qualification_rule",
    "tries_of",
    "tally_golds",
]
