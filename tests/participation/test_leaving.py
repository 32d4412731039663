"""Stop and leave: the person's own decision, which takes their answers back."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from humanexp.participation.answers import iter_trial_rows, session_rows
from humanexp.participation.models import Response, SessionState
from humanexp.participation.openings import mark_submitted, note_deadline
from humanexp.participation.places import SPARE
from humanexp.studies.facts import KEPT_DAYS
from tests.factories import Tab, new_session


def test_answers_are_hidden_at_once_and_the_slot_is_free(tab, session, study):
    for position in range(3):
        assert tab.answer(position).status_code == 201
    reply = tab.post("withdraw/", {})
    assert (reply.status_code, reply.json()) == (200, {"state": "withdrawn"})
    session.refresh_from_db()
    assert session.state == SessionState.WITHDRAWN and session.cursor == 3, "how far it came is known"
    assert list(iter_trial_rows(study)) == [] and session_rows(session) == []
    assert session.erase_after - session.withdrawn_at == timedelta(days=KEPT_DAYS)
    assert Response.objects.filter(session=session).count() == 3, "until then it can be undone"
    assert new_session(study, "P-2").slot == session.slot


def test_twice_is_once_and_nothing_can_be_answered_any_more(tab, session):
    tab.post("withdraw/", {})
    assert tab.post("withdraw/", {}).status_code == 200
    assert tab.answer(0).status_code == 409
    assert tab.get("status/").json()["state"] == "withdrawn"
    assert "receipt" not in tab.get("status/").json()


def test_any_window_of_the_session_may_leave_and_no_other_session(client, tab, session, study):
    other = Tab(client, new_session(study, "P-2"), lease="")
    assert other.post("withdraw/", {}).status_code == 200
    session.refresh_from_db()
    assert session.state == SessionState.OPEN
    assert client.post("/api/v1/run/withdraw/").status_code == 401


def test_what_is_submitted_is_deleted_by_the_people_of_the_study(tab, session, django_capture_on_commit_callbacks):
    type(session).objects.filter(pk=session.pk).update(state=SessionState.COMPLETED)
    session.refresh_from_db()
    mark_submitted(session=session, at=timezone.now())
    refused = tab.post("withdraw/", {})
    assert refused.status_code == 409 and "Write to the people" in refused.json()["detail"]


def test_who_has_left_may_come_back_to_other_pictures(tab, session, study):
    tab.answer(0)
    tab.post("withdraw/", {})
    again = new_session(study, session.participant.code)
    assert again.pk != session.pk
    seen = session.trials.get(position=0).stimulus.source_image
    assert not again.trials.filter(stimulus__source_image=seen).exists()


def test_answers_may_stay_and_the_slot_is_free_all_the_same(tab, session, study):
    for position in range(3):
        tab.answer(position)
    assert tab.post("withdraw/", {"keep": True}).json() == {"state": "left"}
    assert tab.post("withdraw/", {"keep": True}).json() == {"state": "left"}, "twice is once"
    session.refresh_from_db()
    assert session.state == SessionState.OPEN and session.left_at is not None and session.erase_after is None
    assert len(list(iter_trial_rows(study))) == 3
    assert new_session(study, "P-2").slot == session.slot
    assert tab.get("status/").json()["state"] == "left"


def test_whoever_left_the_answers_goes_on_in_no_window(tab, session, study):
    tab.answer(0)
    tab.post("withdraw/", {"keep": True})
    assert tab.answer(1).status_code == 409 and tab.take_lease().status_code == 409
    assert tab.get("trials/1/stimulus/0/").status_code == 409
    assert tab.post("complete/", {}).status_code == 409
    assert new_session(study, session.participant.code) == session, "and begins no other one"


def test_answers_that_stayed_can_be_deleted_later(tab, session, study):
    tab.answer(0)
    tab.post("withdraw/", {"keep": True})
    assert tab.post("withdraw/", {"keep": False}).json() == {"state": "withdrawn"}
    session.refresh_from_db()
    assert session.erase_after is not None and list(iter_trial_rows(study)) == []


def test_the_flow_counts_who_left_with_answers_as_left(client, tab, session, study):
    from analysis.findings.sensitivity import inclusion_flow
    from humanexp.results.tables import sessions_of

    new_session(study, "P-2")
    tab.post("withdraw/", {"keep": True})
    flow = inclusion_flow(sessions_of(study))
    assert (flow.opened, flow.unfinished, flow.left, flow.withdrawn) == (2, 2, 1, 0)


IN_TIME = {"keep": True, "reason": "time"}


def ends_in(session, **after):
    note_deadline(session=session, due_at=timezone.now() + timedelta(**after))


def test_whom_the_study_ends_for_want_of_time_has_not_left(tab, session, study):
    tab.answer(0)
    ends_in(session, seconds=tab.get("session/").json()["round_s"] + SPARE.total_seconds() - 1)
    assert tab.post("withdraw/", IN_TIME).json() == {"state": "out-of-time"}
    assert tab.post("withdraw/", IN_TIME).json() == {"state": "out-of-time"}, "twice is once"
    assert tab.post("withdraw/", {"keep": True}).json() == {"state": "out-of-time"}
    session.refresh_from_db()
    assert session.out_of_time and session.left_at is not None and session.state == SessionState.OPEN
    assert len(list(iter_trial_rows(study))) == 1 and new_session(study, "P-2").slot == session.slot
    assert tab.answer(1).status_code == 409 and tab.take_lease().status_code == 409
    status = tab.get("status/").json()
    assert status["state"] == "out-of-time" and status["completion_code"] and "receipt" not in status


def test_a_page_that_says_so_while_enough_time_is_left_is_not_believed(tab, session):
    ends_in(session, seconds=tab.get("session/").json()["round_s"] + SPARE.total_seconds() + 60)
    assert tab.post("withdraw/", IN_TIME).json() == {"state": "left"}
    ends_in(session, seconds=1)
    assert tab.post("withdraw/", IN_TIME).json() == {"state": "left"}, "nor later: they had left before"
    assert tab.get("status/").json()["state"] == "left" and "completion_code" not in tab.get("status/").json()


def test_without_an_end_of_the_place_there_is_no_want_of_time(tab):
    assert tab.post("withdraw/", IN_TIME).json() == {"state": "left"}


def test_answers_are_taken_back_whatever_the_reason(tab, session):
    ends_in(session, seconds=1)
    assert tab.post("withdraw/", {"keep": False, "reason": "time"}).json() == {"state": "withdrawn"}
    session.refresh_from_db()
    assert not session.out_of_time


def test_after_the_last_answer_no_round_is_left_that_could_lack_time(tab, session):
    type(session).objects.filter(pk=session.pk).update(cursor=session.total)
    ends_in(session, seconds=1)
    assert tab.post("withdraw/", IN_TIME).json() == {"state": "left"}


def test_page_and_server_spare_the_same():
    page = (Path(settings.BASE_DIR) / "static/js/participation/trial/deadline.js").read_text()
    found = re.search(r"SPARE_MS = (\d+) \* 60_000", page)
    assert found is not None and timedelta(minutes=int(found[1])) == SPARE
