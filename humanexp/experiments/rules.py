"""Which rules a study judges by: a shipped set, or the lab's own, which a command has read from a file."""

from __future__ import annotations

from analysis.acceptance import RuleSet, load_rule_set
from analysis.spec.study import StudyConfiguration
from humanexp.experiments.models import Study


def rule_set_of(configuration: StudyConfiguration, *, keeps: Study | None = None) -> RuleSet:
    """The rules that the configuration names; no file is looked for.

    A study that was made with rules of the lab's own keeps them (`keeps`), and so do its next versions.

    Raises UnknownName for any other name, and for paths.
    """
    if keeps is not None and configuration.rules == keeps.configuration.get("rules"):
        return RuleSet.from_dict(keeps.rule_set)
    return load_rule_set(configuration.rules)
