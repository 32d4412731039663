"""Pictures whose shape and texture disagree: which of them an observer names."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.claims.agreement import shape_bias_definitions
from analysis.figures import Column, Table
from analysis.figures.table import estimate
from analysis.findings.model import Findings
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.observer_styles import population_label

KEY = "shape-bias"


def _choices(findings: Findings) -> list[Choice]:
    return [Choice(KEY, _("all observers"))] if findings.shape_bias else []


def _build(findings: Findings, key: str) -> Chart:
    return Chart(
        key=key,
        title=_("Shape or texture?"),
        figure=None,
        tables=(
            Table(
                "shape-bias",
                "Shape bias",
                (
                    Column("observer", "Observer"),
                    Column("bias", "Shape bias", "estimate"),
                    Column("shape", "Shape", "count"),
                    Column("texture", "Texture", "count"),
                    Column("other", "Neither", "count"),
                ),
                tuple(
                    (
                        population_label(one.observer),
                        estimate(one.bias, one.interval if one.bias is not None else None),
                        one.shape,
                        one.texture,
                        one.other,
                    )
                    for one in findings.shape_bias
                ),
            ),
        ),
        definition=shape_bias_definitions(),
    )


FAMILY = Family("shape-bias", _choices, _build)
