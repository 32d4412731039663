from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from humanexp.console.models import Preflight
from humanexp.console.overview import Overview, overview_of
from humanexp.core.models import User
from humanexp.jobs.models import Job, JobState
from humanexp.participation.models import Session, SessionState
from humanexp.participation.tallies import BinCount, bars as bars_of
from humanexp.results import selectors
from humanexp.results.services import run_analysis
from humanexp.stimuli.models import SourceSet
from humanexp.studies.models import Study, StudyState
from humanexp.studies.selectors import subject_of
from tests.factories import draft_study, make_stimulus_set
from tests.results.collected import SESSIONS, make_predictions, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("lab")


@pytest.fixture
def researcher(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


@pytest.fixture
def study(user: User) -> Study:
    return make_study(by=user)


def words(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def texts(overview: Overview) -> list[str]:
    return [step.text for step in overview.steps]


def test_an_empty_console_says_how_to_begin(researcher: Client) -> None:
    body = words(researcher, "/")
    assert "No study yet" in body and "python manage.py demo" in body and body.count("data-next-step") == 1
    assert f'data-next-step href="{reverse("stimuli:new_source")}"' in body
    SourceSet.objects.create(name="drawings")
    assert f'data-next-step href="{reverse("stimuli:new")}"' in words(researcher, "/")
    make_stimulus_set()
    body = words(researcher, "/")
    assert (
        f'data-next-step href="{reverse("studies:new")}?start=rehearsal"' in body and body.count("data-next-step") == 1
    )


def test_a_draft_is_tried_out_then_launched(researcher: Client, user: User) -> None:
    make_stimulus_set()
    draft = draft_study(by=user)
    address = reverse("console:overview", args=[draft.slug])
    assert overview_of(draft).steps[0].url == reverse("console:preflight", args=[draft.slug])
    assert words(researcher, address).count("data-next-step") == 1
    now = timezone.now()
    facts = {"study": draft, "to": "link", "began_at": now, "ended_at": now}
    fault = {"key": "contact", "title": "Contact", "tone": "bad", "detail": "", "remedy": "", "url": "", "action": ""}
    Preflight.objects.create(is_green=False, lines=[fault], **facts)
    first = overview_of(draft).steps[0]
    assert (first.text, first.tone) == ("The pre-flight check found 1 thing to put right.", "bad")
    Preflight.objects.create(is_green=True, **facts)
    assert overview_of(draft).steps[0].url == f"/studies/{draft.slug}/recruit/?to=link"


def test_the_list_asks_little_of_the_database_for_a_draft(
    researcher: Client, user: User, django_assert_max_num_queries: Any
) -> None:
    make_stimulus_set()
    for number in range(3):
        draft_study(by=user, title=f"Study {number}")
    # the navigation and the line above the list both ask how much waits, and the page what a newcomer would do next
    with django_assert_max_num_queries(8 + 3 * 3):
        researcher.get("/")


def test_the_list_shows_state_sessions_and_what_is_next(researcher: Client, study: Study) -> None:
    body = words(researcher, "/")
    assert study.title in body and "collecting" in body and "of 10" in body
    assert "No model has classified these stimuli yet." in body


def test_a_researcher_sees_their_own_studies_and_staff_all(client: Client, study: Study) -> None:
    client.force_login(User.objects.create_user("other"))
    assert study.title not in words(client, "/")
    assert client.get(reverse("console:overview", args=[study.slug])).status_code == 404
    client.force_login(User.objects.create_user("head", is_staff=True))
    assert study.title in words(client, "/")


def test_the_overview_shows_sessions_money_and_the_next_steps(researcher: Client, study: Study) -> None:
    body = words(researcher, reverse("console:overview", args=[study.slug]))
    assert f"{SESSIONS} finished, 0 under way" in body
    assert "$0.00" in body and "No one has been invited yet" in body
    assert "The answers have not been analysed yet." in body


@pytest.mark.verify
def test_next_steps_follow_what_happens(study: Study) -> None:
    assert "No model has classified these stimuli yet." in texts(overview_of(study))
    make_predictions(study)
    assert "No model has classified these stimuli yet." not in texts(overview_of(study))
    run_analysis(study=study, n_bootstrap=0)
    assert "The results are up to date." in texts(overview_of(study))
    last = Session.objects.filter(study=study).first()
    assert last is not None
    Session.objects.create(
        study=study, participant=last.participant, number=2, code="S-LATE", slot=99, total=0,
        state=SessionState.SUBMITTED, token_nonce="late", opened_at=last.opened_at,
    )  # fmt: skip
    assert "1 session is newer than the analysis." in texts(overview_of(study))
    Job.objects.create(kind=selectors.ANALYSE, subject=subject_of(study), state=JobState.FAILED, error="no space")
    first = overview_of(study).steps[0]
    assert (first.text, first.tone) == ("A job has failed.", "bad")


def test_a_study_that_collected_everything_asks_to_be_stopped(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(planned_sessions=SESSIONS)
    study.refresh_from_db()
    assert "Every planned session is finished." in texts(overview_of(study))
    Study.objects.filter(pk=study.pk).update(state=StudyState.STOPPED)
    study.refresh_from_db()
    assert "Every planned session is finished." not in texts(overview_of(study))


@pytest.mark.verify
def test_the_headline_stands_on_the_overview_once_there_is_one(researcher: Client, study: Study) -> None:
    make_predictions(study)
    address = reverse("console:overview", args=[study.slug])
    assert "Answer so far" not in words(researcher, address)
    run_analysis(study=study, n_bootstrap=0)
    assert "The model “tiny net” replicates" in words(researcher, address)


def test_the_partial_comes_without_the_page_around_it(researcher: Client, study: Study) -> None:
    response = researcher.get(reverse("console:overview", args=[study.slug]), headers={"HX-Request": "true"})
    body = response.content.decode()
    assert "<html" not in body and 'id="overview"' in body


def test_an_imported_study_has_its_trials_instead_of_sessions(researcher: Client, user: User, tmp_path: object) -> None:
    from pathlib import Path

    from humanexp.results.services import import_trials

    path = Path(str(tmp_path)) / "trials.csv"
    path.write_text(
        "subj,session,trial,rt,object_response,category,condition,imagename\nsubject-01,1,1,0.5,dog,dog,0.1,a.png\n"
    )
    import_trials(paths=[path], name="published", by=user)
    body = words(researcher, reverse("console:overview", args=["published"]))
    assert "Published trials" in body and "subject-01" in body and "Accepted sessions" not in body
    assert "imported trials" in words(researcher, "/")


def test_the_thinnest_bin_is_the_one_with_the_smallest_share() -> None:
    counts = [(0.0, 100, 60), (0.1, 10, 5), (0.2, 0, 0)]
    bars = bars_of(
        BinCount(corruption="noise", low=low, high=low + 0.1, planned=planned, answered=answered)
        for low, planned, answered in counts
    )
    empty = {"opened": 0, "completed": 0, "planned": 0}
    overview = Overview(
        study=Study(), sessions=empty, accepted=0, excluded={}, flagged=0, figures=None, bars=bars, run=None,
        headline=None, trial_import=None, jobs=[],
    )  # fmt: skip
    assert overview.thinnest is bars[1]
    assert (overview.answered, overview.planned_answers) == (65, 110)


@pytest.mark.parametrize(("code", "path"), [(404, "/no/such/page/"), (404, "/studies/nothing/")])
def test_errors_are_pages_with_a_sentence(researcher: Client, code: int, path: str) -> None:
    response = researcher.get(path)
    assert response.status_code == code
    assert b"<h1" in response.content and b"HumanExp" in response.content


def test_the_page_for_a_fault_needs_neither_session_nor_database() -> None:
    from django.template.loader import render_to_string

    assert "Something broke on our side" in render_to_string("500.html")


def test_a_wrong_password_is_said_in_words(client: Client, db: None) -> None:
    body = client.post("/login/", {"username": "x", "password": "y"}).content.decode()
    assert "Wrong username or password" in body and 'aria-invalid="true"' in body
