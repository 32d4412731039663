"""Models over people's own accuracy: human difficulty as the abscissa."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.claims.difficulty import note
from analysis.figures import Column, PlottedDifficulty, Table, difficulty_figure
from analysis.findings.model import HUMANS, Findings
from humanexp.results.charts import chart_notes
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.observer_styles import observers_of

KEY = "difficulty"


def _choices(findings: Findings) -> list[Choice]:
    return [Choice(KEY, _("all models"))] if any(one.shown for one in findings.difficulty) else []


def _build(findings: Findings, key: str) -> Chart:
    shown = [one for one in findings.difficulty if one.shown]
    observers = observers_of(findings)
    title = "Accuracy over human difficulty"
    return Chart(
        key=key,
        title=_("How hard is it for people?"),
        figure=difficulty_figure(
            [
                (
                    observers[name],
                    [
                        PlottedDifficulty(people=one.people, difference=one.difference, interval=one.interval, n=one.n)
                        for one in shown
                        if one.classifier == name
                    ],
                )
                for name in dict.fromkeys(one.classifier for one in shown)
            ],
            people=observers[HUMANS],
            title=title,
            notes=(note(),),
        ),
        tables=(
            Table(
                KEY,
                title,
                (
                    Column("model", "Model"),
                    Column("placed_from", "Others right from", "number", 1),
                    Column("placed_to", "to", "number", 1),
                    Column("people", "People’s accuracy", "number"),
                    Column("accuracy", "Model’s accuracy", "number"),
                    Column("difference", "Difference", "estimate"),
                    Column("answers", "Answers", "count"),
                    Column("participants", "People", "count"),
                    Column("originals", "Originals", "count"),
                ),
                tuple(
                    (
                        one.classifier,
                        *one.placed,
                        one.people,
                        one.accuracy,
                        (one.difference, *one.interval),
                        one.n,
                        one.participants,
                        one.originals,
                    )
                    for one in shown
                ),
                (f"{100 * findings.level:g} % intervals, each for itself.",),
            ),
        ),
        definition=chart_notes.DIFFICULTY,
        caveats=chart_notes.DIFFICULTY_CAVEATS,
    )


FAMILY = Family(KEY, _choices, _build)
