"""What is answered instead: confusion matrices by population, corruption and range of visual change."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from analysis.figures import Column, Names, Table, matrix_figure
from analysis.findings.model import HUMANS, Confusion, Findings
from humanexp.results.charts import chart_notes
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.observer_styles import population_keys, population_label, readable


def _key(keys: Mapping[str, str], entry: Confusion) -> str:
    span = "all" if entry.low is None else f"{entry.low:.2f}-{entry.high:.2f}"
    return f"confusion--{keys[entry.population]}--{entry.corruption}--{span}"


def _label(entry: Confusion) -> str:
    span = "" if entry.low is None else f", Δv {entry.low:.2f} to {entry.high:.2f}"
    return readable(entry.corruption) + span


def _choices(findings: Findings) -> list[Choice]:
    entries = sorted(findings.confusion, key=lambda entry: entry.population != HUMANS)
    keys = population_keys(findings)
    return [Choice(_key(keys, one), _label(one), population_label(one.population)) for one in entries]


def _build(findings: Findings, key: str) -> Chart:
    keys = population_keys(findings)
    entry = next(one for one in findings.confusion if _key(keys, one) == key)
    rows, columns, counts = entry.categories, entry.responses, entry.counts
    shares = [[count / max(sum(row), 1) for count in row] for row in counts]
    title = f"Answers of {population_label(entry.population)}, {_label(entry)}"
    right = sum(row[columns.index(name)] for name, row in zip(rows, counts, strict=True) if name in columns)
    total = sum(map(sum, counts))
    notes = ["Cells: per cent of a row's answers."]
    if entry.favourite:
        share = 100 * entry.favourite.share
        notes.append(f"The favourite wrong answer is {entry.favourite.response}, {share:.1f} % of the wrong answers.")
    return Chart(
        key=key,
        title=_("What is answered instead"),
        figure=matrix_figure(
            Names(rows, "picture"),
            Names(columns, "answer"),
            shares,
            title=title,
            name="share",
            description=f"{title}: {right} of {total} answers lie on the diagonal.",
            largest=1.0,
            details=[
                [
                    f"{name} answered as {answer}: {count} of {sum(row)}"
                    for answer, count in zip(columns, row, strict=True)
                ]
                for name, row in zip(rows, counts, strict=True)
            ],
            notes=notes,
            texts=[[f"{100 * share:.0f}" if share >= 0.005 else "" for share in row] for row in shares],
        ),
        tables=(
            Table(
                "confusion",
                title,
                (Column("category", "Picture"), *(Column(answer, answer, "count") for answer in columns)),
                tuple((name, *row) for name, row in zip(rows, counts, strict=True)),
                ("Numbers of answers.",),
            ),
        ),
        definition=chart_notes.CONFUSION,
        caveats=chart_notes.CONFUSION_CAVEATS,
    )


FAMILY = Family("confusion", _choices, _build)
