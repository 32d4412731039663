"""When people are paid: by hand, after the verdict, or hourly with a delay and a cap; and a weekend of it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from analysis.errors import InvalidInput
from analysis.study.terms import Terms
from humanexp.core import clock
from humanexp.core.errors import RecruiterUnavailable
from humanexp.core.models import AuditEvent, User
from humanexp.ledger.models import Payment
from humanexp.ledger.owed import Hold
from humanexp.ledger.reconciliation import reconcile
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import clear, settle_by_policies
from humanexp.ledger.terms import policy_of
from humanexp.recruiters.memory import Memory
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.port import Recruiter
from humanexp.recruiters.registry import Account, registered
from humanexp.recruiters.states import WriteState
from humanexp.recruiting.alerts import attention
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.recruitment.jobs import run_settle, run_sync
from humanexp.screening.models import Verdict
from humanexp.studies.models import Study
from tests.clocks import HandClock
from tests.factories import new_session

pytestmark = pytest.mark.django_db(transaction=True)
FRIDAY = datetime(2026, 11, 20, 18, tzinfo=UTC)


class Away(Memory):
    """It answers nothing between two moments."""

    away: tuple[datetime, datetime] | None = None

    def recruiter(self, account: Account) -> Recruiter:
        if self.away and self.away[0] <= clock.now() < self.away[1]:
            raise RecruiterUnavailable
        return super().recruiter(account)


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    found = HandClock(FRIDAY)
    monkeypatch.setattr(clock, "system_clock", found)
    return found


@pytest.fixture
def memory() -> Iterator[Away]:
    kind = Away()
    with registered(kind):
        yield kind


def settled(study: Study, **policy: Any) -> Study:
    study.configuration = {**study.configuration, "recruitment": policy}
    study.save(update_fields=["configuration"])
    return study


def launched(study: Study, places: int = 4) -> Campaign:
    terms = LaunchTerms(to="memory", assignments=places, reward_cents=100, cap_cents=10_000)
    campaign = publish(study=study, terms=terms)
    send()
    return campaign


def submitted(memory: Memory, campaign: Campaign, person: str) -> Assignment:
    account = memory.of("memory")
    ticket = account.accept(campaign.hits.get().hit_id, person)
    account.submit(ticket.submission)
    sync()
    row = Assignment.objects.get(assignment_id=ticket.submission)
    Assignment.objects.filter(pk=row.pk).update(evidence="receipt")
    return row


def progress(*_: object) -> None:
    return


def test_by_hand_no_job_pays(study: Study, memory: Away, hand: HandClock) -> None:
    submitted(memory, launched(study), "P1")
    hand.go(days=2)
    assert settle_by_policies() == [] and not Payment.objects.exists()
    assert "You release each payment in Monitor." in policy_of(study).words("USD")


def test_hourly_waits_for_its_delay(study: Study, memory: Away, hand: HandClock) -> None:
    settled(study, settle="hourly", settle_after_hours=3)
    submitted(memory, launched(study), "P1")
    hand.go(hours=3, seconds=-1)
    assert [one.planned for one in settle_by_policies()] == [0]
    hand.go(seconds=1)
    assert [(one.planned, one.sums) for one in settle_by_policies()] == [(1, {"USD": 110})]
    assert settle_by_policies()[0].planned == 0
    event = AuditEvent.objects.get(action="settle")
    assert (event.facts["policy"], event.facts["cents"], event.by) == ("hourly", 110, None)
    assert "within 4 hours after they submitted" in policy_of(study).words("USD")


def test_whoever_has_to_be_looked_at_waits_for_a_person(study: Study, memory: Away, hand: HandClock) -> None:
    settled(study, settle="hourly")
    row = submitted(memory, launched(study), "P1")
    Assignment.objects.filter(pk=row.pk).update(evidence="unknown")
    hand.go(days=1)
    assert [(one.planned, one.unmatched) for one in settle_by_policies()] == [(0, 1)]


@pytest.mark.parametrize("accepted", [True, False])
def test_after_the_verdict_whichever_it_is(study: Study, memory: Away, hand: HandClock, accepted: bool) -> None:
    settled(study, settle="verdict")
    row = submitted(memory, launched(study), "P1")
    hand.go(days=1)
    assert [one.planned for one in settle_by_policies()] == [0]
    session = new_session(study)
    Assignment.objects.filter(pk=row.pk).update(session=session)
    Verdict.objects.create(session=session, study=study, accepted=accepted, rule_set="r", decided_at=hand.time)
    assert [one.planned for one in settle_by_policies()] == [1]


class TestCap:
    def test_what_is_beyond_it_waits_and_is_told(self, study: Study, memory: Away, hand: HandClock) -> None:
        settled(study, settle="hourly", settle_cap_cents=230)
        campaign = launched(study)
        rows = [submitted(memory, campaign, f"P{number}") for number in range(3)]
        (done,) = settle_by_policies()
        assert (done.planned, done.held, done.sums) == (2, {Hold.DAY_CAP: 1}, {"USD": 220})
        assert set(Payment.objects.values_list("assignment", flat=True)) == {row.pk for row in rows[:2]}
        (told,) = [one for one in attention(study) if one.kind == "settle-cap"]
        assert told.text == "1 person is due to be paid, and the day's cap of this study is reached."
        assert settle_by_policies()[0].planned == 0
        hand.go(hours=24)
        assert settle_by_policies()[0].planned == 1
        assert not [one for one in attention(study) if one.kind == "settle-cap"]

    def test_what_a_person_pays_is_not_in_it(self, study: Study, memory: Away, hand: HandClock) -> None:
        settled(study, settle="hourly", settle_cap_cents=120)
        ada = User.objects.create_user("ada", password="x")
        study.memberships.create(user=ada, role="owner")
        campaign = launched(study)
        clear(assignment=submitted(memory, campaign, "P0"), by=ada)
        submitted(memory, campaign, "P1")
        assert settle_by_policies()[0].planned == 1

    def test_its_words_are_in_the_currency_of_the_launch(self, study: Study) -> None:
        words = policy_of(settled(study, settle="hourly", settle_cap_cents=12_300)).words("GBP")
        assert "At most £123.00 in 24 hours" in words


@pytest.mark.parametrize("stated", [{"settle_after_hours": 2}, {"settle": "verdict", "settle_cap_cents": 5}])
def test_only_the_hourly_job_has_a_delay_and_a_cap(stated: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match='Only settle = "hourly"'):
        Terms.from_dict(stated)


@pytest.mark.verify
def test_a_weekend_on_which_nobody_waits_longer_than_the_policy_says(
    study: Study, memory: Away, hand: HandClock
) -> None:
    """People finish over 72 hours; on Saturday evening the recruiter is away for six."""
    places, policy = 20, {"settle": "hourly", "settle_after_hours": 2}
    settled(study, **policy)
    campaign = launched(study, places)
    account, hit_id = memory.of("memory"), campaign.hits.get().hit_id
    rng = random.Random(7)  # noqa: S311
    finishes = sorted(FRIDAY + timedelta(minutes=rng.uniform(0, 72 * 60)) for _ in range(places))
    back = FRIDAY + timedelta(hours=34)
    memory.away = (FRIDAY + timedelta(hours=28), back)
    # somebody finishes while it is away, and somebody is due then
    assert any(memory.away[0] <= at < back for at in finishes)
    waiting = list(enumerate(finishes))
    done_at: dict[str, datetime] = {}
    while hand.time < FRIDAY + timedelta(hours=80):
        while waiting and waiting[0][1] <= hand.time:
            number, _at = waiting.pop(0)
            ticket = account.accept(hit_id, f"P{number}")
            account.submit(ticket.submission)
        run_sync(progress)
        Assignment.objects.filter(evidence="unknown").update(evidence="receipt")
        run_settle(progress)
        send()
        for row in Payment.objects.filter(state=WriteState.CONFIRMED).select_related("assignment"):
            done_at.setdefault(row.assignment.assignment_id, hand.time)
        hand.go(minutes=30)  # the job looks three times as often
    assert len(done_at) == places == Payment.objects.count()
    longest = timedelta(hours=3)
    for row in Assignment.objects.all():
        assert row.submitted_at is not None
        paid_at = done_at[row.assignment_id]
        assert paid_at <= max(row.submitted_at + longest, back + timedelta(hours=1))
        assert paid_at >= row.submitted_at + timedelta(hours=2)
    assert all(one.adds_up for one in reconcile())
    assert account.held_cents == 1_000_000 - places * 110
