"""What a person decides about money: ledger differences, bonuses that nothing proves, top-ups to a minimum an hour."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from humanexp.core import clock
from humanexp.core.errors import CapExceeded, Conflict, CostNotConfirmed, InvalidRequest
from humanexp.core.models import User, record
from humanexp.jobs import services as jobs
from humanexp.ledger.budgets import check_confirmed
from humanexp.ledger.models import Answer, CallKind, CampaignTopUp, Difference, DifferenceKind, Payment
from humanexp.ledger.outbox import request_sending
from humanexp.ledger.settlement import adopt_approval, book_elsewhere, plan_bonus, plan_equal_bonuses, reward_charge
from humanexp.ledger.wages import EQUAL_TOP_UP, TOP_UP, TopUpPlan, awaiting_top_up, top_up_offer, top_up_plan
from humanexp.recruiters import money
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.money import Listing
from humanexp.recruiters.registry import fees_of
from humanexp.recruiters.states import RESOLUTIONS, AssignmentState, DifferenceState, WriteState, advance
from humanexp.studies import permissions
from humanexp.studies.models import Action, Study


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


MADE_UP = "The work took longer than we had thought. This brings your pay for the hour to {floor}. Thank you."
FOR_ALL = "The study took longer than we had thought. Everyone who took part gets this in addition. Thank you."


@transaction.atomic
def top_up(
    *,
    study: Study,
    floor_cents: int | None = None,
    currency: str = "",
    confirm_total_cents: int | None = None,
    by: User | None,
) -> TopUpPlan:
    """Bring everybody to the floor by a bonus; twice is once, and a higher floor later pays the difference alone.

    All or nothing: a cap that would not hold it refuses the whole. `currency`: of whose pay it is; the newest paid
    campaign's where it is left out.
    """
    permissions.check(by, Action.PAY, study)
    # Two who click at once: the second sees the first one's bonuses.
    Study.objects.select_for_update(of=("self",)).get(pk=study.pk)
    wanted = top_up_plan(study, floor_cents, currency)
    if not wanted.rows:
        raise Conflict("No one is below this floor.")
    for environment in {row.environment for row in wanted.rows}:
        check_confirmed(environment, wanted.total_cents, confirm_total_cents)
    rows = Assignment.objects.select_related("campaign__study")
    assignments = rows.in_bulk([row.assignment for row in wanted.rows])
    for row in wanted.rows:
        plan_bonus(
            assignment=assignments[row.assignment],
            amount_cents=row.bonus_cents,
            cause=f"{TOP_UP}-{wanted.floor_cents}",
            reason=MADE_UP.format(floor=money.shown(wanted.floor_cents, wanted.currency)),
            by=by,
        )
    record(
        action="top-up",
        subject=f"study:{study.pk}",
        study=study.slug,
        by=by,
        people=wanted.people,
        floor_cents=wanted.floor_cents,
        cents=wanted.total_cents,
        currency=wanted.currency,
    )
    return wanted


@transaction.atomic
def top_up_equally(
    *, campaign: Campaign, shown_total_cents: int | None, confirm_total_cents: int | None = None, by: User | None
) -> CampaignTopUp:
    """One equal bonus for everybody of a campaign, those among them who were paid already. There is never a second one.

    All or nothing: a kill leaves neither the row nor a bonus. `shown_total_cents`: what the page said that it comes to;
    it is typed, too, where money is real.
    """
    permissions.check(by, Action.PAY, campaign.study)
    campaign = Campaign.objects.select_for_update(of=("self",)).select_related("study").get(pk=campaign.pk)
    done = CampaignTopUp.objects.filter(campaign=campaign).first()
    if done is not None:
        raise Conflict(
            f"This campaign was topped up by {money.shown(done.amount_cents, campaign.currency)} for everyone; nothing "
            "more was paid now."
        )
    offer = top_up_offer(campaign)
    if offer is None:
        raise Conflict("The median hour of this campaign pays the minimum; there is nothing to top up.")
    if not offer.amount_cents:
        raise CapExceeded("The caps leave no money for a top-up: raise them first.")
    if shown_total_cents != offer.total_cents:
        raise CostNotConfirmed(
            f"The top-up comes to {money.shown(offer.total_cents, campaign.currency)} by now; nothing was done."
        )
    check_confirmed(campaign.environment, offer.total_cents, confirm_total_cents)
    made = CampaignTopUp.objects.create(
        campaign=campaign,
        amount_cents=offer.amount_cents,
        floor_cents=offer.floor_cents,
        before_cents=offer.hourly_cents,
        after_cents=offer.reaches_cents,
        total_cents=offer.total_cents,
        created_by=by,
    )
    planned = _plan(campaign, made)
    record(
        action="top-up-campaign",
        subject=f"campaign:{campaign.pk}",
        study=campaign.study.slug,
        by=by,
        people=planned,
        cents=offer.total_cents,
        each_cents=offer.amount_cents,
        floor_cents=offer.floor_cents,
        currency=campaign.currency,
    )
    return made


def top_up_latecomers(campaign: Campaign) -> int:
    """Whoever has come since a campaign was topped up gets the same; none of them while a cap does not hold it."""
    if not awaiting_top_up(campaign).exists():
        return 0
    try:
        with transaction.atomic():
            locked = Campaign.objects.select_for_update(of=("self",)).select_related("study").get(pk=campaign.pk)
            return _plan(locked, locked.top_up)
    except CapExceeded:
        return 0


def _plan(campaign: Campaign, made: CampaignTopUp) -> int:
    people: list[Assignment] = list(awaiting_top_up(campaign))
    planned = plan_equal_bonuses(
        campaign=campaign,
        assignments=people,
        amount_cents=made.amount_cents,
        cause=EQUAL_TOP_UP,
        reason=FOR_ALL,
    )
    return len(planned)
