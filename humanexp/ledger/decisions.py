"""What a person decides: where the books differ, and where nothing shows whether a bonus was paid."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.jobs import services as jobs
from humanexp.ledger.models.books import Difference, DifferenceKind
from humanexp.ledger.models.calls import Answer, CallKind, Payment
from humanexp.ledger.outbox import request_sending
from humanexp.ledger.settlement import adopt_approval, book_elsewhere, reward_charge
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.money import Listing
from humanexp.recruiters.registry import fees_of
from humanexp.recruiters.states import RESOLUTIONS, AssignmentState, DifferenceState, WriteState, advance
from humanexp.studies import permissions
from humanexp.studies.models import Study
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
        assignment=difference.assignment_id,
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


@dataclass(frozen=True, kw_only=True)
class Sending:
    """One call that may have paid it."""

    sent_at: datetime
    answer: Answer
    #: bonuses of the call
    lines: int
    #: a person had it paid again all the same
    is_given_up: bool


@dataclass(frozen=True, kw_only=True)
class ParkedBonus:
    """One that waits for a person."""

    payment: Payment
    #: right before it was sent, or when it was left to a person unsent
    before: Listing | None
    #: at the last look since it was sent
    after: Listing | None

    @property
    def sendings(self) -> list[Sending]:
        """Every time that it was sent, the latest last; none where a restored database has forgotten it."""
        row = self.payment
        found = [
            Sending(
                sent_at=datetime.fromisoformat(one["sent_at"]),
                answer=Answer(one["answer"]),
                lines=one["lines"],
                is_given_up=True,
            )
            for one in row.given_up
        ]
        if row.look_at is not None and self.before is not None:
            now = self.before
            answer = Answer(row.answer)
            found.append(Sending(sent_at=now.seen_at, answer=answer, lines=now.lines, is_given_up=False))
        return found

    @property
    def balance_fell_by_cents(self) -> int | None:
        """Of the whole account since before the call, whatever else was paid from it."""
        before, after = self._sums("balance_cents")
        return None if before is None or after is None else before - after

    @property
    def bonuses_rose_by_cents(self) -> int | None:
        """Of the whole offer since before the call."""
        before, after = self._sums("bonuses_cents")
        return None if before is None or after is None else after - before

    def _sums(self, name: str) -> tuple[int | None, int | None]:
        return getattr(self.before, name, None), getattr(self.after, name, None)


def parked_bonuses(study: Study) -> list[ParkedBonus]:
    """Oldest first."""
    rows = Payment.objects.filter(campaign__study=study, state=WriteState.PARKED).order_by("pk")
    return [
        ParkedBonus(
            payment=row,
            before=Listing.of(row.evidence_before if row.look_at else row.listed_unsent),
            after=Listing.of(row.listed_after) if row.look_at else None,
        )
        for row in rows.select_related("assignment__person__participant", "campaign")
    ]


@transaction.atomic
def pay_again(*, study: Study, payments: Collection[int], note: str, by: User) -> int:
    """Send these once more. The recruiter is asked before: what shows after all is not sent."""
    rows = _parked(study, payments, note, by)
    for row in rows:
        advance(row, WriteState.PLANNED, last_error="", first_sent_at=None, missed_at=None, ask_first=False)
        _record("pay-again", row, note, by)
    for environment in sorted({row.environment for row in rows}):
        request_sending(environment=environment)
    return len(rows)


@transaction.atomic
def found_paid(*, study: Study, payments: Collection[int], note: str, by: User) -> int:
    """Somebody has seen elsewhere that these were paid."""
    rows = _parked(study, payments, note, by)
    for row in rows:
        facts = {"confirmed_at": clock.now(), "look_at": None, "last_error": "", "missed_at": None}
        advance(row, WriteState.CONFIRMED, **facts, ask_first=False)
        _record("found-paid", row, note, by)
    return len(rows)


@transaction.atomic
def look_again(*, study: Study, by: User) -> None:
    """Have the recruiter asked now about everything of the study that is not proved."""
    permissions.check(by, Action.PAY, study)
    unproved = Payment.objects.filter(look_at__isnull=False, campaign__study=study)
    environments = set(unproved.values_list("environment", flat=True))
    unproved.update(look_at=clock.now())
    for environment in sorted(environments):
        jobs.submit("recruitment.send", subject=f"recruiter:{environment}", by=by, environment=environment)


def _parked(study: Study, payments: Collection[int], note: str, by: User) -> list[Payment]:
    permissions.check(by, Action.PAY, study)
    if not payments:
        raise InvalidRequest("Tick at least one bonus.", fields={"payments": "none is ticked"})
    if not note.strip():
        raise InvalidRequest("Write down why; it stays with the payment.", fields={"note": "a reason"})
    rows = list(Payment.objects.select_for_update().filter(campaign__study=study, pk__in=payments).order_by("pk"))
    if len(rows) != len(set(payments)) or any(row.state != WriteState.PARKED for row in rows):
        raise Conflict("Some of these do not wait for a person any more; nothing was changed. Look at them again.")
    return rows


def _record(action: str, row: Payment, note: str, by: User) -> None:
    study = row.campaign.study.slug
    facts = {"cents": row.amount_cents, "attempts": row.attempts, "note": note.strip()}
    record(action=action, subject=f"payment:{row.pk}", study=study, by=by, **facts)
