from __future__ import annotations

import json

import pytest

from analysis.study.rules import load_rule_set
from humanexp.core.errors import StudyRefused
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.jobs import runner
from humanexp.jobs.models import Job, JobState
from humanexp.participation.models import Response, Session
from humanexp.results import selectors, tables
from humanexp.results.models import AnalysisRun
from humanexp.results.services import request_analysis, run_analysis
from humanexp.screening.services import decide, judge_study
from humanexp.studies.models import Study, StudyFamily
from tests.results.collected import SESSIONS, TRIALS_EACH, make_predictions

pytestmark = pytest.mark.django_db


@pytest.mark.verify
def test_a_run_is_one_row_and_one_file_with_the_shape_that_is_promised(study: Study) -> None:
    make_predictions(study)
    run = run_analysis(study=study, n_bootstrap=20)
    found = json.loads(media_path(run.findings_file).read_bytes())
    assert found.keys() >= {
        "study", "version", "data_digest", "observers", "accuracy", "human_accuracy", "curves", "comparisons",
        "similarity", "discrimination", "error_consistency", "sessions",
    }  # fmt: skip
    assert found == selectors.findings(run).to_json() == selectors.findings_json(run)
    assert (run.data_digest, run.seed, run.version) == (found["data_digest"], study.seed, found["version"])
    assert found["sessions"] | {"opened": SESSIONS, "submitted": SESSIONS, "accepted": SESSIONS} == found["sessions"]
    assert {entry["classifier"] for entry in found["comparisons"]} == {"tiny net"}
    assert selectors.latest_run(study) == run


@pytest.mark.verify
def test_excluded_sessions_are_left_out_and_counted(study: Study, user: User) -> None:
    session = Session.objects.filter(study=study).first()
    assert session is not None
    judge_study(study)
    decide(session=session, accepted=False, written_reason="answered with the screen covered", by=user)
    run = run_analysis(study=study, n_bootstrap=0)
    found = selectors.findings(run)
    assert found.sessions.accepted == SESSIONS - 1
    assert sum(found.sessions.excluded.values()) == 1
    people = [curve for curve in found.human_curves if curve.property == "accuracy"]
    assert sum(curve.n for curve in people) == (SESSIONS - 1) * TRIALS_EACH
    trials = tables.trials_of(study)
    assert set(trials.loc[~trials["accepted"].astype(bool), "session"]) == {session.code}


@pytest.mark.promise(6)
def test_the_same_answers_and_seed_give_the_same_numbers(study: Study) -> None:
    first, second = (selectors.findings(run_analysis(study=study, n_bootstrap=4)) for _ in range(2))
    assert first == second
    assert AnalysisRun.objects.count() == 2


def test_a_study_without_answers_is_refused_and_leaves_nothing() -> None:
    empty = Study.objects.create(
        family=StudyFamily.objects.create(slug="empty"),
        slug="empty",
        title="Empty",
        rule_set=load_rule_set("none").to_dict(),
    )
    with pytest.raises(StudyRefused, match="no answers"):
        run_analysis(study=empty)
    assert not AnalysisRun.objects.exists()


def test_models_alone_are_no_analysis_of_a_study_about_people(study: Study) -> None:
    make_predictions(study)
    Response.objects.filter(session__study=study).delete()
    with pytest.raises(StudyRefused, match="the study has no answers. Recruit participants first"):
        run_analysis(study=study)
    assert not AnalysisRun.objects.exists()


@pytest.mark.verify
def test_the_job_analyses_and_names_its_run(study: Study, user: User) -> None:
    job = request_analysis(study=study, n_bootstrap=4, by=user)
    assert request_analysis(study=study, by=user) == job
    runner.run_waiting(kinds=[selectors.ANALYSE])
    job.refresh_from_db()
    assert job.state == JobState.DONE, job.error
    assert selectors.latest_run(study) == AnalysisRun.objects.get(pk=job.result["analysis_run_id"])
    assert request_analysis(study=study, by=user) != job
    assert Job.objects.filter(kind=selectors.ANALYSE).count() == 2


@pytest.mark.verify
def test_lost_findings_say_what_to_do(analysed: AnalysisRun) -> None:
    from humanexp.core.errors import NotFound

    media_path(analysed.findings_file).unlink()
    selectors._read.cache_clear()
    with pytest.raises(NotFound, match="Run the analysis again"):
        selectors.findings(analysed)
