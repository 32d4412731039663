"""What a requester pays beyond rewards, and whether there is enough."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import transaction

from humanexp.sites.marketplace.errors import InsufficientFunds, InvalidParameterValue
from humanexp.sites.marketplace.models.accounts import Requester
from humanexp.sites.marketplace.models.assignments import Assignment, BonusPayment
from humanexp.sites.marketplace.money import FeeSchedule, cents_to_dollars
from humanexp.sites.marketplace.selectors.accounts import balance_of
from humanexp.sites.marketplace.services import tokens


def fees() -> FeeSchedule:
    schedule: FeeSchedule = settings.MARKETPLACE_FEES
    return schedule


def require_funds(*, requester: Requester, cost_cents: int, now: datetime) -> None:
    """What open HITs may still cost is spoken for: nobody who works today is unpaid because of a bonus tomorrow."""
    if cost_cents <= 0:
        return
    balance = balance_of(requester, now)
    if cost_cents > balance.free:
        raise InsufficientFunds(
            f"This costs ${cents_to_dollars(cost_cents)} with fees, but of the available balance "
            f"${cents_to_dollars(balance.available)}, ${cents_to_dollars(balance.on_hold)} is on hold for open HITs."
        )


@transaction.atomic
def send_bonus(
    *, assignment: Assignment, worker_id: str, amount_cents: int, reason: str, token: str | None, now: datetime
) -> BonusPayment:
    """Pay once; the repeat of a token is refused."""
    requester = assignment.hit.requester
    tokens.use_once(requester=requester, operation="SendBonus", token=token, now=now)
    if assignment.worker.worker_id != worker_id:
        raise InvalidParameterValue(f"Worker {worker_id} did not do assignment {assignment.assignment_id}.")
    if assignment.submitted_at is None:
        raise InvalidParameterValue(f"Assignment {assignment.assignment_id} has not been submitted.")
    if amount_cents < 1:
        raise InvalidParameterValue("BonusAmount: the least is 0.01.")
    fee_cents = fees().bonus_fee_cents(amount_cents)
    require_funds(requester=requester, cost_cents=amount_cents + fee_cents, now=now)
    return BonusPayment.objects.create(
        requester=requester,
        worker=assignment.worker,
        assignment=assignment,
        amount_cents=amount_cents,
        fee_cents=fee_cents,
        reason=reason,
        granted_at=now,
    )
