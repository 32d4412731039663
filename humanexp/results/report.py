"""What a report says, as an `analysis.documents.Document`: charts and tables of the pages, methods, flow, plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.documents import Block, Document, Facts, FigureBlock, Items, Paragraph, Section, TableBlock
from analysis.figures import Column, Figure, Table
from analysis.findings.model import Findings
from humanexp.results.charts import chart_of, choices_of
from humanexp.results.headline import headline_of
from humanexp.results.inclusion import Step

if TYPE_CHECKING:
    from analysis.reporting import Deviation

#: Sections of charts: title -> families. The longest tables (bins, curves) are left to the export.
_CHARTS = {
    "Performance": ("curves",),
    "Models against people": ("leaderboard", "indices", "agreement", "levels", "shape-bias"),
    "Similarity of corruptions": ("similarity", "discrimination"),
    "Answers": ("validation", "coverage", "participants", "times", "confusion"),
    "What the choices change": ("sensitivity",),
}
_LEFT_OUT = frozenset({"bins", "curve", "coverage", "error-consistency", "pictures", "participants"})
#: Of confusion matrices those of people over the whole range: one a range and model would fill the report.
_ALONE = {"confusion": re.compile(r"confusion--humans--.*--all")}


@dataclass(frozen=True, kw_only=True)
class ReportFacts:
    """What stands in a report beside the findings."""

    title: str
    subtitle: str
    #: programs answered in place of people
    is_scripted: bool
    #: what is said of those who took their answers back after the analysis; empty where nobody did
    withdrawn: str
    flow: Sequence[Step]
    #: (title, text)
    methods: Sequence[tuple[str, str]]
    #: what is said of the frozen plan; empty where there is none
    plan: Sequence[str]
    deviations: Sequence[Deviation]
    versions: Sequence[tuple[str, str]]


def document_of(findings: Findings, facts: ReportFacts) -> Document:
    from analysis.reporting import SCRIPTED

    headline = headline_of(findings)
    sections = [
        Section("Who counts", tuple(_flow(facts.flow))) if facts.flow else None,
        *(_charts(findings, title, families) for title, families in _CHARTS.items()),
        Section("Methods", tuple(Paragraph(f"{title}. {text}") for title, text in facts.methods)),
        Section("Analysis plan", tuple(_plan(facts))),
        Section("Versions and digests", tuple(_versions(findings, facts))),
    ]
    return Document(
        title=facts.title,
        subtitle=facts.subtitle,
        abstract=(
            *([SCRIPTED] if facts.is_scripted else []),
            headline.text,
            *([headline.caveat] if headline.caveat else []),
            *([facts.withdrawn] if facts.withdrawn else []),
        ),
        sections=tuple(section for section in sections if section is not None and section.blocks),
    )


def _charts(findings: Findings, title: str, families: Sequence[str]) -> Section | None:
    blocks: list[Block] = []
    for family in families:
        said: set[str] = set()
        for choice in choices_of(findings, family):
            if family in _ALONE and not _ALONE[family].fullmatch(choice.key):
                continue
            chart = chart_of(findings, choice.key)
            if chart.figure is not None:
                blocks.append(FigureBlock(chart.figure, _caption(chart.figure)))
            blocks += [TableBlock(table) for table in chart.tables if table.key not in _LEFT_OUT]
            said |= {str(text) for text in chart.caveats}
        blocks += [Paragraph(text, is_note=True) for text in sorted(said)]
    return Section(title, tuple(blocks)) if blocks else None


def _caption(figure: Figure) -> str:
    bands = [f"Bands: {meaning}." for meaning in figure.shown_bands]
    return " ".join([f"{figure.title}.", *figure.notes, *bands])


def _flow(steps: Sequence[Step]) -> Iterator[Block]:
    rows = []
    for step in steps:
        rows += [("", f"{one.label}", -one.count) for one in step.left]
        rows.append((f"{step.unit} {step.label}", "", step.count))
    yield TableBlock(
        Table(
            "flow",
            "From opened sessions to answers in the curves",
            (Column("step", "Step"), Column("reason", "Left, by reason"), Column("n", "Number", "count")),
            tuple(rows),
            ("A session with several reasons is counted under its first.",),
        )
    )


def _plan(facts: ReportFacts) -> Iterator[Block]:
    if not facts.plan:
        yield Paragraph("No analysis plan was frozen for this study.")
        return
    yield from (Paragraph(text) for text in facts.plan)
    if not facts.deviations:
        yield Paragraph("There are no deviations from it.")
        return
    yield TableBlock(
        Table(
            "deviations",
            "Deviations from the plan",
            (Column("what", "What"), Column("planned", "Planned"), Column("done", "Done")),
            tuple((one.what, one.planned, one.done) for one in facts.deviations),
        )
    )


def _versions(findings: Findings, facts: ReportFacts) -> Iterator[Block]:
    yield Facts(tuple(facts.versions))
    if findings.notes:
        yield Items(tuple(note.replace("_", " ") for note in findings.notes))
