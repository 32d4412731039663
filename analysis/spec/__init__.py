"""What a study is, in one place: protocol, design, rules, terms and analysis plan.

Files, forms, stored values, refusals, the documents and the API read these models and nothing else. A setting is one
line here: its type, limits and default, what it means, and whether the form has a field for it.
"""

from __future__ import annotations

from analysis.spec.analysis_plan import AnalysisPlan
from analysis.spec.base import Spec
from analysis.spec.design import DesignConfig, DiscriminationDesign
from analysis.spec.ending import Ending
from analysis.spec.link import Link
from analysis.spec.persons import PersonsDesign
from analysis.spec.protocol import PROTOCOLS, ProtocolConfig, load_protocol
from analysis.spec.rules import RULE_SETS, Rule, RuleSet, load_rule_set, read_rule_set
from analysis.spec.setup import SetUp
from analysis.spec.study import StudyConfiguration, digest_of
from analysis.spec.terms import Terms
from analysis.spec.validation import ValidationDesign

__all__ = [
    "PROTOCOLS",
    "RULE_SETS",
    "AnalysisPlan",
    "DesignConfig",
    "DiscriminationDesign",
    "Ending",
    "ProtocolConfig",
    "Link",
    "PersonsDesign",
    "Rule",
    "RuleSet",
    "SetUp",
    "Spec",
    "StudyConfiguration",
    "Terms",
    "ValidationDesign",
    "digest_of",
    "load_protocol",
    "load_rule_set",
    "read_rule_set",
]
