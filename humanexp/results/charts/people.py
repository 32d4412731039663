"""The people behind the mean: one by one, by recruiter, and against machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean

from analysis.claims.persons import caveats, definitions, few_people
from analysis.clusters import exact_bound
from analysis.figures.performance import catches_figure
from analysis.figures.rows import estimates_figure
from analysis.figures.table import Cell, Column, Table, estimate
from analysis.figures.value import Axis, Figure, Line, Observer, Shaded
from analysis.findings.model.agreement import Participant
from analysis.findings.model.findings import Findings
from analysis.findings.model.people import Persons, RecruiterFindings, RecruiterPair
from analysis.reporting.results_text import MOST_CURVES
from analysis.wording import with_interval
from humanexp.core.errors import existing
from humanexp.results.charts.chart import Chart, ChartChoice, Family, figure_names, only_chart, readable
from humanexp.results.charts.curves import figure_of, name_of

EACH = Observer("single participants", "participant")


def _choices_participants(findings: Findings) -> list[ChartChoice]:
    drawn = dict.fromkeys(one.corruption for one in findings.participants if one.corruption and one.band)
    people = {curve.corruption for curve in findings.human_curves}
    return [ChartChoice(f"participants--{name}", readable(name)) for name in drawn if name in people]


def _build_participants(findings: Findings, key: str) -> Chart:
    corruption = key.split("--", 1)[1]
    entries = [one for one in findings.participants if one.corruption == corruption]
    return Chart(
        key=key,
        title="Every participant behind the mean",
        figure=_participants_figure(findings, corruption, entries),
        tables=(
            Table(
                "participants",
                f"Participants, accuracy, {readable(corruption)}",
                (
                    Column("participant", "Participant"),
                    Column("answers", "Answers", "count"),
                    Column("accuracy", "Accuracy", "number"),
                    Column("median_rt_ms", "Median time, ms", "number", 0),
                    Column("area", "R̂", "number"),
                ),
                tuple((one.participant, one.n, one.accuracy, one.median_rt_ms, one.area) for one in entries),
            ),
        ),
        definition=(
            (
                "Thin lines: the curve of each participant with at least 40 answers. Thick line: all people with their "
                "band."
            ),
        ),
        caveats=(
            (
                "A single curve rests on few answers: its wiggles are mostly chance. The band is of the mean, not of "
                "people."
            ),
        ),
    )


def _participants_figure(findings: Findings, corruption: str, entries: list[Participant]) -> Figure:
    name = next(name for name in figure_names(findings) if name.corruption == corruption)
    whole = figure_of(findings, name_of(findings, name.key)).only(["people"])
    lines = tuple(
        Line(EACH, band.v, band.estimate, (one.participant,) * len(band.v)) for one in entries if (band := one.band)
    )
    return replace(
        whole,
        title=f"{readable(corruption).capitalize()}: every participant",
        description=f"{len(lines)} curves of single participants behind the curve of all people.",
        traces=(*lines, *whole.traces),
    )


PARTICIPANTS = Family("participants", _choices_participants, _build_participants)


_POOLED = (
    (
        "The pooled estimates are the curves and areas of people on the other pages: there the people of each "
        "recruiter count together by the weight that the plan has fixed. What stands here does not change them."
    ),
    (
        "Difference: mean accuracy of the first recruiter's people minus that of the second's at equal visual change, "
        "over everything that both measured, averaged over corruptions; 90 % intervals."
    ),
    (
        "Repeats are bounds: nobody knows who took part twice. The shift is the largest that leaving out so many "
        "second sessions could make, the width the largest that so many pairs of sessions of one person could make."
    ),
)
_POOLED_CAVEATS = ("Crowds whose curves cross can be alike in mean accuracy.",)


def _build_recruiters(findings: Findings, key: str) -> Chart:
    found = existing(findings.recruiters, "The people of this study came from one recruiter.")
    return Chart(
        key=key,
        title="Recruiters",
        figure=_differences_figure(found.pairs),
        tables=(
            _crowds(found),
            _recruiter_areas(found, findings.level),
            _pairs(found, findings.about_people),
            _repeats(found),
        ),
        definition=_POOLED,
        caveats=_POOLED_CAVEATS,
        found=(*_pooled(findings), *(_said(pair) for pair in found.pairs), *found.notes),
    )


def _pooled(findings: Findings) -> list[str]:
    """The pooled areas, which stand before whatever is said of the crowds; of many corruptions their mean alone."""
    curves = [curve for curve in findings.human_curves if curve.property == "accuracy"]
    if len(curves) > MOST_CURVES:
        return [f"Pooled area, mean over {len(curves)} corruptions: {fmean(curve.area for curve in curves):.3f}."]
    return [
        f"Pooled area on {curve.corruption.replace('_', ' ')}: {with_interval(curve.area, curve.interval)}."
        for curve in curves
    ]


def _said(pair: RecruiterPair) -> str:
    return f"{' and '.join(pair.pair)}: {pair.statement}."


def _differences_figure(pairs: tuple[RecruiterPair, ...]) -> Figure | None:
    if not pairs:
        return None
    margin = pairs[0].margin
    reach = 1.1 * max(margin, *(abs(end) for pair in pairs for end in pair.interval))
    return estimates_figure(
        [(" − ".join(pair.pair), pair.difference, pair.interval) for pair in pairs],
        title="Mean accuracy of one recruiter's people minus that of another's",
        description=" ".join(_said(pair) for pair in pairs),
        x=Axis("difference of mean accuracy", (-reach, reach)),
        meaning="difference",
        shaded=(Shaded(-margin, margin, "within the margin"),),
        notes=(f"Dots: difference of mean accuracy. Lines: 90 % intervals. Grey: within {margin:g}.",),
    )


def _crowds(found: RecruiterFindings) -> Table:
    return Table(
        "recruiters",
        "People by recruiter",
        (
            Column("recruiter", "Recruiter"),
            Column("people", "People", "count"),
            Column("sessions", "Sessions", "count"),
            Column("answers", "Answers", "count"),
            Column("weight", "Weight in what is pooled", "number"),
            Column("area", "Mean accuracy, mean over corruptions", "number"),
        ),
        tuple(
            (
                one.recruiter,
                one.people,
                one.sessions,
                one.answers,
                one.weight,
                fmean(one.areas.values()) if one.areas else None,
            )
            for one in found.crowds
        ),
    )


def _recruiter_areas(found: RecruiterFindings, level: float) -> Table:
    return Table(
        "recruiter-areas",
        "Mean accuracy by recruiter and corruption",
        (
            Column("recruiter", "Recruiter"),
            Column("corruption", "Corruption"),
            Column("area", "Mean accuracy", "estimate"),
        ),
        tuple(
            (one.recruiter, corruption.replace("_", " "), (area, *one.intervals[corruption]))
            for one in found.crowds
            for corruption, area in one.areas.items()
        ),
        (f"{100 * level:g} % intervals. Means over everything measured, without a curve.",),
    )


def _pairs(found: RecruiterFindings, about: tuple[str, ...]) -> Table:
    return Table(
        "recruiter-pairs",
        "Recruiters beside each other",
        (
            Column("pair", "Recruiters"),
            Column("difference", "Difference of mean accuracy", "estimate"),
            Column("p", "p, corrected", "p"),
            Column("word", "Verdict"),
            Column("statement", "In words"),
        ),
        tuple(
            (
                " and ".join(pair.pair),
                (pair.difference, *pair.interval),
                pair.p_adjusted,
                pair.word,
                pair.statement,
            )
            for pair in found.pairs
        ),
        about,
    )


def _repeats(found: RecruiterFindings) -> Table:
    return Table(
        "repeats",
        "If people had taken part twice unnoticed",
        (
            Column("corruption", "Corruption"),
            Column("share", "Share of people", "number", 2),
            Column("people", "People", "count"),
            Column("shift", "Pooled mean accuracy moves by at most", "number"),
            Column("width", "Width of its interval", "number"),
            Column("width_at_most", "Width at most", "number"),
        ),
        tuple(
            (one.corruption.replace("_", " "), one.share, one.people, one.shift, one.width, one.width_at_most)
            for one in found.repeats
        ),
    )


RECRUITERS = only_chart(
    "recruiters", "all recruiters", lambda findings: findings.recruiters is not None, _build_recruiters
)


_MEAN_CAUGHT, _LEAST = Observer("mean of families", "human"), Observer("least caught model", "classifier")


def _build_persons(findings: Findings, key: str) -> Chart:
    found = existing(findings.persons, "This study has no sentinels that tell people from machines.")
    return Chart(
        key=key,
        title="Who answered?",
        figure=_catches(found),
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


def _catches(found: Persons) -> Figure | None:
    if not found.caught:
        return None
    return catches_figure(
        [
            (_MEAN_CAUGHT, [(one.false_alarms, one.families) for one in found.caught]),
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


PERSONS = only_chart("who-answered", "all people", lambda findings: findings.persons, _build_persons)
