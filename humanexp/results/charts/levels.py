"""Accuracy at the published levels of strength beside areas over visual change: which models change places."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.figures import Column, Table
from analysis.findings.model import Findings
from humanexp.results.charts import chart_notes
from humanexp.results.charts.chart import Chart, Choice, Family

KEY = "levels"


def _choices(findings: Findings) -> list[Choice]:
    return [Choice(KEY, _("all models"))] if findings.levels and findings.levels.models else []


def _build(findings: Findings, key: str) -> Chart:
    functions = ", ".join(name.replace("_", " ") for name in findings.levels.functions) if findings.levels else ""
    return Chart(
        key=key,
        title=_("Fixed levels against the whole range"),
        figure=None,
        tables=(
            Table(
                "levels",
                "Accuracy at fixed levels and areas over visual change",
                (
                    Column("model", "Model"),
                    Column("fixed_accuracy", "Accuracy at levels", "number"),
                    Column("rank_fixed", "Rank", "count"),
                    Column("area_accuracy", "R̂ accuracy", "number"),
                    Column("rank_accuracy", "Rank", "count"),
                    Column("area_consistency", "R̂ consistency", "number"),
                    Column("rank_consistency", "Rank", "count"),
                ),
                tuple(
                    (
                        one.classifier,
                        one.fixed_accuracy,
                        one.ranks.fixed,
                        one.area_accuracy,
                        one.ranks.accuracy,
                        one.area_consistency,
                        one.ranks.consistency,
                    )
                    for one in (findings.levels.models if findings.levels else ())
                ),
                (f"Means over {functions}." if functions else "",),
            ),
        ),
        definition=chart_notes.LEVELS,
    )


FAMILY = Family("levels", _choices, _build)
