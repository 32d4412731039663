"""Which corruptions are alike, for people and for classifiers."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.figures import Column, Pair, Table, similarity_figure
from humanexp.results.charts import words
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.names import HUMANS, Entry, Findings, population_keys, population_label, readable


def entries_of(findings: Findings, measure: str, population: str) -> list[Entry]:
    """Pairs of one population; `population` is a value of `population_keys`."""
    keys = population_keys(findings)
    return [
        entry
        for entry in (*findings.get("similarity", ()), *findings.get("classifier_similarity", ()))
        if entry["property"] == measure and keys[entry.get("population", HUMANS)] == population
    ]


def pairs_table(entries: list[Entry], title: str) -> Table:
    margin = entries[0].get("margin") if entries else None
    return Table(
        "similarity",
        title,
        (
            Column("first", "First"),
            Column("second", "Second"),
            Column("difference", "ΔR̂", "estimate"),
            Column("p_holm", "p (Holm)", "p"),
            Column("overlap_83", "83 % bands"),
            Column("overlap_83_pointwise", "83 % bands, pointwise"),
            Column("verdict", "Verdict"),
            Column("answers", "Answers", "count"),
            Column("answers_to_decide", "Answers that would decide", "count"),
        ),
        tuple(
            (
                readable(entry["pair"][0]),
                readable(entry["pair"][1]),
                (entry["difference"], *(entry.get("interval") or (None, None))),
                entry["p_adjusted"] if entry.get("p_adjusted") is not None else entry.get("p"),
                _overlap(entry.get("overlap_83")),
                _overlap(entry.get("overlap_83_pointwise")),
                entry["verdict"],
                _total(entry.get("answers")),
                _total(entry.get("answers_to_decide")),
            )
            for entry in entries
        ),
        () if margin is None else (f"Margin of equivalence ±{margin:g}.",),
    )


def _overlap(value: bool | None) -> str:
    return "–" if value is None else "overlap" if value else "part"


def _total(value: object) -> int | None:
    """Answers of a pair: one number, or one a corruption."""
    if isinstance(value, list | tuple):
        return sum(int(one) for one in value)
    return int(value) if isinstance(value, int | float) else None


def _choices(findings: Findings) -> list[Choice]:
    pairs = dict.fromkeys(
        (entry["property"], entry.get("population", HUMANS))
        for entry in (*findings.get("similarity", ()), *findings.get("classifier_similarity", ()))
    )
    keys = population_keys(findings)
    return [
        Choice(f"similarity--{measure}--{keys[population]}", population_label(population), measure)
        for measure, population in sorted(pairs, key=lambda pair: (pair[0] != "accuracy", pair[1] != HUMANS))
    ]


def _build(findings: Findings, key: str) -> Chart:
    _family, measure, population = key.split("--")
    entries = entries_of(findings, measure, population)
    label = population_label(entries[0].get("population", HUMANS))
    names = list(dict.fromkeys(name for entry in entries for name in entry["pair"]))
    title = f"Similarity of corruptions for {label}, {measure}"
    pairs = [
        Pair(
            first=readable(entry["pair"][0]),
            second=readable(entry["pair"][1]),
            difference=entry["difference"],
            verdict=entry["verdict"],
            detail=_detail(entry),
        )
        for entry in entries
    ]
    return Chart(
        key=key,
        title=_("Are these corruptions alike?"),
        figure=similarity_figure([readable(name) for name in names], pairs, title=title),
        tables=(pairs_table(entries, title),),
        definition=words.SIMILARITY,
        caveats=words.SIMILARITY_CAVEATS,
    )


def _detail(entry: Entry) -> str:
    first, second = (readable(name) for name in entry["pair"])
    interval = entry.get("interval")
    ends = f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else ""
    return f"{first} · {second}: {entry['verdict']}, ΔR {entry['difference']:.3f}{ends}"


FAMILY = Family("similarity", _choices, _build)
