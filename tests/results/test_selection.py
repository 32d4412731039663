"""Other choices of sessions and trials: recomputed as a job, shown beside the planned analysis, never instead of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.reporting.plan import Deviation
from humanexp.core.errors import InputRefused, StudyRefused
from humanexp.core.models import User
from humanexp.jobs import runner
from humanexp.jobs.models import Job, JobState
from humanexp.participation.models import Response, Session
from humanexp.results import selectors, tables
from humanexp.results.models import AnalysisPlan, AnalysisRun
from humanexp.results.report import choice_of
from humanexp.results.selectors import Selection
from humanexp.results.services import run_analysis
from humanexp.screening.services import decide, judge_study
from humanexp.studies.models import Study
from tests.results.collected import CORRUPTIONS

pytestmark = pytest.mark.django_db


def test_a_choice_survives_json_and_says_what_it_is() -> None:
    chosen = Selection(timing_ok=True, self_reports=("sight",), corruptions=("gaussian_blur",))
    assert Selection.model_validate(chosen.to_dict()) == chosen
    assert chosen.to_dict() == {"timing_ok": True, "self_reports": ["sight"], "corruptions": ["gaussian_blur"]}
    assert chosen.sentences == [
        "only trials whose timing is in order",
        "only people who report normal or corrected sight",
        "only gaussian blur",
    ]
    assert Selection().to_dict() == {} and Selection().is_whole and not chosen.is_whole
    with pytest.raises(InputRefused, match="no self-report called 'age'"):
        Selection(self_reports=("age",))
    with pytest.raises(InputRefused, match="choose one of them"):
        Selection(self_reports=("corruption_knowledge", "knows_corruptions"))


def test_each_choice_keeps_the_rows_it_says(study: Study, user: User) -> None:
    first, second, *_ = Session.objects.filter(study=study)
    said = [{"sight": "yes", "corruption_knowledge": "yes"}, {"sight": "no", "corruption_knowledge": "no"}]
    for session, report in zip((first, second), said, strict=True):
        Session.objects.filter(pk=session.pk).update(environment={"self_report": report})
    Response.objects.filter(session=first, position=0).update(timing_ok=False)
    Response.objects.filter(session=first, position=1).update(response="na")
    judge_study(study)
    decide(session=second, accepted=False, written_reason="covered screen", by=user)
    trials, reports = tables.trials_of(study), selectors.self_reports(study)

    def kept(selection: Selection) -> Any:
        return selection.of_trials(trials, reports)

    assert len(kept(Selection())) == len(trials)
    assert kept(Selection(all_sessions=True))["accepted"].all() and not kept(Selection())["accepted"].all()
    assert len(kept(Selection(timing_ok=True))) == len(trials) - 1
    assert len(kept(Selection(drop_misses=True))) == len(trials) - 1
    assert set(kept(Selection(self_reports=("sight",)))["session"]) == {first.code}
    everyone = {"all_sessions": True}
    assert set(kept(Selection(self_reports=("knows_corruptions",), **everyone))["session"]) == {first.code}
    assert set(kept(Selection(self_reports=("corruption_knowledge",), **everyone))["session"]) == {second.code}
    only = kept(Selection(corruptions=CORRUPTIONS[:1]))
    assert set(only["corruption"]) == {CORRUPTIONS[0], "none"}


@pytest.mark.verify
def test_a_chosen_run_stands_beside_the_planned_one(study: Study) -> None:
    planned = run_analysis(study=study, n_bootstrap=0)
    chosen = Selection(corruptions=CORRUPTIONS[:1])
    run = run_analysis(study=study, n_bootstrap=0, selection=chosen)
    assert selectors.latest_run(study) == planned
    assert selectors.run_with(study, chosen) == run and selectors.other_choices(study) == [run]
    found = selectors.findings(run)
    assert found.selection == chosen.to_dict() and "selection" not in selectors.findings_json(planned)
    assert {curve.corruption for curve in found.curves} == set(CORRUPTIONS[:1])
    planned.pk = None
    planned.save(force_insert=True)
    assert selectors.run_with(study, chosen) is None, "an older choice than the newest plan is computed anew"


def test_nothing_left_is_refused_with_a_way_out(study: Study) -> None:
    with pytest.raises(StudyRefused, match="limit it less"):
        run_analysis(study=study, selection=Selection(self_reports=("sight",)))
    assert not AnalysisRun.objects.exists()


@pytest.mark.parametrize(
    ("selection", "is_frozen", "departs", "title", "detail"),
    [
        ({}, False, False, "All that the rules count", "no analysis plan was frozen"),
        ({}, True, False, "As planned", ""),
        ({}, True, True, "Not as planned", "bootstrap refits"),
        ({"drop_misses": True}, True, False, "Not as planned", "misses are left out"),
        ({"drop_misses": True}, False, False, "Chosen, with no plan frozen", "misses are left out"),
    ],
)
def test_as_planned_is_said_of_a_frozen_plan_that_was_kept_to(
    selection: dict[str, Any], is_frozen: bool, departs: bool, title: str, detail: str
) -> None:
    departures = [Deviation(what="bootstrap refits", planned="1000", done="10")] if departs else []
    choice = choice_of(AnalysisRun(selection=selection), AnalysisPlan() if is_frozen else None, departures)
    assert (choice.title, choice.detail) == (title, detail)


@pytest.mark.verify
def test_the_form_computes_a_choice_as_a_job_and_the_old_result_stays(
    researcher: Client, study: Study, analysed: AnalysisRun
) -> None:
    page, form = reverse("results:dashboard", args=[study.slug]), reverse("results:analyse", args=[study.slug])
    answer = researcher.post(form, {"drop_misses": "on", "corruptions": list(CORRUPTIONS)})
    assert answer.url == page
    (job,) = Job.objects.filter(kind=selectors.ANALYSE)
    assert job.parameters["selection"] == {"drop_misses": True}, "all corruptions chosen is none chosen"
    body = researcher.get(page).content.decode()
    assert f'id="job-{job.pk}"' in body and "no analysis plan was frozen" in body and "tiny net" in body
    researcher.post(form, {"drop_misses": "on"})
    assert Job.objects.filter(kind=selectors.ANALYSE).count() == 1
    researcher.post(form, {"timing_ok": "on"})
    assert Job.objects.filter(kind=selectors.ANALYSE).count() == 2
    Job.objects.exclude(pk=job.pk).delete()
    Job.objects.update(parameters=job.parameters | {"n_bootstrap": 0})
    runner.run_waiting(kinds=[selectors.ANALYSE])
    job.refresh_from_db()
    assert job.state == JobState.DONE, job.error
    after = researcher.get(page, {"job": str(job.pk)})
    run = AnalysisRun.objects.get(pk=job.result["analysis_run_id"])
    assert after.url == f"{page}?run={run.pk}"
    chosen = " ".join(researcher.get(after.url).content.decode().split())
    assert "Chosen, with no plan frozen:" in chosen and "misses are left out" in chosen
    assert f"{reverse('results:methods', args=[study.slug])}?run={run.pk}" in chosen, "rooms stay with the run"
    again = researcher.post(form, {"drop_misses": "on"})
    assert again.url == f"{page}?run={run.pk}", "what was computed is shown at once"
    assert "no analysis plan was frozen" in researcher.get(page).content.decode()


def test_a_choice_that_does_not_exist_is_refused(researcher: Client, study: Study, analysed: AnalysisRun) -> None:
    answer = researcher.post(reverse("results:analyse", args=[study.slug]), {"corruptions": ["fog_of_war"]})
    assert answer.status_code in (400, 422)
    assert not Job.objects.exists()


def test_published_trials_offer_what_they_have(researcher: Client, study: Study, analysed: AnalysisRun) -> None:
    from humanexp.results.pages.views import SelectionForm

    assert set(SelectionForm(corruptions=["a", "b"], imported=True).fields) == {"drop_misses", "corruptions"}
    assert "corruptions" not in SelectionForm(corruptions=["a"]).fields
