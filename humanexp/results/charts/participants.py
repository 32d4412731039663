"""Every participant's own curve behind the curve of all people."""

from __future__ import annotations

from dataclasses import replace

from analysis.figures.table import Column, Table
from analysis.figures.value import Figure, Line, Observer
from analysis.findings.model.agreement import Participant
from analysis.findings.model.findings import Findings
from humanexp.results.charts.chart import Chart, Choice, Family, figure_names, readable
from humanexp.results.charts.curves import figure_of, name_of

EACH = Observer("single participants", "participant")


def _choices(findings: Findings) -> list[Choice]:
    drawn = dict.fromkeys(one.corruption for one in findings.participants if one.corruption and one.band)
    people = {curve.corruption for curve in findings.human_curves}
    return [Choice(f"participants--{name}", readable(name)) for name in drawn if name in people]


def _build(findings: Findings, key: str) -> Chart:
    corruption = key.split("--", 1)[1]
    entries = [one for one in findings.participants if one.corruption == corruption]
    return Chart(
        key=key,
        title="Every participant behind the mean",
        figure=_figure(findings, corruption, entries),
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


def _figure(findings: Findings, corruption: str, entries: list[Participant]) -> Figure:
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


FAMILY = Family("participants", _choices, _build)
