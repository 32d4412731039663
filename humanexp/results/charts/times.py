"""Response times against visual change."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.figures import Column, Observer, Table, TimeBin, times_figure
from analysis.findings.model import HUMANS, Findings, ResponseTimes
from humanexp.results.charts import chart_notes
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.observer_styles import PEOPLE, axis_label, readable


def _entries(findings: Findings) -> list[ResponseTimes]:
    return [entry for entry in findings.response_times if entry.population == HUMANS and entry.bins]


def _choices(findings: Findings) -> list[Choice]:
    return [Choice(f"times--{entry.corruption}", readable(entry.corruption)) for entry in _entries(findings)]


def _build(findings: Findings, key: str) -> Chart:
    entry = next(one for one in _entries(findings) if f"times--{one.corruption}" == key)
    bins = [
        TimeBin(v=one.v, n=one.n, median_ms=one.median_ms, lower_ms=one.lower_ms, upper_ms=one.upper_ms)
        for one in entry.bins
    ]
    title = f"Response time, {readable(entry.corruption)}"
    return Chart(
        key=key,
        title=_("How long answers take"),
        figure=times_figure(
            [(Observer(PEOPLE, "human"), bins)], title=title, x_label=axis_label(findings, entry.corruption)
        ),
        tables=(
            Table(
                "times",
                title,
                (
                    Column("visual_change", "Δv", "number"),
                    Column("n", "Answers", "count"),
                    Column("median_ms", "Median, ms", "number", 0),
                    Column("quartile_1_ms", "Lower quartile, ms", "number", 0),
                    Column("quartile_3_ms", "Upper quartile, ms", "number", 0),
                ),
                tuple((one.v, one.n, one.median_ms, one.lower_ms, one.upper_ms) for one in bins),
            ),
        ),
        definition=chart_notes.TIMES,
        caveats=chart_notes.TIMES_CAVEATS,
    )


FAMILY = Family("times", _choices, _build)
