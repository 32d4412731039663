from __future__ import annotations

import hashlib
import json
import time
from io import BytesIO

import pytest
from django.core import signing
from PIL import Image

from analysis.labels.files import default_labels
from analysis.tables.trials import TRIALS
from humanexp.jobs.models import Job
from humanexp.participation import sessions
from humanexp.participation.answers import gold_answers, iter_timing_rows, iter_trial_rows
from humanexp.participation.models import Response, Session, SessionState
from humanexp.participation.openings import issue_handoff, issue_token, receipt_is_valid, withdraw_session
from humanexp.participation.tallies import answer_counts
from tests.factories import Tab, new_session

GOOD_TIMING = {
    "frames_target": 12,
    "frames_shown": 12,
    "n_long_frames": 0,
    "visible_whole_trial": True,
    "focused_whole_trial": True,
    "decode_ok": True,
    "resized": False,
    "t_refresh_median_ms": 16.67,
    "max_frame_gap_ms": 16.7,
    "dur_stim_taken_ms": 200.1,
    "engine_version": "2.0",
}


def answer_all(tab, session, response="dog"):
    for position in range(session.total):
        assert tab.answer(position, response).status_code == 201


def test_a_whole_session_from_hand_off_to_receipt(client, session):
    code = issue_handoff(session=session)
    token = client.post("/api/v1/run/handoff/", {"code": code}, content_type="application/json").json()["token"]
    tab = Tab(client, session, token=token)
    assert tab.take_lease().json() == {"lease": tab.lease}
    told = tab.get("session/").json()
    assert (told["state"], told["cursor"], told["total"]) == ("open", 0, session.total)
    assert told["study_title"] == "Small study"
    assert told["protocol"]["stimulus_ms"] == 200 and told["protocol"]["background"] == 0.454
    assert [choice["name"] for choice in told["choices"]["categorisation"]] == list(default_labels().in_grid)
    first = default_labels()[default_labels().in_grid[0]]
    assert told["choices"]["categorisation"][0] == {
        "name": first.id,
        "label": first.words["en"],
        **({"icon": f"/static/icons/{first.id}.svg"} if first.icon else {}),
    }
    for block in told["blocks"]:
        assert set(block) == {"index", "kind", "task", "first", "last", "feedback"}
        for position in range(block["first"], block["last"] + 1):
            assert tab.get(f"trials/{position}/stimulus/0/").status_code == 200
            assert tab.get(f"trials/{position}/mask/").status_code == 200
        for position in range(block["first"], block["last"] + 1):
            reply = tab.answer(
                position, "cat", timing=GOOD_TIMING, clicks=[{"choice": "cat", "t_ms": 812.5, "input": "key"}]
            )
            assert reply.status_code == 201 and reply.json()["cursor"] == position + 1
    done = tab.post("complete/", {"environment": {"user_agent": "x", "screen_px": [1, 2]}})
    assert done.status_code == 200
    assert set(done.json()) == {
        "state", "receipt", "completion_code", "debrief", "qualified", "practised", "closing", "own_result"
    }  # fmt: skip
    assert done.json()["state"] == "completed" and done.json()["debrief"] == "It was about noise."
    assert tab.post("complete/", {}).json() == done.json()
    status = tab.get("status/").json()
    assert status == {
        "state": "completed",
        "cursor": session.total,
        "total": session.total,
        "closing": "none",
        "session_code": session.code,
        "receipt": done.json()["receipt"],
        "completion_code": done.json()["completion_code"],
    }
    session.refresh_from_db()
    assert receipt_is_valid(session=session, receipt=done.json()["receipt"])
    assert done.json()["completion_code"] in sessions.completion_codes(session.code)
    assert session.environment["screen_px"] == [1, 2]
    assert Job.objects.filter(kind="screening.judge", parameters={"session_id": session.pk}).count() == 1
    rows = list(iter_trial_rows(session.study))
    assert len(rows) == session.total and TRIALS.frame(rows).shape[0] == session.total
    assert rows[0]["timing_ok"] is True and rows[0]["t_refresh_median_ms"] == 16.67 and rows[0]["accepted"] is None


def test_what_is_stored_with_an_answer(tab, session):
    trial = session.trials.get(position=0)
    tab.answer(
        0,
        trial.correct_response,
        clicks=[{"choice": "dog", "t_ms": 1.5, "input": "pointer"}],
        timing={**GOOD_TIMING, "frames_shown": 13, "dur_stim_taken_ms": 214.0},
    )
    stored = Response.objects.get(session=session)
    assert stored.correct is True and stored.rt_ms == 812.5 and stored.timing_ok is False
    assert stored.timing_rule == "timing-2" and stored.timing["frames_shown"] == 13
    assert stored.clicks == [{"choice": "dog", "t_ms": 1.5, "input": "pointer"}]
    tab.answer(1, "na")
    missed = Response.objects.get(session=session, position=1)
    assert missed.correct is False and missed.timing_ok is None


def test_feedback_in_practice_only(tab, session):
    first_main = next(block["first"] for block in session.blocks if block["kind"] == "main")
    for position in range(first_main + 1):
        trial = session.trials.get(position=position)
        reply = tab.answer(position, "dog").json()
        if position < first_main:
            assert reply["feedback"] == {
                "correct": trial.correct_response == "dog",
                "category": trial.correct_response,
            }
        else:
            assert set(reply) == {"position", "cursor"}


def test_the_same_answer_again_changes_nothing(tab, session):
    assert tab.answer(0, "cat").status_code == 201
    again = tab.answer(0, "dog")
    assert again.status_code == 200 and again.json()["cursor"] == 1
    stored = Response.objects.get(session=session)
    assert stored.response == "cat"
    session.refresh_from_db()
    assert session.cursor == 1


def test_out_of_order_is_refused_with_the_cursor(tab, session):
    tab.answer(0)
    refused = tab.answer(2)
    assert refused.status_code == 409
    assert refused.json()["type"] == "out-of-order" and refused.json()["fields"] == {"cursor": "1"}
    assert Response.objects.filter(session=session).count() == 1
    assert tab.answer(session.total).status_code == 404


def test_a_row_that_is_stored_while_the_cursor_lags_behind_is_the_truth(tab, session):
    trial = session.trials.get(position=0)
    Response.objects.create(
        session=session, trial=trial, position=0, response="bear", correct=False, received_at=session.opened_at
    )
    again = tab.answer(0, "dog")
    assert again.status_code == 200 and again.json()["cursor"] == 1
    assert Response.objects.get(session=session).response == "bear"
    assert tab.answer(1).status_code == 201


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"position": -1, "response": "dog"}, "position"),
        ({"position": 0}, "response"),
        ({"position": 0, "response": "wolf"}, "response"),
        ({"position": 0, "response": "same"}, "response"),
        ({"position": 0, "response": "dog", "rt_ms": -5}, "rt_ms"),
        ({"position": 0, "response": "dog", "clicks": [{"choice": "dog", "t_ms": 1, "input": "voice"}]}, "clicks"),
        ({"position": 0, "response": "dog", "timing": {"frames_shown": "many"}}, "timing"),
        ({"position": 0, "response": "dog", "simulated": True}, "simulated"),
        ({"position": 0, "response": "dog", "clicks": [{"choice": "dog", "t_ms": 1, "input": "key"}] * 201}, "clicks"),
    ],
)
def test_values_that_cannot_be_used_are_named_and_nothing_is_stored(tab, session, body, field):
    refused = tab.post("responses/", body)
    assert refused.status_code == 422
    assert refused.json()["type"] == "invalid" and field in refused.json()["fields"]
    assert not Response.objects.filter(session=session).exists()


def test_a_body_that_is_no_json_is_refused(tab):
    reply = tab.client.post("/api/v1/run/responses/", "{", content_type="application/json", headers=tab.headers)
    assert reply.status_code == 400 and reply["Content-Type"] == "application/problem+json"


def test_complete_needs_every_answer(tab, session):
    tab.answer(0)
    refused = tab.post("complete/", {"environment": {}})
    assert refused.status_code == 409 and refused.json()["type"] == "out-of-order"
    assert f"{session.total - 1} of {session.total} trials are not answered yet" in refused.json()["detail"]
    assert "receipt" not in tab.get("status/").json()


@pytest.mark.parametrize(
    "environment",
    ['{"x": "%s"}' % ("y" * 20_000), '{"x": 1e999}', '{"x": "a\\u0000b"}', '{"x": "\\ud800"}', "[1]", '"text"'],
    ids=["long", "infinite", "null character", "half a character", "list", "text"],
)
def test_what_no_database_stores_is_refused_at_the_door(tab, environment):
    body = f'{{"environment": {environment}}}'
    headers = {**tab.headers, "X-Lease": tab.lease}
    reply = tab.client.post("/api/v1/run/complete/", body, content_type="application/json", headers=headers)
    assert reply.status_code == 422 and "environment" in reply.json()["fields"]


def test_numbers_beyond_any_measurement_are_refused(tab):
    headers = {**tab.headers, "X-Lease": tab.lease}
    for more in (
        '"timing": {"dur_stim_ms": 1e999}',
        '"clicks": [{"choice": "a", "t_ms": 1e999, "input": "key"}]',
        '"rt_ms": 1e999',
    ):
        body = f'{{"position": 0, "response": "dog", {more}}}'
        reply = tab.client.post("/api/v1/run/responses/", body, content_type="application/json", headers=headers)
        assert reply.status_code == 422


# Credentials


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer x.y.z", "Basic abc", "Bearer " + "a" * 5000])
def test_forged_tokens_get_a_plain_refusal(client, session, header):
    reply = client.get("/api/v1/run/session/", headers={"Authorization": header})
    assert reply.status_code == 401 and reply.json()["type"] == "token-refused"
    assert reply["Content-Type"] == "application/problem+json"


def test_a_token_with_another_sessions_number_is_forged(client, study):
    first, second = new_session(study, "P-1"), new_session(study, "P-2")
    forged = sessions.TOKEN.sign(second.pk, first.token_nonce)
    assert client.get("/api/v1/run/session/", headers={"Authorization": f"Bearer {forged}"}).status_code == 401
    assert client.get("/api/v1/run/trials/0/mask/", headers={"Authorization": f"Bearer {forged}"}).status_code == 401


def test_a_token_signed_for_something_else_or_with_another_key_is_refused(client, session, settings):
    handoff = issue_handoff(session=session)
    for other in (handoff, session.code):  # the code is quoted in letters
        assert client.get("/api/v1/run/status/", headers={"Authorization": f"Bearer {other}"}).status_code == 401
    token = issue_token(session=session)
    settings.SECRET_KEY = "another key"
    assert client.get("/api/v1/run/status/", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_a_token_survives_the_rotation_of_the_key_while_the_old_one_is_a_fallback(client, session, settings):
    token, receipt = issue_token(session=session), sessions.receipt(session.code)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key"
    assert client.get("/api/v1/run/status/", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert receipt_is_valid(session=session, receipt=receipt)


def test_an_expired_token_is_refused(client, session, monkeypatch):
    token = issue_token(session=session)
    now = time.time()
    monkeypatch.setattr(signing.time, "time", lambda: now + sessions.TOKEN_MAX_AGE_S + 5)
    assert client.get("/api/v1/run/status/", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_a_hand_off_works_once_and_for_a_minute(client, session, monkeypatch):
    def redeem(code):
        return client.post("/api/v1/run/handoff/", {"code": code}, content_type="application/json")

    code = issue_handoff(session=session)
    assert redeem(code).status_code == 200
    assert redeem(code).status_code == 401
    older, newer = issue_handoff(session=session), issue_handoff(session=session)
    assert redeem(older).status_code == 401
    assert redeem(newer).status_code == 200
    late = issue_handoff(session=session)
    now = time.time()
    monkeypatch.setattr(signing.time, "time", lambda: now + 62)
    assert redeem(late).status_code == 401
    assert redeem("nonsense").status_code == 401
    assert client.post("/api/v1/run/handoff/", {}, content_type="application/json").status_code == 422


def test_a_receipt_of_another_session_is_no_proof(study):
    first, second = new_session(study, "P-1"), new_session(study, "P-2")
    assert not receipt_is_valid(session=second, receipt=sessions.receipt(first.code))
    assert not receipt_is_valid(session=first, receipt="")


# Lease


def test_the_newest_tab_owns_the_session(client, session):
    old, new = Tab(client, session, "old-tab-1"), Tab(client, session, "new-tab-1")
    old.take_lease()
    assert old.answer(0).status_code == 201
    new.take_lease()
    for reply in (old.answer(1), old.get("trials/1/stimulus/0/"), old.get("session/"), old.post("complete/", {})):
        assert reply.status_code == 409 and reply.json()["type"] == "lease-lost"
    assert new.answer(1).status_code == 201
    old.take_lease()
    assert old.answer(2).status_code == 201 and new.answer(3).status_code == 409


def test_an_answer_sent_again_after_a_reload_is_acknowledged(client, session):
    before, after = Tab(client, session, "before-reload"), Tab(client, session, "after-reload")
    before.take_lease()
    before.answer(0, "cat")
    after.take_lease()
    assert after.answer(0, "cat").status_code == 200


def test_calls_without_a_lease_are_refused_but_for_reading_the_state(client, session):
    tab = Tab(client, session, "")
    assert tab.answer(0).status_code == 409
    assert tab.get("trials/0/stimulus/0/").status_code == 409
    assert tab.get("session/").status_code == 200 and tab.get("status/").status_code == 200
    assert tab.post("lease/", {"lease": "short"}).status_code == 422


# Pictures


def test_a_picture_is_the_stored_file_and_no_cache_keeps_it(tab, session):
    reply = tab.get("trials/0/stimulus/0/")
    trial = session.trials.select_related("stimulus").get(position=0)
    assert hashlib.sha256(reply.content).hexdigest() == trial.stimulus.sha256
    assert reply["Content-Type"] == "image/png" and reply["Cache-Control"] == "no-store"
    assert not {"ETag", "Last-Modified", "Content-Disposition", "Set-Cookie", "Location"} & set(reply.headers)


def test_only_unanswered_pictures_of_the_present_block_are_given(tab, session):
    practice, main = session.blocks[0], session.blocks[1]
    assert tab.get(f"trials/{practice['last']}/stimulus/0/").status_code == 200
    assert tab.get(f"trials/{main['first']}/stimulus/0/").status_code == 404
    assert tab.get(f"trials/{main['first']}/mask/").status_code == 404
    tab.answer(0)
    assert tab.get("trials/0/stimulus/0/").status_code == 404
    assert tab.get("trials/1/stimulus/1/").status_code == 404
    assert tab.get(f"trials/{session.total}/stimulus/0/").status_code == 404
    for position in range(1, main["first"]):
        tab.answer(position)
    assert tab.get(f"trials/{main['first']}/stimulus/0/").status_code == 200


def test_masks_are_noise_of_the_protocols_size_and_differ(tab):
    first, second = tab.get("trials/0/mask/").content, tab.get("trials/1/mask/").content
    assert first == tab.get("trials/0/mask/").content != second
    with Image.open(BytesIO(first)) as mask:
        assert mask.size == (24, 24) and mask.mode == "L"


def test_refusals_are_readable_whatever_is_asked_for(tab):
    reply = tab.get("trials/99/stimulus/0/", Accept="image/png")
    assert reply.status_code == 404 and reply.json()["type"] == "not-found"


# Closed sessions


def test_a_withdrawn_session_takes_no_answers_and_shows_no_pictures(tab, session):
    tab.answer(0)
    withdraw_session(session=session)
    for reply in (tab.answer(1), tab.get("trials/1/stimulus/0/"), tab.post("complete/", {}), tab.take_lease()):
        assert reply.status_code == 409 and reply.json()["type"] == "session-closed"
    assert tab.get("status/").json()["state"] == "withdrawn"


def test_a_completed_session_acknowledges_old_answers_and_takes_no_new_ones(tab, session):
    answer_all(tab, session)
    tab.post("complete/", {})
    assert tab.answer(session.total - 1).status_code == 200
    assert Session.objects.get(pk=session.pk).state == SessionState.COMPLETED
    assert tab.get(f"trials/{session.total - 1}/stimulus/0/").status_code == 409


# Nothing is told before it is stored


def test_no_reply_tells_what_is_to_be_found_out(tab, session):
    """Walks every reply of a session and looks for anything that is no part of the agreed shapes."""
    secrets = {"role", "roles", "category", "corruption", "visual_change", "original", "stimulus", "correct",
               "correct_response", "parameter", "seed", "mask_seed", "slot", "participant", "code"}  # fmt: skip
    words = {"gold", "negative", "consistency", "gaussian", "sentinel", "clean", "P-1", session.code}

    def keys(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield key
                yield from keys(inner)
        if isinstance(value, list):
            for inner in value:
                yield from keys(inner)

    def check(reply):
        head = json.dumps(dict(reply.headers))
        assert not [word for word in words if word in head]
        if reply["Content-Type"] == "image/png":
            chunks = reply.content
            assert b"tEXt" not in chunks and b"tIME" not in chunks and b"eXIf" not in chunks
            return
        body = reply.json()
        feedback = body.pop("feedback", None)
        assert feedback is None or reply.wsgi_request.path.endswith("responses/")
        quoted = body.pop("session_code", None)  # in letters; it is random, and opens nothing
        assert quoted is None or reply.wsgi_request.path.endswith(("session/", "status/"))
        assert not secrets & set(keys(body))
        text = json.dumps(body)
        assert not [word for word in words if word in text]

    for position in range(session.total):
        check(tab.get("session/"))
        check(tab.get("status/"))
        check(tab.get(f"trials/{position}/stimulus/0/"))
        check(tab.get(f"trials/{position}/mask/"))
        check(tab.answer(position + 1))
        check(tab.answer(position))
        check(tab.answer(position))
        check(tab.get(f"trials/{position}/stimulus/0/"))


def test_every_call_needs_few_queries(tab, session, django_assert_max_num_queries):
    with django_assert_max_num_queries(1):
        tab.get("session/")
    with django_assert_max_num_queries(8):  # the first picture brings the session's plan into memory
        tab.get("trials/0/stimulus/0/")
    with django_assert_max_num_queries(6):  # that it went out is noted: read, begin, write, commit
        tab.get("trials/1/stimulus/0/")
    with django_assert_max_num_queries(2):  # once
        tab.get("trials/1/stimulus/0/")
    with django_assert_max_num_queries(1):
        tab.get("trials/0/mask/")
    with django_assert_max_num_queries(4):  # begin, move the cursor, insert, commit
        tab.answer(0)
    with django_assert_max_num_queries(1):
        tab.get("status/")


def test_the_server_decides_which_trials_are_set_aside(tab, session):
    away = {**GOOD_TIMING, "focused_whole_trial": False, "focus_lost_ms": 120.0}
    absent = {**GOOD_TIMING, "last_input_ms": -900.0, "input_watched_ms": 10_000.0}
    missed = {**GOOD_TIMING, "last_input_ms": 5_200.0, "input_watched_ms": 4_700.0}
    tab.answer(0, "cat", timing=away, clicks=[{"choice": "cat", "t_ms": 812.5, "input": "touch"}])
    tab.answer(1, "na", timing=absent)
    tab.answer(2, "na", timing=missed)
    # A page cannot decide it.
    assert tab.answer(3, "dog", timing={**GOOD_TIMING, "set_aside": True}).status_code == 201
    stored = Response.objects.filter(session=session).order_by("position")
    assert list(stored.values_list("set_aside", "timing_ok", "input_kind")) == [
        (True, None, "touch"),
        (True, None, ""),
        (False, True, ""),
        (False, True, ""),
    ]
    frame = TRIALS.frame(list(iter_trial_rows(session.study)))
    assert frame["set_aside"].tolist() == [True, True, False, False]
    assert frame["input_kind"].tolist()[0] == "touch" and frame["input_kind"].isna().sum() == 3
    # The certificate counts no practice, and nothing that is set aside.
    assert not list(iter_timing_rows(session.study, ["categorisation"]))
    session.trials.filter(position__lt=4).update(role="main")
    assert len(list(iter_timing_rows(session.study, ["categorisation"]))) == 2


def test_a_gold_that_was_set_aside_says_nothing_of_its_picture(tab, session):
    for trial in session.trials.order_by("position"):
        away = trial.role in ("gold", "main")
        tab.answer(trial.position, "na", timing={**GOOD_TIMING, "focused_whole_trial": not away})
    assert session.trials.filter(role="gold").exists()
    assert gold_answers(session.study) == []
    counted = answer_counts(session.study).answers
    assert counted == session.trials.filter(role="consistency_first").count() > 0


def test_of_answers_stored_before_nothing_was_set_aside(tab, session):
    tab.answer(0, "cat", timing={**GOOD_TIMING, "focused_whole_trial": False})
    Response.objects.update(set_aside=None, input_kind="", timing_ok=False)
    (row,) = iter_trial_rows(session.study)
    assert row["set_aside"] is None and row["input_kind"] is None and row["timing_ok"] is False
