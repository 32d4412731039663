"""Money for somebody who did the work and could not submit it."""

from __future__ import annotations

import secrets

from django.db import transaction

from analysis.spec.terms import NO_REQUIREMENTS
from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.participation import services as participation
from humanexp.recruitment import money, selectors
from humanexp.recruitment.models import Assignment, Campaign, Payment, PaymentKind, Purpose
from humanexp.recruitment.models.campaigns import DAY_S
from humanexp.recruitment.services import qualifying
from humanexp.recruitment.services.budgeting import reserve
from humanexp.recruitment.services.hits import plan_hit
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.services.settling import plan_bonus
from humanexp.recruitment.states import GONE, LISTED, AssignmentState
from humanexp.studies import permissions
from humanexp.studies.roles import Action

OPEN_DAYS = 30
REASON = "You took part in our study and could not submit it. This is your pay. We are sorry for the trouble."


@transaction.atomic
def compensate(
    *, assignment: Assignment, by: User, amount_cents: int | None = None, reason: str = ""
) -> Payment | Campaign:
    """Pay somebody whose assignment the recruiter does not list: what they are owed, or another amount. Twice is once.

    By a bonus where another assignment of theirs is listed; else by a private HIT with one place, which only they see.
    """
    permissions.check(by, Action.PAY, assignment.campaign.study)
    assignment = Assignment.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=assignment.pk)
    campaign, person = assignment.campaign, assignment.person
    amount = selectors.owed_cents(assignment) if amount_cents is None else amount_cents
    if assignment.is_listed:
        raise Conflict("The recruiter lists this assignment: pay its reward, or a bonus on it.")
    if not campaign.capabilities.pays or person is None:
        raise Conflict("There is no one here whom a recruiter could pay.")
    if assignment.state == AssignmentState.OPENED and assignment.opened_at is not None:
        ends = assignment.opened_at + campaign.assignment_duration
        if ends > clock.now():
            raise Conflict(f"This person can still submit, until {ends:%d %B %H:%M} UTC: wait until then.")
    if amount < 1:
        raise InvalidRequest("A compensation is at least a cent.", fields={"amount_cents": "at least 1"})
    known = Campaign.objects.filter(compensates=assignment).first()
    # Whichever of the person's work it was paid on: newer work of theirs may be listed by now.
    paid = Payment.objects.filter(kind=PaymentKind.COMPENSATION, assignment__person=person, cause=_cause(assignment))
    if known or paid.exists():
        return known or paid[0]
    if assignment.session is not None:  # who decides to pay vouches for the work
        participation.verify_session(session=assignment.session)
    if campaign.capabilities.pays_unlisted and assignment.state in GONE:
        return plan_bonus(
            assignment=assignment,
            amount_cents=amount,
            cause=_cause(assignment),
            reason=reason or REASON,
            by=by,
            kind=PaymentKind.COMPENSATION,
        )
    listed = Assignment.objects.filter(person=person, state__in=LISTED, campaign__compensates=None).order_by("-pk")
    # A bonus is paid by the study whose work it is on.
    listed = listed.filter(campaign__study__in=permissions.studies_with(by, Action.PAY))
    payable = listed.select_related("campaign").first()
    if payable is not None:
        return plan_bonus(
            assignment=payable,
            amount_cents=amount,
            cause=_cause(assignment),
            reason=reason or REASON,
            by=by,
            kind=PaymentKind.COMPENSATION,
        )
    return _publish(assignment, amount, by)


def _cause(assignment: Assignment) -> str:
    """Names the assignment that a bonus on other work makes up for."""
    return f"assignment-{assignment.pk}"


def _publish(assignment: Assignment, amount_cents: int, by: User) -> Campaign:
    """A campaign of one place, closed to everybody else at the recruiter."""
    origin, person = assignment.campaign, assignment.person
    compensation = Campaign(
        study=origin.study,
        environment=origin.environment,
        entry=secrets.token_urlsafe(12),
        title=f"Payment for a study that could not be submitted ({origin.pk}-{assignment.pk})",
        description="For the one person who took part and could not submit. Confirm, submit, and you are paid.",
        keywords="",
        reward_cents=amount_cents,
        assignments=1,
        assignments_per_hit=1,
        estimated_minutes=1,
        assignment_duration_s=DAY_S,
        lifetime_s=OPEN_DAYS * DAY_S,
        auto_approval_s=origin.auto_approval_s,
        quoted_cents=0,
        cap_cents=0,
        contact=origin.contact,
        requirements=NO_REQUIREMENTS.to_dict(),
        compensates=assignment,
        created_by=by,
        launched_at=clock.now(),
    )
    compensation.quoted_cents = compensation.cap_cents = selectors.place_cents(compensation, 1)
    reserve(
        study=origin.study,
        environment=origin.environment,
        cents=compensation.quoted_cents,
        what=f"A compensation of {money.shown(amount_cents, origin.currency)}",
    )
    compensation.full_clean()
    compensation.save()
    plan_hit(campaign=compensation, places=1, by=by)
    if person is not None:
        invited = qualifying.types_of(compensation)[Purpose.INVITED]
        qualifying.plan_grant(person=person, qualification=invited, by=by)
    record(
        action="compensate",
        subject=f"assignment:{assignment.pk}",
        study=origin.study.slug,
        by=by,
        cents=compensation.quoted_cents,
        currency=compensation.currency,
        campaign=compensation.pk,
    )
    request_sending(environment=origin.environment)
    return compensation
