"""Who answered? Machines among people: what is caught, how many there may be, and what follows for the results."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.claims.persons import caveats, definitions, few_people
from analysis.clusters import exact_bound
from analysis.figures.performance import catches_figure
from analysis.figures.table import Cell, Column, Table, estimate
from analysis.figures.value import Figure, Observer
from analysis.findings.model.findings import Findings
from analysis.findings.model.people import Persons
from analysis.wording import with_interval
from humanexp.core.errors import existing
from humanexp.results.charts.chart import Chart, only_chart, readable

_FAMILIES, _LEAST = Observer("mean of families", "human"), Observer("least caught model", "classifier")


def _build(findings: Findings, key: str) -> Chart:
    found = existing(findings.persons, "This study has no sentinels that tell people from machines.")
    return Chart(
        key=key,
        title="Who answered?",
        figure=_figure(found),
        tables=tuple(
            table
            for table in (_people(found), _caught(found), _areas(found), _verdicts(found), _without(found))
            if table.rows
        ),
        definition=definitions(),
        caveats=caveats(),
        found=tuple(sentences(found)),
    )


def sentences(found: Persons) -> Iterator[str]:
    """What the sentinels say, in words."""
    lower, upper = found.share_interval
    yield (
        f"Flagged for you to look at: {found.flagged_people} of {found.scored} people. A flag excludes no one, and pay "
        "does not depend on it."
    )
    yield (
        f"Estimated share of machines like those of the registry: {100 * found.share:.1f} % "
        f"[{100 * lower:.1f}, {100 * upper:.1f}]."
    )
    if found.flag_catches is None or found.flag_catches_least is None:
        yield "All models of the registry belong to one family of weights: what would be caught is not known."
    else:
        yield (
            f"In people's places, models of families that the registry lacks are flagged in "
            f"{100 * found.flag_catches:.0f} % (mean of {found.weights} families of weights); least "
            f"{found.least_caught}, {100 * found.flag_catches_least:.0f} %. Models that imitate people are caught less."
        )
    yield few_people(found.scored, exact_bound(0, found.scored, 0.025)[1])
    yield from (bound.statement for bound in found.bounds)


def _figure(found: Persons) -> Figure | None:
    if not found.caught:
        return None
    return catches_figure(
        [
            (_FAMILIES, [(one.false_alarms, one.families) for one in found.caught]),
            (_LEAST, [(one.false_alarms, one.least) for one in found.caught]),
        ],
        title="Models caught in people's places, over false alarms",
        notes=(
            f"Each model is scored without its family of weights, on the {found.sentinels} sentinel answers that a "
            "person gave (median). False alarms are those of simulated honest people. Solid line: mean of families of "
            "weights. Dashed line: the model that is caught least.",
        ),
    )


def _people(found: Persons) -> Table:
    return Table(
        "who-answered",
        "People, sentinels and registry",
        (Column("what", "What"), Column("number", "Number")),
        (
            ("people", str(found.people)),
            ("of these with sentinels", str(found.scored)),
            ("sentinel answers of a person, median", str(found.sentinels)),
            ("models of the registry", str(found.models)),
            ("families of weights", str(found.weights)),
            ("people flagged", str(found.flagged_people)),
            ("estimated share of machines", with_interval(found.share, found.share_interval)),
        ),
    )


def _caught(found: Persons) -> Table:
    return Table(
        "catches",
        "Models caught in people's places",
        (
            Column("false_alarms", "False alarms", "number"),
            Column("families", "Caught, mean of families", "number"),
            Column("least", "Least caught model", "number"),
        ),
        tuple((one.false_alarms, one.families, one.least) for one in found.caught),
    )


def _areas(found: Persons) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for bound in found.bounds:
        if bound.machines is None and rows:
            rows.append((bound.catch, None, "no bound", None))
        rows += [
            (bound.catch, bound.machines, readable(one.corruption), estimate(one.area, one.interval))
            for one in bound.areas
        ]
    return Table(
        "bounds",
        "Areas of people alone, for a stated catch",
        (
            Column("catch", "Caught at least", "number", 1),
            Column("machines", "Machines at most", "count"),
            Column("corruption", "Corruption"),
            Column("area", "Area as reported, and bounds for people alone", "estimate"),
        ),
        tuple(rows),
        ("Without bounds: everybody may be a machine.",),
    )


def _verdicts(found: Persons) -> Table:
    return Table(
        "bounded-verdicts",
        "Which verdicts stand",
        (
            Column("catch", "Caught at least", "number", 1),
            Column("model", "Model"),
            Column("corruption", "Corruption"),
            Column("verdict", "Verdict"),
            Column("stands", "Stands"),
        ),
        tuple(
            (bound.catch, one.classifier, readable(one.corruption), one.word, "yes" if one.stands else "not sure")
            for bound in found.bounds
            for one in bound.verdicts
        ),
    )


def _without(found: Persons) -> Table:
    return Table(
        "most-machine-like",
        "Results without the people who are most like machines",
        (
            Column("left_out", "People left out", "count"),
            Column("corruption", "Corruption or model"),
            Column("area", "Area", "number"),
            Column("verdict", "Verdict over all corruptions"),
        ),
        tuple(
            row
            for one in found.without
            for row in (
                *((one.people, readable(area.corruption), area.area, "") for area in one.areas),
                *((one.people, verdict.classifier, None, verdict.word) for verdict in one.verdicts),
            )
        ),
    )


FAMILY = only_chart("who-answered", "all people", lambda findings: findings.persons, _build)
