"""How often a session or a caller may call, and who counts as one caller."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from humanexp import common_memory
from humanexp.common_memory import RATES
from humanexp.core.limits import Allowance, SharedAllowance, caller_of
from humanexp.core.names import pseudonym
from humanexp.core.sealing import pseudonym_key
from humanexp.participation import answering
from tests.factories import Tab, new_session
from tests.participation.limits import RUN, audited

ROOT = Path(__file__).parents[2]


def test_an_allowance_fills_at_its_rate(hand_clock):
    allowance = Allowance(per_s=2, burst=3, keys=2)
    assert [allowance.spend("a") for _ in range(4)] == [0, 0, 0, 0.5]
    hand_clock.go(seconds=0.5)
    assert allowance.spend("a") == 0 and allowance.spend("a") > 0
    hand_clock.go(seconds=100)
    assert [allowance.spend("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert allowance.spend("b") == 0


def test_a_shared_allowance_fills_at_its_rate_and_remembers_who_spent_most(hand_clock):
    allowance, other = SharedAllowance("of tests", per_s=2, burst=3), SharedAllowance("of others", per_s=2, burst=3)
    allowance.clear()
    assert [allowance.spend("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert allowance.spend("b") == 0 and other.spend("a") == 0
    hand_clock.go(seconds=0.5)
    assert allowance.spend("a") == 0 and allowance.spend("a") > 0
    hand_clock.go(seconds=100)
    assert [allowance.spend("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert all(allowance.spend(number) == 0 for number in range(2 * RATES))  # more callers than there are places
    assert allowance.spend("a") == 0.5
    allowance.clear()


def test_a_session_that_calls_too_often_has_to_wait_and_others_do_not(hand_clock, client, study, monkeypatch):
    monkeypatch.setattr(answering, "CALLS", Allowance(per_s=1, burst=5))
    busy, other = Tab(client, new_session(study, "P-1")), Tab(client, new_session(study, "P-2"))
    assert [busy.get("status/").status_code for _ in range(6)] == [200] * 5 + [429]
    refused = busy.get("status/")
    assert refused.json()["type"] == "too-many-calls" and refused["Retry-After"] == "1"
    assert other.get("status/").status_code == 200
    hand_clock.go(seconds=1)
    assert busy.get("status/").status_code == 200
    assert set(audited()) == {"too-many"}


def test_a_block_is_fetched_without_waiting():
    """The longest block that a session usually has: three calls a trial."""
    assert answering.CALLS.burst >= 3 * 300


def test_forged_calls_from_one_address_are_cut_short_and_good_tokens_are_not(hand_clock, client, study):
    tab = Tab(client, new_session(study))
    statuses = [client.get(f"{RUN}status/", headers={"Authorization": "Bearer x.y.z"}).status_code for _ in range(50)]
    assert statuses == [401] * 30 + [429] * 20
    assert audited() == ["forged"] * 30
    assert tab.get("status/").status_code == 200


def test_a_caller_is_told_apart_for_a_day(hand_clock, rf):
    one, two = rf.get("/", REMOTE_ADDR="10.0.0.1"), rf.get("/", REMOTE_ADDR="10.0.0.2")
    assert caller_of(one) == caller_of(one) != caller_of(two)
    today = caller_of(one)
    hand_clock.go(seconds=24 * 3600)
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
from humanexp.core.limits import caller_of
from humanexp.entry.admission import BEGUN
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


@pytest.mark.process
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
        from humanexp.entry.admission import OPENINGS
        granted = sum(OPENINGS.spend(("one caller", 7)) == 0 for _ in range(OPENINGS.burst))
        assert OPENINGS.spend(("another caller", 7)) == 0
        os.write(end, struct.pack("q", granted))
        os._exit(0)
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
granted = [struct.unpack("q", os.read(end, 8))[0] for end in (ours[0], theirs[0])]
import django
django.setup()
from humanexp.entry.admission import OPENINGS
filled = OPENINGS.per_s * (time.monotonic() - began)
assert OPENINGS.burst <= sum(granted) <= OPENINGS.burst + filled + 1, granted
assert OPENINGS.spend(("one caller", 7)) > 0 or filled >= 1
"""


@pytest.mark.process
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
    common_memory.MEMORY[common_memory.DAY] = bytes(8)  # as when the server starts again
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


def test_of_several_proxies_the_first_one_is_believed(rf, settings):
    """Each appends whom it saw: behind a network of caches, the last address is the network's, for everybody."""

    def seen(forwarded):
        return caller_of(rf.get("/", REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": forwarded}))

    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.TRUSTED_PROXIES = 2
    one, other = seen("203.0.113.1, 198.51.100.7"), seen("203.0.113.2, 198.51.100.7")
    assert one != other and one == seen("made up, 203.0.113.1, 198.51.100.8")
    assert seen("203.0.113.1") == one, "who came past the first proxy is whom the second one saw"
    assert seen("") == caller_of(rf.get("/", REMOTE_ADDR="10.0.0.1"))


def test_forged_calls_under_ever_new_forwarded_addresses_are_cut_short(hand_clock, client, study):
    statuses = [
        client.get(
            f"{RUN}status/", headers={"Authorization": "Bearer x.y.z", "X-Forwarded-For": f"203.0.113.{number}"}
        ).status_code
        for number in range(40)
    ]
    assert statuses == [401] * 30 + [429] * 10


def test_an_allowance_fills_again_after_the_clock_was_set_back(hand_clock):
    allowance = Allowance(per_s=1, burst=2)
    assert [allowance.spend("a") for _ in range(2)] == [0, 0]
    hand_clock.go(seconds=-3600)
    assert allowance.spend("a") == 1
    hand_clock.go(seconds=1)
    assert allowance.spend("a") == 0
