"""More than a thousand hostile calls: no fault of the server, nothing stored, every refusal a sentence."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

import pytest
from django.apps import apps
from django.core import signing
from django.test import Client

from humanexp.core.limits import Allowance
from humanexp.participation import answering, sessions
from humanexp.participation.models import RefusedCall, Session
from humanexp.participation.openings import issue_token, withdraw_session
from humanexp.recruiting.launch import LaunchTerms, publish
from tests.factories import Tab, new_session
from tests.participation.hostile import JUNK, MISSING, Endpoint, Hostile

CALLS_EACH = 90
LEASE = "tab-00000001"
TEXTS_AS_NUMBERS = ("", "x", "NaN", None, [], {}, [1], "1e999", "\x00", "\ud800")
NO_TEXT = (*(value for value in JUNK if isinstance(value, list | dict)), None, True, "", "\x00", "\ud800")


def endpoints(cursor: int, later: int, entry: str, other_entry: str) -> list[Endpoint]:
    """`cursor`: an unanswered trial of the present block; `later`: one of a block to come."""
    run, trial = "/api/v1/run/", f"/api/v1/run/trials/{cursor}/"
    answer = {
        "position": cursor,
        "response": "dog",
        "rt_ms": 640.5,
        "clicks": [{"choice": "dog", "t_ms": 640.5, "input": "pointer"}],
        "timing": {"frames_target": 12, "frames_shown": 12, "dur_stim_ms": 200.0, "decode_ok": True},
        "simulated": False,
    }
    wrong_answer = {
        "position": (*TEXTS_AS_NUMBERS, MISSING, -1, 1.5, 2**31, 2**63, 10**400, later, cursor + 1, 32_768, -(2**63)),
        "response": (*NO_TEXT, MISSING, "unicorn", "DOG", "dog ", 1, "same", "yes-yes", "x" * 500, "dog\x00"),
        "rt_ms": ("x", [], {}, -1, 1e308, 86_400_001, 10**400, "NaN", "\ud800", [1.0]),
        "clicks": (None, 1, "x", {}, [1], [None], [{}], [[]], [{**answer["clicks"][0], "t_ms": "NaN"}],
                   [{**answer["clicks"][0], "input": "foot"}], [{**answer["clicks"][0], "choice": "x" * 41}],
                   [{**answer["clicks"][0], "choice": "\x00"}], [{**answer["clicks"][0], "t_ms": 10**400}],
                   answer["clicks"] * 201, answer["clicks"] * 20_000),
        "timing": (None, 1, [], "x", [{}], {"frames_target": "x"}, {"frames_target": 10**400}, {"decode_ok": "maybe"},
                   {"dur_stim_ms": 1e308}, {"dur_stim_ms": []}, {"engine_version": "x" * 61}, {"dpr": "\ud800"},
                   {"engine_version": "\x00"}, {"frames_shown": 1.5}, {"frames_shown": 2**40}),
        "simulated": (True, "maybe", [], {}, 7, "\x00", None),
    }  # fmt: skip
    environment = (None, 1, "x", [], [{}], {"a": "\ud800"}, {"\x00": 1}, {"a": "\x00"}, {"a": "x" * 17_000},
                   {"\udfff": 1}, {f"k{number}": number for number in range(3000)}, {"a": 1})  # fmt: skip
    wrong_entry = {
        "consent": (MISSING, None, False, "maybe", [], {}, 7, "\x00", "\ud800", 10**400, "no"),
        "assignmentId": (None, [], {}, "x" * 65, "a\x00b", "\ud800", [1], "\x00"),
        "workerId": (None, [], {}, "x" * 65, "a\x00b", "\ud800", {"$ne": 1}),
        "hitId": (None, [], {}, "x" * 65, "\x00", "\ud800"),
        "turkSubmitTo": (None, [], {}, "x" * 501, "\x00", "\ud800"),
        "simulated": (True, "maybe", [], {}, 7, None),
        "continueHere": ("maybe", [], {}, 7, None, "\x00"),
        "sharedComputer": ("maybe", [], {}, 7, None, "\x00"),
        "opening": (None, [], {}, "x" * 65, "\x00", "\ud800"),
        "secret": (None, [], {}, "x" * 201, "\x00", "\ud800"),
        "confirmed": (None, [], {}, "x" * 201, "\x00", "\ud800"),
    }
    person = {
        "consent": True,
        "assignmentId": "",
        "workerId": "W1",
        "hitId": "",
        "turkSubmitTo": "",
        "simulated": False,
    }
    no_code = (MISSING, *NO_TEXT, "x.y.z", "x" * 400, "x" * 401, ":::", "a:b:c", "' OR 1=1 --", 7, -1, 10**400)
    no_lease = (MISSING, *NO_TEXT, "short", "x" * 65, "with space 12", "tab-0000000é", "../../etc/passwd", 7, 10**400)
    return [
        Endpoint("session", "GET", f"{run}session/", has_lease=True, reads=True),
        Endpoint("status", "GET", f"{run}status/", reads=True),
        Endpoint("lease", "POST", f"{run}lease/", {"lease": "tab-00000009"}, {"lease": no_lease}),
        Endpoint("handoff", "POST", f"{run}handoff/", {"code": "x.y.z"}, {"code": no_code}, has_token=False),
        Endpoint("look", "POST", f"{run}handoff/look/", {"code": "x.y.z"}, {"code": no_code}, has_token=False),
        Endpoint("stimulus", "GET", f"{trial}stimulus/0/", has_lease=True, reads=True),
        Endpoint("mask", "GET", f"{trial}mask/", has_lease=True, reads=True),
        Endpoint("pictures", "GET", f"{run}trials/{cursor}-{cursor + 1}/pictures/", has_lease=True, reads=True),
        Endpoint("question", "GET", f"{trial}question/", has_lease=True, reads=True),
        Endpoint("responses", "POST", f"{run}responses/", answer, wrong_answer, has_lease=True),
        Endpoint(
            "complete", "POST", f"{run}complete/", {"environment": {}}, {"environment": environment}, has_lease=True
        ),
        Endpoint("withdraw", "POST", f"{run}withdraw/"),
        Endpoint(
            "resume",
            "POST",
            f"{run}resume/",
            {"ask": "x.y.z", "secret": "x.y.z"},
            {"ask": no_code, "secret": no_code},
            has_token=False,
        ),
        Endpoint("claim", "POST", f"/take/{entry}/resume/", {"claim": "x.y.z"}, {"claim": no_code}, has_token=False),
        Endpoint(
            "follow", "POST", f"/take/{entry}/personal/follow/", {"link": "7:x"}, {"link": no_code}, has_token=False
        ),
        Endpoint("open", "POST", f"/take/{entry}/open/", person, wrong_entry, has_token=False),
        Endpoint("entry handoff", "POST", f"/take/{other_entry}/handoff/"),
        Endpoint("entry finish", "POST", f"/take/{other_entry}/finish/"),
    ]


def tokens(mine: Session, other: Session) -> dict[str, str]:
    """Headers that give no access: `other` is the session of another study, withdrawn."""
    good, moment = issue_token(session=mine), signing.time.time() - sessions.TOKEN_MAX_AGE_S - 60
    head, _, signature = good.rpartition(":")

    def signed(content, salt="humanexp.session-token"):
        return signing.dumps(content, salt=salt, compress=False)

    class Old(signing.TimestampSigner):
        def timestamp(self):
            return signing.b62_encode(int(moment))

    old = Old(salt="humanexp.session-token").sign_object([mine.pk, mine.token_nonce])
    return {
        "none": "",
        "scheme alone": "Bearer",
        "other scheme": f"Basic {good}",
        "no scheme": good,
        "twice": f"Bearer {good} {good}",
        "forged": "Bearer x.y.z",
        "cut": f"Bearer {good[:-3]}",
        "other signature": f"Bearer {head}:{signature[::-1]}",
        "expired": f"Bearer {old}",
        "revoked": f"Bearer {signed([mine.pk, 'another-nonce'])}",
        "gone": f"Bearer {signed([10**9, mine.token_nonce])}",
        "huge number": f"Bearer {signed([10**30, mine.token_nonce])}",
        "negative": f"Bearer {signed([-1, mine.token_nonce])}",
        "text for a number": f"Bearer {signed(['x', mine.token_nonce])}",
        "no pair": f"Bearer {signed([mine.pk])}",
        "object": f"Bearer {signed({'session': mine.pk})}",
        "number": f"Bearer {signed(7)}",
        "null nonce": f"Bearer {signed([mine.pk, None])}",
        "null byte": f"Bearer {signed([mine.pk, chr(0)])}",
        "code for a token": f"Bearer {signed([mine.pk, mine.token_nonce], 'humanexp.hand-off')}",
        "compressed": f"Bearer .{good}",
        "huge": f"Bearer {'x' * 100_000}",
        "no letters": "Bearer é\xff\x80",
        "other session": f"Bearer {issue_token(session=other)}",
    }


def stored():
    """A digest of every row of every table, but for the audit of what was refused."""
    digests = {}
    for model in apps.get_models():
        if model is not RefusedCall:
            # That pictures went out is noted, whoever asked for them.
            columns = [field.attname for field in model._meta.concrete_fields if field.name != "pictures_fetched"]
            rows = [repr(row) for row in model.objects.order_by("pk").values_list(*columns)]
            digests[model._meta.label] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return digests


@pytest.fixture
def patient(monkeypatch):
    """Buckets so deep that a refusal is judged by itself, not by the number of those before it."""
    for name in ("CALLS", "REFUSALS"):
        monkeypatch.setattr(answering, name, Allowance(per_s=1e6, burst=10**9))


def test_a_thousand_hostile_calls_store_nothing(study, patient, settings):
    campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=3))
    mine, other = new_session(study, "P-1"), new_session(study, "P-2")
    client = Client(raise_request_exception=False)
    tab = Tab(client, mine, lease=LEASE)
    tab.take_lease()
    first = mine.blocks[0]["last"] + 1
    for position in range(first):
        assert tab.answer(position).status_code == 201
    withdraw_session(session=other)
    later = mine.blocks[2]["first"] if len(mine.blocks) > 2 else mine.total
    given = endpoints(first, later, campaign.entry, campaign.entry)
    refused_tokens = tokens(mine, other)
    before, faults, statuses = stored(), [], Counter()
    for endpoint in given:
        # The other session is open for nothing; where its token may ask, it hears of its own state alone.
        stranger_may = endpoint.name in ("status", "session", "withdraw", "entry handoff", "entry finish")
        known = {name: text for name, text in refused_tokens.items() if name != "other session" or not stranger_may}
        token = issue_token(session=mine)
        if endpoint.name in ("withdraw", "entry handoff", "entry finish"):
            token = "x.y.z"  # with a good one they would rightly do what they are asked
        hostile = Hostile(endpoint, token=token, lease=LEASE, tokens=known, seed=1)
        for call in hostile.calls(CALLS_EACH):
            reply = client.generic(
                call.method, call.path, call.body, content_type=call.content_type, headers=call.headers
            )
            statuses[reply.status_code] += 1
            fault = fault_of(reply, call)
            if fault:
                faults.append(f"{endpoint.name}: {fault}: {call}")
        after = stored()
        if after != before:
            faults.append(
                f"{endpoint.name} stored something in {[name for name in after if after[name] != before[name]]}"
            )
            before = after
    assert not faults, f"{len(faults)} of {sum(statuses.values())}\n" + "\n".join(faults)
    assert sum(statuses.values()) >= 1000 and set(statuses) <= {200, 301, 400, 401, 404, 405, 409, 413, 415, 422}
    assert 0 < RefusedCall.objects.count() <= 3 * answering.ENTRIES.burst + 10


def fault_of(reply, call):
    """What is wrong with a reply, if anything."""
    if reply.status_code >= 500:
        return f"{reply.status_code}"
    if reply.status_code == 301:
        return "" if reply["Location"].startswith("/") and not reply["Location"].startswith("//") else "sent elsewhere"
    if reply.status_code < 400:
        harmless = call.mayread or call.method in ("OPTIONS", "HEAD") or call.endpoint in ("session",)
        return "" if harmless else f"granted with {reply.status_code}"
    if not call.path.startswith("/api/") and reply.status_code == 404 and b"There is nothing here" in reply.content:
        return ""  # a page with its sentence, at addresses that people open
    if reply["Content-Type"] != "application/problem+json":
        return f"{reply.status_code} as {reply['Content-Type']}"
    problem = json.loads(reply.content)
    if not {"type", "title", "detail"} <= problem.keys() or len(problem["detail"].split()) < 3:
        return f"{reply.status_code} without a sentence: {problem}"
    if any(word in reply.content.decode() for word in ("Traceback", "sqlite", "django", "/work/")):
        return "tells of its inside"
    return ""
