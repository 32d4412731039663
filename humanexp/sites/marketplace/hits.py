"""HITs and what a requester pays for them; a request with a UniqueRequestToken is done once within a day."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from humanexp.sites.marketplace.accounts import balance_of
from humanexp.sites.marketplace.errors import (
    HITAlreadyExists,
    HITTooOldForExtension,
    HITTypeDoesNotExist,
    InsufficientFunds,
    InvalidHITState,
    InvalidMaximumAssignmentsIncrease,
    InvalidParameterValue,
    TokenAlreadyUsed,
)
from humanexp.sites.marketplace.models.people import Requester, RequestToken
from humanexp.sites.marketplace.models.work import HIT, Assignment, BonusPayment, HITType, UploadedFile
from humanexp.sites.marketplace.money import LARGE_HIT, FeeSchedule, cents_to_dollars
from humanexp.sites.marketplace.qualifications import existing_type_ids
from humanexp.sites.marketplace.question import ExternalQuestion, read_question
from humanexp.sites.marketplace.requirements import asks_for_masters, check_requirements, custom_type_ids
from humanexp.sites.marketplace.states import HITState
from humanexp.sites.rows import change

#: After this a token is forgotten: the same request would be done again.
TOKEN_LIFETIME = timedelta(hours=24)


def earlier_use(*, requester: Requester, operation: str, token: str | None, now: datetime) -> RequestToken | None:
    """The live use of this token, if there is one."""
    if token is None:
        return None
    return RequestToken.objects.filter(
        requester=requester, operation=operation, token=token, used_at__gt=now - TOKEN_LIFETIME
    ).first()


def record_use(*, requester: Requester, operation: str, token: str | None, made: str = "", now: datetime) -> None:
    """To be called in the transaction of what the token stands for."""
    if token is not None:
        RequestToken.objects.update_or_create(
            requester=requester, operation=operation, token=token, defaults={"used_at": now, "made": made}
        )


def use_once(*, requester: Requester, operation: str, token: str | None, made: str = "", now: datetime) -> None:
    """Use a token, and refuse its repeat; in the transaction of what it stands for."""
    earlier = earlier_use(requester=requester, operation=operation, token=token, now=now)
    if earlier is not None:
        raise TokenAlreadyUsed(already_processed(earlier.token))
    record_use(requester=requester, operation=operation, token=token, made=made, now=now)


def already_processed(token: str) -> str:
    """The sentence of the real service."""
    return f'The idempotency token "{token}" has already been processed.'


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
    use_once(requester=requester, operation="SendBonus", token=token, now=now)
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


#: HITs made longer ago cannot be extended, and none can be open longer than this from now.
YEAR = timedelta(days=365)
_MAXIMUM_ASSIGNMENTS = 1_000_000_000
#: All states but the last.
_LIVING = (HITState.ASSIGNABLE, HITState.UNASSIGNABLE, HITState.REVIEWABLE, HITState.REVIEWING)


@dataclass(frozen=True, kw_only=True)
class HITTypeValues:
    """All that makes two HIT types the same."""

    title: str
    description: str
    reward_cents: int
    assignment_duration_seconds: int
    keywords: str = ""
    auto_approval_delay_seconds: int = 2_592_000
    requirements: list[dict[str, Any]] = field(default_factory=list)

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


@transaction.atomic
def make_hit_type(*, requester: Requester, values: HITTypeValues, now: datetime) -> HITType:
    """The same values give the same type."""
    check_requirements(values.requirements, known_custom_ids=existing_type_ids(custom_type_ids(values.requirements)))
    hit_type, _ = HITType.objects.get_or_create(
        requester=requester, digest=values.digest, defaults={**asdict(values), "created_at": now}
    )
    return hit_type


@transaction.atomic
def make_hit(
    *,
    hit_type: HITType,
    question: str,
    lifetime_seconds: int,
    max_assignments: int,
    annotation: str,
    operation: str,
    token: str | None,
    now: datetime,
) -> HIT:
    """Open to workers from now on. The repeat of a token names the HIT that the first call made."""
    requester = hit_type.requester
    earlier = earlier_use(requester=requester, operation=operation, token=token, now=now)
    if earlier is not None:
        raise HITAlreadyExists(f"The HIT with ID {earlier.made} already exists. {already_processed(earlier.token)}")
    require_usable(hit_type)
    shown = read_question(question)
    fee_cents = _fee_cents(hit_type, max_assignments)
    require_funds(requester=requester, cost_cents=max_assignments * (hit_type.reward_cents + fee_cents), now=now)
    hit = HIT.objects.create(
        hit_type=hit_type,
        requester=requester,
        question=question,
        external_url=shown.url if isinstance(shown, ExternalQuestion) else "",
        frame_height_px=shown.frame_height_px,
        max_assignments=max_assignments,
        annotation=annotation,
        fee_cents=fee_cents,
        created_at=now,
        expires_at=now + timedelta(seconds=lifetime_seconds),
    )
    record_use(requester=requester, operation=operation, token=token, made=hit.hit_id, now=now)
    return hit


def require_usable(hit_type: HITType) -> None:
    """A type that asks for a deleted qualification type makes no more HITs."""
    asked = custom_type_ids(hit_type.requirements)
    if asked - existing_type_ids(asked):
        raise HITTypeDoesNotExist(
            f"Hit type {hit_type.hit_type_id} does not exist: a QualificationType that it asks for was deleted."
        )


def _fee_cents(hit_type: HITType, max_assignments: int) -> int:
    return fees().assignment_fee_cents(
        reward_cents=hit_type.reward_cents,
        max_assignments=max_assignments,
        masters=asks_for_masters(hit_type.requirements),
    )


@transaction.atomic
def add_assignments(*, hit: HIT, number: int, token: str | None, now: datetime) -> HIT:
    """More places on a HIT, at the fee it was made with: nothing under ten grows to ten."""
    operation = "CreateAdditionalAssignmentsForHIT"
    use_once(requester=hit.requester, operation=operation, token=token, made=hit.hit_id, now=now)
    _require_extensible(hit, now)
    total = hit.max_assignments + number
    if total > _MAXIMUM_ASSIGNMENTS:
        raise InvalidParameterValue(f"NumberOfAdditionalAssignments: {total} assignments are too many for one HIT.")
    if hit.max_assignments < LARGE_HIT <= total:
        raise InvalidMaximumAssignmentsIncrease
    if hit.expires_at > now:  # places of an expired HIT cost nothing until it is opened again
        require_funds(requester=hit.requester, cost_cents=number * hit.cost_cents, now=now)
    return change(hit, max_assignments=total, extended_at=now, is_reviewing=False)


@transaction.atomic
def set_expiration(*, hit: HIT, expire_at: datetime, now: datetime) -> HIT:
    """A time in the past ends it now; people at work may finish. What has ended or was deleted stays as it is.

    The real service has been seen to refuse the same *future* time twice as a repeated token, to the second. Of past
    times clients of the service repeat the call, also on deleted HITs, and read no error.
    """
    if expire_at <= now:
        hit.expires_at = min(hit.expires_at, now)
        hit.save(update_fields=["expires_at"])
        return hit
    token = f"{hit.hit_id}-{expire_at.timestamp():.0f}"
    operation = "UpdateExpirationForHIT"
    use_once(requester=hit.requester, operation=operation, token=token, made=hit.hit_id, now=now)
    _require_extensible(hit, now)
    if expire_at > now + YEAR:
        raise InvalidParameterValue("ExpireAt: a HIT can stay open for one year at most.")
    if hit.expires_at <= now:
        require_funds(requester=hit.requester, cost_cents=hit.n_available * hit.cost_cents, now=now)
    if expire_at > hit.expires_at:
        hit.extended_at = now
    hit.expires_at, hit.is_reviewing = expire_at, False
    hit.save(update_fields=["expires_at", "extended_at", "is_reviewing"])
    return hit


@transaction.atomic
def dispose(*, hit: HIT, now: datetime) -> HIT:
    """Only what is reviewable, and judged to the last assignment."""
    _require_state(hit, now, HITState.REVIEWING, HITState.REVIEWABLE)
    if hit.n_submitted:
        raise InvalidHITState(
            f"This HIT has {hit.n_submitted} submitted assignments that are neither approved nor rejected."
        )
    change(hit, disposed_at=now)
    UploadedFile.objects.filter(assignment__hit=hit).delete()
    return hit


@transaction.atomic
def mark_reviewing(*, hit: HIT, revert: bool, now: datetime) -> HIT:
    """A note of the requester's on a reviewable HIT; it changes nothing for workers."""
    _require_state(hit, now, HITState.REVIEWING if revert else HITState.REVIEWABLE)
    return change(hit, is_reviewing=not revert)


@transaction.atomic
def change_type(*, hit: HIT, hit_type: HITType, now: datetime) -> HIT:
    """Places still free take the new type's terms; who has accepted is paid what was promised."""
    _require_state(hit, now, *_LIVING)
    require_usable(hit_type)
    fee_cents = _fee_cents(hit_type, hit.max_assignments)
    if hit.expires_at > now:
        more = hit_type.reward_cents + fee_cents - hit.cost_cents
        require_funds(requester=hit.requester, cost_cents=hit.n_available * more, now=now)
    return change(hit, hit_type=hit_type, fee_cents=fee_cents)


def _require_extensible(hit: HIT, now: datetime) -> None:
    _require_state(hit, now, *_LIVING)
    if hit.created_at < now - YEAR:
        raise HITTooOldForExtension


def _require_state(hit: HIT, now: datetime, *allowed: HITState) -> None:
    state = hit.state(now)
    if state not in allowed:
        raise InvalidHITState(
            f"This HIT is currently in the state '{state}'. "
            f"This operation can be called with a status of: {', '.join(allowed)}"
        )
