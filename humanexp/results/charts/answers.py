"""People's answers: where they lie, what was answered instead, and how long they took."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.figures.performance import times_figure
from analysis.figures.rows import Names, matrix_figure
from analysis.figures.table import Column, Table
from analysis.figures.value import Figure, Observer
from analysis.findings.model.agreement import Confusion, ResponseTimes
from analysis.findings.model.curves import Curve
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.findings import Findings
from analysis.labels.space import NONE_OF_THESE
from humanexp.results.charts.chart import (
    PEOPLE,
    Chart,
    ChartChoice,
    Family,
    axis_label,
    only_chart,
    population_keys,
    population_label,
    readable,
)
from humanexp.results.charts.curves import N_BINS

#: Below so many answers a bin is thin.
THIN = 20


def human_curves(findings: Findings) -> list[Curve]:
    return [curve for curve in findings.human_curves if curve.property == "accuracy" and curve.abscissa != "condition"]


def _counts(curve: Curve, n_bins: int) -> list[int]:
    counts = [0] * n_bins
    for one in curve.bins:
        counts[min(n_bins - 1, int(one.v * n_bins))] += one.n
    return counts


def _build_coverage(findings: Findings, key: str) -> Chart:
    n_bins = N_BINS[findings.curve_kind]
    counts = {readable(curve.corruption): _counts(curve, n_bins) for curve in human_curves(findings)}
    edges = [f"{number / n_bins:.3f}" for number in range(n_bins)]
    empty = sum(count == 0 for row in counts.values() for count in row)
    thin = sum(0 < count < THIN for row in counts.values() for count in row)
    figure = matrix_figure(
        Names(list(counts)),
        Names([f"{number / n_bins:g}" for number in range(n_bins)], "visual change Δv", range(0, n_bins, 8)),
        [[count or None for count in row] for row in counts.values()],
        title="Answers in bins of visual change",
        name="answers",
        description=f"Answers by corruption and bin: {empty} bins are empty, {thin} hold fewer than {THIN}.",
        largest=float(max(max(row) for row in counts.values())),
        details=[
            [
                f"{name}, Δv {edge} to {(number + 1) / n_bins:.3f}: {row[number]} answers"
                for number, edge in enumerate(edges)
            ]
            for name, row in counts.items()
        ],
        notes=(f"{n_bins} bins; white: no answer; darker: more, up to {max(max(row) for row in counts.values())}.",),
    )
    return Chart(
        key=key,
        title="Where the answers lie",
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
                (f"{n_bins} bins; the number above a column is its lower edge.",),
            ),
        ),
        definition=(f"People's answers that enter the curves, in {n_bins} bins of visual change; darker = more.",),
        caveats=(
            "White bins hold no answer: there the curve is a guess of the spline. Bins below 20 answers are thin.",
            "The top bins of weak corruptions hold only pictures that they change much.",
        ),
    )


COVERAGE = only_chart("coverage", "people", human_curves, _build_coverage)


def _key(keys: Mapping[str, str], entry: Confusion) -> str:
    span = "all" if entry.low is None else f"{entry.low:.2f}-{entry.high:.2f}"
    return f"confusion--{keys[entry.population]}--{entry.corruption}--{span}"


def _label(entry: Confusion) -> str:
    span = "" if entry.low is None else f", Δv {entry.low:.2f} to {entry.high:.2f}"
    return readable(entry.corruption) + span


def _choices_confusion(findings: Findings) -> list[ChartChoice]:
    entries = sorted(findings.confusion, key=lambda entry: entry.population != HUMANS)
    keys = population_keys(findings)
    return [ChartChoice(_key(keys, one), _label(one), population_label(one.population)) for one in entries]


def _build_confusion(findings: Findings, key: str) -> Chart:
    keys = population_keys(findings)
    entry = next(one for one in findings.confusion if _key(keys, one) == key)
    rows, columns, counts = entry.categories, entry.responses, entry.counts
    title = f"Answers of {population_label(entry.population)}, {_label(entry)}"
    return Chart(
        key=key,
        title="What is answered instead",
        figure=confusion_figure(entry, title=title),
        tables=(
            Table(
                "confusion",
                title,
                (Column("category", "Picture"), *(Column(answer, answer, "count") for answer in columns)),
                tuple((name, *row) for name, row in zip(rows, counts, strict=True)),
                ("Numbers of answers.",),
            ),
        ),
        definition=(
            "Rows: what the picture showed. Columns: what was answered. Cells: per cent of the row's answers.",
            *("“none”: whoever said that none of the labels fits." for name in columns if name == NONE_OF_THESE),
            "The last column holds answers that did not come in time.",
        ),
        caveats=(
            "At high visual change everyone has a favourite guess; that does not show knowledge of the category.",
        ),
    )


def confusion_figure(entry: Confusion, *, title: str) -> Figure:
    """What was answered to each category, in per cent of its answers."""
    rows, columns, counts = entry.categories, entry.responses, entry.counts
    shares = [[count / max(sum(row), 1) for count in row] for row in counts]
    right = sum(row[columns.index(name)] for name, row in zip(rows, counts, strict=True) if name in columns)
    total = sum(map(sum, counts))
    notes = ["Cells: per cent of a row's answers."]
    if entry.favourite:
        share = 100 * entry.favourite.share
        notes.append(f"The favourite wrong answer is {entry.favourite.response}, {share:.1f} % of the wrong answers.")
    return matrix_figure(
        Names(rows, "picture"),
        Names(columns, "answer"),
        shares,
        title=title,
        name="share",
        description=f"{title}: {right} of {total} answers lie on the diagonal.",
        largest=1.0,
        details=[
            [f"{name} answered as {answer}: {count} of {sum(row)}" for answer, count in zip(columns, row, strict=True)]
            for name, row in zip(rows, counts, strict=True)
        ],
        notes=notes,
        texts=[[f"{100 * share:.0f}" if share >= 0.005 else "" for share in row] for row in shares],
    )


CONFUSION = Family("confusion", _choices_confusion, _build_confusion)


def _entries(findings: Findings) -> list[ResponseTimes]:
    return [entry for entry in findings.response_times if entry.population == HUMANS and entry.bins]


#: How answers were given, in words that follow the name of a corruption.
_GIVEN = {"pointer": "by pointer", "touch": "by touch", "key": "by keyboard"}


def _times_key(entry: ResponseTimes) -> str:
    return f"times--{entry.corruption}" + (f"--{entry.input_kind}" if entry.input_kind else "")


def _times_name(entry: ResponseTimes) -> str:
    name = readable(entry.corruption)
    return f"{name}, {_GIVEN[entry.input_kind]}" if entry.input_kind else name


def _choices_times(findings: Findings) -> list[ChartChoice]:
    return [ChartChoice(_times_key(entry), _times_name(entry)) for entry in _entries(findings)]


def _build_times(findings: Findings, key: str) -> Chart:
    entry = next(one for one in _entries(findings) if _times_key(one) == key)
    title = f"Response time, {_times_name(entry)}"
    return Chart(
        key=key,
        title="How long answers take",
        figure=times_figure(
            [(Observer(PEOPLE, "human"), entry.bins)], title=title, x_label=axis_label(findings, entry.corruption)
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
                tuple((one.v, one.n, one.median_ms, one.lower_ms, one.upper_ms) for one in entry.bins),
            ),
        ),
        definition=(
            (
                "Median time from the response grid to the answer, with the middle half of the answers, by visual "
                "change."
            ),
        ),
        caveats=(
            "Misses have no time and are left out; many misses make the rest look fast.",
            "Times of pointer, touch and keyboard differ and are never pooled.",
        ),
    )


TIMES = Family("times", _choices_times, _build_times)
