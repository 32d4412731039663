"""Slots of the plan: who keeps one, who gives it up, and which sessions count."""

from __future__ import annotations

from datetime import timedelta

import pytest

from analysis.tables.trials import TRIALS
from humanexp.core import clock
from humanexp.core.errors import StudyRefused
from humanexp.participation.answers import gold_answers, iter_timing_rows, iter_trial_rows
from humanexp.participation.models import Session, SessionState
from humanexp.participation.openings import Agreement, open_session, participant_for
from humanexp.participation.places import verify_session
from humanexp.participation.sessions import SILENT_AFTER, counted_sessions, holding_slots, kept_slots, session_counts
from tests.factories import Tab, new_session

pytestmark = pytest.mark.django_db


def begin(study, code):
    """Somebody says that they are this participant."""
    person = participant_for(family=study.family, code=code)
    return open_session(study=study, participant=person, agreement=Agreement(version="1"), is_verified=False)


def fall_silent(*sessions):
    long_ago = clock.now() - SILENT_AFTER - timedelta(seconds=1)
    Session.objects.filter(pk__in=[session.pk for session in sessions]).update(opened_at=long_ago)


def slots(study):
    return sorted(holding_slots(study).values_list("slot", flat=True))


def test_who_falls_silent_before_a_main_answer_gives_the_slot_up_once_it_is_needed(study):
    sessions = [new_session(study, f"P-{number}") for number in range(study.planned_sessions)]
    with pytest.raises(StudyRefused):
        new_session(study, "P-late")
    fall_silent(sessions[3])
    late = new_session(study, "P-late")
    assert late.slot == sessions[3].slot and late.holds_slot
    sessions[3].refresh_from_db()
    assert not sessions[3].holds_slot and sessions[3].state == SessionState.OPEN
    assert slots(study) == list(range(study.planned_sessions))


def test_nobody_silent_loses_a_slot_while_others_are_free(study):
    first = new_session(study, "P-1")
    fall_silent(first)
    assert new_session(study, "P-2").slot == 1


def test_who_gave_a_slot_up_goes_on_all_the_same(client, study):
    first = new_session(study, "P-0")
    for number in range(1, study.planned_sessions):
        new_session(study, f"P-{number}")
    fall_silent(first)
    other = new_session(study, "P-late")
    tab = Tab(client, first)
    tab.take_lease()
    assert [tab.answer(position).status_code for position in range(first.total)] == [201] * first.total
    assert tab.post("complete/", {"environment": {}}).status_code == 200
    first.refresh_from_db()
    assert first.state == SessionState.COMPLETED and first.confirmed_at and other.slot == first.slot
    # Both answered the same pictures: the table has both, under keys of their own.
    tab = Tab(client, other, lease="tab-00000002")
    tab.take_lease()
    for position in range(other.total):
        tab.answer(position)
    rows = list(iter_trial_rows(study))
    assert len({(row["session"], row["position"]) for row in rows}) == len(rows) == 2 * first.total
    assert {row["stimulus"] for row in rows if row["session"] == first.code} == {
        row["stimulus"] for row in rows if row["session"] == other.code
    }
    assert len(TRIALS.frame(rows)) == len(rows)


def test_the_first_answer_that_counts_keeps_the_slot(client, study):
    session = new_session(study, "P-1")
    tab = Tab(client, session)
    tab.take_lease()
    main = next(block for block in session.blocks if block["kind"] == "main")
    for position in range(main["first"]):
        tab.answer(position)
    session.refresh_from_db()
    assert session.confirmed_at is None, "practice is no answer that counts"
    tab.answer(main["first"])
    for number in range(1, study.planned_sessions):
        new_session(study, f"P-{number + 1}")
    fall_silent(session)
    with pytest.raises(StudyRefused):
        new_session(study, "P-late")


class TestUnverified:
    def test_they_fill_no_plan(self, study):
        for number in range(2 * study.planned_sessions):
            begin(study, f"P-{number}")
        assert slots(study) == list(range(study.planned_sessions))
        assert kept_slots(study) == 0

    def test_one_that_is_listed_has_its_slot_again(self, study):
        first = begin(study, "P-real")
        fall_silent(first)
        others = [begin(study, f"P-{number}") for number in range(study.planned_sessions)]
        assert first.slot in {other.slot for other in others}
        first.refresh_from_db()
        assert not first.holds_slot
        Session.objects.filter(pk=first.pk).update(confirmed_at=clock.now())
        assert verify_session(session=first)
        assert first.holds_slot and kept_slots(study) == 1
        assert slots(study) == list(range(study.planned_sessions))

    def test_sessions_that_count_are_never_pushed_out(self, study):
        kept = begin(study, "P-real")
        assert verify_session(session=kept)
        fall_silent(kept)
        Session.objects.filter(pk=kept.pk).update(confirmed_at=clock.now())
        for number in range(2 * study.planned_sessions):
            assert begin(study, f"P-{number}").slot != kept.slot

    def test_a_person_counts_once_whoever_begins_in_their_name(self, study):
        false, true, later = begin(study, "P-1"), begin(study, "P-1"), begin(study, "P-1")
        assert len({false.pk, true.pk, later.pk}) == 3
        assert verify_session(session=true)
        assert verify_session(session=true), "twice is once"
        assert not verify_session(session=false)
        with pytest.raises(StudyRefused):
            begin(study, "P-1")
        assert list(counted_sessions(true.participant_id)) == [true]

    def test_they_stand_in_no_table(self, client, study):
        session = begin(study, "P-1")
        tab = Tab(client, session)
        tab.take_lease()
        for position in range(session.total):
            assert tab.answer(position).status_code == 201
        assert tab.post("complete/", {"environment": {}}).status_code == 200
        assert list(iter_trial_rows(study)) == [] and gold_answers(study) == []
        assert not list(iter_timing_rows(study, ["categorisation"]))
        counts = session_counts(study)
        assert (counts["completed"], counts["unverified"]) == (0, 1)
        session.refresh_from_db()
        assert verify_session(session=session)
        assert len(list(iter_trial_rows(study))) == session.total
        assert session_counts(study)["completed"] == 1
