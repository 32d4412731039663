"""Models beside people by kind of network and by family of functions."""

from __future__ import annotations

from analysis.claims.groups import CONSISTENCY_NOTE, GROUPS_NOTE
from analysis.figures.rows import estimates_figure
from analysis.figures.table import Column, Table
from analysis.figures.value import Axis
from analysis.findings.model.comparisons import GroupIndices, Grouping, GroupMean
from analysis.findings.model.findings import Findings
from analysis.observers.kinds import KINDS
from humanexp.results.charts.chart import Chart, ChartChoice, Family, readable

_LABELS: dict[Grouping, str] = {"kinds": "kinds of networks", "families": "families of functions"}


def _choices(findings: Findings) -> list[ChartChoice]:
    there = {one.grouping for one in findings.group_means}
    return [ChartChoice(f"means--{one}", label) for one, label in _LABELS.items() if one in there]


def name_of(one: GroupMean | GroupIndices) -> str:
    """Of a group, for people."""
    return group_name(one.grouping, one.group)


def group_name(grouping: Grouping, group: str) -> str:
    return KINDS[group].name if grouping == "kinds" else readable(group)


def _order(one: GroupMean) -> tuple[int, float]:
    """Kinds as figures have them; families from the one on which networks are furthest behind."""
    return (KINDS[one.group].order, 0.0) if one.grouping == "kinds" else (0, one.difference)


def _build(findings: Findings, key: str) -> Chart:
    grouping: Grouping = "kinds" if key.endswith("kinds") else "families"
    means = sorted((one for one in findings.group_means if one.grouping == grouping), key=_order)
    contrasts = [one for one in findings.group_contrasts if one.grouping == grouping]
    title = f"Models minus people, by {_LABELS[grouping]}"
    ends = [end for one in means for end in one.interval]
    room = 0.05 * (max(*ends, 0.0) - min(*ends, 0.0)) or 0.05
    return Chart(
        key=key,
        title=f"By {_LABELS[grouping]}",
        figure=estimates_figure(
            [(name_of(one), one.difference, one.interval) for one in means],
            title=title,
            description="; ".join(f"{name_of(one)}: {one.difference:+.3f}" for one in means) + ".",
            x=Axis("accuracy minus people’s", (min(*ends, 0.0) - room, max(*ends, 0.0) + room)),
            meaning="difference",
            notes=(f"Dots: means over pairs of network and function. Lines: {100 * findings.level:g} % intervals.",),
        ),
        tables=(
            Table(
                f"means-{grouping}",
                title,
                (
                    Column("group", "Networks" if grouping == "kinds" else "Functions"),
                    Column("difference", "Mean accuracy minus people’s", "estimate"),
                    Column("hmri", "HMRI", "number"),
                    Column("mrsi", "MRSI", "number"),
                    Column("networks", "Networks", "count"),
                    Column("functions", "Functions", "count"),
                    Column("which", "Which"),
                ),
                tuple(
                    (
                        name_of(one),
                        (one.difference, *one.interval),
                        one.hmri,
                        one.mrsi,
                        len(one.networks),
                        len(one.corruptions),
                        ", ".join(one.networks if grouping == "kinds" else map(readable, one.corruptions)),
                    )
                    for one in means
                ),
                (GROUPS_NOTE, *findings.about_people, *_of_curves(findings)),
            ),
            Table(
                f"contrasts-{grouping}",
                f"Which {_LABELS[grouping]} differ",
                (
                    Column("first", "Higher"),
                    Column("second", "Lower"),
                    Column("difference", "By", "estimate"),
                    Column("p", "p, corrected", "p"),
                    Column("statement", "In words"),
                ),
                tuple(
                    (
                        group_name(grouping, one.pair[0]),
                        group_name(grouping, one.pair[1]),
                        (one.difference, *one.interval),
                        one.p,
                        one.statement,
                    )
                    for one in contrasts
                ),
            ),
            *_consistency(findings, grouping),
        ),
        definition=(
            "Mean accuracy of each network minus that of people over everything measured, as in the leaderboard; then "
            "the mean over the networks of a kind and all functions, or over all networks and the functions of a "
            "family.",
            "Only functions on which all networks were compared with people are in it. HMRI and MRSI: means over the "
            "same pairs; no verdict rests on them.",
        ),
        caveats=(
            "Networks of one kind differ in more than their kind: in size, data and year.",
            "Families can differ in how far their functions change pictures.",
        ),
    )


def _of_curves(findings: Findings) -> tuple[str, ...]:
    """Said where indices are of published curves; differences of accuracy are of raw answers, whatever the curve."""
    return (findings.curve_note,) if findings.curve_note else ()


def _consistency(findings: Findings, grouping: Grouping) -> list[Table]:
    """Areas and indices of consistency, without intervals; none where people's was not measured."""
    entries = [one for one in findings.group_indices if one.grouping == grouping]
    if not entries:
        return []
    # In the order of the table of accuracy; of families, the one first on which networks reach least.
    ordered = sorted(entries, key=lambda one: (KINDS[one.group].order if grouping == "kinds" else 0, one.hmri))
    return [
        Table(
            f"consistency-{grouping}",
            f"Consistency, by {_LABELS[grouping]}",
            (
                Column("group", "Networks" if grouping == "kinds" else "Functions"),
                Column("hmri", "HMRI", "number"),
                Column("mrsi", "MRSI", "number"),
                Column("human_area", "R̂ people", "number"),
                Column("model_area", "R̂ models", "number"),
                Column("networks", "Networks", "count"),
                Column("functions", "Functions", "count"),
            ),
            tuple(
                (
                    name_of(one),
                    one.hmri,
                    one.mrsi,
                    one.human_area,
                    one.classifier_area,
                    len(one.networks),
                    len(one.corruptions),
                )
                for one in ordered
            ),
            (CONSISTENCY_NOTE, *_of_curves(findings)),
        )
    ]


GROUP_MEANS = Family("means", _choices, _build)
