"""Bonuses that nothing proves: what a payer is shown, and what a click does."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from humanexp.core.models import AuditEvent, User
from humanexp.jobs.models import Job
from humanexp.ledger.models import Payment
from humanexp.recruiters.models import Assignment
from humanexp.recruiters.money import Listing
from humanexp.recruiters.states import WriteState
from humanexp.studies.models import Study
from tests.markup import markup
from tests.recruitment.workers import LISTED_WORKER_ID

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(study: Study) -> str:
    return f"/studies/{study.slug}/monitor/ledger/parked/"


@pytest.fixture
def payment(submission: Callable[..., Assignment]) -> Payment:
    """Parked after one call of unknown outcome."""
    row, sent_at = submission(), timezone.now() - timedelta(hours=25)
    before = Listing(cents=(15,), at=sent_at.isoformat(), balance_cents=5_000, bonuses_cents=0)
    after = Listing(cents=(15, 95), at=timezone.now().isoformat(), balance_cents=4_890, bonuses_cents=110)
    payment: Payment = Payment.objects.create(
        environment="marketplace",
        kind="bonus",
        assignment=row,
        campaign=row.campaign,
        cause="care",
        amount_cents=40,
        fee_cents=8,
        token="t1",
        state=WriteState.PARKED,
        attempts=1,
        handle="b1",
        answer="unknown",
        evidence_before=before.to_json(),
        listed_after=after.to_json(),
        look_at=timezone.now(),
    )
    return payment


def test_it_shows_both_sides_and_names_nobody(address: str, console: Client, payment: Payment) -> None:
    page = markup(console.get(address).content)
    assert "$0.40" in page and "$0.15 $0.95" in page, "what is asked for, and what is listed"
    assert "+$1.10" in page and "$48.90" in page and "$1.10 less than before" in page
    assert "the answer was lost" in page and "1 bonus in this call" in page
    assert "it looks like ours" in page, "paying by hand is warned of"
    for name in (LISTED_WORKER_ID, payment.assignment.assignment_id):
        assert not re.search(rf"\b{name}\b", page)


def test_the_monitor_and_the_ledger_lead_there(address: str, console: Client, payment: Payment, study: Study) -> None:
    assert address in console.get(f"/studies/{study.slug}/monitor/").content.decode()
    ledger = console.get(f"/studies/{study.slug}/monitor/ledger/").content.decode()
    assert address in ledger and "waits for a person" in ledger


def test_pay_again_and_found_paid_need_a_tick_and_a_reason(address: str, console: Client, payment: Payment) -> None:
    for missing in ({"note": "why"}, {"payment": payment.pk}):
        for decision in ("again", "found"):
            reply = console.post(address, {"decision": decision, **missing})
            assert reply.status_code == 422
    payment.refresh_from_db()
    assert payment.state == WriteState.PARKED
    assert console.post(address, {"decision": "dance", "payment": payment.pk, "note": "why"}).status_code == 422


@pytest.mark.parametrize(("decision", "state"), [("again", WriteState.PLANNED), ("found", WriteState.CONFIRMED)])
def test_a_decision_is_carried_out_and_recorded(
    address: str, console: Client, payment: Payment, researcher: User, decision: str, state: str
) -> None:
    reply = console.post(address, {"decision": decision, "payment": payment.pk, "note": "Seen there."})
    assert (reply.status_code, reply["Location"]) == (302, address)
    payment.refresh_from_db()
    assert payment.state == state
    assert AuditEvent.objects.get(by=researcher, subject=f"payment:{payment.pk}").facts["note"] == "Seen there."
    assert "None. Every bonus" in console.get(address).content.decode()


def test_the_recruiter_can_be_asked_now(address: str, console: Client, payment: Payment) -> None:
    Payment.objects.update(look_at=timezone.now() + timedelta(hours=6))
    console.post(address, {"decision": "look"})
    assert Payment.objects.get().look_at <= timezone.now()
    assert Job.objects.filter(kind="recruitment.send").exists()


def test_who_does_not_pay_decides_nothing(address: str, member: Callable[[str], Client], payment: Payment) -> None:
    reviewer = member("reviewer")
    shown: Any = reviewer.get(address)
    assert shown.status_code != 200 or b'name="decision"' not in shown.content
    reviewer.post(address, {"decision": "found", "payment": payment.pk, "note": "why"})
    payment.refresh_from_db()
    assert payment.state == WriteState.PARKED
