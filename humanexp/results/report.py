"""A study's report: what it says as an `documents.value.Document`, its files, and the plan that was frozen before."""

from __future__ import annotations

import hashlib
import platform
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from django.conf import settings

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
from analysis.energy import FORMULA, in_words
from analysis.figures.table import Column, Table
from analysis.figures.value import Figure
from analysis.findings.model.findings import Findings
from analysis.findings.model.people import AskedObserver
from humanexp.core import file_store
from humanexp.core.models import User
from humanexp.core.storage import media_path, write_whole
from humanexp.evaluations.emissions import Emission, emissions_of
from humanexp.evaluations.selectors import asked_how, seen_whole
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress
from humanexp.results import selectors
from humanexp.results.charts.curves import sheet_names, sheet_of
from humanexp.results.charts.registry import chart_of, choices_of
from humanexp.results.headline import headline_of
from humanexp.results.models import AnalysisPlan, AnalysisRun, Report
from humanexp.results.selectors import REPORT, Selection, Step, flow_of, withdrawn_sentence
from humanexp.results.services import study_snapshot
from humanexp.studies import permissions
from humanexp.studies.models import Action, Origin, Population, Study
from humanexp.studies.selectors import subject_of
from humanexp.studies.two_ways import TwoWays, two_ways

if TYPE_CHECKING:
    from analysis.reporting import methods
    from analysis.reporting.plan import Deviation, FrozenPlan


#: Sections of charts: title -> families. The longest tables (bins, curves) are left to the export.
CHARTS = {
    "Models against people": (
        "leaderboard",
        "means",
        "benchmark",
        "difficulty",
        "agreement",
        "soft-agreement",
        "levels",
        "shape-bias",
    ),
    "What pictures have in common": ("factors",),
    "Similarity of corruptions": ("similarity", "discrimination"),
    "Recruiters": ("recruiters",),
    "Pictures": ("validation",),
    "What the choices change": ("sensitivity",),
    "Who answered?": ("who-answered",),
}
#: The same behind the report: a chart for each corruption, model and measure.
APPENDIX = {
    "Appendix: curves one by one": ("curves",),
    "Appendix: models one corruption at a time": ("indices",),
    "Appendix: how fragile the verdicts are": ("fragility",),
    "Appendix: similarity for models": ("similarity",),
    "Appendix: answers": ("coverage", "participants", "times", "confusion", "groups"),
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
    #: what generation, prediction and retraining emitted
    energy: Sequence[Emission]
    deviations: Sequence[Deviation]
    versions: Sequence[tuple[str, str]]
    #: what it takes to find functions that are alike; None where a study compares none, or was not planned here
    ways: TwoWays | None = None


def document_of(findings: Findings, facts: ReportFacts) -> Document:
    from analysis.reporting.methods import SCRIPTED

    headline = headline_of(findings)
    sections = [
        Section("Who counts", (*_flow(facts.flow), *_asked(findings.asked))),
        _performance(findings),
        *(_charts(findings, title, families) for title, families in CHARTS.items()),
        Section("Methods", tuple(Paragraph(f"{title}. {text}") for title, text in facts.methods)),
        Section("Analysis plan", tuple(_plan(facts))),
        Section("Energy and CO₂", tuple(_energy(facts.energy))),
        Section("Versions and digests", tuple(_versions(findings, facts))),
        *(
            _charts(findings, title, families, is_appendix=True)
            for title, families in APPENDIX.items()
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
    if facts.ways is not None:
        yield TableBlock(facts.ways.table)
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


def _energy(emissions: Sequence[Emission]) -> Iterator[Block]:
    """By computation; nothing where none was recorded."""
    rows = [
        (one.stage, one.name, one.energy["kwh"], one.g_co2, one.g_co2_per_function, in_words(one.energy))
        for one in emissions
        if one.is_recorded
    ]
    if rows:
        yield TableBlock(
            Table(
                "energy",
                "Energy and CO₂ of the computations behind this study",
                (
                    Column("stage", "Stage"),
                    Column("name", "Of"),
                    Column("kwh", "kWh", "number", 4),
                    Column("g_co2", "g CO₂", "number", 2),
                    Column("g_co2_per_function", "g CO₂ per function", "number", 2),
                    Column("how", "How it was found"),
                ),
                tuple(rows),
                (f"{FORMULA}.",),
            )
        )


def _versions(findings: Findings, facts: ReportFacts) -> Iterator[Block]:
    yield Facts(tuple(facts.versions))
    if findings.notes:
        yield Items(tuple(note.replace("_", " ") for note in findings.notes))


#: Packages whose versions decide the numbers.
_PACKAGES = ("numpy", "scipy", "pandas", "torch", "opencv-python-headless", "matplotlib")


def write_report(*, run: AnalysisRun, by: User | None = None, report: Progress) -> Report:
    """Write the HTML and the PDF report on a run. The row appears when both files are there."""
    from analysis.documents.html import to_html
    from analysis.documents.pdf import to_pdf
    from analysis.documents.value import draw_figures

    document = document_of(selectors.findings(run), report_facts(run))
    total = 2 * document.figures + 1
    report(0, total, "drawing figures")
    drawings = draw_figures(document, report=lambda done: report(done, total, "drawing figures"))
    pages = to_pdf(
        document, drawings, report=lambda done: report(document.figures + done, total, "setting the PDF pages")
    )
    contents = {"html": to_html(document, drawings).encode(), "pdf": pages}
    name = f"results/{run.study.slug}/report-{run.pk}-{secrets.token_hex(6)}"
    try:
        for suffix, content in contents.items():
            write_whole(media_path(f"{name}.{suffix}"), content)
            file_store.publish(f"{name}.{suffix}")
        return Report.objects.create(
            run=run,
            html_file=f"{name}.html",
            pdf_file=f"{name}.pdf",
            html_digest=hashlib.sha256(contents["html"]).hexdigest(),
            pdf_digest=hashlib.sha256(contents["pdf"]).hexdigest(),
            figures=document.figures,
            created_by=by,
        )
    except BaseException:
        for suffix in contents:
            file_store.forget(f"{name}.{suffix}")
            file_store.local_path(f"{name}.{suffix}").unlink(missing_ok=True)
        raise


def request_report(*, run: AnalysisRun, by: User | None = None) -> Job:
    """Queue a report on this run; while one on the study waits or runs, that one is the answer."""
    permissions.check(by, Action.ANALYSE, run.study)
    job = selectors.report_job(run.study)
    if job is not None and not job.is_finished and job.parameters.get("analysis_run_id") == run.pk:
        return job
    return jobs.submit(REPORT, subject=subject_of(run.study), by=by, analysis_run_id=run.pk)


def report_facts(run: AnalysisRun) -> ReportFacts:
    """What a report says beside the findings: the study, its flow, its methods, its plan, all versions."""
    study, found = run.study, selectors.findings(run)
    selection = Selection.model_validate(run.selection)
    plan = selectors.plan_of(study)
    departures = deviations_of(study, plan, found)
    chosen = choice_of(run, plan, departures)
    return ReportFacts(
        title=study.title,
        subtitle=f"Analysis {run.pk} of {run.created_at:%Y-%m-%d %H:%M} UTC. {chosen.words}",
        flow=flow_of(found, all_count=selection.all_sessions),
        is_scripted=study.population == Population.SCRIPTED,
        withdrawn=withdrawn_sentence(selectors.withdrawn_since(run)),
        methods=[(one.title, one.text) for one in methods_of(run, plan)],
        plan=plan_sentences(plan),
        deviations=departures,
        energy=emissions_of(study.stimulus_set) if study.stimulus_set is not None else (),
        versions=versions_of(run, plan),
        ways=two_ways(study) if study.origin == Origin.COLLECTED and study.plan_digest else None,
    )


@dataclass(frozen=True, kw_only=True)
class CountedSessions:
    """What an analysis counts, against what was fixed before."""

    title: str
    detail: str

    @property
    def words(self) -> str:
        return f"{self.title}: {self.detail}." if self.detail else f"{self.title}."


def choice_of(run: AnalysisRun, plan: AnalysisPlan | None, departures: Sequence[Deviation]) -> CountedSessions:
    """ "As planned" is said of nothing but the whole of an analysis that a frozen plan describes."""
    chosen = "; ".join(Selection.model_validate(run.selection).sentences)
    if plan is None:
        title = "Chosen, with no plan frozen" if chosen else "All that the rules count"
        return CountedSessions(title=title, detail=chosen or "no analysis plan was frozen")
    if chosen:
        return CountedSessions(title="Not as planned", detail=chosen)
    if departures:
        return CountedSessions(title="Not as planned", detail="; ".join(one.what for one in departures))
    return CountedSessions(title="As planned", detail="")


def methods_of(run: AnalysisRun, plan: AnalysisPlan | None) -> list[methods.Paragraph]:
    """The methods in words: what the findings hold, and what the house knows of plan and networks beside them."""
    from analysis.reporting.methods import methods_paragraphs

    study = run.study
    return methods_paragraphs(
        selectors.findings(run),
        study_snapshot(study),
        frozen_plan(plan),
        plan_answers=None if plan is None else plan.answers_before,
        seen_whole=seen_whole(study.stimulus_set) if study.stimulus_set is not None else (),
        asked_how=asked_how(study.stimulus_set, study.slug) if study.stimulus_set is not None else {},
        scripted=study.population == Population.SCRIPTED,
    )


def frozen_plan(plan: AnalysisPlan | None) -> FrozenPlan | None:
    """The plan as the science reads it; refuses one that was changed after it was frozen."""
    from analysis.reporting.plan import FrozenPlan

    return None if plan is None else FrozenPlan.from_dict({"content": plan.content, "digest": plan.digest})


def deviations_of(study: Study, plan: AnalysisPlan | None, found: Findings) -> list[Deviation]:
    from analysis.reporting.plan import deviations

    frozen = frozen_plan(plan)
    return [] if frozen is None else deviations(frozen, found, snapshot=study_snapshot(study))


def plan_sentences(plan: AnalysisPlan | None) -> list[str]:
    if plan is None:
        return []
    when = "before the first answer" if not plan.answers_before else f"when {plan.answers_before} answers were stored"
    return [f"The plan was frozen on {plan.frozen_at:%Y-%m-%d %H:%M} UTC, {when}. Its SHA-256 is {plan.digest}."]


def versions_of(run: AnalysisRun, plan: AnalysisPlan | None) -> list[tuple[str, str]]:
    study: Study = run.study
    facts = [
        ("HumanExp", settings.VERSION),
        ("Analysis", run.version),
        ("Analysed", f"{run.created_at:%Y-%m-%d %H:%M} UTC"),
        ("Seed, refits", f"{run.seed}, {run.n_bootstrap}"),
        ("Digest of the data", run.data_digest),
        ("Digest of the study", study.digest),
        ("Digest of the analysis plan", plan.digest if plan else ""),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in _PACKAGES),
        ("Again", f"python manage.py analyse {study.slug} --seed {run.seed} --bootstrap {run.n_bootstrap}"),
    ]
    return [(name, value) for name, value in facts if value]
