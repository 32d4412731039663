"""Each event is told once to each person who can act, and once that it is resolved."""

from __future__ import annotations

import hashlib
import hmac
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections

from humanexp.core import clock
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.notices import addresses, delivery
from humanexp.notices.addresses import add_address, remove_address, send_test, unmute
from humanexp.notices.delivery import send
from humanexp.notices.models import Address, Event, Notice
from humanexp.notices.watch import look
from tests.clocks import HandClock
from tests.limits import until
from tests.notices.receivers import Receiver
from tests.notices.surroundings import (
    address_of,
    decide,
    hold,
    new_campaign,
    new_payment,
    new_study,
    park,
    runner_beats,
    tell,
    withdraw_approval,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("beating")]


def member(study: Any, name: str, role: str) -> User:
    made = User.objects.create_user(name, email=f"{name}@lab.example")
    study.memberships.create(user=made, role=role)
    return made


@pytest.mark.process
def test_an_event_is_told_once_and_resolved_once_and_recurs_only_then(
    owner: User, receiver: Receiver, hand_clock: HandClock
) -> None:
    campaign = new_campaign(new_study("one", owner))
    address_of(owner, receiver.url)
    payment = park(campaign)
    for _ in range(3):
        tell()
        hand_clock.go(seconds=20)
    assert receiver.events == [("opened", "parked", "one")]
    decide(payment)
    for _ in range(3):
        tell()
        hand_clock.go(seconds=20)
    assert receiver.events[1:] == [("resolved", "parked", "one")]
    park(campaign)
    tell()
    assert receiver.events[2:] == [("opened", "parked", "one")]


@pytest.mark.process
def test_a_message_names_the_button_and_no_sum_no_id_and_no_word_of_a_recruiter(
    owner: User, receiver: Receiver
) -> None:
    campaign = new_campaign(new_study("one", owner))
    address_of(owner, receiver.url)
    payment = new_payment(campaign, state="refused", error="worker A1B2C3 has no money, 7.33")
    hold(campaign, "wage")
    tell()
    [call] = receiver.calls
    events = {event["reason"]: event for event in call.json["events"]}
    assert set(events) == {"refused-payment", "wage"}
    assert events["refused-payment"]["url"].endswith("/studies/one/monitor/ledger/?state=refused")
    body = call.body.decode()
    for secret in ("A1B2C3", "7.33", "733", "0.40", "$", "no money", payment.assignment.assignment_id):
        assert secret not in body


@pytest.mark.process
def test_the_signature_is_of_the_bytes_and_the_time(owner: User, receiver: Receiver) -> None:
    address = address_of(owner, receiver.url)
    park(new_campaign(new_study("one", owner)))
    tell()
    [call] = receiver.calls
    at, given = (part.partition("=")[2] for part in call.headers["x-humanexp-signature"].split(","))
    right = hmac.new(address.secret.encode(), f"{at}.".encode() + call.body, hashlib.sha256).hexdigest()
    assert given == right
    assert hmac.new(address.secret.encode(), call.body, hashlib.sha256).hexdigest() != given
    assert call.headers["idempotency-key"] == call.json["id"]


@pytest.mark.process
def test_slack_gets_a_text_and_no_signature(owner: User, receiver: Receiver) -> None:
    address_of(owner, receiver.url, way="slack")
    park(new_campaign(new_study("one", owner)))
    tell()
    [call] = receiver.calls
    assert set(call.json) == {"text"} and "/studies/one/monitor/ledger/parked/" in call.json["text"]
    assert "x-humanexp-signature" not in call.headers


ROLES = {
    "not-asked": {"owner", "researcher", "reviewer", "payer"},
    "refused-payment": {"owner", "payer"},
    "approval-withdrawn": {"owner", "researcher"},
    "wage": {"owner", "payer"},
}


@pytest.mark.process
@pytest.mark.parametrize("role", ["owner", "researcher", "reviewer", "payer", "viewer"])
def test_only_those_are_told_whose_role_can_act(role: str, owner: User, receiver: Receiver) -> None:
    study = new_study("one", owner)
    campaign = new_campaign(study, synced_at=clock.now() - timedelta(minutes=6))
    address_of(member(study, "mia", role), receiver.url)
    new_payment(campaign, state="refused")
    withdraw_approval(study)
    hold(campaign, "wage")
    tell()
    assert {reason for _state, reason, _study in receiver.events} == {
        reason for reason, roles in ROLES.items() if role in roles
    }


@pytest.mark.process
def test_a_member_who_left_or_whose_account_is_closed_is_not_told_any_more(
    owner: User, receiver: Receiver, hand_clock: HandClock
) -> None:
    study = new_study("one", owner)
    campaign = new_campaign(study)
    mia, max_ = member(study, "mia", "payer"), member(study, "max", "payer")
    address_of(mia, f"{receiver.url}/mia", pace="hourly")
    address_of(max_, f"{receiver.url}/max")
    payment = park(campaign)
    tell()
    assert [call.path for call in receiver.calls] == ["/max"]
    study.memberships.filter(user=mia).delete()
    User.objects.filter(pk=max_.pk).update(is_active=False)
    hand_clock.go(hours=2)
    runner_beats()
    decide(payment)
    tell()
    assert len(receiver.calls) == 1
    assert not Notice.objects.filter(sent_at=None).exists()


@pytest.mark.process
def test_a_muted_study_is_silent_and_what_is_still_open_is_told_afterwards(
    owner: User, receiver: Receiver, hand_clock: HandClock
) -> None:
    muted, other = new_study("muted", owner), new_study("other", owner)
    address_of(owner, receiver.url)
    addresses.mute(by=owner, study=muted, days=1)
    campaign = new_campaign(muted)
    park(campaign)
    gone = hold(campaign, "wage")
    park(new_campaign(other))
    tell()
    assert receiver.events == [("opened", "parked", "other")]
    gone.ended_at = clock.now()
    gone.save()
    tell()
    hand_clock.go(hours=25)
    runner_beats()
    campaign.synced_at = clock.now()
    campaign.save()
    tell()
    assert ("opened", "parked", "muted") in receiver.events
    assert not [event for event in receiver.events if event[1] == "wage"]


@pytest.mark.process
def test_a_reason_can_be_muted_in_every_study_and_a_mute_can_be_ended(owner: User, receiver: Receiver) -> None:
    campaign = new_campaign(new_study("one", owner))
    address_of(owner, receiver.url)
    mute = addresses.mute(by=owner, name="parked", days=7)
    park(campaign)
    hold(campaign, "wage")
    tell()
    assert [reason for _state, reason, _study in receiver.events] == ["wage"]
    unmute(by=owner, pk=mute.pk)
    tell()
    assert [reason for _state, reason, _study in receiver.events] == ["wage", "parked"]


@pytest.mark.process
def test_a_digest_waits_for_its_hour_and_leaves_out_what_was_resolved(
    owner: User, receiver: Receiver, hand_clock: HandClock
) -> None:
    campaign = new_campaign(new_study("one", owner))
    address_of(owner, receiver.url, pace="daily")
    payment = park(campaign)
    hold(campaign, "wage")
    hold(campaign, "returns")
    tell()
    decide(payment)
    hand_clock.go(hours=11)
    runner_beats()
    Event.objects.filter(name="not-asked").delete()
    campaign.synced_at = clock.now()
    campaign.save()
    tell()
    assert not receiver.calls
    hand_clock.go(hours=1)  # 06:00
    runner_beats()
    campaign.synced_at = clock.now()
    campaign.save()
    tell()
    [call] = receiver.calls
    assert {event["reason"] for event in call.json["events"]} == {"wage", "returns"}


@pytest.mark.process
def test_an_account_with_refused_keys_is_told_once_for_all_studies(owner: User, receiver: Receiver) -> None:
    from humanexp.recruiters.models import RecruiterAccount

    for slug in ("one", "two", "three"):
        new_campaign(new_study(slug, owner))
    RecruiterAccount.objects.update_or_create(
        environment="marketplace", defaults={"pause": "keys", "pause_detail": "key AKIA1 refused"}
    )
    address_of(owner, receiver.url)
    tell()
    assert receiver.events == [("opened", "keys", None)]
    assert "AKIA1" not in receiver.calls[0].body.decode()


@pytest.mark.process
class TestAddressesThatFail:
    @pytest.fixture(autouse=True)
    def waiting(self, owner: User, receiver: Receiver) -> Address:
        park(new_campaign(new_study("one", owner)))
        return address_of(owner, receiver.url)

    @pytest.mark.parametrize(
        ("mood", "said"),
        [(500, "status 500"), (302, "redirects"), ("cut", "cannot be reached"), (404, "status 404")],
    )
    def test_are_tried_again_later_with_the_same_name(
        self, mood: int | str, said: str, waiting: Address, receiver: Receiver, hand_clock: HandClock
    ) -> None:
        receiver.mood = mood
        tell()
        waiting.refresh_from_db()
        assert said in waiting.last_error and waiting.failures == 1
        assert [call.path for call in receiver.calls] == ["/"]  # no redirect was followed
        tell()
        assert len(receiver.calls) == 1  # not before its time
        receiver.mood = 200
        hand_clock.go(minutes=2)
        runner_beats()
        tell()
        assert len(receiver.calls) == 2
        assert len({call.headers["idempotency-key"] for call in receiver.calls}) == 1
        waiting.refresh_from_db()
        assert (waiting.last_error, waiting.failures) == ("", 0)

    def test_pauses_double_up_to_an_hour(self, waiting: Address, receiver: Receiver, hand_clock: HandClock) -> None:
        receiver.mood, pauses = 500, []
        for _ in range(9):
            send()
            waiting.refresh_from_db()
            if not waiting.last_error:
                look()
                send()
                waiting.refresh_from_db()
            pauses.append(waiting.try_after - clock.now())
            hand_clock.time = waiting.try_after
        assert pauses[:3] == [timedelta(minutes=1), timedelta(minutes=2), timedelta(minutes=4)]
        assert max(pauses) == timedelta(hours=1)

    def test_one_that_hangs_takes_no_longer_than_a_turn_and_keeps_no_other_waiting(
        self, waiting: Address, receiver: Receiver, owner: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(delivery, "TURN_S", 1.0)
        receiver.mood = "hang"
        with Receiver() as other:
            address_of(owner, other.url)
            look()
            send()
            until(lambda: other.events == [("opened", "parked", "one")], "the other one is told")
            assert not receiver.release.is_set()
        waiting.refresh_from_db()
        assert "in time" in waiting.last_error

    def test_a_port_that_refuses(self, waiting: Address, receiver: Receiver) -> None:
        Address.objects.filter(pk=waiting.pk).update(target="http://127.0.0.1:9")
        tell()
        waiting.refresh_from_db()
        assert "cannot be reached" in waiting.last_error


class TestWhereMessagesMayGo:
    @pytest.mark.parametrize(
        "url",
        [
            "http://example.org/hook", "ftp://example.org", "https://user:pw@example.org/", "javascript:alert(1)", "",
            "https:///path", "https://example.org:port/",
        ],
    )  # fmt: skip
    def test_others_are_refused(self, owner: User, url: str) -> None:
        with pytest.raises(InvalidRequest):
            add_address(by=owner, way="webhook", target=url)

    @pytest.mark.process
    def test_this_machine_is_refused_where_others_reach_the_site(
        self, owner: User, receiver: Receiver, settings: Any
    ) -> None:
        address = address_of(owner, receiver.url)
        settings.PUBLIC_URL = "https://lab.example.org"
        with pytest.raises(InvalidRequest, match="NOTICE_HOSTS"):
            address_of(owner, f"{receiver.url}/2")
        assert "NOTICE_HOSTS" in send_test(by=owner, pk=address.pk)
        # also where the address looks like one of the internet: what the name leads to counts
        Address.objects.filter(pk=address.pk).update(
            target=receiver.url.replace("http://127.0.0.1", "https://localhost")
        )
        assert "private network" in send_test(by=owner, pk=address.pk)
        assert not receiver.calls
        settings.NOTICE_HOSTS = [receiver.url.removeprefix("http://")]
        Address.objects.filter(pk=address.pk).update(target=receiver.url)
        assert send_test(by=owner, pk=address.pk) == ""

    def test_mail_goes_to_the_address_of_the_account_only(self, owner: User, settings: Any) -> None:
        with pytest.raises(InvalidRequest, match="Mail is not set up"):
            add_address(by=owner, way="email")
        settings.EMAIL_HOST = "mail.example"
        with pytest.raises(InvalidRequest, match="of your account only"):
            add_address(by=owner, way="email", target="victim@elsewhere.example")
        assert add_address(by=owner, way="email").target == ""

    @pytest.mark.process
    def test_nobody_touches_the_address_of_another(self, owner: User, receiver: Receiver) -> None:
        address = address_of(owner, receiver.url)
        other = User.objects.create_user("eve")
        for attempt in (send_test, remove_address):
            with pytest.raises(Exception, match="no such address"):
                attempt(by=other, pk=address.pk)
        assert not receiver.calls

    @pytest.mark.process
    def test_the_same_address_is_stored_once(self, owner: User, receiver: Receiver) -> None:
        address_of(owner, receiver.url)
        with pytest.raises(Conflict):
            address_of(owner, receiver.url)


@pytest.mark.process
@pytest.mark.django_db(transaction=True)
def test_two_runners_at_once_tell_each_event_once(owner: User, receiver: Receiver) -> None:
    for number in range(4):
        study = new_study(f"s{number}", owner)
        park(new_campaign(study))
        hold(study.campaigns.get(), "wage")
    address_of(owner, f"{receiver.url}/a")
    address_of(owner, f"{receiver.url}/b")
    barrier = threading.Barrier(2)

    def run() -> None:
        try:
            barrier.wait()
            tell()
        finally:
            connections.close_all()

    runners = [threading.Thread(target=run) for _ in range(2)]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    tell()
    ids = [(call.path, event["id"]) for call in receiver.calls for event in call.json["events"]]
    assert len(ids) == len(set(ids)) == 16
