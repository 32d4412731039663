"""Making, extending, ending and disposing of HITs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from humanexp.marketplace.errors import (
    HITAlreadyExists,
    HITTooOldForExtension,
    HITTypeDoesNotExist,
    InvalidHITState,
    InvalidMaximumAssignmentsIncrease,
    InvalidParameterValue,
    TokenAlreadyUsed,
)
from humanexp.marketplace.models import HIT, HITType, Requester, UploadedFile
from humanexp.marketplace.money import LARGE_HIT
from humanexp.marketplace.question import ExternalQuestion, read_question
from humanexp.marketplace.requirements import asks_for_masters, check_requirements, custom_type_ids
from humanexp.marketplace.selectors.qualifications import existing_type_ids
from humanexp.marketplace.selectors.work import state_of
from humanexp.marketplace.services import payments, tokens
from humanexp.marketplace.states import HITState

#: HITs made longer ago cannot be extended, and none can be open longer than this from now.
YEAR = timedelta(days=365)
_MAXIMUM_ASSIGNMENTS = 1_000_000_000


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


@dataclass(frozen=True, kw_only=True)
class HITValues:
    """What a HIT has of its own."""

    question: str
    lifetime_seconds: int
    max_assignments: int = 1
    annotation: str = ""


@transaction.atomic
def make_hit_type(*, requester: Requester, values: HITTypeValues, now: datetime) -> HITType:
    """The same values give the same type."""
    check_requirements(values.requirements, known_custom_ids=existing_type_ids(custom_type_ids(values.requirements)))
    hit_type, _ = HITType.objects.get_or_create(
        requester=requester, digest=values.digest, defaults={**asdict(values), "created_at": now}
    )
    return hit_type


@transaction.atomic
def make_hit(*, hit_type: HITType, values: HITValues, operation: str, token: str | None, now: datetime) -> HIT:
    """Open to workers from now on. The repeat of a token names the HIT that the first call made."""
    requester = hit_type.requester
    earlier = tokens.earlier_use(requester=requester, operation=operation, token=token, now=now)
    if earlier is not None:
        raise HITAlreadyExists(
            f"The HIT with ID {earlier.made} already exists. {tokens.already_processed(earlier.token)}"
        )
    require_usable(hit_type)
    question = read_question(values.question)
    fee_cents = _fee_cents(hit_type, values.max_assignments)
    payments.require_funds(
        requester=requester, cost_cents=values.max_assignments * (hit_type.reward_cents + fee_cents), now=now
    )
    hit = HIT.objects.create(
        hit_type=hit_type,
        requester=requester,
        question=values.question,
        external_url=question.url if isinstance(question, ExternalQuestion) else "",
        frame_height_px=question.frame_height_px,
        max_assignments=values.max_assignments,
        annotation=values.annotation,
        fee_cents=fee_cents,
        created_at=now,
        expires_at=now + timedelta(seconds=values.lifetime_seconds),
    )
    tokens.record_use(requester=requester, operation=operation, token=token, made=hit.hit_id, now=now)
    return hit


def require_usable(hit_type: HITType) -> None:
    """A type that asks for a deleted qualification type makes no more HITs."""
    asked = custom_type_ids(hit_type.requirements)
    if asked - existing_type_ids(asked):
        raise HITTypeDoesNotExist(
            f"Hit type {hit_type.hit_type_id} does not exist: a QualificationType that it asks for was deleted."
        )


def _fee_cents(hit_type: HITType, max_assignments: int) -> int:
    return payments.fees().assignment_fee_cents(
        reward_cents=hit_type.reward_cents,
        max_assignments=max_assignments,
        masters=asks_for_masters(hit_type.requirements),
    )


@transaction.atomic
def add_assignments(*, hit: HIT, number: int, token: str | None, now: datetime) -> HIT:
    """More places on a HIT, at the fee it was made with: nothing under ten grows to ten."""
    operation = "CreateAdditionalAssignmentsForHIT"
    if tokens.earlier_use(requester=hit.requester, operation=operation, token=token, now=now):
        raise TokenAlreadyUsed(tokens.already_processed(token or ""))
    _require_extensible(hit, now)
    total = hit.max_assignments + number
    if total > _MAXIMUM_ASSIGNMENTS:
        raise InvalidParameterValue(f"NumberOfAdditionalAssignments: {total} assignments are too many for one HIT.")
    if hit.max_assignments < LARGE_HIT <= total:
        raise InvalidMaximumAssignmentsIncrease
    if hit.expires_at > now:  # places of an expired HIT cost nothing until it is opened again
        payments.require_funds(requester=hit.requester, cost_cents=number * hit.cost_cents, now=now)
    hit.max_assignments, hit.extended_at, hit.is_reviewing = total, now, False
    hit.save(update_fields=["max_assignments", "extended_at", "is_reviewing"])
    tokens.record_use(requester=hit.requester, operation=operation, token=token, made=hit.hit_id, now=now)
    return hit


@transaction.atomic
def set_expiration(*, hit: HIT, expire_at: datetime, now: datetime) -> HIT:
    """A time in the past ends it now; people at work may finish.

    The real service has been seen to refuse the same time twice as a repeated token; so does this one.
    """
    token = f"{hit.hit_id}-{expire_at.timestamp():.3f}"
    operation = "UpdateExpirationForHIT"
    if tokens.earlier_use(requester=hit.requester, operation=operation, token=token, now=now):
        raise TokenAlreadyUsed(tokens.already_processed(token))
    if expire_at > now:
        _require_extensible(hit, now)
        if expire_at > now + YEAR:
            raise InvalidParameterValue("ExpireAt: a HIT can stay open for one year at most.")
        if hit.expires_at <= now:
            payments.require_funds(requester=hit.requester, cost_cents=hit.counts.available * hit.cost_cents, now=now)
        if expire_at > hit.expires_at:
            hit.extended_at = now
        hit.expires_at, hit.is_reviewing = expire_at, False
    elif state_of(hit, now) is HITState.DISPOSED:
        raise InvalidHITState(_state_sentence(hit, now, "Assignable, Unassignable, Reviewable, Reviewing"))
    else:
        hit.expires_at = min(hit.expires_at, now)
    hit.save(update_fields=["expires_at", "extended_at", "is_reviewing"])
    tokens.record_use(requester=hit.requester, operation=operation, token=token, made=hit.hit_id, now=now)
    return hit


@transaction.atomic
def dispose(*, hit: HIT, now: datetime) -> HIT:
    """Only what is reviewable, and judged to the last assignment."""
    if state_of(hit, now) not in (HITState.REVIEWABLE, HITState.REVIEWING):
        raise InvalidHITState(_state_sentence(hit, now, "Reviewing, Reviewable"))
    if hit.counts.submitted:
        raise InvalidHITState(
            f"This HIT has {hit.counts.submitted} submitted assignments that are neither approved nor rejected."
        )
    hit.disposed_at = now
    hit.save(update_fields=["disposed_at"])
    UploadedFile.objects.filter(assignment__hit=hit).delete()
    return hit


@transaction.atomic
def mark_reviewing(*, hit: HIT, revert: bool, now: datetime) -> HIT:
    """A note of the requester's on a reviewable HIT; it changes nothing for workers."""
    wanted = HITState.REVIEWING if revert else HITState.REVIEWABLE
    if state_of(hit, now) is not wanted:
        raise InvalidHITState(_state_sentence(hit, now, wanted))
    hit.is_reviewing = not revert
    hit.save(update_fields=["is_reviewing"])
    return hit


@transaction.atomic
def change_type(*, hit: HIT, hit_type: HITType, now: datetime) -> HIT:
    """Places still free take the new type's terms; who has accepted is paid what was promised."""
    if state_of(hit, now) is HITState.DISPOSED:
        raise InvalidHITState(_state_sentence(hit, now, "Assignable, Unassignable, Reviewable, Reviewing"))
    require_usable(hit_type)
    fee_cents = _fee_cents(hit_type, hit.max_assignments)
    if hit.expires_at > now:
        more = hit_type.reward_cents + fee_cents - hit.cost_cents
        payments.require_funds(requester=hit.requester, cost_cents=hit.counts.available * more, now=now)
    hit.hit_type, hit.fee_cents = hit_type, fee_cents
    hit.save(update_fields=["hit_type", "fee_cents"])
    return hit


def _require_extensible(hit: HIT, now: datetime) -> None:
    if state_of(hit, now) is HITState.DISPOSED:
        raise InvalidHITState(_state_sentence(hit, now, "Assignable, Unassignable, Reviewable, Reviewing"))
    if hit.created_at < now - YEAR:
        raise HITTooOldForExtension


def _state_sentence(hit: HIT, now: datetime, allowed: str) -> str:
    return (
        f"This HIT is currently in the state '{state_of(hit, now)}'. "
        f"This operation can be called with a status of: {allowed}"
    )
