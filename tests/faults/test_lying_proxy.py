"""A proxy cuts, doubles, delays and rewrites three in ten calls to the recruiter, from the launch to the books.

Everybody is paid once and nothing stops. `LYING_SEEDS=1,2,3` chooses the seeds; one of them by default.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from humanexp.core.models import User
from humanexp.ledger.models import Call, Difference, Payment
from humanexp.ledger.reconciliation import reconcile
from humanexp.ledger.rejections import reject
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import plan_bonus, settle
from humanexp.recruiters.models import Assignment, Campaign, RecruiterAccount
from humanexp.recruiters.states import AssignmentState, WriteState
from humanexp.recruiting.extension import stop
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.faults.liar import LIES, Liar, lying
from tests.marketplace.server import MarketplaceServer
from tests.recruitment.studies import make_study
from tests.recruitment.workers import Worker

#: Pace and pre-flight check have tests of their own; here launches meet lies alone.
pytestmark = [pytest.mark.process, pytest.mark.usefixtures("unhurried", "open_gates")]

SEEDS = [int(seed) for seed in os.environ.get("LYING_SEEDS", "1").split(",")]
SHARE = 0.3
PEOPLE, REJECTED, ROUNDS = 18, 2, 60


@pytest.fixture
def study(transactional_db: None) -> Study:
    study = make_study()
    Study.objects.filter(pk=study.pk).update(planned_sessions=PEOPLE)
    return Study.objects.get(pk=study.pk)


def settled() -> bool:
    unfinished = (WriteState.PLANNED, WriteState.SENDING)
    return not Call.objects.filter(state__in=unfinished).exists()


def until(condition: Callable[[], bool], what: str) -> int:
    """Rounds of what the job runner does each minute, until it is so; how many it took."""
    for number in range(1, ROUNDS + 1):
        sync()
        send(environment="marketplace")
        if condition():
            return number
    waiting = [(str(row), row.state, row.attempts, row.last_error) for row in Call.objects.all()]
    pytest.fail(f"{what}: not after {ROUNDS} rounds: {[row for row in waiting if row[1] in ('planned', 'sending')]}")


def listed(there: Any, campaign: Campaign) -> tuple[Counter[str], Counter[str], int]:
    """States of assignments, bonuses by assignment, and HITs of this campaign, as the other side has them."""
    pages = there.get_paginator("list_hits").paginate(MaxResults=100)
    hits = [hit["HITId"] for page in pages for hit in page["HITs"] if hit["Title"] == campaign.title]
    states, bonuses = Counter[str](), Counter[str]()
    for hit_id in hits:
        states.update(row["AssignmentStatus"] for row in there.list_assignments_for_hit(HITId=hit_id)["Assignments"])
        bonuses.update(row["AssignmentId"] for row in there.list_bonus_payments(HITId=hit_id)["BonusPayments"])
    return states, bonuses, len(hits)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", SEEDS)
def test_everybody_is_paid_once_and_nothing_stops(
    marketplace: MarketplaceServer,
    launch: Callable[..., Campaign],
    new_worker: Callable[[], Worker],
    other_side: Any,
    settings: Any,
    seed: int,
    record_property: Callable[[str, Any], None],
) -> None:
    by = User.objects.create_user("olga", is_staff=True)
    with lying(marketplace.url) as liar:
        liar.share, liar.random = SHARE, random.Random(seed)
        rounds = through_the_liar(marketplace, launch, new_worker, settings, liar, by)
        liar.stop()
        campaign = Campaign.objects.get()
        states, bonuses, hits = listed(other_side, campaign)
        assert hits == campaign.hits.count(), "a HIT was made twice, or lost"
        assert states == {"Approved": PEOPLE - REJECTED, "Rejected": REJECTED}
        bonus_rows = Payment.objects.filter(kind="bonus")
        assert bonuses == Counter(bonus_rows.values_list("assignment__assignment_id", flat=True))
        assert bonus_rows.count() == (PEOPLE - REJECTED) // 2
        assert set(Payment.objects.values_list("state", flat=True)) == {WriteState.CONFIRMED}
        assert set(Call.objects.filter(kind="reject").values_list("state", flat=True)) == {WriteState.CONFIRMED}
        assert Counter(Assignment.objects.values_list("state", flat=True)) == {
            AssignmentState.APPROVED: PEOPLE - REJECTED,
            AssignmentState.REJECTED: REJECTED,
        }
        assert campaign.state == "stopped"
        assert not Difference.objects.filter(state="open").exists()
        assert RecruiterAccount.objects.get(environment="marketplace").pause == ""
        Payment.objects.update(confirmed_at=timezone.now() - timedelta(hours=1))
        [book] = reconcile(environment="marketplace")
        assert (book.adds_up, book.ledger_cents, book.hits_unread) == (True, book.theirs_cents, 0)
        assert set(liar.told) == LIES, "the test tests something: each lie was told"
        record_property("lies", dict(liar.told))
        told = sum(liar.told.values())
        print(  # noqa: T201  (the figures of a run)
            f"seed {seed}: {liar.calls} calls, {told} lied about ({told / liar.calls:.0%}), {rounds} rounds; "
            f"{PEOPLE - REJECTED} approved, {REJECTED} rejected, {sum(bonuses.values())} bonuses, {hits} HITs"
        )


def through_the_liar(
    marketplace: MarketplaceServer,
    launch: Callable[..., Campaign],
    new_worker: Callable[[], Worker],
    settings: Any,
    liar: Liar,
    by: User,
) -> int:
    """Launch, people, payment, bonuses, rejections and the stop, all of it through the liar; rounds that it took."""
    truth = marketplace.url
    settings.MARKETPLACE_URL = liar.url
    campaign = launch(assignments=PEOPLE, cap_cents=100_000)
    rounds = until(settled, "the launch")
    settings.MARKETPLACE_URL = truth  # people come from the marketplace's own pages
    for number in range(PEOPLE):
        new_worker().do(campaign, hit_number=1 + number // 9)
    settings.MARKETPLACE_URL = liar.url
    rounds += until(lambda: Assignment.objects.filter(state="submitted").count() == PEOPLE, "submissions")
    rows = list(Assignment.objects.order_by("pk"))
    for row in rows[:REJECTED]:
        reject(
            assignment=row,
            reason="Answers came before the pictures.",
            evidence="Every answer was given before the picture was shown, in all three trials.",
            by=by,
        )
    settle(study=campaign.study)
    for row in rows[REJECTED::2]:
        plan_bonus(assignment=row, amount_cents=33, cause="care", reason="For your care.")
    rounds += until(settled, "the payments")
    reconcile(environment="marketplace")
    stop(study=campaign.study)
    return rounds + until(settled, "the stop")
