"""The books: what the ledger says was paid, against what the recruiter says. Where they differ, a person looks.

Payments go on meanwhile. What is on its way, or was planned or confirmed while the lists were read, is compared the
next time; a HIT whose lists could not be read leaves its differences as they were.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum

from humanexp.core import clock
from humanexp.core.errors import KeysRefused, NotAtRecruiter, RecruiterError
from humanexp.core.models import AuditEvent, record
from humanexp.ledger.models import CallKind, Difference, DifferenceKind, Payment
from humanexp.recruiters import money, registry
from humanexp.recruiters.models import Assignment, Campaign, Hit, RecruiterAccount
from humanexp.recruiters.port import BonusReport, Recruiter, SubmissionReport, marker_in
from humanexp.recruiters.registry import recruiter_for, those
from humanexp.recruiters.states import (
    LISTED,
    RESOLUTIONS,
    UNSETTLED,
    AssignmentState,
    DifferenceState,
    WriteState,
    advance,
)
from humanexp.studies.models import Study

#: Also where nothing has happened, both sides are compared again after so long.
COMPARED_AGAIN = timedelta(days=7)


def is_unsettled(now: datetime) -> Q:
    """Which HITs the recruiter has to be asked about: money may have moved there since both sides were found equal."""
    of_hit = Assignment.objects.filter(hit=OuterRef("pk"))
    payments = Payment.objects.filter(assignment__hit=OuterRef("pk"))
    listed = of_hit.filter(state__in=LISTED)
    has_moved = (
        Exists(of_hit.filter(state=AssignmentState.SUBMITTED))
        | Exists(of_hit.filter(decided_at__gte=OuterRef("compared_at")))
        | Exists(payments.filter(state__in=UNSETTLED))
        | Exists(payments.filter(confirmed_at__gte=OuterRef("compared_at")))
        | Exists(Difference.objects.filter(hit=OuterRef("pk")))
    )
    return (Q(compared_at=None) | Q(compared_at__lt=now - COMPARED_AGAIN) | Q(has_moved)) & (
        Q(Exists(listed)) | Q(Exists(payments))
    )


@dataclass(frozen=True, kw_only=True)
class Books:
    """One recruiter's side against ours, over all studies there; nothing is known before the first comparison."""

    environment: str
    at: datetime | None
    ledger_cents: int | None
    theirs_cents: int | None
    payments: int
    on_the_way: int
    differences: int
    #: HITs whose lists could not be read
    unread: int

    @property
    def label(self) -> str:
        return registry.name_of(self.environment)

    @property
    def currency(self) -> str:
        return registry.currency_of(self.environment)

    @property
    def adds_up(self) -> bool:
        return not self.differences


def books(study: Study) -> list[Books]:
    """Of every recruiter that the study was published with and that money goes through."""
    environments = set(Campaign.objects.filter(study=study).values_list("environment", flat=True))
    return [
        _last(environment)
        for environment in sorted(name for name in environments if registry.capabilities_of(name).vouches)
    ]


def _last(environment: str) -> Books:
    lines = AuditEvent.objects.filter(action="reconcile", subject=f"recruiter:{environment}")
    last = lines.order_by("-pk").first()
    facts = last.facts if last else {}
    return Books(
        environment=environment,
        at=last.at if last else None,
        ledger_cents=facts.get("ledger_cents"),
        theirs_cents=facts.get("theirs_cents"),
        payments=facts.get("payments", 0),
        on_the_way=facts.get("on_the_way", 0),
        differences=facts.get("differences", 0),
        unread=facts.get("unread", 0),
    )


def differences(*studies: Study) -> QuerySet[Difference]:
    """Open ones first, then what was made of the others; those that went by themselves are left out."""
    found = Difference.objects.filter(hit__campaign__study__in=studies).exclude(state=DifferenceState.EQUAL)
    with_rows = found.select_related("hit__campaign", "assignment__person__participant", "payment", "resolved_by")
    return with_rows.order_by(F("resolved_at").desc(nulls_first=True), "-pk")


def open_differences(*studies: Study) -> QuerySet[Difference]:
    return differences(*studies).filter(state=DifferenceState.OPEN)


def is_held(assignment: Assignment) -> bool:
    """Whether bonuses of this assignment wait for a person: for its own difference, or its campaign's."""
    about = Difference.objects.filter(state=DifferenceState.OPEN, hit__campaign=assignment.campaign_id)
    return about.filter(Q(assignment=assignment.pk) | Q(assignment=None)).exists()


def known_markers(assignment: Assignment) -> frozenset[str]:
    """Of the bonuses of this assignment that are in the ledger, or that a person has said what they are."""
    ours = {row.marker for row in Payment.objects.filter(assignment=assignment.pk)}
    resolved = Difference.objects.filter(assignment=assignment.pk, state__in=RESOLUTIONS)
    theirs = resolved.values_list("their_reason", flat=True)
    return frozenset(ours) | {marker_in(reason) for reason in theirs}


#: Their lists may lag behind a payment for so long.
LISTS_LAG = timedelta(minutes=10)
#: So many are written into the record; the page and the command show all.
DIFFERENCES_KEPT = 20


@dataclass
class Reconciliation:
    """Sums over every HIT of an environment, fees apart: fees are the recruiter's own arithmetic."""

    environment: str
    ledger_cents: int = 0
    theirs_cents: int = 0
    payments: int = 0
    #: not settled on both sides yet; they may be on either side of the sum
    on_the_way: int = 0
    hits_gone: int = 0
    hits_unread: int = 0
    #: differences that a person has adopted, explained or called somebody else's
    resolved: int = 0
    #: the open ones, a sentence each
    differences: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def adds_up(self) -> bool:
        return not self.differences

    def take_over_settled(self, unsettled: QuerySet[Hit]) -> None:
        """What was paid on all other HITs, on which both sides agreed."""
        paid = Payment.objects.filter(environment=self.environment, state=WriteState.CONFIRMED)
        sums = paid.exclude(assignment__hit__in=unsettled.values("pk")).aggregate(
            cents=Sum("amount_cents"), n=Count("pk")
        )
        self.ledger_cents += sums["cents"] or 0
        self.theirs_cents += sums["cents"] or 0
        self.payments += sums["n"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One payment on both sides; None is not paid, as that side says."""

    key: str
    paid_as: str
    listed_as: str
    row: Payment | None
    assignment: Assignment | None
    theirs_cents: int | None
    their_reason: str = ""
    paid_at: datetime | None = None

    @property
    def ours_cents(self) -> int | None:
        is_paid = self.row is not None and self.row.state == WriteState.CONFIRMED
        return self.row.amount_cents if self.row is not None and is_paid else None

    @property
    def kind(self) -> DifferenceKind:
        if self.ours_cents is None:
            return DifferenceKind.NOT_HERE
        return DifferenceKind.NOT_THERE if self.theirs_cents is None else DifferenceKind.AMOUNT


def reconcile(*, environment: str | None = None, settled_too: bool = True) -> list[Reconciliation]:
    """Compare payment by payment; run `send` and `sync` first, so that little is on its way.

    Without the settled ones, the recruiter is not asked about HITs on which both sides agreed, and that nothing has
    happened to since; their sums are taken from the ledger.
    """
    books = []
    for name in [environment] if environment else those(vouches=True):
        hits = Hit.objects.filter(environment=name).exclude(hit_id="").select_related("campaign")
        if not hits.exists():
            continue
        book = Reconciliation(name)
        to_compare_since = (
            RecruiterAccount.objects.filter(environment=name).values_list("to_compare_since", flat=True).first()
        )
        try:
            recruiter = recruiter_for(name)
            if not settled_too and to_compare_since is None:
                hits = hits.filter(is_unsettled(clock.now()))
                book.take_over_settled(hits)
            for hit in hits:
                _compare(hit, recruiter, book)
        except KeysRefused as error:
            book.hits_unread += 1
            book.remarks.append(error.message)
        if not book.hits_unread:
            # bonuses that waited for this go on; where one is missing here, its assignment's are held by that
            RecruiterAccount.objects.filter(environment=name, to_compare_since=to_compare_since).update(
                to_compare_since=None
            )
        _write_down(book)
        books.append(book)
    return books


def _compare(hit: Hit, recruiter: Recruiter, book: Reconciliation) -> None:
    ledger = list(Payment.objects.filter(assignment__hit=hit).select_related("assignment", "assignment__person"))
    began = clock.now()
    try:
        listed = list(recruiter.submissions(hit.hit_id))
        bonuses = list(recruiter.bonuses(hit.hit_id))
    except NotAtRecruiter:
        book.hits_gone += 1  # disposed after 120 days: there is nothing left to compare with
        return
    except KeysRefused:
        raise
    except RecruiterError as error:
        book.hits_unread += 1
        remark = (
            f"The books of “{hit.campaign.title}” were not compared, and are at the next comparison: {error.message}"
        )
        if remark not in book.remarks:
            book.remarks.append(remark)
        return
    rewards = [row for row in ledger if row.kind == CallKind.REWARD]
    extras = [row for row in ledger if row.kind != CallKind.REWARD]
    differing, on_the_way = set(), book.on_the_way
    meant = (_by_marker if recruiter.bonus_calls is None else _by_amount)(extras, bonuses)
    for entry in [*_rewards(hit, rewards, listed), *_extras(hit, extras, bonuses, meant)]:
        book.ledger_cents += entry.ours_cents or 0
        book.theirs_cents += entry.theirs_cents or 0
        book.payments += entry.ours_cents is not None
        if _is_on_the_way(entry, began):
            book.on_the_way += 1
        elif entry.ours_cents != entry.theirs_cents:
            differing.add(entry.key)
            _note(hit, entry, book)
    is_settled = not differing and book.on_the_way == on_the_way
    Hit.objects.filter(pk=hit.pk).update(compared_at=began if is_settled else None)
    for gone in hit.differences.filter(state=DifferenceState.OPEN).exclude(key__in=differing):
        advance(gone, DifferenceState.EQUAL, resolved_at=clock.now())


def _rewards(hit: Hit, rows: list[Payment], listed: list[SubmissionReport]) -> Iterator[Entry]:
    known = {(row.assignment.assignment_id, _worker(row.assignment)): row for row in rows}
    taken = {row.assignment_id: row for row in hit.assignments_taken.all()}
    for found in listed:
        # a deleted person's row has no worker id any more
        pair = (found.submission_id, found.person_id)
        row = known.pop(pair if pair in known else (found.submission_id, None), None)
        is_paid = found.state == AssignmentState.APPROVED
        yield Entry(
            key=f"reward:{found.submission_id}",
            paid_as=CallKind.REWARD,
            listed_as=found.submission_id,
            row=row,
            assignment=row.assignment if row else taken.get(found.submission_id),
            theirs_cents=hit.campaign.reward_cents if is_paid else None,
            paid_at=found.decided_at if is_paid else None,
        )
    yield from map(_ours_alone, known.values())


def _worker(assignment: Assignment) -> str | None:
    return assignment.person.worker_id if assignment.person else None


def _by_marker(rows: list[Payment], bonuses: list[BonusReport]) -> list[Payment | None]:
    """The row of each listed bonus, by the marker at the end of its reason."""
    known = {row.marker: row for row in rows}
    return [known.pop(marker_in(bonus.reason), None) for bonus in bonuses]


def _by_amount(rows: list[Payment], bonuses: list[BonusReport]) -> list[Payment | None]:
    """Where reasons are not listed: a row of that amount, one that is known to be paid before any other."""
    order = [WriteState.CONFIRMED, WriteState.PARKED, WriteState.SENDING, WriteState.PLANNED, WriteState.REFUSED]
    known: dict[tuple[str, int], list[Payment]] = {}
    for row in sorted(rows, key=lambda row: order.index(WriteState(row.state)), reverse=True):
        known.setdefault((row.assignment.assignment_id, row.amount_cents), []).append(row)
    found = (known.get((bonus.submission_id, bonus.amount_cents)) for bonus in bonuses)
    return [alike.pop() if alike else None for alike in found]


def _extras(hit: Hit, rows: list[Payment], bonuses: list[BonusReport], meant: list[Payment | None]) -> Iterator[Entry]:
    """A listed bonus that no row is meant by is known by what it says, and by the row that adopted it."""
    left = {row.pk: row for row in rows}
    taken = {row.assignment_id: row for row in hit.assignments_taken.all()}
    adopted = dict(hit.differences.filter(kind=DifferenceKind.NOT_HERE).values_list("key", "payment"))
    alike: Counter[str] = Counter()
    for bonus, row in zip(bonuses, meant, strict=True):
        key = f"row:{row.pk}" if row else _key(bonus, alike)
        row = row or left.get(adopted.get(key) or 0)
        if row is not None:
            left.pop(row.pk, None)
        yield Entry(
            key=key,
            paid_as=row.kind if row else CallKind.BONUS,
            listed_as=bonus.submission_id,
            row=row,
            assignment=row.assignment if row else taken.get(bonus.submission_id),
            theirs_cents=bonus.amount_cents,
            their_reason=bonus.reason,
            paid_at=bonus.paid_at,
        )
    yield from map(_ours_alone, left.values())


def _key(bonus: BonusReport, alike: Counter[str]) -> str:
    said = f"{bonus.amount_cents}\x1f{bonus.reason}\x1f{bonus.paid_at}"
    key = f"bonus:{bonus.submission_id}:{hashlib.sha256(said.encode()).hexdigest()[:16]}"
    alike[key] += 1
    return f"{key}:{alike[key]}"


def _ours_alone(row: Payment) -> Entry:
    is_reward = row.kind == CallKind.REWARD
    listed_as = row.assignment.assignment_id
    return Entry(
        key=f"reward:{listed_as}" if is_reward else f"row:{row.pk}",
        paid_as=row.kind,
        listed_as=listed_as,
        row=row,
        assignment=row.assignment,
        theirs_cents=None,
    )


def _is_on_the_way(entry: Entry, began: datetime) -> bool:
    """Not settled on both sides yet, or not when the lists were read: the next comparison tells."""
    row, assignment = entry.row, entry.assignment
    if row is not None:
        if _is_unasked(row) and entry.theirs_cents is not None:
            return False  # paid there, and as far as this database remembers never sent
        if row.state in UNSETTLED:
            return True
        if entry.ours_cents == entry.theirs_cents:
            return False
        row.refresh_from_db(fields=["state"])
        is_fresh = row.confirmed_at is not None and timedelta() <= began - row.confirmed_at < LISTS_LAG
        return row.state in UNSETTLED or (is_fresh and entry.theirs_cents is None)
    if entry.theirs_cents is None:
        return False
    if entry.paid_as == CallKind.REWARD:
        # time has approved it since `sync` looked, which takes it over
        return assignment is not None and assignment.state == AssignmentState.SUBMITTED
    marker = marker_in(entry.their_reason)  # planned and paid meanwhile
    return assignment is not None and marker in {row.marker for row in Payment.objects.filter(assignment=assignment)}


def _is_unasked(row: Payment) -> bool:
    """Planned where a write is not asked about before it is sent: whatever looks like it waits for a person."""
    is_extra, unsent = row.kind != CallKind.REWARD, row.state == WriteState.PLANNED and not row.attempts
    return is_extra and unsent and registry.capabilities_of(row.environment).repeats.bonus == "never"


@transaction.atomic
def _note(hit: Hit, entry: Entry, book: Reconciliation) -> None:
    """Open a difference, or see it again; one that was resolved opens again when a side says something else."""
    now = clock.now()
    figures = {"ours_cents": entry.ours_cents, "theirs_cents": entry.theirs_cents}
    facts = {**figures, "kind": entry.kind, "their_reason": entry.their_reason, "paid_at": entry.paid_at}
    found, is_new = Difference.objects.select_for_update().get_or_create(
        environment=hit.environment,
        key=entry.key,
        defaults={
            **facts,
            "hit": hit,
            "assignment": entry.assignment,
            "payment": entry.row,
            "paid_as": entry.paid_as,
            "listed_as": entry.listed_as,
            "first_seen_at": now,
            "last_seen_at": now,
        },
    )
    if not is_new:
        is_same = all(getattr(found, name) == value for name, value in figures.items())
        Difference.objects.filter(pk=found.pk).update(**facts, last_seen_at=now)
        if not found.is_open and not (is_same and found.state in (DifferenceState.EXPLAINED, DifferenceState.NOT_OURS)):
            advance(found, DifferenceState.OPEN, first_seen_at=now, resolved_at=None, resolved_by=None)
        found.refresh_from_db()
    if found.is_open:
        book.differences.append(sentence(found))
    else:
        book.resolved += 1


def sentence(difference: Difference) -> str:
    """For the command and the record: our own codes and amounts, never an id of the recruiter's."""
    ours = money.shown(difference.ours_cents or 0, difference.currency)
    theirs = money.shown(difference.theirs_cents or 0, difference.currency)
    what = f"difference {difference.pk}, {difference.get_paid_as_display()} {_whose(difference)}"
    match difference.kind:
        case DifferenceKind.NOT_HERE:
            return f"{what}: paid there ({theirs}), not in the ledger."
        case DifferenceKind.NOT_THERE:
            return f"{what}: in the ledger ({ours}), not paid there."
    return f"{what}: {ours} in the ledger, {theirs} there."


def _whose(difference: Difference) -> str:
    assignment = difference.assignment
    if assignment is None:
        return "on a submission that is not known here"
    return f"of {assignment.person}" if assignment.person is not None else "of somebody who was deleted"


def _write_down(book: Reconciliation) -> None:
    record(
        action="reconcile",
        subject=f"recruiter:{book.environment}",
        currency=registry.currency_of(book.environment),
        ledger_cents=book.ledger_cents,
        theirs_cents=book.theirs_cents,
        payments=book.payments,
        on_the_way=book.on_the_way,
        unread=book.hits_unread,
        differences=len(book.differences),
        first_differences=book.differences[:DIFFERENCES_KEPT],
    )
