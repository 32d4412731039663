"""Somebody with another person's session ends it: its answers vanish from every analysis, and come back."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model

from humanexp.core import clock
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import AuditEvent
from humanexp.jobs.registry import silent
from humanexp.participation.answers import gold_answers, iter_trial_rows, rows_of, rule_rows_of, session_rows
from humanexp.participation.endings import erase_withdrawn, undo_withdrawal
from humanexp.participation.models import Response, Session, SessionState
from humanexp.participation.pages.figures import SESSIONS, kept_figures
from humanexp.participation.pages.live import page_of
from humanexp.participation.tallies import answer_counts, make_tally
from humanexp.results import tables
from humanexp.screening.models import Verdict
from humanexp.screening.pages.review import golds_of
from humanexp.screening.selectors import accepted_sessions, certificate_of, current_verdicts, gold_performance
from humanexp.screening.services import forget_erased, judge_session
from humanexp.studies.facts import KEPT_DAYS
from tests.clocks import LaterClock
from tests.factories import Tab, active_minutes, new_session


def finish(client, session, lease="tab-00000001"):
    """Answer everything, as the session's own browser; the tab."""
    tab = Tab(client, session, lease=lease)
    tab.take_lease()
    for position in range(session.total):
        assert tab.answer(position).status_code == 201
    done = tab.post("complete/", {"environment": {"screen_width_px": 1920}})
    assert done.status_code == 200, done.content
    session.refresh_from_db()
    judge_session(session)
    return tab


@pytest.fixture
def later(monkeypatch):
    made = LaterClock()
    monkeypatch.setattr(clock, "system_clock", made)
    return made


def figures_now(study):
    make_tally(study=study, name=SESSIONS.name, report=silent)
    return kept_figures(study)[1]


def seen_by_analyses(study, session):
    """What every reader of answers gives."""
    rows = list(study.sessions.all())
    return {
        "trial rows": list(iter_trial_rows(study)),
        "one session": session_rows(session),
        "some sessions": rows_of(rows, study)[session.code],
        "rows for rules": rule_rows_of(rows)[session.pk],
        "golds": gold_answers(study),
        "gold performance": gold_performance(study),
        "golds page": golds_of(study),
        "accepted": accepted_sessions(study),
        "verdicts": current_verdicts(study),
        "counts": answer_counts(study),
        "figures": figures_now(study),
        "certificate": certificate_of(study).model_dump(),
        "working time": active_minutes([session.pk]),
        "trials of analyses": tables.trials_of(study).to_csv(),
        "live": [
            (row.session, row.active_s, row.timing_share)
            for row in page_of(study, shown=None, number="1", count=study.sessions.count()).object_list
        ],
    }


def test_a_withdrawn_session_is_hidden_from_every_analysis_as_if_it_were_erased(client, study, later):
    victim, other = new_session(study, "P-1"), new_session(study, "P-2")
    thief = finish(client, victim)
    finish(client, other, lease="tab-00000002")
    before = seen_by_analyses(study, victim)
    assert thief.post("withdraw/", {}).json() == {"state": "withdrawn"}
    assert Response.objects.filter(session=victim).count() == victim.total, "nothing is lost yet"
    hidden = seen_by_analyses(study, victim)
    later.go(days=KEPT_DAYS + 1)
    assert erase_withdrawn() == {"sessions": 1, "answers": victim.total}
    assert forget_erased() == 1 and not Verdict.objects.filter(session=victim).exists()
    erased = seen_by_analyses(study, victim)
    for name, value in before.items():
        assert hidden[name] == erased[name], name
        if name not in ("accepted", "gold performance", "golds page", "certificate", "figures"):
            assert hidden[name] != value, f"{name} shows the session while it counts"


def test_the_page_of_a_withdrawn_session_shows_no_answers(client, study):
    victim = new_session(study)
    tab = finish(client, victim)
    client.force_login(get_user_model().objects.create_user("ada", is_staff=True))
    page = f"/studies/{study.slug}/review/{victim.code}/"
    assert client.get(page).status_code == 200
    tab.post("withdraw/", {})
    assert client.get(page).status_code == 404


def test_a_theft_is_undone_and_the_thief_s_token_is_void(client, study, tab, session):
    for position in range(5):
        assert tab.answer(position).status_code == 201
    assert tab.post("withdraw/", {}).status_code == 200
    ada = get_user_model().objects.create_user("ada", is_staff=True)
    session.refresh_from_db()
    back = undo_withdrawal(session=session, by=ada, reason="She wrote that it was not her.")
    assert (back.state, back.cursor, back.erase_after) == (SessionState.OPEN, 5, None)
    assert Response.objects.filter(session=session).count() == 5
    assert tab.get("status/").status_code == 401 and tab.answer(5).status_code == 401
    owner = Tab(client, back, lease="tab-00000009")
    assert owner.take_lease().status_code == 200
    assert owner.answer(5).status_code == 201
    entry = AuditEvent.objects.get(action="undo-withdrawal")
    assert (entry.by, entry.study) == (ada, study.slug)
    assert entry.facts == {"reason": "She wrote that it was not her.", "state": "open", "slot_given_away": False}


def test_a_finished_session_is_finished_again(client, study):
    session = new_session(study)
    tab = finish(client, session)
    tab.post("withdraw/", {})
    session.refresh_from_db()
    back = undo_withdrawal(session=session, by=None, reason="A mistake.")
    assert back.state == SessionState.COMPLETED and len(list(iter_trial_rows(study))) == session.total
    assert current_verdicts(study).keys() == {session.pk}


def test_a_slot_and_a_number_that_were_given_away_have_a_second_holder(client, tab, study, session):
    tab.answer(0)
    tab.post("withdraw/", {})
    again = new_session(study, session.participant.code)
    assert (again.slot, again.number) == (session.slot, session.number)
    session.refresh_from_db()
    back = undo_withdrawal(session=session, by=None, reason="It was not them.")
    assert (back.slot, back.holds_slot, back.number, back.state) == (again.slot, False, 2, SessionState.OPEN)
    assert AuditEvent.objects.get(action="undo-withdrawal").facts["slot_given_away"]
    # The plan goes on as if it were not there.
    others = [new_session(study, f"P-{n}").slot for n in range(2, 2 + study.planned_sessions - 1)]
    assert sorted([again.slot, *others]) == list(range(study.planned_sessions))


def test_it_is_undone_with_a_reason_and_before_the_answers_are_erased(client, tab, study, session, later):
    tab.answer(0)
    with pytest.raises(Conflict, match="is not withdrawn"):
        undo_withdrawal(session=session, by=None, reason="Why not.")
    tab.post("withdraw/", {})
    session.refresh_from_db()
    for reason in ("", "   ", "x" * 501):
        with pytest.raises(InvalidRequest, match="Write why"):
            undo_withdrawal(session=session, by=None, reason=reason)
    later.go(days=KEPT_DAYS - 1)
    assert erase_withdrawn() == {"sessions": 0, "answers": 0}
    later.go(days=2)
    assert erase_withdrawn() == {"sessions": 1, "answers": 1}
    with pytest.raises(Conflict, match="nothing is left"):
        undo_withdrawal(session=session, by=None, reason="Too late.")
    entry = AuditEvent.objects.get(action="erase-withdrawn")
    assert (entry.subject, entry.facts) == (f"session:{session.code}", {"answers": 1})
    assert erase_withdrawn() == {"sessions": 0, "answers": 0}
    session.refresh_from_db()
    assert session.environment == {} and session.cursor == 1


def test_a_withdrawn_session_gives_nothing_to_its_token(client, tab, session):
    tab.post("withdraw/", {})
    assert tab.answer(0).status_code == 409
    assert tab.get("trials/0-3/pictures/").status_code == 409
    assert tab.take_lease().status_code == 409
    assert "receipt" not in tab.get("status/").json()
    assert Session.objects.get().state == SessionState.WITHDRAWN
