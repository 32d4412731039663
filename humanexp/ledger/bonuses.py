"""Bonuses: of a person's choice, and for whoever could not submit.

Those of a person's choice are any amount, to anybody who took part, one by one or by a list of ids with amounts.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from analysis.tables.reading import read_cells, text_of
from humanexp.core import clock
from humanexp.core.errors import CapExceeded, Conflict, CostNotConfirmed, InputRefused, InvalidRequest
from humanexp.core.models import User, record
from humanexp.ledger.budgets import check_confirmed, committed_cents
from humanexp.ledger.models import CallKind, Payment
from humanexp.ledger.owed import Hold, finished_not_submitted, first_bonus, owed_cents
from humanexp.ledger.rejections import record_about
from humanexp.ledger.settlement import plan_bonus
from humanexp.participation.places import verify_session
from humanexp.recruiters import money, registry
from humanexp.recruiters.models import Assignment
from humanexp.recruiters.money import Charge
from humanexp.recruiters.people import is_id_column, named_in
from humanexp.recruiters.registry import fees_of
from humanexp.recruiters.states import GONE, LISTED, AssignmentState
from humanexp.studies import permissions
from humanexp.studies.models import Action, Study

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
        amount_cents=owed_cents(assignment),
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
    if not finished_not_submitted(assignment.campaign.study).filter(pk=assignment.pk).exists():
        raise Conflict("This person is owed nothing for this assignment; look again.")
    _vouch_for(assignment)
    assignment.paid_by_hand_at = clock.now()
    assignment.save(update_fields=["paid_by_hand_at"])
    record_about("pay-by-hand", assignment, by, cents=owed_cents(assignment))


def _not_submitted(assignment: Assignment, by: User) -> Assignment:
    """Locked; refused while its person may be paid as everybody is."""
    permissions.check(by, Action.PAY, assignment.campaign.study)
    assignment = Assignment.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=assignment.pk)
    campaign = assignment.campaign
    if assignment.is_listed:
        raise Conflict("The recruiter lists this assignment: pay its reward, or a bonus on it.")
    if not campaign.capabilities.vouches or assignment.person is None:
        raise Conflict("There is no one here whom a recruiter could pay.")
    if assignment.state == AssignmentState.OPENED and assignment.opened_at is not None:
        ends = assignment.opened_at + campaign.assignment_duration
        if ends > clock.now():
            raise Conflict(f"This person can still submit, until {ends:%d %B %H:%M} UTC: wait until then.")
    return assignment


def _payable(assignment: Assignment, by: User) -> Assignment | None:
    """Their work on which a bonus can be paid."""
    if assignment.campaign.capabilities.lists_in_progress and assignment.state in GONE:
        return assignment
    # A bonus is paid by the study whose work it is on.
    studies = permissions.studies_with(by, Action.PAY)
    listed = Assignment.objects.filter(person=assignment.person, state__in=LISTED, campaign__study__in=studies)
    return listed.select_related("campaign").order_by("-pk").first()


def _vouch_for(assignment: Assignment) -> None:
    """Who decides to pay vouches for the work."""
    if assignment.session is not None:
        verify_session(session=assignment.session)


#: Lines of one list.
MOST_LINES = 1_000
AMOUNT = "amount"
_CODES = {"code", "session", "submission", "assignment"}
_SEPARATOR = re.compile(r"[,;\t|]")
_KEY = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, kw_only=True)
class BonusLine:
    """One bonus of a list."""

    assignment: Assignment
    amount_cents: int
    charge: Charge

    @property
    def cost_cents(self) -> int:
        return self.amount_cents + self.charge.cents


@dataclass(frozen=True, kw_only=True)
class BonusList:
    """Bonuses that are to be paid together, all in one currency."""

    #: names the list: the same one pays nobody twice
    key: str
    lines: tuple[BonusLine, ...]

    @property
    def currency(self) -> str:
        return self.lines[0].assignment.campaign.currency

    @property
    def amount_cents(self) -> int:
        return sum(line.amount_cents for line in self.lines)

    @property
    def fee_cents(self) -> int:
        return sum(line.charge.cents for line in self.lines)

    @property
    def total_cents(self) -> int:
        return self.amount_cents + self.fee_cents

    @property
    def is_real_money(self) -> bool:
        return any(line.assignment.campaign.capabilities.asks_for_total for line in self.lines)


def read_bonuses(*, study: Study, content: bytes, source: str) -> BonusList:
    """A list of ids and amounts, checked against the study; nothing is written.

    A header may be missing: the first column then is the id, the last the amount. An id is one of the recruiter's, the
    code of a participant, of a session, or a submission's.

    Raises
    ------
    InputRefused
        Naming file, row and remedy: of somebody who is not of this study or cannot be paid, of somebody who stands
        twice, of what is no amount. An id is never repeated in a message.
    """
    text = text_of(content, source=source).strip()
    first = text.partition("\n")[0]
    separator = _SEPARATOR.search(first)
    if separator is not None and not any(map(_is_name, _SEPARATOR.split(first))):
        text = f"id{separator[0]}{AMOUNT}\n{text}"
    table = read_cells(text.encode(), source=source)
    named = [name for name in table.names if _is_name(name) and name != AMOUNT]
    if len(named) != 1 or AMOUNT not in table.names:
        said = f"no column is called {AMOUNT}" if len(named) == 1 else "no column is known to hold ids"
        said = f"{' and '.join(named)} can each hold the ids" if len(named) > 1 else said
        raise InputRefused(f"{source}: {said}. A list has two columns: id (or code), and {AMOUNT}.")
    records = [(one[named[0]], one[AMOUNT]) for one in table.records()]
    if not 1 <= len(records) <= MOST_LINES:
        raise InputRefused(f"{source}: a list has 1 to {MOST_LINES} rows, this one {len(records)}.")
    found = named_in(_within_reach(study), [said for said, _amount in records])
    rows: dict[int, int] = {}
    wanted = []
    for number, (said, amount) in enumerate(records, start=1):
        person = found.get(said.upper())
        if person is None:
            raise InputRefused(
                f"{source}, row {number}: nobody of this study who can be paid is known by this id or code."
            )
        if person.person_id in rows:
            raise InputRefused(
                f"{source}, rows {rows[person.person_id]} and {number}: these are one person. Keep one of the rows."
            )
        rows[person.person_id or 0] = number
        wanted.append((person, _amount(amount, f"{source}, row {number}")))
    return _list(wanted, secrets.token_hex(8))


def bonuses_again(*, study: Study, key: str, amounts: Mapping[int, int]) -> BonusList:
    """The list that a page has shown, by its key: keys of assignments and cents."""
    if not _KEY.fullmatch(key) or not 1 <= len(amounts) <= MOST_LINES or any(cents < 1 for cents in amounts.values()):
        raise InvalidRequest("The page did not say which bonuses it had shown; open it again.")
    rows = _within_reach(study).in_bulk(list(amounts))
    if len(rows) != len(amounts):
        raise Conflict("Somebody on this list can no longer be paid; nothing was done. Check the list again.")
    return _list([(rows[pk], cents) for pk, cents in amounts.items()], key)


def first_bonus_hold(bonuses: BonusList) -> Hold | None:
    """What the account's first bonus makes of this list; None where one was seen to arrive, or all are small."""
    dear = [line for line in bonuses.lines if line.amount_cents > settings.FIRST_BONUS_CAP_CENTS]
    holds = (first_bonus(line.assignment.environment) for line in dear)
    return next((hold for hold in holds if hold is not None), None)


def campaign_without_room(bonuses: BonusList) -> int | None:
    """Key of a campaign whose cap does not hold its part of the list."""
    campaigns = {line.assignment.campaign_id: line.assignment.campaign for line in bonuses.lines}
    for pk, campaign in campaigns.items():
        cents = sum(line.cost_cents for line in bonuses.lines if line.assignment.campaign_id == pk)
        if cents > campaign.cap_cents - committed_cents(campaign):
            return pk
    return None


def can_get_bonus(assignment: Assignment) -> bool:
    """Whether a recruiter would pay it one."""
    return _within_reach(assignment.campaign.study).filter(pk=assignment.pk).exists()


@transaction.atomic
def pay_bonuses(
    *,
    study: Study,
    bonuses: BonusList,
    reason: str,
    shown_total_cents: int,
    confirm_total_cents: int | None = None,
    by: User | None,
) -> list[Payment]:
    """All of the list, or nothing. The same list is paid once, whoever clicks twice.

    `shown_total_cents`: what the page said that it comes to; it is typed, too, where money is real.
    """
    permissions.check(by, Action.PAY, study)
    # Two who click at once: the second finds what the first has planned.
    Study.objects.select_for_update(of=("self",)).get(pk=study.pk)
    if not 1 <= len(reason.strip()) <= MOST_REASON:
        raise InvalidRequest(
            f"Write a reason of 1 to {MOST_REASON} characters; the person reads it.", fields={"reason": "missing"}
        )
    if shown_total_cents != bonuses.total_cents:
        total = money.shown(bonuses.total_cents, bonuses.currency)
        raise CostNotConfirmed(f"These bonuses come to {total} by now; nothing was done.")
    for environment in sorted({line.assignment.environment for line in bonuses.lines}):
        check_confirmed(environment, bonuses.total_cents, confirm_total_cents)
    is_first = first_bonus_hold(bonuses) is Hold.FIRST_BONUS
    if is_first and len(bonuses.lines) > 1:
        raise CapExceeded(
            "No bonus of this account has been seen to arrive yet. Pay one person first; once the recruiter lists "
            "it, the whole list can be paid."
        )
    cause = f"bonus-{bonuses.key}"
    planned = [
        plan_bonus(
            assignment=line.assignment,
            amount_cents=line.amount_cents,
            cause=cause,
            reason=reason.strip(),
            by=by,
            is_first=is_first,
        )
        for line in bonuses.lines
    ]
    record(
        action="pay-bonuses",
        subject=f"study:{study.slug}",
        study=study.slug,
        by=by,
        people=len(planned),
        cents=bonuses.total_cents,
        currency=bonuses.currency,
        list=bonuses.key,
    )
    return planned


#: The reason's column has room for it and the marker behind it.
MOST_REASON = 800


def _within_reach(study: Study) -> QuerySet[Assignment]:
    """Whom a bonus can reach: listed by a recruiter that pays, or gone from one that pays those, too."""
    reached = Q(state__in=LISTED) & registry.at(vouches=True)
    reached |= Q(state__in=GONE) & registry.at(lists_in_progress=True)
    rows = Assignment.objects.filter(reached, campaign__study=study, person__isnull=False)
    return rows.select_related("campaign", "person__participant", "session")


def _list(wanted: Iterable[tuple[Assignment, int]], key: str) -> BonusList:
    lines = tuple(
        BonusLine(assignment=row, amount_cents=cents, charge=fees_of(row.environment).on_bonus(cents))
        for row, cents in wanted
    )
    currencies = money.ordered(line.assignment.campaign.currency for line in lines)
    if len(currencies) > 1:
        raise InputRefused(f"These people are paid in {' and '.join(currencies)}: make a list for each currency.")
    return BonusList(key=key, lines=lines)


def _amount(said: str, where: str) -> int:
    try:
        cents = money.cents(said)
    except InvalidRequest as error:
        raise InputRefused(f"{where}: {error.message}") from None
    if cents < 1:
        raise InputRefused(f"{where}: a bonus is at least a cent.")
    return cents


def _is_name(cell: str) -> bool:
    name = cell.strip(' "\r').lower()
    return name == AMOUNT or name in _CODES or is_id_column(name)
