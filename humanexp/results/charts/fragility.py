"""What each verdict on a model hangs on, and what single people would be called."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from analysis.figures import Column, Table
from analysis.figures.table import Cell
from analysis.findings.model import Findings, ModelVerdict
from humanexp.results.charts import chart_notes
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.observer_styles import readable

KEY = "fragility"
ALL = "all corruptions"


def _verdicts(findings: Findings) -> Iterator[tuple[str, str, ModelVerdict]]:
    """Model, corruption and verdict: over all corruptions first, then one by one."""
    for leader in findings.leaderboard:
        own = [
            (readable(one.corruption), one.verdict)
            for one in findings.comparisons
            if one.classifier == leader.classifier and one.verdict is not None
        ]
        if leader.verdict is not None and len(own) != 1:
            yield leader.classifier, ALL, leader.verdict
        if leader.verdict is not None:
            for corruption, verdict in own:
                yield leader.classifier, corruption, verdict


def _choices(findings: Findings) -> list[Choice]:
    return [Choice(KEY, _("all verdicts"))] if any(one.fragility for *_, one in _verdicts(findings)) else []


def _build(findings: Findings, key: str) -> Chart:
    rows = list(_verdicts(findings))
    told: dict[str, list[str]] = {}
    for _model, corruption, one in rows:
        if one.individuals and corruption not in told.setdefault(one.individuals.statement, []):
            told[one.individuals.statement].append(corruption)
    return Chart(
        key=key,
        title=_("How fragile is this?"),
        figure=None,
        tables=(
            Table(
                KEY,
                "The smallest set found whose removal gives another verdict",
                (
                    Column("model", "Model"),
                    Column("corruption", "Corruption"),
                    Column("verdict", "Against people"),
                    Column("sessions", "Sessions"),
                    Column("pictures", "Pictures"),
                    Column("categories", "Categories"),
                ),
                tuple(_row(*row) for row in rows),
                tuple(f"{'; '.join(where).capitalize()}: {statement}." for statement, where in told.items()),
            ),
        ),
        definition=chart_notes.FRAGILITY,
        caveats=chart_notes.FRAGILITY_CAVEATS,
    )


def _row(classifier: str, corruption: str, verdict: ModelVerdict) -> tuple[Cell, ...]:
    told = {one.unit: one.statement for one in verdict.fragility}
    return (
        classifier,
        corruption,
        verdict.word,
        *(told.get(unit, "") for unit in ("sessions", "pictures", "categories")),
    )


FAMILY = Family("fragility", _choices, _build)
