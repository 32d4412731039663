"""What a round of polling and a comparison of the books cost in calls, where a campaign has ten thousand places."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from humanexp.core import clock
from humanexp.ledger.reconciliation import reconcile
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import plan_bonus
from humanexp.recruiters.memory import Memory, MemoryRecruiter
from humanexp.recruiters.models import Assignment, Campaign, Hit
from humanexp.recruiters.port import BonusOrder, OfferOrder, RewardOrder
from humanexp.recruiters.registry import registered
from humanexp.recruiters.states import HitState
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study

PLACES, SIZE = 10_000, 9
#: a hundred offers in a page, the balance, and one list for each offer that has changed
TENS = 20


@pytest.fixture
def account() -> Iterator[MemoryRecruiter]:
    kind = Memory()
    with registered(kind):
        yield kind.of()


@pytest.fixture
def campaign(study: Study, account: MemoryRecruiter) -> Campaign:
    """Published as ever, and grown to ten thousand places by rows alone: the plan of a test has no so many sessions."""
    campaign = publish(study=study, terms=LaunchTerms(to="memory", assignments=2, reward_cents=50, cap_cents=100_000))
    send(environment="memory")
    campaign.refresh_from_db()
    hits = []
    for number in range(2, PLACES // SIZE + 2):
        offer_id = account.publish(
            OfferOrder(
                terms_id=campaign.hit_type_id,
                places=SIZE,
                lifetime_s=campaign.lifetime_s,
                url="https://lab.example/",
                annotation=f"more-{number}",
                token=f"more-{number}",
            )
        )
        hits.append(
            Hit(
                campaign=campaign,
                number=number,
                environment="memory",
                hit_id=offer_id,
                state=HitState.OPEN,
                max_assignments=SIZE,
                available=SIZE,
                expires_at=account.offer(offer_id).expires_at,
            )
        )
    Hit.objects.bulk_create(hits)
    sync()
    account.calls.clear()
    return campaign


def submitted(account: MemoryRecruiter, campaign: Campaign, people: int) -> list[str]:
    """So many people do the work of an offer each."""
    done = []
    for number, hit in enumerate(campaign.hits.order_by("number")[1 : people + 1]):
        ticket = account.accept(hit.hit_id, f"P{number}")
        account.submit(ticket.submission)
        done.append(ticket.submission)
    return done


def test_a_quiet_round_asks_for_pages_and_no_list(campaign: Campaign, account: MemoryRecruiter) -> None:
    report = sync()
    assert report.hits == PLACES // SIZE + 1
    assert account.calls["submissions"] == 0
    assert account.calls["offer"] == 0
    assert account.calls == {"offers": 12, "balance": 1}


def test_a_round_reads_the_lists_that_have_changed(campaign: Campaign, account: MemoryRecruiter) -> None:
    submitted(account, campaign, 7)
    assert sync().submitted == 7
    assert account.calls["submissions"] == 7
    assert account.calls.total() <= TENS + 7
    account.calls.clear()
    assert sync().submitted == 0
    assert account.calls["submissions"] == 0  # what is known is not read again


def test_a_decision_made_there_is_noticed(campaign: Campaign, account: MemoryRecruiter) -> None:
    [submission, other] = submitted(account, campaign, 2)
    sync()
    account.pay(RewardOrder(submission_id=submission))
    account.reject(other, reason="Not done.")
    report = sync()
    assert (report.approved, report.rejected) == (1, 1)
    account.pay(RewardOrder(submission_id=other, overrides_rejection=True))  # no count tells of this one
    assert sync().approved == 1


def test_the_books_are_asked_about_what_is_unsettled(campaign: Campaign, account: MemoryRecruiter) -> None:
    submissions = submitted(account, campaign, 5)
    sync()
    for submission in submissions:
        account.pay(RewardOrder(submission_id=submission))
    sync()
    send()

    def asked() -> int:
        account.calls.clear()
        [book] = reconcile(settled_too=False)
        assert book.adds_up
        assert (book.ledger_cents, book.theirs_cents, book.payments) == (250, 250, 5)
        return account.calls["submissions"] + account.calls["bonuses"]

    assert asked() == 2 * 5
    assert asked() == 0
    Hit.objects.update(compared_at=clock.now() - timedelta(days=8))
    assert asked() == 2 * 5  # all the same, once a week
    row = Assignment.objects.get(assignment_id=submissions[0])
    plan_bonus(assignment=row, amount_cents=5, cause="care", reason="For your care.", by=None)
    send()
    account.calls.clear()
    [book] = reconcile(settled_too=False)
    assert (book.ledger_cents, book.theirs_cents) == (255, 255)
    assert account.calls["bonuses"] == 1


@pytest.mark.verify
def test_money_that_somebody_else_paid_is_found_by_the_whole_comparison(
    campaign: Campaign, account: MemoryRecruiter
) -> None:
    [submission] = submitted(account, campaign, 1)
    sync()
    account.pay(RewardOrder(submission_id=submission))
    sync()
    reconcile(settled_too=False)
    account.pay(
        BonusOrder(submission_id=submission, person_id="P0", amount_cents=9, reason="by hand", marker="", token="h")
    )
    assert reconcile(settled_too=False)[0].adds_up
    assert not reconcile()[0].adds_up
    assert not reconcile(settled_too=False)[0].adds_up  # a difference is looked at until it is gone
