"""What a person makes of a difference in the books."""

from __future__ import annotations

from django.db import transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.recruitment.models import CallKind, Campaign, Difference, DifferenceKind, Payment
from humanexp.recruitment.recruiters import fees_of
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.services.settling import adopt_approval, book_elsewhere, reward_charge
from humanexp.recruitment.states import RESOLUTIONS, AssignmentState, DifferenceState, WriteState, advance
from humanexp.studies import permissions
from humanexp.studies.roles import Action


@transaction.atomic
def resolve_difference(
    *,
    difference: Difference,
    resolution: str,
    note: str,
    by: User,
    shown: tuple[int | None, int | None],
    is_confirmed: bool = False,
) -> Difference:
    """Adopt what the recruiter says, or explain why nothing has to change.

    `shown`: cents in the ledger and at the recruiter, on the page on which this was decided. Adopting changes the
    ledger, and has to be confirmed.
    """
    permissions.check(by, Action.PAY, difference.hit.campaign.study)
    # the campaign first, as everybody does who changes what it has spent
    Campaign.objects.select_for_update().get(pk=difference.hit.campaign_id)
    difference = Difference.objects.select_for_update().get(pk=difference.pk)
    if resolution not in RESOLUTIONS:
        raise InvalidRequest("Say what this difference is: adopt it, explain it, or call it not ours.")
    if not note.strip():
        raise InvalidRequest("Write down why; it stays with the difference.", fields={"note": "a reason"})
    if not difference.is_open:
        raise Conflict(f"This difference is {difference.get_state_display()} already; nothing was changed.")
    if shown != (difference.ours_cents, difference.theirs_cents):
        raise Conflict("The figures have changed since this page was opened; look at them again.")
    if resolution == DifferenceState.NOT_OURS and difference.kind != DifferenceKind.NOT_HERE:
        raise InvalidRequest("It stands in the ledger, so it is ours: adopt it or explain it.")
    payment = difference.payment
    if resolution == DifferenceState.ADOPTED:
        if not is_confirmed:
            raise InvalidRequest("Adopting changes the ledger: tick that you want this.", fields={"confirm": "tick it"})
        payment = _adopt(difference, by)
    advance(
        difference,
        resolution,
        payment=payment,
        note=note.strip(),
        resolved_by=by,
        resolved_at=clock.now(),
    )
    record(
        action=f"difference-{resolution}",
        subject=f"difference:{difference.pk}",
        study=difference.hit.campaign.study.slug,
        by=by,
        kind=difference.kind,
        assignment=difference.listed_as,
        currency=difference.currency,
        ours_cents=difference.ours_cents,
        theirs_cents=difference.theirs_cents,
        payment=payment.pk if payment else None,
        note=note.strip(),
    )
    request_sending(environment=difference.environment)
    return difference


def _adopt(difference: Difference, by: User) -> Payment:
    """The ledger takes over what the recruiter says."""
    assignment, row = difference.assignment, difference.payment
    if assignment is None:
        raise Conflict("No assignment of ours is meant, and the ledger is by assignments: explain it, or say not ours.")
    theirs = difference.theirs_cents
    if theirs is None:
        if row is None:
            raise Conflict("There is no row to send again.")
        # not paid there: it is owed still, and sent once they have been asked again
        return advance(row, WriteState.PLANNED, ask_first=True, confirmed_at=None, last_error="", missed_at=None)
    if row is not None and row.state == WriteState.CONFIRMED:
        is_reward = row.kind == CallKind.REWARD
        charge = reward_charge(assignment) if is_reward else fees_of(row.environment).on_bonus(theirs)
        row.amount_cents, row.fee_cents, row.tax_cents = theirs, charge.cents, charge.tax_cents
        row.save(update_fields=["amount_cents", "fee_cents", "tax_cents"])
        return row
    if difference.paid_as == CallKind.REWARD:
        adopted = adopt_approval(assignment=assignment)
        if assignment.state in (AssignmentState.SUBMITTED, AssignmentState.REJECTED):
            advance(assignment, AssignmentState.APPROVED, decided_at=difference.paid_at or clock.now())
        return adopted
    if row is not None:  # refused here, and paid there all the same
        return advance(row, WriteState.CONFIRMED, confirmed_at=clock.now(), last_error="", missed_at=None)
    return book_elsewhere(
        assignment=assignment,
        amount_cents=theirs,
        cause=f"difference-{difference.pk}",
        reason=difference.their_reason[:900],
        by=by,
    )
