"""Can people tell two corruptions apart? The same/different and ABX trials, pair by pair."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.figures import Column, Table
from analysis.findings.model import Findings
from humanexp.results.charts import words
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.names import readable

KEY = "discrimination"
FORMS = {"same-different": "same/different", "abx": "ABX"}


def _choices(findings: Findings) -> list[Choice]:
    return [Choice(KEY, _("all pairs"))] if findings.discrimination else []


def _build(findings: Findings, key: str) -> Chart:
    entries = findings.discrimination
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
                        *map(readable, entry.pair),
                        FORMS[entry.form],
                        entry.trials,
                        entry.correct,
                        (entry.accuracy, *entry.interval),
                        entry.upper_bound,
                        entry.d_prime,
                        entry.p_adjusted,
                        entry.verdict,
                    )
                    for entry in entries
                ),
                (
                    f"Guessing gives 0.5; {100 * findings.level:g} % intervals. Equivalent: the one-sided bound lies "
                    f"below {0.5 + entries[0].margin:g}.",
                ),
            ),
        ),
        definition=words.DISCRIMINATION,
        caveats=words.DISCRIMINATION_CAVEATS,
    )


FAMILY = Family("discrimination", _choices, _build)
