"""Response times against visual change."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.figures import Column, Observer, Table, TimeBin, times_figure
from humanexp.results.charts import words
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.names import HUMANS, PEOPLE, Entry, Findings, axis_label, readable


def _entries(findings: Findings) -> list[Entry]:
    return [entry for entry in findings.get("response_times", ()) if entry["population"] == HUMANS and entry["bins"]]


def _choices(findings: Findings) -> list[Choice]:
    return [Choice(f"times--{_where(entry)}", _label(entry)) for entry in _entries(findings)]


def _where(entry: Entry) -> str:
    return entry.get("corruption") or "all"


def _label(entry: Entry) -> str:
    return readable(entry["corruption"]) if entry.get("corruption") else "all corruptions"


def _build(findings: Findings, key: str) -> Chart:
    entry = next(one for one in _entries(findings) if f"times--{_where(one)}" == key)
    names = ("v", "n", "median_ms", "lower_ms", "upper_ms")
    bins = [TimeBin(**{name: one[name] for name in names}) for one in entry["bins"]]
    title = f"Response time, {_label(entry)}"
    return Chart(
        key=key,
        title=_("How long answers take"),
        figure=times_figure(
            [(Observer(PEOPLE, "human"), bins)], title=title, x_label=axis_label(findings, entry["corruption"])
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
        definition=words.TIMES,
        caveats=words.TIMES_CAVEATS,
    )


FAMILY = Family("times", _choices, _build)
