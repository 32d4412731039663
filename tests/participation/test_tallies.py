"""Counts over all answers are made by jobs and kept; a page of a large study reads none of its answers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from humanexp.core import clock
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.jobs.models import Job, JobState
from humanexp.jobs.runner import run_waiting
from humanexp.participation import tallies
from humanexp.participation.endings import undo_withdrawal
from humanexp.participation.models import Response, Session, SessionState, StudyTally
from humanexp.participation.openings import withdraw_session
from humanexp.participation.pages.figures import Figures, kept_figures
from humanexp.studies.models import Study
from tests.results.collected import SESSIONS, make_study

pytestmark = pytest.mark.django_db
PAGES = {"timing": "timing/", "golds": "review/golds/", "answers": "monitor/answers/", "sessions": "sessions/"}
#: Of the sessions that a page lists, it reads the answers, however many others there are.
OF_THE_SESSIONS_LISTED = '"session_id" IN ('


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Study:
    """Large, as far as pages are concerned."""
    monkeypatch.setattr(tallies, "AT_ONCE", 100)
    study = make_study(by=None)
    Response.objects.update(
        timing={"t_refresh_median_ms": 16.67, "frames_target": 12, "dur_stim_taken_ms": 200.0, "dur_stim_ms": 200.0}
    )
    return study


@pytest.fixture
def console(client: Client) -> Client:
    client.force_login(User.objects.create_user("root", is_staff=True))
    return client


def count_all(study: Study) -> None:
    for name in PAGES:
        tallies.make_tally(study=study, name=name, report=lambda done, total: None)


def reads_all_answers(sql: str) -> bool:
    """Or what every session says of its browser."""
    is_all = "experiments_response" in sql and OF_THE_SESSIONS_LISTED not in sql
    return is_all or "user_agent" in sql


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_was_counted_and_reads_no_answers(console: Client, study: Study, name: str) -> None:
    address = f"/studies/{study.slug}/{PAGES[name]}"
    before = console.get(address).content.decode()
    assert "have not been counted yet" in before and "Count now" in before
    count_all(study)
    with CaptureQueriesContext(connection) as asked:
        after = console.get(address).content.decode()
    assert "Counted now, over" in " ".join(after.split()) or "Counted" in after
    assert "Count now" not in after, "nothing has come since"
    assert not [query["sql"] for query in asked if reads_all_answers(query["sql"])]


@pytest.mark.parametrize("name", PAGES)
def test_count_now_makes_one_job_and_says_that_it_is_under_way(console: Client, study: Study, name: str) -> None:
    page = f"/studies/{study.slug}/{PAGES[name]}"
    for _ in range(2):
        answer = console.post(f"/studies/{study.slug}/count/{name}/")
        assert answer.status_code == 302 and answer["Location"] == page
    assert Job.objects.filter(kind=tallies.TALLY).count() == 1
    assert "being counted" in console.get(page).content.decode()
    run_waiting(kinds=[tallies.TALLY])
    assert Job.objects.get(kind=tallies.TALLY).state == JobState.DONE
    text = console.get(page).content.decode()
    assert "being counted" not in text and "Counted" in text
    assert console.post(f"/studies/{study.slug}/count/nothing/").status_code == 404


def test_answers_that_came_since_are_told_and_counted_when_the_count_has_rested(console: Client, study: Study) -> None:
    assert {name for _study, name in tallies.due_tallies()} == set(PAGES)
    count_all(study)
    assert list(tallies.due_tallies()) == []
    Session.objects.filter(study=study, slot=0).update(cursor=1)
    assert "Count now" in console.get(f"/studies/{study.slug}/timing/").content.decode()
    for age_s, due in ((tallies.REST * 10 - 5, set()), (tallies.REST * 10 + 1, set(PAGES))):
        StudyTally.objects.update(seconds=10, made_at=clock.now() - timedelta(seconds=age_s))
        assert {name for _study, name in tallies.due_tallies()} == due


def test_a_withdrawal_makes_another_count_due(study: Study) -> None:
    count_all(study)
    StudyTally.objects.update(made_at=clock.now() - timedelta(hours=1))
    Session.objects.filter(study=study, slot=0).update(state=SessionState.WITHDRAWN)
    assert {name for _study, name in tallies.due_tallies()} == set(PAGES)


@pytest.fixture
def withdrawn(study: Study) -> Session:
    """In every count, and then taken back."""
    session = Session.objects.get(study=study, slot=0)
    Session.objects.filter(pk=session.pk).update(state=SessionState.COMPLETED)
    count_all(study)
    session.refresh_from_db()
    return withdraw_session(session=session)


@pytest.mark.parametrize("name", PAGES)
def test_who_took_their_answers_back_is_in_no_page_from_that_moment_on(
    console: Client, study: Study, withdrawn: Session, name: str
) -> None:
    address, told = f"/studies/{study.slug}/{PAGES[name]}", "A participant withdrew their answers"
    text = console.get(address).content.decode()
    assert told in text and "Counted" not in text
    if name == "timing":
        assert withdrawn.participant.code not in text
        assert console.get(f"{address}certificate.json").status_code == 404
    assert (study, name) in list(tallies.due_tallies()), "not after a rest: now"
    tallies.make_tally(study=study, name=name, report=lambda done, total: None)
    again = console.get(address).content.decode()
    assert told not in again and "Counted" in again
    assert (study, name) not in list(tallies.due_tallies())


def test_a_count_that_was_under_way_while_somebody_withdrew_is_not_shown(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session.objects.get(study=study, slot=0)
    Session.objects.filter(pk=session.pk).update(state=SessionState.COMPLETED)
    session.refresh_from_db()
    monkeypatch.setattr("humanexp.screening.selectors.REPORTED_EVERY", 50)

    def report(done: int, total: int) -> None:
        if done == 50:
            withdraw_session(session=session)

    tallies.make_tally(study=study, name="timing", report=report)
    assert tallies.tally_of(study, "timing").content is None


def test_a_count_that_was_under_way_while_somebody_was_deleted_is_not_kept(
    study: Study, monkeypatch: Any, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr("humanexp.screening.selectors.REPORTED_EVERY", 50)

    def report(done: int, total: int) -> None:
        if done == 50:
            Session.objects.get(study=study, slot=0).participant.sessions.all().delete()

    with django_capture_on_commit_callbacks(execute=True):
        tallies.make_tally(study=study, name="timing", report=report)
    assert not StudyTally.objects.exists() and not media_path(f"tallies/{study.slug}-timing.json").exists()


def test_what_nobody_counted_is_taken_out_of_no_count(study: Study) -> None:
    """A script that opens sessions and leaves them keeps nobody from seeing the figures."""
    session = Session.objects.get(study=study, slot=0)
    for facts in ({"cursor": 0}, {"is_verified": False}):
        Session.objects.filter(pk=session.pk).update(**{"cursor": 9, "is_verified": True, **facts})
        count_all(study)
        Session.objects.filter(pk=session.pk).update(state=SessionState.WITHDRAWN, withdrawn_at=clock.now())
        assert tallies.tally_of(study, "timing").content is not None
        Session.objects.filter(pk=session.pk).update(state=SessionState.COMPLETED, withdrawn_at=None)


def test_the_count_is_shown_again_when_the_withdrawal_is_undone(study: Study, withdrawn: Session) -> None:
    undo_withdrawal(session=withdrawn, by=None, reason="It was somebody else.")
    assert tallies.tally_of(study, "timing").content is not None


def test_the_certificate_as_a_file_holds_everybody(console: Client, study: Study, monkeypatch: Any) -> None:
    monkeypatch.setattr("humanexp.screening.pages.review.SHOWN", 3)
    address = f"/studies/{study.slug}/timing/certificate.json"
    assert console.get(address).status_code == 404
    count_all(study)
    assert len(console.get(address).json()["participants"]) == SESSIONS
    text = " ".join(console.get(f"/studies/{study.slug}/timing/").content.decode().split())
    assert text.count('<th scope="row">P-TEST') == 3 and f"{SESSIONS - 3} more people are in the JSON file" in text


def test_a_small_study_is_counted_on_its_page(console: Client, study: Study, monkeypatch: Any) -> None:
    monkeypatch.setattr(tallies, "AT_ONCE", 100_000)
    text = console.get(f"/studies/{study.slug}/timing/").content.decode()
    assert "Count now" not in text and "Timing certificate" in text
    assert list(tallies.due_tallies()) == [] and not StudyTally.objects.exists()


def figures_now(study: Study, monkeypatch: Any) -> Figures | None:
    """What a page counts by itself."""
    with monkeypatch.context() as at_once:
        at_once.setattr(tallies, "AT_ONCE", 100_000)
        return kept_figures(study)[1]


def test_the_figures_of_the_sessions_page_stay_what_they_are_while_they_are_kept(
    study: Study, monkeypatch: Any
) -> None:
    Session.objects.filter(study=study, slot=0).update(environment={"user_agent": "Firefox/140.0", "window_px": [1440]})
    count_all(study)
    tally, kept = kept_figures(study)
    assert tally.made_at is not None and kept == figures_now(study, monkeypatch)
    assert kept is not None and kept.timing.judged and kept.devices.families


def test_a_session_that_nobody_has_listed_is_in_no_figure(study: Study, monkeypatch: Any) -> None:
    Session.objects.filter(study=study).update(environment={"user_agent": "Firefox/140.0", "window_px": [1440]})
    everybody = figures_now(study, monkeypatch)
    Session.objects.filter(study=study, slot=0).update(is_verified=False)
    listed = figures_now(study, monkeypatch)
    assert everybody is not None and listed is not None
    assert (everybody.timing.sessions, listed.timing.sessions) == (SESSIONS, SESSIONS - 1)
    for told in ("rates", "families", "windows"):
        (all_of_them,), (those_listed,) = getattr(everybody.devices, told), getattr(listed.devices, told)
        assert (all_of_them.sessions, those_listed.sessions) == (SESSIONS, SESSIONS - 1), told
