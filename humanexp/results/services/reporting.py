from __future__ import annotations

import hashlib
import platform
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from django.conf import settings

from analysis.findings.model.findings import Findings
from humanexp.core import file_store
from humanexp.core.models import User
from humanexp.core.storage import media_path, write_whole
from humanexp.evaluations.selectors import seen_whole
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress
from humanexp.results import selectors
from humanexp.results.inclusion import Selection, flow_of, withdrawn_sentence
from humanexp.results.models import AnalysisPlan, AnalysisRun, Report
from humanexp.results.report import ReportFacts, document_of
from humanexp.results.selectors import REPORT
from humanexp.results.services.analysing import study_snapshot
from humanexp.studies import permissions
from humanexp.studies.models import Action, Population, Study
from humanexp.studies.selectors import subject_of

if TYPE_CHECKING:
    from analysis.reporting.methods import Paragraph
    from analysis.reporting.plan import Deviation, FrozenPlan

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
        versions=versions_of(run, plan),
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


def methods_of(run: AnalysisRun, plan: AnalysisPlan | None) -> list[Paragraph]:
    """The methods in words: what the findings hold, and what the house knows of plan and networks beside them."""
    from analysis.reporting.methods import methods_paragraphs

    study = run.study
    return methods_paragraphs(
        selectors.findings(run),
        study_snapshot(study),
        frozen_plan(plan),
        plan_answers=None if plan is None else plan.answers_before,
        seen_whole=seen_whole(study.stimulus_set) if study.stimulus_set is not None else (),
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
