"""Nothing to cheat with: tokens, replays, pace and rates, and what the audit keeps of them."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core import signing

from humanexp.common_memory import RATES
from humanexp.console.doctor_checks.operation import refused_calls
from humanexp.core import caller_hash, clock
from humanexp.core.caller_hash import caller_of
from humanexp.core.fingerprints import pseudonym_key
from humanexp.core.keys import pseudonym
from humanexp.core.limits import Allowance, SharedAllowance
from humanexp.participation import credentials, minimum_duration, selectors, services as participation
from humanexp.participation.models import RefusedCall, Response, Session
from humanexp.participation.services import auditing
from humanexp.studies import services as studies
from tests.factories import Tab, draft_study, new_session

RUN = "/api/v1/run/"
ROOT = Path(__file__).parents[2]


class HandClock:
    def __init__(self) -> None:
        self.time = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
        self.passed_s = 0.0

    def now(self):
        return self.time

    def monotonic_s(self):
        return self.passed_s

    def pass_s(self, seconds):
        """Less than none: somebody sets the clock back."""
        self.time += datetime.timedelta(seconds=seconds)
        self.passed_s += max(0.0, seconds)


@pytest.fixture
def hand_clock(monkeypatch):
    made = HandClock()
    monkeypatch.setattr(clock, "system_clock", made)
    return made


@pytest.fixture
def paced(monkeypatch, unhurried, hand_clock):
    monkeypatch.setattr(minimum_duration, "SHARE", 0.9)
    return hand_clock


def audited():
    return list(RefusedCall.objects.order_by("pk").values_list("reason", flat=True))


# Pace


def test_a_session_is_no_faster_than_its_phases(paced, client, study):
    """Fixation 300 + stimulus 200 + mask 200 ms a trial, less the tenth that is allowed for whole frames."""
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    paced.pass_s(0.62)
    refused = tab.answer(0)
    assert refused.status_code == 429 and refused.json()["type"] == "too-fast"
    assert refused["Retry-After"] == "1" and audited() == ["too-fast"]
    session.refresh_from_db()
    assert session.cursor == 0 and not Response.objects.exists()
    paced.pass_s(0.02)
    assert tab.answer(0).status_code == 201
    assert tab.answer(1).status_code == 429
    paced.pass_s(0.63)
    assert tab.answer(1).status_code == 201


def test_answers_that_waited_for_the_network_arrive_in_a_burst(paced, client, study):
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    first = session.blocks[0]
    paced.pass_s(0.7 * (first["last"] + 1))
    for position in range(first["last"] + 1):
        assert tab.answer(position).status_code == 201
    # The next block's pictures could not be fetched before this moment.
    assert tab.answer(first["last"] + 1).status_code == 429
    paced.pass_s(0.7)
    assert tab.answer(first["last"] + 1).status_code == 201


def test_a_whole_session_takes_at_least_its_phases(paced, client, study):
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    begun, position = paced.now(), 0
    while position < session.total:  # as fast as the server lets anybody
        if tab.answer(position).status_code == 201:
            position += 1
        else:
            paced.pass_s(0.05)
            auditing.REFUSALS.clear()
    assert (paced.now() - begun).total_seconds() >= 0.9 * 0.7 * session.total


def test_a_pair_takes_two_pictures_and_an_untimed_task_no_time():
    from analysis.spec.protocol import load_protocol
    from humanexp.studies.tasks import TASKS

    vcr = load_protocol("vcr")
    assert minimum_duration.least_s(TASKS["categorisation"], vcr) == pytest.approx(0.7)
    assert minimum_duration.least_s(TASKS["discrimination"], vcr) == pytest.approx(1.4)
    assert minimum_duration.least_s(TASKS["abx"], vcr) == pytest.approx(2.1)
    assert minimum_duration.least_s(TASKS["validation"], vcr) == 0
    fixed = load_protocol("geirhos2018-batch2")
    assert fixed.fixed_response_window
    phases = fixed.fixation_ms + fixed.stimulus_ms + fixed.mask_ms + fixed.response_ms
    assert minimum_duration.least_s(TASKS["categorisation"], fixed) == pytest.approx(phases / 1000)


def test_scripted_sessions_are_as_fast_as_they_like(paced, client, stimulus_set):
    made = draft_study(population="scripted")
    session = new_session(studies.start_collecting(study=made), "S-0001", scripted=True)
    tab = Tab(client, session)
    tab.take_lease()
    for position in range(session.total):
        assert tab.answer(position, simulated=True).status_code == 201


# Rates


def test_an_allowance_fills_at_its_rate(hand_clock):
    allowance = Allowance(per_s=2, burst=3, keys=2)
    assert [allowance.spend("a") for _ in range(4)] == [0, 0, 0, 0.5]
    hand_clock.pass_s(0.5)
    assert allowance.spend("a") == 0 and allowance.spend("a") > 0
    hand_clock.pass_s(100)
    assert [allowance.spend("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert allowance.spend("b") == 0


def test_a_shared_allowance_fills_at_its_rate_and_remembers_who_spent_most(hand_clock):
    allowance, other = SharedAllowance("of tests", per_s=2, burst=3), SharedAllowance("of others", per_s=2, burst=3)
    allowance.clear()
    assert [allowance.spend("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert allowance.spend("b") == 0 and other.spend("a") == 0
    hand_clock.pass_s(0.5)
    assert allowance.spend("a") == 0 and allowance.spend("a") > 0
    hand_clock.pass_s(100)
    assert [allowance.spend("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert all(allowance.spend(number) == 0 for number in range(2 * RATES))  # more callers than there are places
    assert allowance.spend("a") == 0.5
    allowance.clear()


def test_a_session_that_calls_too_often_has_to_wait_and_others_do_not(hand_clock, client, study, monkeypatch):
    monkeypatch.setattr(auditing, "CALLS", Allowance(per_s=1, burst=5))
    busy, other = Tab(client, new_session(study, "P-1")), Tab(client, new_session(study, "P-2"))
    assert [busy.get("status/").status_code for _ in range(6)] == [200] * 5 + [429]
    refused = busy.get("status/")
    assert refused.json()["type"] == "too-many-calls" and refused["Retry-After"] == "1"
    assert other.get("status/").status_code == 200
    hand_clock.pass_s(1)
    assert busy.get("status/").status_code == 200
    assert set(audited()) == {"too-many"}


def test_a_block_is_fetched_without_waiting():
    """The longest block that a session usually has: three calls a trial."""
    assert auditing.CALLS.burst >= 3 * 300


def test_forged_calls_from_one_address_are_cut_short_and_good_tokens_are_not(hand_clock, client, study):
    tab = Tab(client, new_session(study))
    statuses = [client.get(f"{RUN}status/", headers={"Authorization": "Bearer x.y.z"}).status_code for _ in range(50)]
    assert statuses == [401] * 30 + [429] * 20
    assert audited() == ["forged"] * 30
    assert tab.get("status/").status_code == 200


# Tokens, and the audit


def test_every_kind_of_refused_token_has_its_entry(client, study, monkeypatch):
    session = new_session(study)
    token = participation.issue_token(session=session)

    def call(bearer):
        return client.get(f"{RUN}status/", headers={"Authorization": f"Bearer {bearer}"})

    replies = [call("x.y.z")]
    replies.append(call(token[:-2] + ("aa" if token[-2:] != "aa" else "bb")))
    with monkeypatch.context() as later:
        now = signing.time.time()
        later.setattr(signing.time, "time", lambda: now + credentials.TOKEN_MAX_AGE_S + 5)
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
    code = participation.issue_handoff(session=session)

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


# Callers


def test_a_caller_is_told_apart_for_a_day(hand_clock, rf):
    one, two = rf.get("/", REMOTE_ADDR="10.0.0.1"), rf.get("/", REMOTE_ADDR="10.0.0.2")
    assert caller_of(one) == caller_of(one) != caller_of(two)
    today = caller_of(one)
    hand_clock.pass_s(24 * 3600)
    assert caller_of(one) != today


def test_callers_of_both_families_are_told_apart_alike(hand_clock, rf):
    """Where one socket hears both, an IPv4 caller comes in the clothes of IPv6."""
    plain, mapped, other = (
        caller_of(rf.get("/", REMOTE_ADDR=address)) for address in ("10.0.0.1", "::ffff:10.0.0.1", "::ffff:10.0.0.2")
    )
    assert plain == mapped != other
    one, same, far = (caller_of(rf.get("/", REMOTE_ADDR=a)) for a in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"))
    assert one == same != far


#: As gunicorn does: it reads its settings, forks, and each process loads the application.
FORKED = """
import os, types
import humanexp.serving
child = os.fork()
import django
django.setup()
from django.test import RequestFactory
from humanexp.core.caller_hash import caller_of
from humanexp.recruitment.services.openings import BEGUN
request, campaign = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1"), types.SimpleNamespace(pk=7)
if child == 0:
    BEGUN.add(caller_of(request), campaign, 12)
    os._exit(0)
os.waitpid(child, 0)
assert BEGUN.of(caller_of(request), campaign) == {12}
BEGUN.add(caller_of(request), campaign, 13)
BEGUN.forget([12, 14])
assert BEGUN.of(caller_of(request), campaign) == {13}
assert not BEGUN.of(caller_of(request), types.SimpleNamespace(pk=8))
"""


def test_web_processes_of_one_server_know_the_same_callers_and_their_openings(tmp_path):
    """Each call may come to another process: a limit that each keeps for itself is no limit."""
    places = {"DJANGO_SETTINGS_MODULE": "humanexp.settings", "MEDIA_ROOT": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", FORKED],
        cwd=ROOT,
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


#: Each process spends as often as one alone may; who is refused is counted by neither.
SPENDING = """
import os, struct, sys, time
import humanexp.serving
began = time.monotonic()
ours, theirs = os.pipe(), os.pipe()
children = []
for end in (ours[1], theirs[1]):
    child = os.fork()
    if child == 0:
        import django
        django.setup()
        from humanexp.recruitment.services.openings import OPENINGS
        granted = sum(OPENINGS.spend(("one caller", 7)) == 0 for _ in range(OPENINGS.burst))
        assert OPENINGS.spend(("another caller", 7)) == 0
        os.write(end, struct.pack("q", granted))
        os._exit(0)
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
granted = [struct.unpack("q", os.read(end, 8))[0] for end in (ours[0], theirs[0])]
import django
django.setup()
from humanexp.recruitment.services.openings import OPENINGS
filled = OPENINGS.per_s * (time.monotonic() - began)
assert OPENINGS.burst <= sum(granted) <= OPENINGS.burst + filled + 1, granted
assert OPENINGS.spend(("one caller", 7)) > 0 or filled >= 1
"""


def test_two_web_processes_allow_the_rate_of_openings_once(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SPENDING],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "humanexp.settings", "MEDIA_ROOT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.django_db
def test_the_salt_of_the_day_is_stored_nowhere(rf, settings):
    """Who has the keys and the table still cannot try all addresses: the salt was random, and is gone."""
    code = caller_of(rf.get("/", REMOTE_ADDR="10.0.0.1"))
    for key in (settings.SECRET_KEY, pseudonym_key()):
        assert code != pseudonym(key, "10.0.0.1", prefix="A")
    caller_hash.MEMORY[caller_hash.DAY] = bytes(8)  # as when the server starts again
    assert caller_of(rf.get("/", REMOTE_ADDR="10.0.0.1")) != code


def test_a_network_of_its_own_is_one_caller(rf):
    one, same, other = (
        caller_of(rf.get("/", REMOTE_ADDR=address))
        for address in ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1")
    )
    assert one == same != other


def test_a_header_that_names_another_address_is_not_believed(rf, settings):
    def seen(forwarded):
        return caller_of(rf.get("/", REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": forwarded}))

    assert seen("203.0.113.1") == seen("203.0.113.2") == caller_of(rf.get("/", REMOTE_ADDR="10.0.0.1"))
    # A trusted proxy appends the address that it saw to whatever the caller wrote.
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert seen("198.51.100.7, 203.0.113.1") == seen("made up, 203.0.113.1") != seen("203.0.113.1, 198.51.100.7")


def test_forged_calls_under_ever_new_forwarded_addresses_are_cut_short(hand_clock, client, study):
    statuses = [
        client.get(
            f"{RUN}status/", headers={"Authorization": "Bearer x.y.z", "X-Forwarded-For": f"203.0.113.{number}"}
        ).status_code
        for number in range(40)
    ]
    assert statuses == [401] * 30 + [429] * 10


# Bounds


def test_entries_come_at_a_bounded_rate(db, hand_clock, study):
    session = new_session(study)
    for number in range(400):
        auditing.record(reason="forged", call="run-status", caller=f"A-{number}", session_id=None)
    assert RefusedCall.objects.count() == auditing.ENTRIES.burst
    # Forged calls do not crowd out what is known of a session.
    auditing.record(reason="altered", call="run-responses", caller="A-1", session_id=session.pk)
    assert RefusedCall.objects.filter(session=session).count() == 1


def test_old_entries_make_room(db, hand_clock, study, monkeypatch):
    session = new_session(study)
    monkeypatch.setattr(auditing, "KEPT", 5)
    auditing.record(reason="altered", call="run-responses", caller="A-1", session_id=session.pk)
    for number in range(12):
        auditing.record(reason="forged", call="run-status", caller=f"A-{number}", session_id=None)
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


# What researchers see


def test_refused_calls_are_counted_by_study(client, study, tab, session):
    tab.answer(0, "cat"), tab.answer(0, "dog"), tab.answer(0, "bird")
    client.get(f"{RUN}status/", headers={"Authorization": "Bearer x.y.z"})
    (mine,) = selectors.refused_calls(study)
    assert (mine.reason, mine.count, mine.sessions) == ("altered", 2, 1)
    (others,) = selectors.refused_calls(None)
    assert (others.reason, others.count, others.sessions) == ("forged", 1, 0)
    finding = refused_calls()
    assert finding.state == "note" and finding.detail.startswith("1 forged or damaged token, the latest ")


# Clocks that are set


def answer_whole(tab, paced, session, upset):
    """Answer at an honest pace; the longest wait that the server asked for, and the waits beyond the pictures' time."""
    position, refusals = session.cursor, []
    while position < session.total:
        paced.pass_s(0.7)
        upset(position)
        reply = tab.answer(position)
        if reply.status_code == 201:
            position += 1
        else:
            assert reply.status_code == 429, reply.content
            refusals.append(int(reply["Retry-After"]))
    return refusals


@pytest.mark.parametrize("step_s", [-86_400 * 400, -3600, -60, -2, 2, 3600, 86_400 * 400])
def test_a_clock_that_is_set_stops_nobody(paced, client, study, step_s):
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    middle = session.blocks[1]["first"] + 5

    def once(position):
        if position == middle and not waited:
            waited.append(position)
            paced.pass_s(step_s)

    waited = []
    refusals = answer_whole(tab, paced, session, once)
    assert len(refusals) <= 3 and sum(refusals) <= 3, refusals


def test_a_clock_that_is_set_to_and_fro_stops_nobody(paced, client, study):
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    steps = {6: 7200, 9: -7200, 12: -3600, 13: 3600, 20: -30, 21: -30}
    done = set()

    def upset(position):
        if position in steps and position not in done:
            done.add(position)
            paced.pass_s(steps[position])
            tab.take_lease()  # the page is loaded anew at once, which is a sign of life, too

    refusals = answer_whole(tab, paced, session, upset)
    assert sum(refusals) <= 3, refusals


def test_a_clock_that_was_set_back_hurries_nobody(paced, client, study):
    """What is gained by it are the pictures of one trial: the next ones take their time."""
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    paced.pass_s(0.7)
    assert tab.answer(0).status_code == 201
    paced.pass_s(-3600)
    assert tab.answer(1).status_code == 201
    assert [tab.answer(2).status_code for _ in range(3)] == [429] * 3
    paced.pass_s(0.7)
    assert tab.answer(2).status_code == 201


def test_an_allowance_fills_again_after_the_clock_was_set_back(hand_clock):
    allowance = Allowance(per_s=1, burst=2)
    assert [allowance.spend("a") for _ in range(2)] == [0, 0]
    hand_clock.pass_s(-3600)
    assert allowance.spend("a") == 1
    hand_clock.pass_s(1)
    assert allowance.spend("a") == 0


def test_tokens_and_codes_from_the_future_are_good(client, study, monkeypatch):
    session = new_session(study)
    now = signing.time.time()
    with monkeypatch.context() as earlier:
        earlier.setattr(signing.time, "time", lambda: now + 3600)
        token, code = participation.issue_token(session=session), participation.issue_handoff(session=session)
    assert credentials.TOKEN.read(token).session_id == session.pk
    assert client.post(f"{RUN}handoff/", {"code": code}, content_type="application/json").status_code == 200
