"""Codes that are guessed, tokens that come back after the end, and what headers let other sites and caches know."""

from __future__ import annotations

import random
import string

import pytest

from humanexp.participation import answering
from humanexp.participation.models import RefusedCall, Response, Session
from humanexp.participation.openings import issue_handoff, issue_token
from tests.factories import Tab, new_session

RUN = "/api/v1/run/"
#: Of nothing but the session's own pages and pictures.
CALLS = ("session/", "status/", "trials/0/stimulus/0/", "trials/0/mask/")


def redeem(client, code, **headers):
    return client.post(f"{RUN}handoff/", {"code": code}, content_type="application/json", headers=headers)


def test_codes_cannot_be_guessed_and_guessing_keeps_nobody_out(client, study):
    session = new_session(study)
    code = issue_handoff(session=session)
    body, _, signature = code.rpartition(":")
    assert len(signature) >= 43, "a code ends in 256 bits that nobody can make without the key"
    rng = random.Random(1)  # noqa: S311 - no secret
    letters = string.ascii_letters + string.digits + "-_"
    guesses = [f"{body}:{''.join(rng.choices(letters, k=len(signature)))}" for _ in range(150)]
    guesses += [code[:place] + ("A" if code[place] != "A" else "B") + code[place + 1 :] for place in range(len(code))]
    statuses = [redeem(client, guess).status_code for guess in guesses]
    assert set(statuses) == {401, 429} and statuses.count(401) <= answering.REFUSALS.burst + 5
    assert RefusedCall.objects.count() <= answering.REFUSALS.burst + 5
    session.refresh_from_db()
    assert session.handoff_nonce, "the code is still good"
    assert redeem(client, code).status_code == 200


def test_after_leaving_no_token_of_the_session_does_anything(client, study):
    session = new_session(study)
    early, late = issue_token(session=session), issue_token(session=session)
    code = issue_handoff(session=session)
    tab = Tab(client, session, token=early)
    tab.take_lease()
    assert tab.answer(0).status_code == 201
    assert tab.post("withdraw/", {}).status_code == 200
    before = Session.objects.values().get(pk=session.pk)
    for token in (early, late):
        again = Tab(client, session, token=token)
        refused = [again.take_lease(), again.answer(0), again.answer(1), again.post("complete/", {"environment": {}})]
        refused += [again.get(f"trials/{position}/stimulus/0/") for position in (0, 1)]
        refused += [again.get("trials/1/mask/"), again.get("trials/0-1/pictures/")]
        assert {reply.status_code for reply in refused} == {409}
        assert {reply.json()["type"] for reply in refused} == {"session-closed"}
        assert again.get("status/").json()["state"] == "withdrawn"
    assert redeem(client, code).status_code == 401
    assert Session.objects.values().get(pk=session.pk) == before


def test_after_the_end_a_token_tells_the_receipt_again_and_stores_nothing(client, session):
    tab = Tab(client, session)
    tab.take_lease()
    for position in range(session.total):
        assert tab.answer(position).status_code == 201
    done = tab.post("complete/", {"environment": {"agent": "a"}}).json()
    before = Session.objects.values().get(pk=session.pk), list(Response.objects.values())
    assert tab.post("complete/", {"environment": {"agent": "b"}}).json() == done
    assert tab.answer(3, "cat").status_code == 200
    assert tab.answer(session.total).status_code == 404
    assert {tab.get(f"trials/{place}/stimulus/0/").status_code for place in (0, session.total - 1)} == {409}
    assert (Session.objects.values().get(pk=session.pk), list(Response.objects.values())) == before


@pytest.mark.parametrize("path", CALLS)
def test_no_cache_keeps_a_reply_and_no_other_site_hears_of_it(tab, path):
    reply = tab.get(path)
    assert reply.status_code == 200 and reply["Cache-Control"] == "no-store"
    assert reply["Referrer-Policy"] in ("same-origin", "no-referrer") and reply["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in reply["Content-Security-Policy"]
    told = {name.lower() for name in reply.headers}
    assert not told & {"etag", "last-modified", "content-disposition", "set-cookie", "access-control-allow-origin"}


def test_refusals_are_kept_by_no_cache_either(client, tab):
    assert client.get(f"{RUN}status/")["Cache-Control"] == "no-store"
    assert tab.get("trials/9999/stimulus/0/")["Cache-Control"] == "no-store"


def test_another_site_cannot_call_with_the_token(client, session):
    """A browser asks first whether a foreign page may send the header with the token; it is told no."""
    asked = client.options(
        f"{RUN}responses/",
        headers={
            "Origin": "https://evil.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,x-lease,content-type",
        },
    )
    assert not [name for name in asked.headers if name.lower().startswith("access-control-")]
