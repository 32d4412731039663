"""The tables of the study file's description, from the specification itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from analysis.study.analysis_plan import AnalysisPlan
from analysis.study.base import expected, model_in
from analysis.study.design import DesignConfig, DiscriminationDesign
from analysis.study.ethics import Ethics
from analysis.study.link import Link
from analysis.study.persons import PersonsDesign
from analysis.study.protocol import ProtocolConfig
from analysis.study.rules import KINDS, Rule, RuleSet, SentinelSettings
from analysis.study.setup import Ending, SetUp
from analysis.study.study import StudyConfiguration
from analysis.study.terms import Terms
from analysis.study.validation import Judging, ValidationDesign, Wording

#: What a description may ask for, as ``<!-- settings: design -->``.
TABLES: Mapping[str, type[BaseModel]] = {
    "study": StudyConfiguration,
    "protocol": ProtocolConfig,
    "design": DesignConfig,
    "design.discrimination": DiscriminationDesign,
    "design.validation": ValidationDesign,
    "design.persons": PersonsDesign,
    "ethics": Ethics,
    "setup": SetUp,
    "recruitment": Terms,
    "recruitment.link": Link,
    "ending": Ending,
    "analysis": AnalysisPlan,
    "judging": Judging,
    "wanted": Wording,
    "rule set": RuleSet,
    "rule": Rule,
    "sentinels": SentinelSettings,
}
_TABLE = re.compile(r"(<!-- settings: ([a-z. ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_KINDS = re.compile(r"(<!-- kinds of rules -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(text: str) -> str:
    """The description with every table as the specification has it now."""
    text = _TABLE.sub(lambda found: f"{found[1]}{settings_table(TABLES[found[2]])}{found[3]}", text)
    return _KINDS.sub(lambda found: f"{found[1]}{', '.join(f'`{kind}`' for kind in KINDS)}\n{found[2]}", text)


def settings_table(kind: type[BaseModel]) -> str:
    """One line a setting: its name, its default, what it means."""
    rows = [
        f"| {_name(info.alias or name, info)} | {expected(info)} | {_default(info)} | {info.description} |\n"
        for name, info in kind.model_fields.items()
    ]
    return "".join(["| setting | takes | default | meaning |\n| --- | --- | --- | --- |\n", *rows])


def _name(name: str, info: FieldInfo) -> str:
    return f"`{name}`" if model_in(info.annotation) is None else f"`[{name}]`"


def _default(info: FieldInfo) -> str:
    value = info.default
    if isinstance(value, ProtocolConfig):
        return f"`{value.name}`"
    if info.is_required() or not isinstance(value, bool | int | float | str) or value == "":
        return ""
    return f"`{value}`" if isinstance(value, str) else str(value).lower()
