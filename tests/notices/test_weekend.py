"""72 hours with everything that goes wrong: each event is told once to the right person, and resolved once."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from humanexp.console.models import Backup
from humanexp.core import clock
from humanexp.core.models import User
from humanexp.notices.models import Observation
from humanexp.notices.watch import call_while_well, look, look_at_certificate
from humanexp.participation.models import Participant, Session
from humanexp.recruiters.models import Campaign
from tests.clocks import HandClock
from tests.notices.receivers import Receiver
from tests.notices.surroundings import (
    HandMachine,
    address_of,
    decide,
    hold,
    new_campaign,
    new_study,
    park,
    runner_beats,
    tell,
)

pytestmark = pytest.mark.django_db

STEP_MIN = 60


@pytest.mark.process
def test_every_event_of_a_weekend_is_told_once_to_the_right_person_and_resolved_once(
    owner: User, hand_clock: HandClock, hand_machine: HandMachine, settings: Any
) -> None:
    study = new_study("weekend", owner)
    study.memberships.create(user=User.objects.create_user("pia"), role="payer")
    study.memberships.create(user=User.objects.create_user("vera"), role="viewer")
    campaign = new_campaign(study, lifetime_s=7 * 86_400)
    User.objects.create_user("adam", is_staff=True)
    settings.PUBLIC_URL = "https://lab.example.org"
    hand_machine.ends = clock.now() + timedelta(days=15)
    began, problems = clock.now(), dict[str, Any]()
    with Receiver() as receiver, Receiver() as watcher:
        settings.NOTICE_HOSTS = [receiver.url.removeprefix("http://")]
        settings.ALIVE_URL, settings.ALIVE_EVERY_MINUTES = watcher.url, STEP_MIN
        for name in ("olga", "pia", "vera", "adam"):
            address_of(User.objects.get(username=name), f"{receiver.url}/{name}")
        while clock.now() < began + timedelta(hours=72):
            hour = (clock.now() - began) / timedelta(hours=1)
            _happens(hour, campaign, hand_machine, problems)
            is_dead = 30 <= hour < 32 or 50 <= hour < 51  # the runner was killed; the database was away
            if not is_dead:
                runner_beats()
                look_at_certificate()
                if not 10 <= hour < 16:  # the recruiter is away
                    Campaign.objects.update(synced_at=clock.now())
                receiver.mood = 500 if 20 <= hour < 22 else 200  # the chat is down for two hours
                tell()
                call_while_well()
            hand_clock.go(minutes=STEP_MIN)
        told = Counter(
            (call.path, event["state"], event["reason"]) for call in _taken(receiver) for event in call.json["events"]
        )
        called = len(watcher.calls)
    members = {"/olga", "/pia"}
    expected = {
        **{(who, state, "not-asked"): 1 for who in members for state in ("opened", "resolved")},
        **{(who, state, "parked"): 1 for who in members for state in ("opened", "resolved")},
        **{("/olga", state, "returns"): 1 for state in ("opened", "resolved")},
        **{("/adam", state, "disk"): 1 for state in ("opened", "resolved")},
        **{("/adam", state, "certificate-ends"): 1 for state in ("opened", "resolved")},
    }
    assert told == expected
    # silent while the recruiter was away, the disk was full, and nothing ran
    silent_h = 6 + 2 + 1 + 3
    assert abs(called - (72 - silent_h) * 60 / STEP_MIN) <= 3


def _happens(hour: float, campaign: Campaign, machine: HandMachine, problems: dict[str, Any]) -> None:
    def once(name: str, at: float) -> bool:
        if hour < at or name in problems:
            return False
        problems[name] = True
        return True

    if once("parked", 20):  # while the chat is down
        problems["payment"] = park(campaign)
    if once("decided", 26):
        decide(problems["payment"])
    if once("returns", 31):  # while the runner is dead
        problems["hold"] = hold(campaign, "returns")
    if once("over", 40):
        problems["hold"].ended_at = clock.now()
        problems["hold"].save()
    machine.disk_mb = 300 if 60 <= hour < 63 else 50_000
    if once("renewed", 66):
        machine.ends = clock.now() + timedelta(days=90)


def _taken(receiver: Receiver) -> list[Any]:
    """Of a message that was repeated, the last."""
    return list({call.headers["idempotency-key"]: call for call in receiver.calls}.values())


def test_a_certificate_that_cannot_be_checked_is_told_to_administrators(
    hand_clock: HandClock, hand_machine: HandMachine, receiver: Receiver, settings: Any
) -> None:
    runner_beats()
    address_of(User.objects.create_user("adam", is_staff=True), receiver.url)
    settings.PUBLIC_URL, settings.NOTICE_HOSTS = "https://lab.example.org", [receiver.url.removeprefix("http://")]
    hand_machine.ends = None
    look_at_certificate()
    tell()
    assert receiver.events == [("opened", "certificate", None)]


def test_a_backup_that_is_too_old_or_missing_is_told(hand_clock: HandClock, receiver: Receiver) -> None:
    runner_beats()
    address_of(User.objects.create_user("adam", is_staff=True), receiver.url)
    tell()
    assert not receiver.calls, "nobody took part: nothing would be lost"
    study = new_study("one")
    person = Participant.objects.create(family=study.family, code="P-ONE")
    Session.objects.create(study=study, participant=person, code="S-ONE", slot=0, total=3, opened_at=clock.now())
    row = Backup.objects.create(name="a", place="/backups", made_at=clock.now(), rows=1, files=1, bytes_new=1)
    tell()
    Backup.objects.filter(pk=row.pk).update(verified_at=clock.now())
    tell()
    hand_clock.go(hours=49)
    runner_beats()
    tell()
    assert [event[:2] for event in receiver.events] == [
        ("opened", "no-backup"), ("resolved", "no-backup"), ("opened", "backup"),
    ]  # fmt: skip


class TestTheAddressThatIsCalledWhileAllIsWell:
    @pytest.fixture(autouse=True)
    def named(self, receiver: Receiver, settings: Any, hand_clock: HandClock, db: Any) -> None:
        settings.ALIVE_URL = f"{receiver.url}/ping"
        runner_beats()

    def test_is_called_at_its_interval(self, receiver: Receiver, hand_clock: HandClock) -> None:
        for _ in range(11):
            runner_beats()
            assert call_while_well() == ""
            hand_clock.go(minutes=1)
        assert [(call.method, call.path) for call in receiver.calls] == [("GET", "/ping")] * 3

    def test_is_not_called_while_a_lane_of_the_runner_is_silent(
        self, receiver: Receiver, hand_clock: HandClock
    ) -> None:
        hand_clock.go(minutes=6)
        assert "runner" in call_while_well()
        assert not receiver.calls
        assert "runner" in Observation.objects.get(name="alive").seen["silent_because"][0]

    def test_is_not_called_while_a_recruiter_is_not_asked(
        self, receiver: Receiver, owner: User, hand_clock: HandClock
    ) -> None:
        campaign = new_campaign(new_study("one", owner))
        hand_clock.go(minutes=6)
        runner_beats()
        look()
        assert "not been asked" in call_while_well()
        campaign.synced_at = clock.now()
        campaign.save()
        look()
        assert call_while_well() == ""
        assert len(receiver.calls) == 1

    def test_that_answers_an_error_is_told_to_administrators(self, receiver: Receiver, hand_clock: HandClock) -> None:
        receiver.mood = 500
        assert "status 500" in call_while_well()
        with Receiver() as other:
            address_of(User.objects.create_user("adam", is_staff=True), other.url)
            tell()
            assert other.events == [("opened", "alive", None)]
