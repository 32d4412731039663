"""One class per kind of write: how to ask whether it took effect, how to carry it out, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, Protocol, TypeVar

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from humanexp.core import clock
from humanexp.core.errors import NotAtRecruiter, RecruiterError
from humanexp.recruitment.models import (
    Campaign,
    HitWrite,
    HitWriteKind,
    Payment,
    PaymentKind,
    RecruiterWrite,
    Rejection,
)
from humanexp.recruitment.recruiters.base import BonusOrder, HitOrder, HitTerms, Recruiter
from humanexp.recruitment.states import AssignmentState, CampaignState, HitState, WriteState, advance

Write = TypeVar("Write", bound=RecruiterWrite)

#: A read may lag behind a write: a HIT that is not found sooner than this may still appear.
READS_LAG = timedelta(minutes=10)


@dataclass(frozen=True)
class Word:
    """What the other side says about a write."""

    is_done: bool
    #: it never can be done
    refusal: str = ""
    #: nothing can be said or done yet
    wait: str = ""


DONE = Word(is_done=True)
NOT_DONE = Word(is_done=False)


class Delivery(Protocol):
    """A write on its way."""

    #: the recruiter itself makes two of these one, whenever the second comes
    is_idempotent: bool

    def waits_for(self) -> str: ...
    def ask(self) -> Word: ...
    def carry_out(self) -> None: ...
    def confirm(self) -> None: ...
    def refuse(self, why: str) -> None: ...


class _Base(Generic[Write]):
    is_idempotent = False

    def __init__(self, recruiter: Recruiter, write: Write) -> None:
        self.recruiter, self.write = recruiter, write

    def waits_for(self) -> str:
        """Why a first send has to wait, or nothing."""
        return ""

    def refuse(self, why: str) -> None:
        advance(self.write, WriteState.REFUSED, last_error=why[:500])

    def _confirmed(self) -> None:
        advance(self.write, WriteState.CONFIRMED, confirmed_at=clock.now(), last_error="", missed_at=None)


class HitCreation(_Base[HitWrite]):
    """CreateHITType and CreateHITWithHITType; found again by the annotation."""

    _hit_id = ""

    def ask(self) -> Word:
        found = self.recruiter.find_hit(self.write.annotation)
        if found is not None:
            self._hit_id = found.hit_id
            return DONE
        if self.write.hit.campaign.state != CampaignState.LIVE:
            sent = self.write.first_sent_at or clock.now()
            if clock.now() - sent < READS_LAG:
                return Word(is_done=False, wait="The campaign was stopped while this HIT was being published.")
            return Word(is_done=False, refusal="Stopped before it was published.")
        return NOT_DONE

    def carry_out(self) -> None:
        campaign = self.write.hit.campaign
        if not campaign.hit_type_id:
            campaign.hit_type_id = self.recruiter.publish_type(terms_of(campaign))
            Campaign.objects.filter(pk=campaign.pk).update(hit_type_id=campaign.hit_type_id)
        self._hit_id = self.recruiter.publish_hit(
            HitOrder(
                hit_type_id=campaign.hit_type_id,
                places=self.write.hit.max_assignments,
                lifetime_s=campaign.lifetime_s,
                url=entry_url(campaign),
                annotation=self.write.annotation,
                token=self.write.token,
            )
        )

    @transaction.atomic
    def confirm(self) -> None:
        hit = self.write.hit
        self._confirmed()
        advance(hit, HitState.OPEN, hit_id=self._hit_id, available=hit.max_assignments)

    @transaction.atomic
    def refuse(self, why: str) -> None:
        super().refuse(why)
        if self.write.hit.campaign.state != CampaignState.LIVE:
            advance(self.write.hit, HitState.CANCELLED)


class HitExpiry(_Base[HitWrite]):
    """UpdateExpirationForHIT with a time long past."""

    is_idempotent = True

    def waits_for(self) -> str:
        hit = self.write.hit
        known = hit.hit_id or hit.state == HitState.CANCELLED
        return "" if known else "It is not known yet whether this HIT was published."

    def ask(self) -> Word:
        hit = self.write.hit
        if hit.state == HitState.CANCELLED:
            return DONE
        try:
            report = self.recruiter.hit(hit.hit_id)
        except NotAtRecruiter:
            return DONE
        expired = report.expires_at is not None and report.expires_at <= clock.now()
        return DONE if expired else NOT_DONE

    def carry_out(self) -> None:
        if self.write.hit.state != HitState.CANCELLED:
            self.recruiter.expire_hit(self.write.hit.hit_id)

    @transaction.atomic
    def confirm(self) -> None:
        hit = self.write.hit
        self._confirmed()
        if hit.expires_at is None or hit.expires_at > clock.now():
            hit.expires_at = clock.now()
            hit.save(update_fields=["expires_at"])
        campaign = Campaign.objects.select_for_update().get(pk=hit.campaign_id)
        unfinished = HitWrite.objects.filter(hit__campaign=campaign).exclude(
            state__in=[WriteState.CONFIRMED, WriteState.REFUSED]
        )
        if campaign.state == CampaignState.STOPPING and not unfinished.exists():
            advance(campaign, CampaignState.STOPPED)


class Reward(_Base[Payment]):
    """ApproveAssignment."""

    is_idempotent = True

    def ask(self) -> Word:
        report = self.recruiter.assignment(self.write.assignment.assignment_id)
        if report is None:
            return NOT_DONE
        if report.state == AssignmentState.REJECTED and not self._overrides:
            return Word(is_done=False, refusal="The assignment is rejected; a person has to override the rejection.")
        return DONE if report.state == AssignmentState.APPROVED else NOT_DONE

    def carry_out(self) -> None:
        self.recruiter.approve(
            self.write.assignment.assignment_id, feedback=self.write.reason, override_rejection=self._overrides
        )

    @transaction.atomic
    def confirm(self) -> None:
        self._confirmed()
        if self.write.assignment.state != AssignmentState.APPROVED:
            advance(self.write.assignment, AssignmentState.APPROVED, decided_at=clock.now())

    @property
    def _overrides(self) -> bool:
        """Rejected as far as we know, and yet somebody planned this payment."""
        return bool(self.write.assignment.state == AssignmentState.REJECTED and self.write.created_by_id)


class Extra(_Base[Payment]):
    """SendBonus, for bonuses and compensations; found again by the marker at the end of its reason."""

    def ask(self) -> Word:
        assignment = self.write.assignment
        if assignment.person is None:
            return Word(is_done=False, refusal="The person has been deleted; there is nobody to pay.")
        paid = self.recruiter.bonuses(assignment_id=assignment.assignment_id)
        return DONE if any(bonus.reason.endswith(self.write.marker) for bonus in paid) else NOT_DONE

    def carry_out(self) -> None:
        assignment = self.write.assignment
        if assignment.person is None:
            raise RecruiterError("The person has been deleted; there is nobody to pay.")
        self.recruiter.bonus(
            BonusOrder(
                assignment_id=assignment.assignment_id,
                worker_id=assignment.person.worker_id,
                amount_cents=self.write.amount_cents,
                reason=f"{self.write.reason} {self.write.marker}",
                token=self.write.token,
            )
        )

    def confirm(self) -> None:
        self._confirmed()


class Refusal(_Base[Rejection]):
    """RejectAssignment."""

    is_idempotent = True

    def ask(self) -> Word:
        report = self.recruiter.assignment(self.write.assignment.assignment_id)
        if report is not None and report.state == AssignmentState.APPROVED:
            return Word(is_done=False, refusal="The assignment is approved already.")
        return DONE if report is not None and report.state == AssignmentState.REJECTED else NOT_DONE

    def carry_out(self) -> None:
        self.recruiter.reject(self.write.assignment.assignment_id, reason=self.write.reason)

    @transaction.atomic
    def confirm(self) -> None:
        self._confirmed()
        if self.write.assignment.state == AssignmentState.SUBMITTED:
            advance(
                self.write.assignment,
                AssignmentState.REJECTED,
                decided_at=clock.now(),
                rejection_reason=self.write.reason,
            )


def delivery_of(recruiter: Recruiter, write: RecruiterWrite) -> Delivery:
    match write:
        case HitWrite(kind=HitWriteKind.CREATE):
            return HitCreation(recruiter, write)
        case HitWrite():
            return HitExpiry(recruiter, write)
        case Payment(kind=PaymentKind.REWARD):
            return Reward(recruiter, write)
        case Payment():
            return Extra(recruiter, write)
        case Rejection():
            return Refusal(recruiter, write)
    raise TypeError(f"{type(write).__name__} is no write that can be delivered")


def terms_of(campaign: Campaign) -> HitTerms:
    return HitTerms(
        title=campaign.title,
        description=campaign.description,
        keywords=campaign.keywords,
        reward_cents=campaign.reward_cents,
        assignment_duration_s=campaign.assignment_duration_s,
        auto_approval_s=campaign.auto_approval_s,
    )


def entry_url(campaign: Campaign) -> str:
    """The entry page's address as the outside knows it."""
    return f"{settings.PUBLIC_URL}{reverse('recruitment:take', args=[campaign.entry])}"
