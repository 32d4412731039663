"""Assignments and payments of studies: as rows, and counted in one pass.

Places of campaigns: whoever recruits by name counts the submissions, a plain link its own people. Anybody can begin
under a made-up id: at a recruiter that takes no place, at a link it holds one for a few minutes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from humanexp.core import clock
from humanexp.ledger.models import MONEY, Call, CallKind, Payment
from humanexp.participation.models import FINISHED, Session, SessionState
from humanexp.participation.sessions import is_at_work, kept_slots
from humanexp.recruiters import money, registry
from humanexp.recruiters.models import UNMATCHED, Assignment, Campaign, Hit
from humanexp.recruiters.states import LISTED, UNSETTLED, AssignmentState, CampaignState, WriteState
from humanexp.studies.models import Study

#: Not confirmed: on their way, or refused and waiting for a person.
UNCONFIRMED = (*UNSETTLED, WriteState.REFUSED)


def unmatched(*studies: Study) -> QuerySet[Assignment]:
    """Submissions that a person has to look at."""
    is_waited_for = Q(return_due_at__isnull=False, return_due_at__gt=clock.now())
    found = _submitted(studies, Q(evidence__in=UNMATCHED, cleared_at=None) & ~is_waited_for)
    return found.select_related("person__participant", "session", "campaign")


def waiting_payments(*studies: Study) -> QuerySet[Payment]:
    """Promised and not confirmed, oldest first; refused ones too, because they wait for a person."""
    # few among many: with the environment, the index of the outbox finds them
    unconfirmed = _payments(studies).filter(registry.at(), state__in=UNCONFIRMED)
    return unconfirmed.order_by("created_at", "pk")


def ledger(study: Study, *, state: str = "", kind: str = "", query: str = "") -> QuerySet[Payment]:
    """Newest first; `query` is looked for in codes, causes and reasons."""
    found = _listed(_one_by_one(study))
    if state:
        found = found.filter(state=state)
    if kind:
        found = found.filter(kind=kind)
    if query:
        found = found.filter(
            Q(assignment__person__participant__code__icontains=query)
            | Q(cause__icontains=query)
            | Q(reason__icontains=query)
        )
    return found


def latest_payments(study: Study, count: int) -> list[Payment]:
    """The newest rows of the ledger."""
    return list(_listed(_one_by_one(study))[:count])


def notices(study: Study) -> QuerySet[Call]:
    """Messages to people, newest first."""
    sent = Call.objects.filter(kind=CallKind.MESSAGE, campaign__study=study).order_by("-pk")
    return sent.select_related("assignment__person__participant", "created_by")


def _submitted(studies: Collection[Study], which: Q) -> QuerySet[Assignment]:
    of_study = Assignment.objects.filter(campaign__in=Campaign.objects.filter(study__in=studies))
    found = of_study.filter(which, state=AssignmentState.SUBMITTED).exclude(registry.at(vouches=False))
    # few among many: by their keys, which an index tells
    return Assignment.objects.filter(pk__in=found)


def _payments(studies: Collection[Study]) -> QuerySet[Payment]:
    rows = Payment.objects.filter(campaign__study__in=studies)
    return rows.select_related("assignment", "assignment__person__participant", "campaign")


def _listed(payments: QuerySet[Payment]) -> QuerySet[Payment]:
    """Newest first, with what a page or a file says of each, and no more."""
    return payments.select_related("assignment__person__participant").only(*_LISTED).order_by("-pk")


_LISTED = (
    "environment", "kind", "cause", "amount_cents", "fee_cents", "tax_cents", "state", "last_error", "created_at",
    "confirmed_at", "reason", "assignment__person__participant__code",
)  # fmt: skip


def _one_by_one(study: Study) -> QuerySet[Payment]:
    """Each payment's campaign looked up: in the order of their keys, a page of them ends the search."""
    return Payment.objects.filter(Exists(Campaign.objects.filter(pk=OuterRef("campaign"), study=study)))


@dataclass(frozen=True, kw_only=True)
class PlaceCount:
    """Assignments of one campaign, in HITs of one size, in one state."""

    campaign: int
    #: None where the recruiter has not told the HIT yet
    hit_size: int | None
    state: str
    count: int


@dataclass(frozen=True, kw_only=True)
class HitCount:
    """HITs of one campaign and one size in one state."""

    campaign: int
    size: int
    state: str
    count: int


@dataclass(frozen=True, kw_only=True)
class PeopleCount:
    """People of one campaign whose assignments are in one state: those whom nobody has deleted."""

    campaign: int
    state: str
    count: int
    #: a session was opened
    begun: int
    #: every trial answered
    finished: int


@dataclass(frozen=True, kw_only=True)
class Paid:
    """Payments of one campaign and one kind through one recruiter in one state."""

    campaign: int
    environment: str
    kind: str
    state: str
    count: int
    amount_cents: int
    fee_cents: int
    #: of the fees
    tax_cents: int

    @property
    def cents(self) -> int:
        return self.amount_cents + self.fee_cents


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Where a study's places and its money are."""

    campaigns: Mapping[int, Campaign]
    places: tuple[PlaceCount, ...]
    hits: tuple[HitCount, ...]
    known: tuple[PeopleCount, ...]
    payments: tuple[Paid, ...]
    #: when the oldest payment was promised that is not confirmed
    waiting_since: datetime | None

    @cached_property
    def currencies(self) -> list[str]:
        """Of the campaigns that pay people; the usual one where none does. Sums are made in one of them."""
        paying = {one.currency for one in self.campaigns.values() if one.capabilities.vouches}
        return money.ordered(paying or {money.USUAL})

    def of(self, currency: str) -> Tally:
        """The part whose money is in this currency."""
        kept = {pk: one for pk, one in self.campaigns.items() if one.currency == currency}
        if len(kept) == len(self.campaigns):
            return self
        payments = tuple(row for row in self.payments if row.campaign in kept)
        is_waiting = any(row.state != WriteState.CONFIRMED for row in payments)
        return Tally(
            campaigns=kept,
            places=tuple(row for row in self.places if row.campaign in kept),
            hits=tuple(row for row in self.hits if row.campaign in kept),
            known=tuple(row for row in self.known if row.campaign in kept),
            payments=payments,
            waiting_since=_waiting_since(kept) if is_waiting else None,
        )

    def people(self, states: Collection[str]) -> int:
        return sum(row.count for row in self.places if row.state in states)

    def hits_by_state(self, campaign: int) -> dict[str, int]:
        found: Counter[str] = Counter()
        for row in self.hits:
            if row.campaign == campaign:
                found[row.state] += row.count
        return found

    def cents(self, states: Collection[str]) -> int:
        return sum(row.cents for row in self.payments if row.state in states)

    def rows(self, *, state: str = "", kind: str = "") -> int:
        """Of the ledger: all, or those in a state, or of a kind."""
        return sum(row.count for row in self.payments if state in ("", row.state) and kind in ("", row.kind))

    def extra_cents(self, states: Collection[str]) -> int:
        """Bonuses and compensations."""
        return sum(row.cents for row in self.payments if row.state in states and row.kind != CallKind.REWARD)


def tally_of(study: Study) -> Tally:
    campaigns = {campaign.pk: campaign for campaign in Campaign.objects.filter(study=study)}
    standing, hits, payments = list(_standing(campaigns)), _hits(campaigns), tuple(_paid(campaigns))
    return Tally(
        campaigns=campaigns,
        places=tuple(_places(campaigns, standing, hits)),
        hits=hits,
        known=tuple(_known(study, standing)),
        payments=payments,
        waiting_since=_waiting_since(campaigns) if any(row.state != WriteState.CONFIRMED for row in payments) else None,
    )


def _paid(campaigns: Collection[int]) -> Iterator[Paid]:
    """A study pays few different amounts: payments of one are counted, and nothing is added up row by row."""
    rows = Payment.objects.filter(campaign__in=list(campaigns)).order_by()
    kinds = rows.values_list("campaign", "kind", "state", "environment", "amount_cents", "fee_cents", "tax_cents")
    sums: dict[tuple[int, str, str, str], Counter[str]] = {}
    for campaign, kind, state, environment, amount, fee, tax, count in kinds.annotate(n=Count("*")):
        found = sums.setdefault((campaign, kind, state, environment), Counter())
        found.update(count=count, amount_cents=count * amount, fee_cents=count * fee, tax_cents=count * tax)
    for (campaign, kind, state, environment), found in sums.items():
        yield Paid(
            campaign=campaign,
            kind=kind,
            state=state,
            environment=environment,
            count=found["count"],
            amount_cents=found["amount_cents"],
            fee_cents=found["fee_cents"],
            tax_cents=found["tax_cents"],
        )


def _waiting_since(campaigns: Collection[int]) -> datetime | None:
    """Few among many: with their kinds, an index finds them."""
    waiting = Payment.objects.filter(campaign__in=list(campaigns), kind__in=MONEY, state__in=UNCONFIRMED)
    oldest: datetime | None = waiting.aggregate(at=Min("created_at"))["at"]
    return oldest


def place_counts(campaigns: Collection[int]) -> tuple[PlaceCount, ...]:
    return tuple(_places(campaigns, _standing(campaigns), _hits(campaigns)))


def people_counts(study: Study, campaigns: Collection[int]) -> tuple[PeopleCount, ...]:
    return tuple(_known(study, _standing(campaigns)))


@dataclass(frozen=True, kw_only=True)
class _Spending:
    """Assignments of one campaign in one state, as its index tells them: no row and no session is read."""

    campaign: int
    state: str
    count: int
    #: with a HIT; with a person; with a person and their session
    in_hits: int
    people: int
    begun: int


def _standing(campaigns: Collection[int]) -> Iterator[_Spending]:
    """Nearly everybody has a person and a session: the others lie in an index of their own."""
    groups = Assignment.objects.filter(campaign__in=list(campaigns)).order_by().values_list("campaign", "state")
    counted = list(groups.annotate(count=Count("*"), in_hits=Count("hit")))
    lacking = groups.filter(Q(person=None) | Q(session=None)).annotate(
        nobody=Count("pk", filter=Q(person=None)), not_begun=Count("pk", filter=Q(person__isnull=False))
    )
    without = {(campaign, state): (nobody, not_begun) for campaign, state, nobody, not_begun in lacking}
    for campaign, state, count, in_hits in counted:
        nobody, not_begun = without.get((campaign, state), (0, 0))
        people = count - nobody
        yield _Spending(
            campaign=campaign, state=state, count=count, in_hits=in_hits, people=people, begun=people - not_begun
        )


def _hits(campaigns: Collection[int]) -> tuple[HitCount, ...]:
    alike = Hit.objects.filter(campaign__in=list(campaigns)).values_list("campaign", "max_assignments", "state")
    counted = alike.order_by("campaign", "state", "max_assignments").annotate(n=Count("*"))
    return tuple(
        HitCount(campaign=campaign, size=size, state=state, count=count) for campaign, size, state, count in counted
    )


def _places(
    campaigns: Collection[int], standing: Iterable[_Spending], hits: Collection[HitCount]
) -> Iterator[PlaceCount]:
    """By the size of their HITs: nearly all of a campaign have one size, and those of other sizes are looked at."""
    sizes: dict[int, Counter[int]] = {}
    for alike in hits:
        sizes.setdefault(alike.campaign, Counter())[alike.size] += alike.count
    usual = {campaign: max(counts, key=lambda size: counts[size]) for campaign, counts in sizes.items()}
    unusual: dict[tuple[int, str], dict[int, int]] = {}
    if any(len(counts) > 1 for counts in sizes.values()):
        other = Q()
        for campaign, size in usual.items():
            other |= Q(campaign=campaign) & ~Q(max_assignments=size)
        rows = Assignment.objects.filter(campaign__in=list(campaigns), hit__in=Hit.objects.filter(other))
        groups = rows.order_by().values_list("campaign", "state", "hit__max_assignments")
        for campaign, state, size, count in groups.annotate(n=Count("pk")):
            unusual.setdefault((campaign, state), {})[size] = count
    for row in standing:
        others = unusual.get((row.campaign, row.state), {})
        in_usual = row.in_hits - sum(others.values())
        by_size = [(None, row.count - row.in_hits), (usual.get(row.campaign), in_usual), *others.items()]
        for hit_size, count in by_size:
            if count:
                yield PlaceCount(campaign=row.campaign, hit_size=hit_size, state=row.state, count=count)


def _known(study: Study, standing: Iterable[_Spending]) -> Iterator[PeopleCount]:
    """Most have finished: those who have not are looked at."""
    unfinished = Session.objects.filter(study=study, state__in=[one for one in SessionState if one not in FINISHED])
    # By their sessions, which are few; those of other campaigns are in no row of `standing`.
    rows = Assignment.objects.filter(person__isnull=False, session__in=unfinished)
    groups = rows.order_by().values_list("campaign", "state").annotate(n=Count("*"))
    missing = {(campaign, state): count for campaign, state, count in groups}
    for row in standing:
        yield PeopleCount(
            campaign=row.campaign,
            state=row.state,
            count=row.people,
            begun=row.begun,
            finished=row.begun - missing.get((row.campaign, row.state), 0),
        )


def taken_places(campaign: Campaign) -> QuerySet[Assignment]:
    """Assignments that take a place of the campaign for good, or for now."""
    if campaign.capabilities.vouches:
        return campaign.assignments_taken.filter(state__in=LISTED)
    begun = campaign.assignments_taken.exclude(state=AssignmentState.RETURNED)
    begun = begun.exclude(session__state=SessionState.WITHDRAWN).exclude(session__left_at__isnull=False)
    return begun.filter(is_at_work("session"))


def places_left(campaign: Campaign, tally: Tally | None = None) -> int:
    """`tally`: of a page that has made it already, where nothing is decided by the number."""
    if tally is None or not campaign.capabilities.vouches:
        return max(0, campaign.assignments - taken_places(campaign).count())
    taken = sum(row.count for row in tally.places if row.campaign == campaign.pk and row.state in LISTED)
    return max(0, campaign.assignments - taken)


def unaccepted_places(campaign: Campaign) -> int:
    """Places that nobody under way has accepted either: what is left for those of whom none invents an id."""
    if not campaign.capabilities.vouches:
        return places_left(campaign)
    held = campaign.assignments_taken.exclude(state=AssignmentState.RETURNED)
    return max(0, campaign.assignments - held.count())


def free_sessions(study: Study, tally: Tally | None = None) -> int:
    """Sessions of the plan that nobody keeps and no live campaign has promised. `tally`: as for `places_left`."""
    campaigns = tally.campaigns.values() if tally is not None else study.campaigns.all()
    promising = (one for one in campaigns if one.state == CampaignState.LIVE)
    promised = sum(places_left(campaign, tally) for campaign in promising)
    return max(0, study.planned_sessions - kept_slots(study) - promised)
