"""Answers to pictures that have something in common: a value of a factor, or the group of their label."""

from __future__ import annotations

from analysis.figures.rows import estimates_figure
from analysis.figures.table import Cell, Column, Table, estimate
from analysis.figures.value import Axis
from analysis.findings.model.agreement import FactorAccuracy, GroupAccuracy
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.findings import Findings
from humanexp.results.charts.chart import Chart, ChartChoice, Family, population_label, readable

_SHARE = (0.0, 0.25, 0.5, 0.75, 1.0)


def _factor_keys(findings: Findings) -> dict[str, str]:
    """Names of factors in addresses: columns may be called anything."""
    names = dict.fromkeys(one.factor for one in findings.factors)
    return {name: f"factors--{place}" for place, name in enumerate(names)}


def _choices_factors(findings: Findings) -> list[ChartChoice]:
    return [ChartChoice(key, readable(name)) for name, key in _factor_keys(findings).items()]


def _build_factor(findings: Findings, key: str) -> Chart:
    keys = _factor_keys(findings)
    entries = [one for one in findings.factors if keys[one.factor] == key]
    title = f"Accuracy by {readable(entries[0].factor)}"
    return Chart(
        key=key,
        title=title,
        figure=estimates_figure(
            [(f"{one.value}: {population_label(one.observer)}", one.accuracy, one.interval) for one in entries],
            title=title,
            description="; ".join(map(_said, entries)) + ".",
            x=Axis("share right", (-0.02, 1.02), _SHARE),
            meaning="accuracy",
            notes=(f"Dots: share of right answers. Lines: {100 * findings.level:g} % intervals.",),
        ),
        tables=(
            Table(
                "factor",
                title,
                (
                    Column("value", readable(entries[0].factor).capitalize()),
                    Column("observer", "Observer"),
                    Column("accuracy", "Accuracy", "estimate"),
                    Column("n", "Answers", "count"),
                    Column("pictures", "Originals", "count"),
                ),
                tuple(
                    (
                        one.value,
                        population_label(one.observer),
                        estimate(one.accuracy, one.interval),
                        one.n,
                        one.pictures,
                    )
                    for one in entries
                ),
                (f"{100 * findings.level:g} % intervals for new people and new pictures.",),
            ),
        ),
        definition=(
            "Share of right answers to pictures with each value, over all corruptions and strengths; a picture without "
            "a value is left out.",
        ),
        caveats=(
            "Values can differ in more than their name: pictures of one background may show other objects, or be "
            "changed more.",
        ),
    )


def _said(entry: FactorAccuracy) -> str:
    return f"{entry.value}, {population_label(entry.observer)}: {entry.accuracy:.3f}"


FACTORS = Family("factors", _choices_factors, _build_factor)


def _choices_groups(findings: Findings) -> list[ChartChoice]:
    keys = _group_keys(findings)
    ordered = sorted(keys, key=lambda pair: pair[1] != HUMANS)
    return [
        ChartChoice(keys[partition, population], readable(partition), population_label(population))
        for partition, population in ordered
    ]


def _group_keys(findings: Findings) -> dict[tuple[str, str], str]:
    pairs = dict.fromkeys((one.partition, one.population) for one in findings.groups)
    return {pair: f"groups--{place}" for place, pair in enumerate(pairs)}


def _build_groups(findings: Findings, key: str) -> Chart:
    keys = _group_keys(findings)
    entries = [one for one in findings.groups if keys[one.partition, one.population] == key]
    partition, who = readable(entries[0].partition), population_label(entries[0].population)
    title = f"Right {partition}, {who}"
    chances = [one.chance for one in entries if one.chance is not None]
    return Chart(
        key=key,
        title="Wrong, but in the right group?",
        figure=estimates_figure(
            [(readable(one.corruption), one.within, one.interval) for one in entries],
            title=title,
            description="; ".join(f"{readable(one.corruption)}: {one.within:.3f} in the group" for one in entries)
            + ".",
            x=Axis(f"share in the right {partition}", (-0.02, 1.02), _SHARE),
            meaning="share in the group",
            notes=(
                "Dots: share of answers, right or wrong, in the picture's group. "
                f"Lines: {100 * findings.level:g} % intervals.",
                *((f"Guessing: {min(chances):.2f} to {max(chances):.2f}.",) if chances else ()),
            ),
        ),
        tables=(
            Table(
                "groups",
                title,
                (
                    Column("corruption", "Corruption"),
                    Column("n", "Answers", "count"),
                    Column("accuracy", "Right label", "number"),
                    Column("within", f"Right {partition}", "estimate"),
                    Column("chance", f"Right {partition} by guessing", "number"),
                    Column("wrong", "Wrong labels", "count"),
                    Column("wrong_within", f"of them in the right {partition}", "count"),
                ),
                tuple(map(_row, entries)),
                (f"{100 * findings.level:g} % intervals for new people and new pictures.",),
            ),
        ),
        definition=(
            "How often an answer lies in the group of the picture's label, whether or not it is that label. Pictures "
            "whose label is in no group are left out; answers that are no label lie in no group.",
        ),
        caveats=(
            "Large groups are hit by guessing more often: compare with the share by guessing before reading a wrong "
            "answer as half right.",
        ),
    )


def _row(one: GroupAccuracy) -> tuple[Cell, ...]:
    return (
        readable(one.corruption),
        one.n,
        one.accuracy,
        estimate(one.within, one.interval),
        one.chance,
        one.wrong,
        one.wrong_within,
    )


GROUPS = Family("groups", _choices_groups, _build_groups)
