"""The books: what the ledger says was paid, against what the recruiter says. A difference stops the sender."""

from __future__ import annotations

from dataclasses import dataclass, field

from humanexp.core.audit import record
from humanexp.core.errors import Conflict, NotAtRecruiter
from humanexp.recruitment import money
from humanexp.recruitment.models import Environment, Hit, Pause, Payment, PaymentKind
from humanexp.recruitment.recruiters import recruiter_for
from humanexp.recruitment.recruiters.base import BonusReport, Recruiter
from humanexp.recruitment.services.lease import held, pause, resume
from humanexp.recruitment.states import AssignmentState, WriteState

#: So many are written down; the command prints all.
DIFFERENCES_KEPT = 20


@dataclass
class Reconciliation:
    """Sums over every HIT of an environment, fees apart: fees are the recruiter's own arithmetic."""

    environment: str
    ledger_cents: int = 0
    theirs_cents: int = 0
    payments: int = 0
    #: sent, and not asked about yet; they may be on either side of the sum
    on_the_way: int = 0
    hits_gone: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def adds_up(self) -> bool:
        return not self.differences


def reconcile(*, environment: str | None = None) -> list[Reconciliation]:
    """Compare payment by payment; run `send` and `sync` first, so that little is on its way.

    Holds the sender's lease, so that nothing moves meanwhile. Raises Conflict while a sender is at work.
    """
    books = []
    for name in [environment] if environment else Environment.values:
        hits = Hit.objects.filter(environment=name).exclude(hit_id="").select_related("campaign")
        if name == Environment.LINK or not hits.exists():
            continue
        with held(name) as lease:
            if lease is None:
                raise Conflict(f"{name}: a sender is at work; compare again in a moment.")
            book = Reconciliation(name)
            recruiter = recruiter_for(name)
            for hit in hits:
                if not lease.renew():
                    raise Conflict(f"{name}: a sender has taken over; compare again in a moment.")
                _compare(hit, recruiter, book)
            _conclude(book)
        books.append(book)
    return books


def _compare(hit: Hit, recruiter: Recruiter, book: Reconciliation) -> None:
    # Ours first: what time has approved since `sync` then shows as theirs alone, and the next round knows it.
    ledger = list(Payment.objects.filter(assignment__hit=hit).select_related("assignment", "assignment__person"))
    try:
        listed = list(recruiter.assignments(hit.hit_id))
        bonuses = list(recruiter.bonuses(hit_id=hit.hit_id))
    except NotAtRecruiter:
        book.hits_gone += 1  # disposed after 120 days: there is nothing left to compare with
        return
    rewards = {
        (row.assignment.assignment_id, row.assignment.person and row.assignment.person.worker_id): row
        for row in ledger
        if row.kind == PaymentKind.REWARD
    }
    for found in listed:
        # a deleted person's row has no worker id any more
        key = (found.assignment_id, found.worker_id)
        row = rewards.pop(key if key in rewards else (found.assignment_id, None), None)
        is_paid = found.state == AssignmentState.APPROVED
        _note(book, row, hit.campaign.reward_cents if is_paid else None, f"reward on assignment {found.assignment_id}")
    for row in rewards.values():
        _note(book, row, None, f"reward of ledger row {row.pk}")
    extras = {row.marker: row for row in ledger if row.kind != PaymentKind.REWARD}
    for bonus in bonuses:
        row = extras.pop(_marker(bonus), None)
        _note(book, row, bonus.amount_cents, f"bonus on assignment {bonus.assignment_id}")
    for row in extras.values():
        _note(book, row, None, f"{row.kind} of ledger row {row.pk}")


def _note(book: Reconciliation, row: Payment | None, theirs_cents: int | None, what: str) -> None:
    """Book one payment on both sides; `theirs_cents` is None when they have not paid it."""
    if row is not None and row.state == WriteState.SENDING:
        book.on_the_way += 1
        return
    ours = row.amount_cents if row is not None and row.state == WriteState.CONFIRMED else None
    book.ledger_cents += ours or 0
    book.theirs_cents += theirs_cents or 0
    book.payments += ours is not None
    if ours == theirs_cents:
        return
    match ours, theirs_cents:
        case None, int():
            book.differences.append(f"{what}: paid there ({money.dollars(theirs_cents or 0)}), not in the ledger.")
        case int(), None:
            book.differences.append(f"{what}: in the ledger ({money.dollars(ours or 0)}), not paid there.")
        case _:
            book.differences.append(
                f"{what}: {money.dollars(ours or 0)} in the ledger, {money.dollars(theirs_cents or 0)} there."
            )


def _marker(bonus: BonusReport) -> str:
    return bonus.reason[bonus.reason.rfind("[") :]


def _conclude(book: Reconciliation) -> None:
    """A difference pauses the sender until the books agree again."""
    if book.adds_up:
        resume(book.environment, Pause.LEDGER)
    else:
        detail = f"The ledger and the recruiter differ: {book.differences[0]} Nothing is sent until `reconcile` agrees."
        pause(book.environment, Pause.LEDGER, detail)
    record(
        action="reconcile",
        subject=f"recruiter:{book.environment}",
        ledger_cents=book.ledger_cents,
        theirs_cents=book.theirs_cents,
        payments=book.payments,
        on_the_way=book.on_the_way,
        differences=len(book.differences),
        # assignment ids and amounts, never a worker id
        first_differences=book.differences[:DIFFERENCES_KEPT],
    )
