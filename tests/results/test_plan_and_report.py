"""The study as a document: a frozen plan with its deviations, and a report as HTML and PDF."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from analysis.documents.pdf import to_pdf
from analysis.documents.value import SheetBlock
from analysis.errors import InvalidInput
from analysis.findings.model.findings import Findings
from humanexp.core.errors import Conflict, StudyRefused
from humanexp.core.storage import media_path
from humanexp.jobs import runner
from humanexp.jobs.models import Job, JobState
from humanexp.participation.models import Response
from humanexp.results import report, selectors
from humanexp.results.exports import export_study
from humanexp.results.models import AnalysisPlan, AnalysisRun, Report
from humanexp.results.report import document_of, write_report
from humanexp.results.services import freeze_analysis_plan, plan_as_it_stands
from humanexp.studies.models import Origin, Population, Study
from tests.results.large import large_findings

pytestmark = pytest.mark.django_db


def test_the_plan_is_frozen_once_with_the_digest_that_was_shown(researcher: Client, study: Study) -> None:
    Response.objects.all().delete()
    digest = plan_as_it_stands(study).digest
    address = reverse("results:freeze", args=[study.slug])
    assert researcher.post(address).status_code in (400, 422), "not without the confirmation"
    assert not AnalysisPlan.objects.exists()
    assert researcher.post(address, {"confirmed": "on"}).status_code == 302
    plan = selectors.plan_of(study)
    assert plan is not None and plan.digest == digest and plan.answers_before == 0
    assert "before the first answer" in report.plan_sentences(plan)[0]
    with pytest.raises(Conflict, match="frozen already"):
        freeze_analysis_plan(study=study)


def test_a_plan_after_the_first_answers_says_so(study: Study) -> None:
    plan = freeze_analysis_plan(study=study)
    count = Response.objects.count()
    assert plan.answers_before == count
    assert f"when {count} answers were stored" in report.plan_sentences(plan)[0]


def test_published_trials_have_no_plan(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(origin=Origin.IMPORTED)
    study.refresh_from_db()
    with pytest.raises(StudyRefused, match="nothing left to plan"):
        freeze_analysis_plan(study=study)


def test_what_is_done_otherwise_is_listed(researcher: Client, study: Study, analysed: AnalysisRun) -> None:
    freeze_analysis_plan(study=study)
    Study.objects.filter(pk=study.pk).update(title="Another title")
    body = researcher.get(reverse("results:methods", args=[study.slug])).content.decode()
    assert "Deviations from the plan" in body
    # The fixture's analysis has 20 refits, the plan 1000.
    assert "bootstrap refits per resampled unit" in body and "Another title" in body
    assert selectors.plan_of(study).digest in body


def test_a_plan_that_was_changed_in_the_database_is_noticed(study: Study) -> None:
    plan = freeze_analysis_plan(study=study)
    plan.content["analysis"]["margin"] = 0.5
    with pytest.raises(InvalidInput, match="changed after it was frozen"):
        report.frozen_plan(plan)


def test_the_methods_carry_the_numbers_and_can_be_copied(
    researcher: Client, study: Study, analysed: AnalysisRun
) -> None:
    body = researcher.get(reverse("results:methods", args=[study.slug])).content.decode()
    found = selectors.findings(analysed)
    assert "data-copy=" in body and analysed.data_digest in body
    assert f"{found.curves[0].area:.3f}" in body


@pytest.mark.verify
def test_the_report_is_written_by_a_job_and_downloaded(researcher: Client, study: Study, analysed: AnalysisRun) -> None:
    methods = reverse("results:methods", args=[study.slug])
    pdf = reverse("results:report_file", args=[study.slug, "pdf"])
    assert researcher.get(pdf).status_code == 404
    write = reverse("results:write_report", args=[study.slug])
    assert "The report is written" in researcher.post(write, headers={"HX-Request": "true"}).content.decode()
    researcher.post(write)
    (job,) = Job.objects.filter(kind=selectors.REPORT)
    runner.run_waiting(kinds=[selectors.REPORT])
    job.refresh_from_db()
    assert job.state == JobState.DONE, job.error
    report = Report.objects.get(pk=job.result["report_id"])
    assert researcher.get(reverse("results:dashboard", args=[study.slug]), {"job": str(job.pk)}).url.startswith(methods)
    content = b"".join(researcher.get(pdf).streaming_content)
    assert content.startswith(b"%PDF") and hashlib.sha256(content).hexdigest() == report.pdf_digest
    answer = researcher.get(reverse("results:report_file", args=[study.slug, "html"]))
    assert answer["Content-Disposition"].startswith("attachment")
    text = b"".join(answer.streaming_content).decode()
    assert text.count("<svg") == report.figures >= 6
    for said in ("Who counts", "Methods", "Analysis plan", "Versions and digests", analysed.data_digest, "tiny net"):
        assert said in text, said
    assert "Report (PDF)" in researcher.get(methods).content.decode()


@pytest.mark.verify
def test_what_stands_before_the_appendix_fits_eight_pages(study: Study, analysed: AnalysisRun) -> None:
    """Three corruptions, two models, two measures; every method and version, and a frozen plan."""
    freeze_analysis_plan(study=study)
    found = Findings.model_validate(large_findings(corruptions=3, models=2))
    document = document_of(found, report.report_facts(analysed))
    titles = [section.title for section in document.sections]
    start = next(place for place, title in enumerate(titles) if title.startswith("Appendix"))
    assert all(title.startswith("Appendix") for title in titles[start:])
    sheets = [block for block in document.sections[1].blocks if isinstance(block, SheetBlock)]
    assert [len(sheet.panels) for sheet in sheets] == [3, 3]
    main = replace(document, sections=document.sections[:start])
    assert main.figures == 4
    pages = re.findall(rb"/Type /Page\b", to_pdf(main))
    assert 2 <= len(pages) <= 8


@pytest.mark.verify
def test_scripted_participants_are_called_that_wherever_results_are_told(
    study: Study, analysed: AnalysisRun, tmp_path: Path
) -> None:
    assert "scripted" not in str(report.report_facts(analysed).methods)
    Study.objects.filter(pk=study.pk).update(population=Population.SCRIPTED)
    run = AnalysisRun.objects.get(pk=analysed.pk)
    facts = report.report_facts(run)
    methods = dict(facts.methods)["Participants"]
    assert methods.startswith("The participants were scripted: programs answered, and no person took part.")
    assert "answers of" in methods and "scripted participants." in methods and " people." not in methods.split("\n")[-1]
    assert document_of(selectors.findings(run), facts).abstract[0].startswith("The participants were scripted")
    export_study(run.study, tmp_path / "out")
    package = json.loads((tmp_path / "out/datapackage.json").read_text())
    assert package["description"].startswith("The participants were scripted")
    assert "no person took part" in (tmp_path / "out/README.md").read_text()


def test_a_report_that_is_cancelled_leaves_nothing(study: Study, analysed: AnalysisRun) -> None:
    class Stopped(Exception):
        """Somebody cancelled."""

    def cancel(done: int, total: int, message: str) -> None:
        if done > 1:
            raise Stopped

    before = set(media_path(f"results/{study.slug}").glob("report*"))
    with pytest.raises(Stopped):
        write_report(run=analysed, report=cancel)
    assert set(media_path(f"results/{study.slug}").glob("report*")) == before and not Report.objects.exists()
