"""Can people tell two corruptions apart? The same/different and ABX trials, pair by pair."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.figures import Column, Table
from humanexp.results.charts import words
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.names import Findings, readable

KEY = "discrimination"
FORMS = {"same-different": "same/different", "abx": "ABX"}


def _choices(findings: Findings) -> list[Choice]:
    return [Choice(KEY, _("all pairs"))] if findings.get("discrimination") else []


def _build(findings: Findings, key: str) -> Chart:
    entries = findings["discrimination"]
    level = (findings.get("settings") or {}).get("level", 0.95)
    margin = entries[0]["margin"]
    return Chart(
        key=key,
        title=_("Can people tell the corruptions apart?"),
        figure=None,
        tables=(
            Table(
                "discrimination",
                "Pairs of corruptions told apart",
                (
                    Column("first", "First"),
                    Column("second", "Second"),
                    Column("form", "Form"),
                    Column("trials", "Trials", "count"),
                    Column("correct", "Right", "count"),
                    Column("accuracy", "Share right", "estimate"),
                    Column("upper_bound", "One-sided bound", "number"),
                    Column("d_prime", "d′", "number", 2),
                    Column("p_holm", "p (Holm)", "p"),
                    Column("verdict", "Verdict"),
                ),
                tuple(
                    (
                        *map(readable, entry["pair"]),
                        FORMS[entry.get("form", "same-different")],
                        entry["trials"],
                        entry["correct"],
                        (entry["accuracy"], *entry["interval"]),
                        entry.get("upper_bound"),
                        entry["d_prime"],
                        entry.get("p_adjusted"),
                        entry["verdict"],
                    )
                    for entry in entries
                ),
                (
                    f"Guessing gives 0.5; {100 * level:g} % intervals. Equivalent: the one-sided bound lies below "
                    f"{0.5 + margin:g}.",
                ),
            ),
        ),
        definition=words.DISCRIMINATION,
        caveats=words.DISCRIMINATION_CAVEATS,
    )


FAMILY = Family("discrimination", _choices, _build)
