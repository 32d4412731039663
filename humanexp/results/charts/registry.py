"""What can be charted. A new kind of chart is a `Family` in a module of this package and one line here."""

from __future__ import annotations

from dataclasses import replace

from analysis.findings.model.findings import Findings
from humanexp.core.errors import existing
from humanexp.results.charts import (
    agreement,
    answers,
    beyond_curves,
    curves,
    group_means,
    indices,
    levels,
    people,
    similarity,
    subsets,
)
from humanexp.results.charts.chart import Chart, ChartChoice, Family, with_curve_kind, with_viewing

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        curves.FAMILY,
        indices.LEADERBOARD,
        agreement.BENCHMARK,
        indices.FAMILY,
        beyond_curves.FRAGILITY,
        beyond_curves.DIFFICULTY,
        agreement.AGREEMENT,
        agreement.SOFT_AGREEMENT,
        levels.LEVELS,
        group_means.GROUP_MEANS,
        agreement.SHAPE_BIAS,
        similarity.SIMILARITY,
        similarity.DISCRIMINATION,
        answers.COVERAGE,
        answers.CONFUSION,
        subsets.GROUPS,
        subsets.FACTORS,
        answers.TIMES,
        people.PARTICIPANTS,
        beyond_curves.VALIDATION,
        beyond_curves.SENSITIVITY,
        people.RECRUITERS,
        people.PERSONS,
    )
}

#: Families whose figures or tables hold curves, their areas, HMRI or MRSI.
_OF_CURVES = frozenset({"curves", "indices", "leaderboard", "levels", "sensitivity", "who-answered"})


def choices_of(findings: Findings, family: str) -> list[ChartChoice]:
    return FAMILIES[family].choices(findings)


def family_of(findings: Findings, key: str) -> Family:
    """The family that has a chart of this key; keys that the findings do not have are refused."""
    owners = (one for one in FAMILIES.values() if any(choice.key == key for choice in one.choices(findings)))
    return existing(next(owners, None), f"This study has no figure called {key!r}.")


def chart_of(findings: Findings, key: str) -> Chart:
    family = family_of(findings, key)
    made = family.build(findings, key)
    if made.figure is not None:
        made = replace(made, figure=with_viewing(made.figure, findings))
    return with_curve_kind(made, findings) if family.name in _OF_CURVES else made
