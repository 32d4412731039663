"""Tokens that are forged, expired or come again, and what the audit keeps of them."""

from __future__ import annotations

from django.core import signing

from humanexp.console import doctor_checks
from humanexp.participation import answering, sessions
from humanexp.participation.answering import record
from humanexp.participation.models import RefusedCall, Response, Session
from humanexp.participation.monitoring import refused_calls
from humanexp.participation.openings import issue_handoff, issue_token
from tests.factories import Tab, new_session
from tests.participation.limits import RUN, audited


def test_every_kind_of_refused_token_has_its_entry(client, study, monkeypatch):
    session = new_session(study)
    token = issue_token(session=session)

    def call(bearer):
        return client.get(f"{RUN}status/", headers={"Authorization": f"Bearer {bearer}"})

    replies = [call("x.y.z")]
    replies.append(call(token[:-2] + ("aa" if token[-2:] != "aa" else "bb")))
    with monkeypatch.context() as later:
        now = signing.time.time()
        later.setattr(signing.time, "time", lambda: now + sessions.TOKEN_MAX_AGE_S + 5)
        replies.append(call(token))
    Session.objects.filter(pk=session.pk).update(token_nonce="another")
    replies.append(call(token))
    assert {reply.status_code for reply in replies} == {401}
    assert len({reply.content for reply in replies}) == 1, "the refusal tells nothing about the reason"
    assert audited() == ["forged", "forged", "expired", "revoked"]
    entry = RefusedCall.objects.last() or RefusedCall()
    assert entry.call == "run-status" and "127.0.0.1" not in entry.caller and entry.caller.startswith("A-")


def test_a_hand_off_code_that_comes_again_is_refused_and_recorded(client, study):
    session = new_session(study)
    code = issue_handoff(session=session)

    def redeem():
        return client.post(f"{RUN}handoff/", {"code": code}, content_type="application/json")

    assert redeem().status_code == 200
    assert redeem().status_code == 401
    entry = RefusedCall.objects.get()
    assert (entry.reason, entry.session_id, entry.call) == ("replayed", session.pk, "run-handoff")


def test_an_answer_that_comes_again_changes_nothing_and_another_one_is_recorded(tab, session):
    assert tab.answer(0, "cat").status_code == 201
    assert tab.answer(0, "cat").status_code == 200 and audited() == []
    assert tab.answer(0, "dog").status_code == 200
    assert audited() == ["altered"]
    assert Response.objects.get(session=session).response == "cat"


def test_a_token_opens_its_own_session_alone(client, study):
    mine, other = new_session(study, "P-1"), new_session(study, "P-2")
    tab, stranger = Tab(client, mine), Tab(client, other, lease="tab-00000002")
    tab.take_lease()
    stranger.take_lease()
    before = Session.objects.values().get(pk=other.pk)
    for position in range(4):
        assert tab.answer(position).status_code == 201
    assert Session.objects.values().get(pk=other.pk) == before
    assert not Response.objects.filter(session=other).exists()
    # The other one's lease is worth nothing with this token.
    assert tab.get("trials/4/stimulus/0/", **{"X-Lease": stranger.lease}).status_code == 409
    # No address names a session: each picture is the one of the caller's own plan.
    own = [trial.stimulus.sha256 for trial in mine.trials.select_related("stimulus").order_by("position")]
    import hashlib

    for position in range(4, session_end(mine)):
        reply = tab.get(f"trials/{position}/stimulus/0/")
        if reply.status_code == 200:
            assert hashlib.sha256(reply.content).hexdigest() == own[position]


def session_end(session):
    return session.blocks[1]["last"] + 1


def test_no_call_sets_or_reads_a_cookie(client, session):
    tab = Tab(client, session)
    client.cookies["humanexp_session"] = "a-cookie"
    replies = [tab.take_lease(), *map(tab.get, ("session/", "trials/0/stimulus/0/")), tab.answer(0), tab.get("status/")]
    for reply in replies:
        assert reply.status_code in (200, 201) and not reply.cookies
        assert reply["Cache-Control"] == "no-store" and "Cookie" not in reply.headers.get("Vary", "")
    assert client.get(f"{RUN}status/").status_code == 401


def test_entries_come_at_a_bounded_rate(db, hand_clock, study):
    session = new_session(study)
    for number in range(400):
        record(reason="forged", call="run-status", caller=f"A-{number}", session_id=None)
    assert RefusedCall.objects.count() == answering.ENTRIES.burst
    # Forged calls do not crowd out what is known of a session.
    record(reason="altered", call="run-responses", caller="A-1", session_id=session.pk)
    assert RefusedCall.objects.filter(session=session).count() == 1


def test_old_entries_make_room(db, hand_clock, study, monkeypatch):
    session = new_session(study)
    monkeypatch.setattr(answering, "KEPT", 5)
    record(reason="altered", call="run-responses", caller="A-1", session_id=session.pk)
    for number in range(12):
        record(reason="forged", call="run-status", caller=f"A-{number}", session_id=None)
    assert sorted(RefusedCall.objects.filter(session=None).values_list("caller", flat=True)) == sorted(
        f"A-{number}" for number in range(7, 12)
    )
    assert RefusedCall.objects.filter(session=session).count() == 1


def test_a_session_that_is_deleted_takes_its_entries_along(tab, session):
    tab.answer(0, "cat"), tab.answer(0, "dog")
    assert RefusedCall.objects.filter(session=session).exists()
    Response.objects.filter(session=session).delete()
    session.delete()
    assert not RefusedCall.objects.exists()


def test_refused_calls_are_counted_by_study(client, study, tab, session):
    tab.answer(0, "cat"), tab.answer(0, "dog"), tab.answer(0, "bird")
    client.get(f"{RUN}status/", headers={"Authorization": "Bearer x.y.z"})
    (mine,) = refused_calls(study)
    assert (mine.reason, mine.count, mine.sessions) == ("altered", 2, 1)
    (others,) = refused_calls(None)
    assert (others.reason, others.count, others.sessions) == ("forged", 1, 0)
    finding = doctor_checks.refused_calls()
    assert finding.severity == "note" and finding.text.startswith("1 forged or damaged token, the latest ")


def test_tokens_and_codes_from_the_future_are_good(client, study, monkeypatch):
    session = new_session(study)
    now = signing.time.time()
    with monkeypatch.context() as earlier:
        earlier.setattr(signing.time, "time", lambda: now + 3600)
        token, code = issue_token(session=session), issue_handoff(session=session)
    assert sessions.TOKEN.read(token).session_id == session.pk
    assert client.post(f"{RUN}handoff/", {"code": code}, content_type="application/json").status_code == 200
