"""Several recruiters: who came from where, their crowds beside each other, and what unnoticed repeats could do."""

from __future__ import annotations

from statistics import fmean

from analysis.figures.rows import estimates_figure
from analysis.figures.table import Column, Table
from analysis.figures.value import Axis, Figure, Shaded
from analysis.findings.model.findings import Findings
from analysis.findings.model.people import RecruiterFindings, RecruiterPair
from analysis.reporting.results_text import MOST_CURVES
from analysis.wording import with_interval
from humanexp.core.errors import existing
from humanexp.results.charts.chart import Chart, only_chart

_DEFINITION = (
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
_CAVEATS = ("Crowds whose curves cross can be alike in mean accuracy.",)


def _build(findings: Findings, key: str) -> Chart:
    found = existing(findings.recruiters, "The people of this study came from one recruiter.")
    return Chart(
        key=key,
        title="Recruiters",
        figure=_figure(found.pairs),
        tables=(_crowds(found), _areas(found, findings.level), _pairs(found, findings.about_people), _repeats(found)),
        definition=_DEFINITION,
        caveats=_CAVEATS,
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


def _figure(pairs: tuple[RecruiterPair, ...]) -> Figure | None:
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


def _areas(found: RecruiterFindings, level: float) -> Table:
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


FAMILY = only_chart("recruiters", "all recruiters", lambda findings: findings.recruiters is not None, _build)
