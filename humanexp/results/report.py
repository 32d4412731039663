"""What a report says, as an `documents.value.Document`: charts and tables of the pages, methods, flow, plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.documents.value import (
    Block,
    Document,
    Facts,
    FigureBlock,
    Items,
    Paragraph,
    Section,
    SheetBlock,
    TableBlock,
)
from analysis.figures.table import Column, Table
from analysis.figures.value import Figure
from analysis.findings.model.findings import Findings
from analysis.findings.model.people import AskedObserver
from humanexp.results.charts.curves import sheet_names, sheet_of
from humanexp.results.charts.registry import chart_of, choices_of
from humanexp.results.headline import headline_of
from humanexp.results.inclusion import Step

if TYPE_CHECKING:
    from analysis.reporting.plan import Deviation

#: Sections of charts: title -> families. The longest tables (bins, curves) are left to the export.
_CHARTS = {
    "Models against people": ("leaderboard", "benchmark", "difficulty", "agreement", "levels", "shape-bias"),
    "Similarity of corruptions": ("similarity", "discrimination"),
    "Recruiters": ("recruiters",),
    "Pictures": ("validation",),
    "What the choices change": ("sensitivity",),
    "Who answered?": ("who-answered",),
}
#: The same behind the report: a chart for each corruption, model and measure.
_APPENDIX = {
    "Appendix: curves one by one": ("curves",),
    "Appendix: models one corruption at a time": ("indices",),
    "Appendix: how fragile the verdicts are": ("fragility",),
    "Appendix: similarity for models": ("similarity",),
    "Appendix: answers": ("coverage", "participants", "times", "confusion"),
}
#: Of similarity people's stands in the report, and that of models behind it.
_PEOPLES = {"similarity": re.compile(r"similarity--.*--humans")}
_LEFT_OUT = frozenset({"bins", "curve", "coverage", "error-consistency", "pictures", "participants", "difficulty"})
#: A square figure needs no more than a column.
_NARROW = frozenset({"difficulty"})
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
    from analysis.reporting.methods import SCRIPTED

    headline = headline_of(findings)
    sections = [
        Section("Who counts", (*_flow(facts.flow), *_asked(findings.asked))),
        _performance(findings),
        *(_charts(findings, title, families) for title, families in _CHARTS.items()),
        Section("Methods", tuple(Paragraph(f"{title}. {text}") for title, text in facts.methods)),
        Section("Analysis plan", tuple(_plan(facts))),
        Section("Versions and digests", tuple(_versions(findings, facts))),
        *(
            _charts(findings, title, families, is_appendix=True)
            for title, families in _APPENDIX.items()
            # Without a sheet the curves stand in the report already.
            if families != ("curves",) or sheet_names(findings)
        ),
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


def _performance(findings: Findings) -> Section | None:
    """The curves of all corruptions, a sheet a measure; a study of one corruption has its figure alone."""
    sheets = [(measure, tuple(sheet_of(findings, measure))) for measure in sheet_names(findings)]
    if not sheets:
        return _charts(findings, "Performance", ("curves",))
    blocks: list[Block] = []
    said: set[str] = set()
    for measure, panels in sheets:
        title = f"{measure.capitalize()} over visual change"
        first = panels[0][1]
        told = f"{title}, as in the figure before."
        if not blocks:
            told = " ".join([f"{title}, a panel a corruption.", *_said_of(first), "Grey: hardly any answers."])
        blocks.append(SheetBlock(title, panels, told))
    for choice in choices_of(findings, "curves"):
        chart = chart_of(findings, choice.key)
        blocks += [Paragraph(f"{chart.title}. {text}") for text in chart.found]
        said |= {str(text) for text in chart.caveats}
    return Section("Performance", (*blocks, *(Paragraph(text, is_note=True) for text in sorted(said))))


def _charts(findings: Findings, title: str, families: Sequence[str], *, is_appendix: bool = False) -> Section | None:
    blocks: list[Block] = []
    for family in families:
        said: set[str] = set()
        for choice in choices_of(findings, family):
            if family in _ALONE and not _ALONE[family].fullmatch(choice.key):
                continue
            if family in _PEOPLES and bool(_PEOPLES[family].fullmatch(choice.key)) is is_appendix:
                continue
            chart = chart_of(findings, choice.key)
            if chart.figure is not None:
                width = "column" if family in _NARROW else "text"
                caption = " ".join([f"{chart.figure.title}.", *_said_of(chart.figure)])
                blocks.append(FigureBlock(chart.figure, caption, width=width))
            blocks += [Paragraph(str(text)) for text in chart.found]
            blocks += [TableBlock(one.for_print()) for one in chart.tables if one.key not in _LEFT_OUT]
            said |= {str(text) for text in chart.caveats}
        blocks += [Paragraph(text, is_note=True) for text in sorted(said)]
    return Section(title, tuple(blocks)) if blocks else None


def _said_of(figure: Figure) -> list[str]:
    return [*figure.notes, *(f"Bands: {meaning}." for meaning in figure.shown_bands)]


def _flow(steps: Sequence[Step]) -> Iterator[Block]:
    rows = []
    for step in steps:
        rows += [("", f"{one.label}", -one.count) for one in step.left]
        rows.append((f"{step.unit} {step.label}", "", step.count))
    if rows:
        yield TableBlock(
            Table(
                "flow",
                "From opened sessions to answers in the curves",
                (Column("step", "Step"), Column("reason", "Left, by reason"), Column("n", "Number", "count")),
                tuple(rows),
                ("A session with several reasons is counted under its first.",),
            )
        )


def _asked(observers: Sequence[AskedObserver]) -> Iterator[Block]:
    """Trials of models that were asked in words, by visual change."""
    rows = [(one.observer, *row) for one in observers for row in _asked_rows(one)]
    if rows:
        counts = ("asked", "answered", "refused", "unreadable", "empty")
        yield TableBlock(
            Table(
                "asked",
                "Trials of models that were asked in words",
                (
                    Column("model", "Model"),
                    Column("change", "Visual change"),
                    *(Column(one, one.capitalize(), "count") for one in counts),
                ),
                tuple(rows),
                ("What is not an answer counts as wrong. The first question about each stimulus is its trial.",),
            )
        )


def _asked_rows(one: AskedObserver) -> Iterator[tuple[str | int, ...]]:
    named = [(_range(at.low, at.high), at.trials) for at in one.by_change]
    for name, told in (*named, ("all trials", one.trials), ("all questions", one.questions)):
        yield name, told.asked, told.answered, told.refused, told.unreadable, told.missed


def _range(low: float | None, high: float | None) -> str:
    if high is None:
        return "not measured"
    return f"{low:.1f} to {high:.1f}" if high else "clean"


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
