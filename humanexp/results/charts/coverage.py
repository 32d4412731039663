"""Where people's answers lie: corruption by bin of visual change."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.figures import Column, Names, Table, matrix_figure
from analysis.findings.model import Curve, Findings
from humanexp.results.charts import chart_notes
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.curves import N_BINS
from humanexp.results.charts.observer_styles import readable

KEY = "coverage"
#: Below so many answers a bin is thin.
THIN = 20


def human_curves(findings: Findings) -> list[Curve]:
    return [curve for curve in findings.human_curves if curve.property == "accuracy" and curve.abscissa != "condition"]


def _counts(curve: Curve) -> list[int]:
    counts = [0] * N_BINS
    for one in curve.bins:
        counts[min(N_BINS - 1, int(one.v * N_BINS))] += one.n
    return counts


def _choices(findings: Findings) -> list[Choice]:
    return [Choice(KEY, _("people"))] if human_curves(findings) else []


def _build(findings: Findings, key: str) -> Chart:
    counts = {readable(curve.corruption): _counts(curve) for curve in human_curves(findings)}
    edges = [f"{number / N_BINS:.3f}" for number in range(N_BINS)]
    empty = sum(count == 0 for row in counts.values() for count in row)
    thin = sum(0 < count < THIN for row in counts.values() for count in row)
    figure = matrix_figure(
        Names(list(counts)),
        Names([f"{number / N_BINS:g}" for number in range(N_BINS)], "visual change Δv", range(0, N_BINS, 8)),
        [[count or None for count in row] for row in counts.values()],
        title="Answers in bins of visual change",
        name="answers",
        description=f"Answers by corruption and bin: {empty} bins are empty, {thin} hold fewer than {THIN}.",
        largest=float(max(max(row) for row in counts.values())),
        details=[
            [
                f"{name}, Δv {edge} to {(number + 1) / N_BINS:.3f}: {row[number]} answers"
                for number, edge in enumerate(edges)
            ]
            for name, row in counts.items()
        ],
        notes=(f"{N_BINS} bins; white: no answer; darker: more, up to {max(max(row) for row in counts.values())}.",),
    )
    return Chart(
        key=key,
        title=_("Where the answers lie"),
        figure=figure,
        tables=(
            Table(
                "coverage",
                "People's answers in bins of visual change",
                (
                    Column("corruption", "Corruption"),
                    Column("answers", "Answers", "count"),
                    Column("occupied", "Bins with answers", "count"),
                    Column("thin", f"Bins below {THIN}", "count"),
                    *(Column(f"n_{edge}", edge, "count") for edge in edges),
                ),
                tuple(
                    (name, sum(row), sum(map(bool, row)), sum(0 < count < THIN for count in row), *row)
                    for name, row in counts.items()
                ),
                (f"{N_BINS} bins; the number above a column is its lower edge.",),
            ),
        ),
        definition=chart_notes.COVERAGE,
        caveats=chart_notes.COVERAGE_CAVEATS,
    )


FAMILY = Family("coverage", _choices, _build)
