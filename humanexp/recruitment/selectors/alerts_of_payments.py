"""What waits for a person in the outboxes: money that is short, HITs and payments that did not arrive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from django.db.models import Count, F, Q, Sum

from humanexp.recruitment import money, recruiters
from humanexp.recruitment.models import EXTRAS, OFFERS, Assignment, Call, CallKind, Hit, Payment
from humanexp.recruitment.selectors.budgets import places_cents
from humanexp.recruitment.selectors.figures import money_of
from humanexp.recruitment.selectors.found_alerts import Found, Looked, counted, told
from humanexp.recruitment.selectors.payments import waiting_payments
from humanexp.recruitment.selectors.state_counts import PlaceCount
from humanexp.recruitment.states import UNSETTLED, AssignmentState, CampaignState, WriteState

#: Of one kind, so many are told one by one.
MOST = 5


def due_money(looked: Looked) -> Iterator[Found]:
    """Where an account holds less than is due through it."""
    asked = [(account, account.balance_cents) for account in looked.accounts if account.balance_cents is not None]
    due_in = _due(looked) if asked else {}
    for account, left in asked:
        currency = recruiters.currency_of(account.environment)
        for study in looked.studies_at(account.environment):
            due = due_in.get((study, currency), 0)
            if left < due:
                one = told(
                    "money",
                    subject_pk=account.pk,
                    environment=account.environment,
                    where=recruiters.name_of(account.environment),
                    owed=money.shown(due, currency),
                    left=money.shown(left, currency),
                    missing=money.shown(due - left, currency),
                )
                yield study, one


def _due(looked: Looked) -> Mapping[tuple[int, str], int]:
    """By study and currency: work that was submitted, and bonuses that were promised."""
    if looked.tally is not None:
        [study] = looked.studies
        sums = money_of(looked.tally)
        return {(study, one.currency): one.submitted_cents + one.promised_extra_cents for one in sums}
    found: Counter[tuple[int, str]] = Counter()
    by_pk = {campaign.pk: campaign for campaign in looked.campaigns}
    places: dict[int, list[PlaceCount]] = {}
    submitted = Assignment.objects.filter(campaign__in=looked.campaigns, state=AssignmentState.SUBMITTED).order_by()
    for pk, size, n in submitted.values_list("campaign", "hit__max_assignments").annotate(n=Count("pk")):
        row = PlaceCount(campaign=pk, hit_size=size, state=AssignmentState.SUBMITTED, count=n)
        places.setdefault(pk, []).append(row)
    for pk, rows in places.items():
        found[by_pk[pk].study_id, by_pk[pk].currency] += places_cents(by_pk, rows, [AssignmentState.SUBMITTED])
    extras = Payment.objects.filter(campaign__in=looked.campaigns, kind__in=EXTRAS, state__in=UNSETTLED).order_by()
    for pk, cents in extras.values_list("campaign").annotate(cents=Sum(F("amount_cents") + F("fee_cents"))):
        found[by_pk[pk].study_id, by_pk[pk].currency] += cents
    return found


def hits(looked: Looked) -> Iterator[Found]:
    """Those that were not published, or are not ended."""
    writes = Call.objects.filter(kind__in=OFFERS, campaign__in=looked.campaigns)
    ends = Q(kind=CallKind.EXPIRE)
    in_trouble = Q(state__in=(WriteState.REFUSED, WriteState.SENDING)) | ends & Q(state=WriteState.PLANNED)
    # of stopped campaigns, those that the recruiter still shows, as far as anybody knows
    not_ended = ends & ~Q(last_error="")
    # A HIT that was stopped before it was sent is refused on purpose.
    refused = ~ends & Q(state=WriteState.REFUSED, campaign__state=CampaignState.LIVE)
    unknown = ~ends & Q(state=WriteState.SENDING) & ~Q(last_error="")
    rows = writes.filter(in_trouble).filter(not_ended | refused | unknown).order_by("pk")
    columns = ("campaign__study", "kind", "state", "last_error", "hit_id", "hit__number", "campaign")
    found: dict[tuple[str, int], list[tuple[int, str, str]]] = {}
    for study, kind, state, error, hit, number, campaign in rows.values_list(*columns):
        name = str(Hit(number=number, campaign_id=campaign))
        refused_or_not = "cut-hit" if state == WriteState.REFUSED else "doubtful-hit"
        which = "open-hit" if kind == CallKind.EXPIRE else refused_or_not
        found.setdefault((which, study), []).append((hit, name, error))
    for (which, study), some in found.items():
        if which == "open-hit":
            yield study, told(which, subject_pk=some[0][0], count=len(some), error=some[0][2])
    for kind in ("cut-hit", "doubtful-hit"):
        for (which, study), some in found.items():
            if which == kind:
                for hit, name, error in some[:MOST]:
                    yield study, told(kind, subject_pk=hit, hit=name, error=error)


def payments(looked: Looked) -> Iterator[Found]:
    """Those that were refused, are parked, or do not arrive."""
    tally, told_of = looked.tally, Counter[int]()
    waiting = waiting_payments(*looked.studies.values()).select_related(None)
    states = (WriteState.REFUSED, WriteState.SENDING, WriteState.PARKED)
    refused, sending, parked = (tally is None or tally.rows(state=state) for state in states)
    if refused:
        columns = ("campaign__study", "pk", "kind", "last_error")
        for study, pk, kind, error in waiting.filter(state=WriteState.REFUSED).values_list(*columns):
            told_of[study] += 1
            if told_of[study] <= MOST:
                what = Payment(kind=kind).get_kind_display()
                yield study, told("refused-payment", subject_pk=pk, what=what, error=error)
    if parked:
        yield from counted("parked", waiting.filter(state=WriteState.PARKED).values_list("campaign__study", "pk"))
    if sending:
        stuck = waiting.filter(state=WriteState.SENDING).exclude(last_error="")
        seen: set[int] = set()
        for study, pk, at, error in stuck.values_list("campaign__study", "pk", "created_at", "last_error"):
            if study not in seen:
                seen.add(study)
                yield study, told("stuck-payment", subject_pk=pk, since=f"{at:%d %B %H:%M}", error=error)
