"""Who is paid: everyone who submitted, whatever screening says. Plans rows of the ledger; the sender sends them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction

from humanexp.core import clock
from humanexp.core.errors import CapExceeded, Conflict, CostNotConfirmed, InvalidRequest, NotAllowed
from humanexp.core.models import User, record
from humanexp.ledger import payments
from humanexp.ledger.budgets import committed_cents, place_charge, reserve
from humanexp.ledger.models import CallKind, Payment
from humanexp.ledger.outbox import request_sending
from humanexp.ledger.owed import Hold, Owed, Why, first_bonus, owed, payable, sums_of
from humanexp.ledger.rejections import decline_rejection, proposal_on, record_about
from humanexp.ledger.terms import Policy, policy_of, settled_by_jobs
from humanexp.ledger.wages import SUBMISSION
from humanexp.participation.models import Session
from humanexp.recruiters import money
from humanexp.recruiters.models import OVERRIDE_DAYS, Assignment, Campaign
from humanexp.recruiters.money import Charge
from humanexp.recruiters.registry import fees_of
from humanexp.recruiters.states import GONE, LISTED, AssignmentState, WriteState, advance
from humanexp.screening.services import decide
from humanexp.studies import permissions
from humanexp.studies.models import Action, Study

#: Assignments that are locked by one question.
_AT_ONCE = 500
THANKS = "Thank you for taking part."
LATE = "You did the whole study, and the time for it ran out. This is your reward. Thank you."


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """What was planned, and what waits for a person."""

    planned: int
    #: with fees, by currency
    sums: dict[str, int]
    unmatched: int
    #: owed and not planned, by what holds it
    held: Mapping[Hold, int] = field(default_factory=dict)


@transaction.atomic
def settle(
    *, study: Study, by: User | None = None, policy: Policy | None = None, shown: Mapping[str, int] | None = None
) -> Settlement:
    """Plan what everybody is owed who has done the work, whatever its verdict. Twice is once.

    Whoever is held for a reason waits, see `owed.owed`; submissions that fit no session of ours are paid by
    automatic approval if nobody looks. `policy`: pay those who are due by it. `shown`: the sums by currency that were
    shown to whoever pays; where it comes to others by now, nobody is paid.
    """
    permissions.check(by, Action.PAY, study)
    # Two who click at once: the second sees what the first has planned.
    Study.objects.select_for_update(of=("self",)).get(pk=study.pk)
    rows = owed(study, policy=policy)
    due = payable(rows)
    if shown is not None and due and (sums := sums_of(due)) != shown:
        raise CostNotConfirmed(f"It comes to {money.listed(sums)} by now; nobody was paid.")
    planned, held = [], Counter(row.hold for row in rows if row.hold is not None)
    for assignment, row in _locked(due):
        payment = _plan_reward(assignment, by)[0] if row.why is Why.SUBMITTED else _pay_late(assignment, by)
        planned += [] if payment is None else [payment]
        held[Hold.CAMPAIGN_CAP] += payment is None
    sums = money.summed((payment.currency, payment.cost_cents) for payment in planned)
    for currency, cents in sums.items():
        record(
            action="settle",
            subject=f"study:{study.slug}",
            study=study.slug,
            by=by,
            planned=sum(payment.currency == currency for payment in planned),
            cents=cents,
            currency=currency,
            policy="hand" if policy is None else policy.kind,
        )
    for environment in sorted({payment.environment for payment in planned}):
        request_sending(environment=environment)
    unmatched = payments.unmatched(study).count()
    return Settlement(planned=len(planned), sums=sums, unmatched=unmatched, held=+held)


def _locked(rows: Sequence[Owed]) -> Iterator[tuple[Assignment, Owed]]:
    """In this order; without those whose state has changed since they were found."""
    states = {Why.SUBMITTED: AssignmentState.SUBMITTED, Why.LATE: AssignmentState.TIMED_OUT}
    for first in range(0, len(rows), _AT_ONCE):
        some = {row.assignment: row for row in rows[first : first + _AT_ONCE]}
        found = Assignment.objects.filter(pk__in=list(some)).select_related("campaign", "hit")
        locked = {one.pk: one for one in found.select_for_update(of=("self",))}
        for pk, row in some.items():
            if pk in locked and locked[pk].state == states[row.why]:
                yield locked[pk], row


def settle_by_policies() -> list[Settlement]:
    """What the job does: every study in which a job pays, by its own policy."""
    return [settle(study=study, policy=policy_of(study)) for study in settled_by_jobs()]


def pay_first_late(*, assignment: Assignment, by: User) -> Payment:
    """A person's word for the first dear bonus of an account: the reward of one who ran out of time. Once it is seen to
    arrive, the others can be paid."""
    permissions.check(by, Action.PAY, assignment.campaign.study)
    late = [row for row in owed(assignment.campaign.study) if row.why is Why.LATE]
    if not any(row.assignment == assignment.pk and row.hold is Hold.FIRST_BONUS for row in late):
        raise Conflict("This person does not wait for the first bonus of the account any more; look again.")
    return _plan_late(assignment, by, is_first=True)


def _pay_late(assignment: Assignment, by: User | None) -> Payment | None:
    """None where somebody else has taken what a cap had left, which must keep nobody else from being paid."""
    try:
        with transaction.atomic():
            return _plan_late(assignment, by)
    except CapExceeded:
        return None


def _plan_late(assignment: Assignment, by: User | None, *, is_first: bool = False) -> Payment:
    """The reward of somebody who did the whole of it and ran out of the recruiter's time, as a bonus."""
    return plan_bonus(
        assignment=assignment,
        amount_cents=assignment.campaign.reward_cents,
        cause=SUBMISSION,
        reason=LATE,
        by=by,
        kind=CallKind.COMPENSATION,
        is_first=is_first,
    )


@transaction.atomic
def clear(*, assignment: Assignment, by: User) -> Payment:
    """A person has looked at a submission and wants it paid; a rejection that waits for a second person is declined."""
    permissions.check(by, Action.PAY, assignment.campaign.study)
    assignment = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if assignment.state != AssignmentState.SUBMITTED:
        raise Conflict(f"This assignment is {assignment.get_state_display()}; there is nothing to clear.")
    proposal = proposal_on(assignment)
    if proposal is not None:
        decline_rejection(proposal=proposal, by=by)
    assignment.cleared_at = clock.now()
    assignment.save(update_fields=["cleared_at"])
    payment, _ = _plan_reward(assignment, by)
    record_about("clear", assignment, by, evidence=assignment.evidence)
    request_sending(environment=assignment.environment)
    return payment


@transaction.atomic
def override_rejection(*, assignment: Assignment, by: User) -> Payment:
    """Pay an assignment that was rejected; the recruiter allows it for 30 days."""
    permissions.check(by, Action.PAY, assignment.campaign.study)
    assignment = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if assignment.state != AssignmentState.REJECTED:
        raise Conflict("Only a rejected assignment can be paid after all.")
    until = assignment.override_until
    if until is not None and clock.now() > until:
        raise Conflict(
            f"A rejection can be overridden for {OVERRIDE_DAYS} days from the submission, which ended on "
            f"{until:%d %B %Y}: pay a bonus instead."
        )
    payment, _ = _plan_reward(assignment, by)
    if payment.state == WriteState.REFUSED:
        advance(payment, WriteState.PLANNED, last_error="", created_by=by)
    record_about("override-rejection", assignment, by)
    request_sending(environment=assignment.environment)
    return payment


@transaction.atomic
def plan_bonus(
    *,
    assignment: Assignment,
    amount_cents: int,
    cause: str,
    reason: str,
    by: User | None = None,
    kind: str = CallKind.BONUS,
    is_first: bool = False,
) -> Payment:
    """Plan money beyond the reward. The same cause plans it once for an assignment, whatever the amount.

    `is_first`: a person wants it sent although none of this account was ever seen to arrive.
    """
    permissions.check(by, Action.PAY, assignment.campaign.study)
    campaign = _locked_campaign(assignment)
    _check_bonus(assignment, campaign, amount_cents, cause, reason, is_first=is_first)
    known: Payment | None = Payment.objects.filter(assignment=assignment, kind=kind, cause=cause).first()
    if known is not None:
        return known
    charge = fees_of(campaign.environment).on_bonus(amount_cents)
    _promise(campaign, amount_cents + charge.cents)
    payment = _insert(
        assignment=assignment,
        kind=kind,
        cause=cause,
        amount_cents=amount_cents,
        charge=charge,
        reason=reason,
        by=by,
    )
    record_about(kind, assignment, by, cents=amount_cents, currency=campaign.currency, cause=cause)
    request_sending(environment=campaign.environment)
    return payment


@transaction.atomic
def plan_equal_bonuses(
    *, campaign: Campaign, assignments: Sequence[Assignment], amount_cents: int, cause: str, reason: str
) -> list[Payment]:
    """The same for many people of one campaign: all of them, or none where a cap would not hold it. Twice is once.

    Part of the caller's transaction, which has locked the campaign and asked whether this may be done.
    """
    known = Payment.objects.filter(campaign=campaign, kind=CallKind.BONUS, cause=cause).values("assignment_id")
    paid = set(known.values_list("assignment_id", flat=True))
    new = [one for one in assignments if one.pk not in paid]
    for one in new:
        _check_bonus(one, campaign, amount_cents, cause, reason)
    charge = fees_of(campaign.environment).on_bonus(amount_cents)
    _promise(campaign, len(new) * (amount_cents + charge.cents))
    planned = [
        _insert(
            assignment=one,
            kind=CallKind.BONUS,
            cause=cause,
            amount_cents=amount_cents,
            charge=charge,
            reason=reason,
            by=None,
        )
        for one in new
    ]
    if planned:
        request_sending(environment=campaign.environment)
    return planned


@transaction.atomic
def try_again(*, payment: Payment, by: User) -> Payment:
    """Put a refused payment back into the queue, once its cause is gone.

    A refused bonus counts against no cap: it is promised anew, and others may have been promised what it would cost.
    """
    permissions.check(by, Action.PAY, payment.assignment.campaign.study)
    if payment.kind != CallKind.REWARD and payment.state == WriteState.REFUSED:
        _promise(_locked_campaign(payment.assignment), payment.cost_cents)
    advance(payment, WriteState.PLANNED, last_error="", first_sent_at=None, missed_at=None)
    record(action="try-again", subject=f"payment:{payment.pk}", study=payment.assignment.campaign.study.slug, by=by)
    request_sending(environment=payment.environment)
    return payment


def reward_charge(assignment: Assignment) -> Charge:
    """The recruiter's charge on this assignment's reward; it depends on the size of its HIT."""
    return place_charge(assignment.campaign, assignment.hit.max_assignments if assignment.hit else 1)


def reward_fee_cents(assignment: Assignment) -> int:
    """The whole of it, in minor units."""
    return reward_charge(assignment).cents


def adopt_approval(*, assignment: Assignment) -> Payment:
    """The recruiter has paid by itself (automatic approval, or by hand there): the ledger says so too."""
    payment, _ = _plan_reward(assignment, None)
    if payment.state != WriteState.CONFIRMED:
        advance(payment, WriteState.CONFIRMED, confirmed_at=clock.now(), last_error="", missed_at=None)
    return payment


def book_elsewhere(*, assignment: Assignment, amount_cents: int, cause: str, reason: str, by: User) -> Payment:
    """A bonus that was paid without us: confirmed when it is written down, and counted against the caps."""
    payment = _insert(
        assignment=assignment,
        kind=CallKind.BONUS,
        cause=cause,
        amount_cents=amount_cents,
        charge=fees_of(assignment.environment).on_bonus(amount_cents),
        reason=reason,
        by=by,
    )
    return advance(payment, WriteState.CONFIRMED, confirmed_at=clock.now())


def _plan_reward(assignment: Assignment, by: User | None) -> tuple[Payment, bool]:
    known = Payment.objects.filter(assignment=assignment, kind=CallKind.REWARD, cause=SUBMISSION).first()
    if known is not None:
        return known, False
    return (
        _insert(
            assignment=assignment,
            kind=CallKind.REWARD,
            cause=SUBMISSION,
            amount_cents=assignment.campaign.reward_cents,
            charge=reward_charge(assignment),
            reason=THANKS,
            by=by,
        ),
        True,
    )


def _locked_campaign(assignment: Assignment) -> Campaign:
    return Campaign.objects.select_for_update(of=("self",)).select_related("study").get(pk=assignment.campaign_id)


def _promise(campaign: Campaign, cents: int) -> None:
    """Refuse money beyond the reward that a cap would not hold: the campaign's, the study's or the month's."""
    room = campaign.cap_cents - committed_cents(campaign)
    if cents > room:
        raise CapExceeded(
            f"This bonus costs {money.shown(cents, campaign.currency)} with its fee, and "
            f"{money.shown(max(0, room), campaign.currency)} of the campaign's cap are left; raise the cap first."
        )
    reserve(study=campaign.study, environment=campaign.environment, cents=cents, what="This bonus")


def _insert(*, assignment: Assignment, kind: str, charge: Charge, by: User | None, **facts: object) -> Payment:
    payment: Payment = Payment.objects.plan(
        kind,
        environment=assignment.environment,
        assignment=assignment,
        campaign_id=assignment.campaign_id,
        by=by,
        fee_cents=charge.cents,
        tax_cents=charge.tax_cents,
        **facts,
    )
    return payment


def _check_bonus(
    assignment: Assignment, campaign: Campaign, amount_cents: int, cause: str, reason: str, *, is_first: bool = False
) -> None:
    if not campaign.capabilities.vouches:
        raise NotAllowed("No money goes through a plain link: pay people where you found them.")
    is_reached = campaign.capabilities.lists_in_progress and assignment.state in GONE
    if assignment.state not in LISTED and not is_reached:
        raise Conflict("Only people who have submitted can be paid; the recruiter has not listed this assignment.")
    if amount_cents < 1 or not cause.strip() or not reason.strip():
        raise InvalidRequest("A bonus needs an amount of at least a cent, a cause, and a reason that the worker reads.")
    most = settings.FIRST_BONUS_CAP_CENTS
    hold = first_bonus(campaign.environment) if amount_cents > most else None
    if hold is None or (is_first and hold is Hold.FIRST_BONUS):
        return
    raise CapExceeded(
        "No bonus of this account has been seen to arrive yet. Pay one of at most "
        f"{money.shown(most, campaign.currency)} first; once the recruiter lists it, larger ones can be paid."
    )


@transaction.atomic
def exclude_but_pay(*, session: Session, written_reason: str, by: User) -> Payment:
    """The session does not count in the analysis, and its person is paid like everybody else."""
    for action in (Action.REVIEW, Action.PAY):
        permissions.check(by, action, session.study)
    assignment = Assignment.objects.filter(session=session).first()
    if assignment is None:
        raise Conflict("No submission belongs to this session, so there is nothing to pay.")
    decide(session=session, accepted=False, written_reason=written_reason, by=by)
    return clear(assignment=assignment, by=by)
