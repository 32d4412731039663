"""Money for somebody who did the work and could not submit it."""

from __future__ import annotations

from django.db import transaction

from humanexp.core import clock
from humanexp.core.errors import Conflict
from humanexp.core.models import User
from humanexp.participation import services as participation
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Assignment, CallKind, Payment
from humanexp.recruitment.services.rejecting import record_about
from humanexp.recruitment.services.settling import plan_bonus
from humanexp.recruitment.states import GONE, LISTED, AssignmentState
from humanexp.studies import permissions
from humanexp.studies.roles import Action

REASON = "You took part in our study and could not submit it. This is your pay. We are sorry for the trouble."


@transaction.atomic
def compensate(*, assignment: Assignment, by: User) -> Payment:
    """Pay somebody whose assignment the recruiter does not list what they are owed. Twice is once.

    By a bonus: on this assignment where the recruiter allows it, else on other work of theirs that it lists.
    """
    assignment = _not_submitted(assignment, by)
    cause = f"assignment-{assignment.pk}"
    # Whichever of the person's work it was paid on: newer work of theirs may be listed by now.
    paid = Payment.objects.filter(kind=CallKind.COMPENSATION, assignment__person=assignment.person, cause=cause)
    known: Payment | None = paid.first()
    if known is not None:
        return known
    if assignment.paid_by_hand_at is not None:
        raise Conflict("This person was paid by hand.")
    payable = _payable(assignment, by)
    if payable is None:
        raise Conflict(
            "The recruiter pays bonuses for submitted work alone, and lists none of this person. Ask them to open the "
            "study again and submit, while a place is free: they are then paid like everyone. Or pay them by hand."
        )
    _vouch_for(assignment)
    return plan_bonus(
        assignment=payable,
        amount_cents=selectors.owed_cents(assignment),
        cause=cause,
        reason=REASON,
        by=by,
        kind=CallKind.COMPENSATION,
    )


@transaction.atomic
def note_paid_by_hand(*, assignment: Assignment, by: User) -> None:
    """Somebody whom no bonus reaches was paid past the recruiter: nothing is owed any more. Twice is once."""
    assignment = _not_submitted(assignment, by)
    if assignment.paid_by_hand_at is not None:
        return
    if not selectors.finished_not_submitted(assignment.campaign.study).filter(pk=assignment.pk).exists():
        raise Conflict("This person is owed nothing for this assignment; look again.")
    _vouch_for(assignment)
    assignment.paid_by_hand_at = clock.now()
    assignment.save(update_fields=["paid_by_hand_at"])
    record_about("pay-by-hand", assignment, by, cents=selectors.owed_cents(assignment))


def _not_submitted(assignment: Assignment, by: User) -> Assignment:
    """Locked; refused while its person may be paid as everybody is."""
    permissions.check(by, Action.PAY, assignment.campaign.study)
    assignment = Assignment.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=assignment.pk)
    campaign = assignment.campaign
    if assignment.is_listed:
        raise Conflict("The recruiter lists this assignment: pay its reward, or a bonus on it.")
    if not campaign.capabilities.pays or assignment.person is None:
        raise Conflict("There is no one here whom a recruiter could pay.")
    if assignment.state == AssignmentState.OPENED and assignment.opened_at is not None:
        ends = assignment.opened_at + campaign.assignment_duration
        if ends > clock.now():
            raise Conflict(f"This person can still submit, until {ends:%d %B %H:%M} UTC: wait until then.")
    return assignment


def _payable(assignment: Assignment, by: User) -> Assignment | None:
    """Their work on which a bonus can be paid."""
    if assignment.campaign.capabilities.pays_unlisted and assignment.state in GONE:
        return assignment
    # A bonus is paid by the study whose work it is on.
    studies = permissions.studies_with(by, Action.PAY)
    listed = Assignment.objects.filter(person=assignment.person, state__in=LISTED, campaign__study__in=studies)
    return listed.select_related("campaign").order_by("-pk").first()


def _vouch_for(assignment: Assignment) -> None:
    """Who decides to pay vouches for the work."""
    if assignment.session is not None:
        participation.verify_session(session=assignment.session)
