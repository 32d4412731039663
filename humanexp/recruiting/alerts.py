"""What a person should look at now, and what they can do about it: of one study, or of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.db.models import Count, Exists, F, OuterRef, Q, Sum
from django.utils.formats import date_format
from django.utils.text import capfirst

from humanexp.core import clock
from humanexp.ledger.budgets import places_cents
from humanexp.ledger.figures import money_of
from humanexp.ledger.models import EXTRAS, OFFERS, Call, CallKind, Payment
from humanexp.ledger.owed import BEGUN, finished_not_submitted, held_by_policies
from humanexp.ledger.payments import PlaceCount, Tally, unmatched, waiting_payments
from humanexp.ledger.reconciliation import open_differences
from humanexp.ledger.rejections import proposed_rejections
from humanexp.ledger.terms import policy_of
from humanexp.ledger.wages import awaiting_top_ups
from humanexp.participation.models import DamagedPicture, SessionState
from humanexp.participation.monitoring import damaged_files_of
from humanexp.recruiters import money, registry
from humanexp.recruiters.models import Assignment, Campaign, Evidence, Hit, Pause, RecruiterAccount
from humanexp.recruiters.states import UNSETTLED, AssignmentState, CampaignState, WriteState
from humanexp.recruiting.alert_words import WORDS
from humanexp.recruiting.approvals import approvals_of
from humanexp.recruiting.watch import open_holds
from humanexp.studies.models import Study
from humanexp.studies.waiting import Waiting, in_words

#: Of one kind, so many are told one by one.
MOST = 5


#: The key of a study, and what was found there.
Found = tuple[int, Waiting]


@dataclass(frozen=True, kw_only=True)
class Looked:
    """Where it is looked: studies that have campaigns, by their keys, and all their campaigns."""

    studies: Mapping[int, Study]
    campaigns: Sequence[Campaign]
    #: of the only study, where a page has made one
    tally: Tally | None = None

    @cached_property
    def by_study(self) -> Mapping[int, list[Campaign]]:
        found: dict[int, list[Campaign]] = {}
        for campaign in self.campaigns:
            found.setdefault(campaign.study_id, []).append(campaign)
        return found

    @cached_property
    def accounts(self) -> list[RecruiterAccount]:
        used = {campaign.environment for campaign in self.campaigns}
        return list(RecruiterAccount.objects.filter(environment__in=used))

    def studies_at(self, environment: str) -> list[int]:
        """Those that were published through an account."""
        return list(dict.fromkeys(one.study_id for one in self.campaigns if one.environment == environment))


def counted(name: str, keys: Iterable[tuple[int, int]]) -> Iterator[Found]:
    """All of a study in one sentence, about the first of them; nothing where there are none."""
    by_study: dict[int, list[int]] = {}
    for study, key in keys:
        by_study.setdefault(study, []).append(key)
    return ((study, in_words(name, WORDS, subject_pk=pks[0], count=len(pks))) for study, pks in by_study.items())


def due_money(looked: Looked) -> Iterator[Found]:
    """Where an account holds less than is due through it."""
    asked = [(account, account.balance_cents) for account in looked.accounts if account.balance_cents is not None]
    due_in = _due(looked) if asked else {}
    for account, left in asked:
        currency = registry.currency_of(account.environment)
        for study in looked.studies_at(account.environment):
            due = due_in.get((study, currency), 0)
            if left < due:
                one = in_words(
                    "money",
                    WORDS,
                    subject_pk=account.pk,
                    environment=account.environment,
                    where=registry.name_of(account.environment),
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
            yield study, in_words(which, WORDS, subject_pk=some[0][0], count=len(some), error=some[0][2])
    for kind in ("cut-hit", "doubtful-hit"):
        for (which, study), some in found.items():
            if which == kind:
                for hit, name, error in some[:MOST]:
                    yield study, in_words(kind, WORDS, subject_pk=hit, hit=name, error=error)


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
                yield study, in_words("refused-payment", WORDS, subject_pk=pk, what=what, error=error)
    if parked:
        yield from counted("parked", waiting.filter(state=WriteState.PARKED).values_list("campaign__study", "pk"))
    if sending:
        stuck = waiting.filter(state=WriteState.SENDING).exclude(last_error="")
        seen: set[int] = set()
        for study, pk, at, error in stuck.values_list("campaign__study", "pk", "created_at", "last_error"):
            if study not in seen:
                seen.add(study)
                yield study, in_words("stuck-payment", WORDS, subject_pk=pk, since=f"{at:%d %B %H:%M}", error=error)


#: The recruiter is asked every minute; not for so long, and something is wrong.
ASKED_WITHIN = timedelta(minutes=5)
#: So long before its last day, an ethics approval is spoken of: boards take weeks.
APPROVAL_ENDS_WITHIN = timedelta(days=30)


def attention(study: Study, tally: Tally | None = None) -> list[Waiting]:
    """The gravest first; empty when all is well. `tally`: of the page, where it has made one.

    With it, nothing is looked for in a state that nothing is in.
    """
    return _attention([study], tally).get(study.pk, [])


def attention_of(studies: Collection[Study]) -> Mapping[int, list[Waiting]]:
    """The same of many studies, by their keys, in as many queries as of one; without those in which all is well."""
    return _attention(studies, None)


def _attention(studies: Collection[Study], tally: Tally | None) -> dict[int, list[Waiting]]:
    campaigns = list(
        tally.campaigns.values() if tally is not None else Campaign.objects.filter(study__in=studies) if studies else ()
    )
    of_all = {study.pk: study for study in studies}
    recruited = {campaign.study_id for campaign in campaigns}
    looked = Looked(
        studies={pk: study for pk, study in of_all.items() if pk in recruited}, campaigns=campaigns, tally=tally
    )
    for campaign in campaigns:
        campaign.study = of_all[campaign.study_id]
    found: dict[int, list[Waiting]] = {}
    for study, one in _found(looked, of_all):
        found.setdefault(study, []).append(one.within(of_all[study]))
    return found


def _found(looked: Looked, of_all: Mapping[int, Study]) -> Iterator[Found]:
    if not of_all:
        return
    if not looked.campaigns:
        yield from _pictures(of_all)
        return
    tally = looked.tally
    yield from _approval(looked)
    yield from _pauses(looked)
    yield from _not_asked(looked)
    yield from _places_kept(looked)
    yield from _pictures(of_all)
    yield from _differences(looked)
    yield from _holds(looked)
    yield from due_money(looked)
    yield from hits(looked)
    yield from payments(looked)
    if tally is None or tally.people([AssignmentState.SUBMITTED]):
        yield from _proposals(looked)
        yield from _submissions(looked)
        policies = {pk: policy_of(study) for pk, study in looked.studies.items()}
        for study, held in held_by_policies(looked.studies.values(), policies).items():
            yield study, in_words("settle-cap", WORDS, count=held)
    if tally is None or tally.people(BEGUN):
        yield from _not_submitted(looked)
        yield from _taken_over(looked)
    yield from _rivals(looked)
    yield from _messages(looked)


def _approval(looked: Looked) -> Iterator[Found]:
    for study, approval in approvals_of(looked.studies.values()).items():
        day = date_format(approval.until, "j F Y") if approval.until else ""
        if approval.is_withdrawn:
            yield study, in_words("approval-withdrawn", WORDS)
        elif approval.is_expired:
            yield study, in_words("approval-ended", WORDS, day=day)
        elif approval.until and approval.until - clock.now().date() <= APPROVAL_ENDS_WITHIN:
            yield study, in_words("approval-ends", WORDS, day=day)


def _pauses(looked: Looked) -> Iterator[Found]:
    for row in looked.accounts:
        if row.pause != Pause.NO:
            where, why = registry.name_of(row.environment), row.pause_detail
            kind = "paused" if row.pause == Pause.HAND else "keys"
            one = in_words(kind, WORDS, subject_pk=row.pk, environment=row.environment, where=where, why=why)
            yield from ((study, one) for study in looked.studies_at(row.environment))


def _not_asked(looked: Looked) -> Iterator[Found]:
    """While a campaign is live; a runner that asks and is not answered stands here, too."""
    for study, campaigns in looked.by_study.items():
        live = [one for one in campaigns if one.state == CampaignState.LIVE and one.capabilities.vouches]
        waited = clock.now() - min((one.synced_at or one.launched_at for one in live), default=clock.now())
        if waited > ASKED_WITHIN:
            yield study, in_words("not-asked", WORDS, minutes=int(waited.total_seconds() // 60))


def _places_kept(looked: Looked) -> Iterator[Found]:
    kept = Hit.objects.filter(campaign__in=looked.campaigns, places_kept__gt=0, kept_until__gt=clock.now())
    columns = ("campaign__study", "pk", "environment", "places_kept", "kept_until")
    for study, pk, environment, count, until in kept.order_by("pk").values_list(*columns):
        where = registry.name_of(environment)
        yield study, in_words("places-kept", WORDS, subject_pk=pk, count=count, where=where, day=f"{until:%d %B %Y}")


def _holds(looked: Looked) -> Iterator[Found]:
    """What the program has found in campaigns that run, and paused them for, where their recruiter can do that."""
    for hold in open_holds(looked.campaigns):
        campaign = hold.campaign
        one = in_words(
            hold.reason,
            WORDS,
            subject_pk=campaign.pk,
            count=hold.people,
            where=capfirst(registry.name_of(campaign.environment)),
            hourly=money.shown(hold.measured, campaign.currency),
            least=money.shown(hold.limit, campaign.currency),
            returned=hold.measured,
            limit=hold.limit,
            paused="The campaign was paused by itself." if hold.has_paused else "It was not paused.",
        )
        yield campaign.study_id, one
    waiting = awaiting_top_ups(looked.campaigns)
    for campaign in looked.campaigns:
        if count := waiting.get(campaign.pk):
            where = capfirst(registry.name_of(campaign.environment))
            yield campaign.study_id, in_words("top-up-held", WORDS, subject_pk=campaign.pk, count=count, where=where)


def _differences(looked: Looked) -> Iterator[Found]:
    differences = open_differences(*looked.studies.values())
    yield from counted("ledger", differences.values_list("hit__campaign__study", "pk"))


def _pictures(studies: Mapping[int, Study]) -> Iterator[Found]:
    for study, damaged in damaged_files_of(studies.values()).items():
        for one in damaged[:MOST]:
            stopped = "It has stopped %(n)d person." if one.sessions == 1 else "It has stopped %(n)d people."
            found = in_words(
                "damaged-picture" if one.is_missing else "changed-picture",
                WORDS,
                count=len(damaged),
                file=one.file,
                when=date_format(one.since, "j F, H:i"),
                stopped=stopped % {"n": one.sessions},
                set=one.stimulus_set,
            )
            yield study, found


def _proposals(looked: Looked) -> Iterator[Found]:
    waiting: dict[int, list[tuple[int, datetime | None]]] = {}
    proposed = proposed_rejections(*looked.studies.values())
    columns = ("assignment__campaign__study", "assignment_id", "assignment__auto_approves_at")
    for study, assignment, approved_at in proposed.values_list(*columns):
        waiting.setdefault(study, []).append((assignment, approved_at))
    for study, found in waiting.items():
        first, approved_at = found[0]
        until = date_format(approved_at, "j F, H:i") if approved_at else "–"
        yield study, in_words("proposal", WORDS, subject_pk=first, count=len(found), until=until)


def _submissions(looked: Looked) -> Iterator[Found]:
    kinds: dict[str, str] = {one: one for one in (Evidence.OTHER_WORKER, Evidence.EXTRA, Evidence.NO_PICTURES)}
    keys: dict[str, dict[int, list[int]]] = {kind: {} for kind in (*kinds, "unmatched")}
    rows = unmatched(*looked.studies.values()).order_by("pk")
    for study, pk, evidence in rows.values_list("campaign__study", "pk", "evidence"):
        keys[kinds.get(evidence, "unmatched")].setdefault(study, []).append(pk)
    for study, pks in keys.pop("other-worker").items():
        yield from ((study, in_words("other-worker", WORDS, subject_pk=pk)) for pk in pks[:MOST])
    for kind, found in keys.items():
        yield from counted(kind, [(study, pk) for study, pks in found.items() for pk in pks])


def _not_submitted(looked: Looked) -> Iterator[Found]:
    tally = looked.tally
    some_finished = tally is None or any(row.finished for row in tally.known if row.state in BEGUN)
    if some_finished or DamagedPicture.objects.exists():
        rows = finished_not_submitted(*looked.studies.values(), campaigns=looked.campaigns)
        yield from counted("not-submitted", rows.values_list("campaign__study", "pk"))


def _taken_over(looked: Looked) -> Iterator[Found]:
    """One assignment id under two people: returned by the first, accepted by the second."""
    # the recruiter lists one of them: the other is one that we saw begin; few among many, whose names an index tells
    of_campaigns = Assignment.objects.filter(campaign__in=looked.campaigns)
    begun = of_campaigns.filter(state__in=BEGUN).exclude(registry.at(vouches=False))
    namesakes = Assignment.objects.filter(
        environment=OuterRef("environment"), assignment_id=OuterRef("assignment_id")
    ).exclude(pk=OuterRef("pk"))
    twice = begun.filter(Exists(namesakes)).order_by().values_list("pk", "campaign__study", "assignment_id")
    ids: dict[int, list[str]] = {}
    for _pk, study, assignment_id in sorted(twice):
        if assignment_id not in ids.setdefault(study, []):
            ids[study].append(assignment_id)
    if not ids:
        return
    firsts = {found[0] for found in ids.values()}
    rows = of_campaigns.filter(assignment_id__in=firsts).order_by("pk")
    last = {(study, name): pk for study, name, pk in rows.values_list("campaign__study", "assignment_id", "pk")}
    for study, found in ids.items():
        yield study, in_words("taken-over", WORDS, subject_pk=last.get((study, found[0])), count=len(found))


def _rivals(looked: Looked) -> Iterator[Found]:
    """Several sessions with answers were begun under one id, each in a browser that knew nothing of the others."""
    answered = Q(session__rivals__confirmed_at__isnull=False) & ~Q(session__rivals__state=SessionState.WITHDRAWN)
    rows = Assignment.objects.filter(answered, campaign__in=looked.campaigns).order_by("pk").distinct()
    yield from counted("rivals", rows.values_list("campaign__study", "pk"))


def _messages(looked: Looked) -> Iterator[Found]:
    refused = Call.objects.filter(registry.at(), kind=CallKind.MESSAGE, state=WriteState.REFUSED)
    of_studies = refused.filter(campaign__study__in=looked.studies.values())
    lost: dict[int, list[tuple[int, str]]] = {}
    columns = ("campaign__study", "assignment_id", "last_error")
    for study, assignment, error in of_studies.values_list(*columns):
        lost.setdefault(study, []).append((assignment, error))
    for study, found in lost.items():
        yield study, in_words("notice", WORDS, subject_pk=found[0][0], count=len(found), why=found[0][1])
