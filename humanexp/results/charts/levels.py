"""Accuracy at the published levels of strength beside areas over visual change: which models change places."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.figures import Column, Table
from humanexp.results.charts import words
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.names import Findings

KEY = "levels"


def _choices(findings: Findings) -> list[Choice]:
    return [Choice(KEY, _("all models"))] if (findings.get("levels") or {}).get("models") else []


def _build(findings: Findings, key: str) -> Chart:
    found = findings["levels"]
    functions = ", ".join(name.replace("_", " ") for name in found.get("functions", ()))
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
                        one["classifier"],
                        one["fixed_accuracy"],
                        one["ranks"].get("fixed"),
                        one["area_accuracy"],
                        one["ranks"].get("accuracy"),
                        one["area_consistency"],
                        one["ranks"].get("consistency"),
                    )
                    for one in found["models"]
                ),
                (f"Means over {functions}." if functions else "",),
            ),
        ),
        definition=words.LEVELS,
    )


FAMILY = Family("levels", _choices, _build)
