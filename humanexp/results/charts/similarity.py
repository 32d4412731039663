"""Which corruptions are alike, for people and for classifiers."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.figures import Column, Pair, Table, similarity_figure
from analysis.findings.model import HUMANS, Findings, Similarity
from humanexp.results.charts import chart_notes
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.observer_styles import population_keys, population_label, readable


def entries_of(findings: Findings, measure: str, population: str) -> list[Similarity]:
    """Pairs of one population; `population` is a value of `population_keys`."""
    keys = population_keys(findings)
    return [
        entry
        for entry in (*findings.similarity, *findings.classifier_similarity)
        if entry.property == measure and keys[entry.population] == population
    ]


def pairs_table(entries: list[Similarity], title: str) -> Table:
    return Table(
        "similarity",
        title,
        (
            Column("first", "First"),
            Column("second", "Second"),
            Column("difference", "Mean difference", "estimate"),
            Column("p_holm", "p (corrected)", "p"),
            Column("overlap_83", "83 % bands"),
            Column("overlap_83_pointwise", "83 % bands, pointwise"),
            Column("verdict", "Verdict"),
            Column("answers", "Answers", "count"),
            Column("answers_to_decide", "Would show equal ones to be equivalent", "count"),
            Column("answers_to_differ", "Would show .05 to differ", "count"),
        ),
        tuple(
            (
                readable(entry.pair[0]),
                readable(entry.pair[1]),
                (entry.difference, *entry.interval),
                entry.p_adjusted,
                _overlap(entry.overlap_83),
                _overlap(entry.overlap_83_pointwise),
                _verdict(entry),
                entry.answers,
                entry.answers_to_decide,
                entry.answers_to_differ,
            )
            for entry in entries
        ),
        tuple(f"Margin of equivalence ±{entry.margin:g}." for entry in entries[:1]),
    )


def _verdict(entry: Similarity) -> str:
    """The verdict, and where the first is shown to be higher and lower where they differ."""
    where = [
        f"{word} at Δv {_ranges(ranges)}"
        for word, ranges in (("higher", entry.higher_on), ("lower", entry.lower_on))
        if ranges
    ]
    return f"{entry.verdict} ({', '.join(where)})" if where else entry.verdict


def _ranges(ranges: tuple[tuple[float, float], ...]) -> str:
    return " and ".join(f"{low:.2f} to {high:.2f}" for low, high in ranges)


def _overlap(value: bool) -> str:
    return "overlap" if value else "part"


def _choices(findings: Findings) -> list[Choice]:
    pairs = dict.fromkeys(
        (entry.property, entry.population) for entry in (*findings.similarity, *findings.classifier_similarity)
    )
    keys = population_keys(findings)
    return [
        Choice(f"similarity--{measure}--{keys[population]}", population_label(population), measure)
        for measure, population in sorted(pairs, key=lambda pair: (pair[0] != "accuracy", pair[1] != HUMANS))
    ]


def _build(findings: Findings, key: str) -> Chart:
    _family, measure, population = key.split("--")
    entries = entries_of(findings, measure, population)
    label = population_label(entries[0].population)
    names = list(dict.fromkeys(name for entry in entries for name in entry.pair))
    title = f"Similarity of corruptions for {label}, {measure}"
    pairs = [
        Pair(
            first=readable(entry.pair[0]),
            second=readable(entry.pair[1]),
            difference=entry.difference,
            verdict=entry.verdict,
            detail=_detail(entry),
        )
        for entry in entries
    ]
    return Chart(
        key=key,
        title=_("Are these corruptions alike?"),
        figure=similarity_figure([readable(name) for name in names], pairs, title=title),
        tables=(pairs_table(entries, title),),
        definition=chart_notes.SIMILARITY,
        caveats=chart_notes.SIMILARITY_CAVEATS,
    )


def _detail(entry: Similarity) -> str:
    first, second = (readable(name) for name in entry.pair)
    low, high = entry.interval
    return f"{first} · {second}: {_verdict(entry)}, difference {entry.difference:.3f} [{low:.3f}, {high:.3f}]"


FAMILY = Family("similarity", _choices, _build)
