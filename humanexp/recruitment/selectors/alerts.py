"""What a person should look at now, and what they can do about it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import ngettext

from humanexp.core import clock
from humanexp.participation.models import DamagedPicture, Session, SessionState
from humanexp.participation.selectors.faults import damaged_files
from humanexp.recruitment import money, recruiters
from humanexp.recruitment.facts import pay_on_leaving
from humanexp.recruitment.models import (
    Assignment,
    Campaign,
    Evidence,
    HitWrite,
    HitWriteKind,
    Message,
    Pause,
    Payment,
    PaymentKind,
    RecruiterAccount,
)
from humanexp.recruitment.selectors.alert_words import WORDS
from humanexp.recruitment.selectors.approvals import approval_of
from humanexp.recruitment.selectors.desk import waiting_in
from humanexp.recruitment.selectors.figures import money_of
from humanexp.recruitment.selectors.payments import unmatched, waiting_payments
from humanexp.recruitment.selectors.pending_removals import Disposal, disposals
from humanexp.recruitment.selectors.reconciliation import open_differences
from humanexp.recruitment.selectors.rejections import proposed_rejections
from humanexp.recruitment.selectors.state_counts import Tally, tally_of
from humanexp.recruitment.states import AssignmentState, CampaignState, WriteState
from humanexp.studies.models import Study

#: Of one kind, so many are told one by one.
MOST = 5
#: The recruiter is asked every minute; not for so long, and something is wrong.
ASKED_WITHIN = timedelta(minutes=5)
#: So long before its last day, an ethics approval is spoken of: boards take weeks.
APPROVAL_ENDS_WITHIN = timedelta(days=30)
#: Seen here, and not listed by the recruiter.
BEGUN = (AssignmentState.OPENED, AssignmentState.RETURNED)


@dataclass(frozen=True, kw_only=True)
class Attention:
    """A sentence about what waits for a person, and one about what can be done."""

    text: str
    tone: str = "warn"
    #: a name of `attention_words.WORDS`
    kind: str = ""
    resolution: str = ""
    #: of the payment, the assignment or the HIT, by kind
    subject_pk: int | None = None
    count: int = 1
    #: of a recruiter's account: pauses and money
    environment: str = ""


def attention(study: Study, tally: Tally | None = None) -> list[Attention]:
    """The gravest first; empty when all is well. `tally`: of the page, where it has made one.

    With it, nothing is looked for in a state that nothing is in.
    """
    campaigns = list(tally.campaigns.values() if tally is not None else Campaign.objects.filter(study=study))
    if not campaigns:
        return list(_pictures(study))
    accounts = list(RecruiterAccount.objects.filter(environment__in={campaign.environment for campaign in campaigns}))
    found = [*_approval(study), *_pauses(accounts), *_not_asked(campaigns), *_pictures(study), *_differences(study)]
    found += _troubles(study)
    found += [*_money(study, accounts, tally), *_hits(study), *_payments(study, tally), *_removals(study, campaigns)]
    if tally is None or tally.people([AssignmentState.SUBMITTED]):
        found += [*_proposals(study), *_submissions(study)]
    if tally is None or tally.people(BEGUN):
        found += [*_not_submitted(study, campaigns, tally), *_taken_over(campaigns)]
    return [*found, *_messages(study)]


def finished_not_submitted(study: Study, campaigns: Collection[Campaign] | None = None) -> QuerySet[Assignment]:
    """People who answered everything, were kept from it by a damaged picture, or left where that is paid, and whose
    time to submit is over.

    `campaigns`: the study's, where they were read already.
    """
    now = clock.now()
    begun = Assignment.objects.filter(campaign__study=study, state__in=BEGUN, person__isnull=False, compensation=None)
    completed = Session.objects.filter(study=study, state=SessionState.COMPLETED)
    kept_from = DamagedPicture.objects.filter(session__study=study, session__completed_at=None)
    worked = Q(session__in=completed) | Q(session__in=kept_from.values("session"))
    if pay_on_leaving(study) != "none":
        left = Q(session__left_at__isnull=False) | Q(session__erase_after__isnull=False)
        worked |= left & Q(campaign__reward_cents__gt=0)
    finished = begun.filter(worked).exclude(recruiters.at(vouches=False))
    over = Q(state=AssignmentState.RETURNED)
    for campaign in Campaign.objects.filter(study=study) if campaigns is None else campaigns:
        if not campaign.is_compensation:
            ended = now - campaign.assignment_duration
            over |= Q(campaign=campaign, state=AssignmentState.OPENED, opened_at__lt=ended)
    # a bonus on other work of the same person names the assignment that it is for
    cause = Concat(Value("assignment-"), Cast(OuterRef("pk"), CharField()), output_field=CharField())
    paid = Payment.objects.filter(kind=PaymentKind.COMPENSATION, assignment__person=OuterRef("person"), cause=cause)
    waiting = finished.filter(over).filter(~Exists(paid))
    return waiting.select_related("person__participant", "session", "campaign").order_by("pk")


def owed_cents(assignment: Assignment) -> int:
    """What such a person is owed: the pay, or of somebody who left, what the study pays for the minutes until then."""
    return owed_of(assignment.campaign, assignment.session, pay=assignment.campaign.reward_cents)


def owed_of(campaign: Campaign, session: Session | None, *, pay: int) -> int:
    """The same where `pay` is what one person gets, in the smallest unit of some currency."""
    if session is None or pay_on_leaving(campaign.study) != "share":
        return pay
    until = session.left_at or (session.withdrawn_at if session.erase_after else None)
    if until is None:
        return pay
    share = (until - session.opened_at) / timedelta(minutes=max(1, campaign.estimated_minutes))
    return max(1, ceil(pay * min(1.0, share)))


def _told(
    kind: str,
    *,
    subject_pk: int | None = None,
    count: int = 1,
    environment: str = "",
    tone: str = "",
    **named: object,
) -> Attention:
    """In the words of its kind, which name `named` and the count."""
    words, named = WORDS[kind], {"count": count, **named}
    return Attention(
        text=str(words.text % named),
        tone=tone or words.tone,
        kind=words.kind or kind,
        resolution=str(words.resolution % named),
        subject_pk=subject_pk,
        count=count,
        environment=environment,
    )


def _counted(kind: str, keys: Sequence[int], **named: str) -> list[Attention]:
    """All of a kind in one sentence, about the first of them; nothing where there are none."""
    return [_told(kind, subject_pk=keys[0], count=len(keys), **named)] if keys else []


def _approval(study: Study) -> Iterator[Attention]:
    approval = approval_of(study)
    day = date_format(approval.until, "j F Y") if approval.until else ""
    if approval.is_withdrawn:
        yield _told("approval-withdrawn")
    elif approval.is_expired:
        yield _told("approval-ended", day=day)
    elif approval.until and approval.until - clock.now().date() <= APPROVAL_ENDS_WITHIN:
        yield _told("approval-ends", day=day)


def _pauses(accounts: Collection[RecruiterAccount]) -> Iterator[Attention]:
    for row in accounts:
        if row.pause != Pause.NO:
            where, why = recruiters.name_of(row.environment), row.pause_detail
            kind = "paused" if row.pause == Pause.HAND else "keys"
            yield _told(kind, subject_pk=row.pk, environment=row.environment, where=where, why=why)


def _not_asked(campaigns: Collection[Campaign]) -> Iterator[Attention]:
    """While a campaign is live; a runner that asks and is not answered stands here, too."""
    live = [
        campaign for campaign in campaigns if campaign.state == CampaignState.LIVE and campaign.capabilities.vouches
    ]
    waited = clock.now() - min((campaign.synced_at or campaign.launched_at for campaign in live), default=clock.now())
    if waited > ASKED_WITHIN:
        yield _told("not-asked", minutes=int(waited.total_seconds() // 60))


def _troubles(study: Study) -> Iterator[Attention]:
    count, overdue = waiting_in(study)
    if overdue:
        yield _told("trouble-overdue", count=overdue)
    if count > overdue:
        yield _told("trouble", count=count - overdue)


def _differences(study: Study) -> list[Attention]:
    return _counted("ledger", list(open_differences(study).values_list("pk", flat=True)))


def _pictures(study: Study) -> Iterator[Attention]:
    damaged = damaged_files(study)
    for one in damaged[:MOST]:
        stopped = ngettext("It has stopped %(n)d person.", "It has stopped %(n)d people.", one.sessions)
        yield _told(
            "damaged-picture" if one.is_missing else "changed-picture",
            count=len(damaged),
            file=one.file,
            when=date_format(one.since, "j F, H:i"),
            stopped=stopped % {"n": one.sessions},
            set=one.stimulus_set,
        )


def _money(study: Study, accounts: Collection[RecruiterAccount], tally: Tally | None) -> Iterator[Attention]:
    asked = [(account, account.balance_cents) for account in accounts if account.balance_cents is not None]
    sums = money_of(tally or tally_of(study)) if asked else ()
    due_in = {one.currency: one.submitted_cents + one.promised_extra_cents for one in sums}
    for account, left in asked:
        currency = recruiters.currency_of(account.environment)
        due = due_in.get(currency, 0)
        if left < due:
            yield _told(
                "money",
                subject_pk=account.pk,
                environment=account.environment,
                where=recruiters.name_of(account.environment),
                owed=money.shown(due, currency),
                left=money.shown(left, currency),
                missing=money.shown(due - left, currency),
            )


def _proposals(study: Study) -> list[Attention]:
    waiting = list(proposed_rejections(study).values_list("assignment_id", "assignment__auto_approves_at"))
    approved_at = waiting[0][1] if waiting else None
    until = date_format(approved_at, "j F, H:i") if approved_at else "–"
    return _counted("proposal", [pk for pk, _at in waiting], until=until)


def _removals(study: Study, campaigns: Collection[Campaign]) -> Iterator[Attention]:
    for found in disposals(study, campaigns):
        yield _told(
            "removed" if found.is_over else "removal",
            tone="note" if found.is_over and not found.unconfirmed else "",
            count=found.hits,
            environment=found.environment,
            where=capfirst(recruiters.name_of(found.environment)),
            day=date_format(found.at, "j F Y"),
            open=", ".join(_left_open(found)),
        )


def _left_open(found: Disposal) -> Iterator[str]:
    undecided = ngettext("%(n)d submission is not decided", "%(n)d submissions are not decided", found.undecided)
    unconfirmed = ngettext("%(n)d payment is not confirmed", "%(n)d payments are not confirmed", found.unconfirmed)
    unasked = ngettext(
        "%(n)d HIT was not asked about since its end", "%(n)d HITs were not asked about since their end", found.unasked
    )
    counts = ((undecided, found.undecided), (unconfirmed, found.unconfirmed), (unasked, found.unasked))
    return (text % {"n": count} for text, count in counts if count)


def _hits(study: Study) -> Iterator[Attention]:
    writes = HitWrite.objects.filter(hit__campaign__study=study).select_related("hit")
    ends = Q(kind=HitWriteKind.EXPIRE)
    in_trouble = Q(state__in=(WriteState.REFUSED, WriteState.SENDING)) | ends & Q(state=WriteState.PLANNED)
    if not writes.filter(in_trouble).exists():
        return  # hardly ever is there any: one question in the place of three
    # of stopped campaigns, those that the recruiter still shows, as far as anybody knows
    not_ended = list(writes.filter(in_trouble & ends).exclude(last_error="").values_list("hit_id", "last_error"))
    yield from _counted("open-hit", [hit for hit, _error in not_ended], error=not_ended[0][1] if not_ended else "")
    # A HIT that was stopped before it was sent is refused on purpose.
    refused = Q(state=WriteState.REFUSED, hit__campaign__state=CampaignState.LIVE)
    unknown = Q(state=WriteState.SENDING) & ~Q(last_error="")
    for kind, which in (("cut-hit", refused), ("doubtful-hit", unknown)):
        for write in writes.exclude(ends).filter(which)[:MOST]:
            yield _told(kind, subject_pk=write.hit_id, hit=write.hit, error=write.last_error)


def _payments(study: Study, tally: Tally | None) -> Iterator[Attention]:
    waiting = waiting_payments(study).select_related(None)
    states = (WriteState.REFUSED, WriteState.SENDING, WriteState.PARKED)
    refused, sending, parked = (tally is None or tally.rows(state=state) for state in states)
    for payment in waiting.filter(state=WriteState.REFUSED)[:MOST] if refused else ():
        what = payment.get_kind_display()
        yield _told("refused-payment", subject_pk=payment.pk, what=what, error=payment.last_error)
    if parked:
        yield from _counted("parked", list(waiting.filter(state=WriteState.PARKED).values_list("pk", flat=True)))
    stuck = waiting.filter(state=WriteState.SENDING).exclude(last_error="").first() if sending else None
    if stuck is not None:
        since = f"{stuck.created_at:%d %B %H:%M}"
        yield _told("stuck-payment", subject_pk=stuck.pk, since=since, error=stuck.last_error)


def _submissions(study: Study) -> Iterator[Attention]:
    keys: dict[str, list[int]] = {"other-worker": [], "extra": [], "unmatched": []}
    kinds: dict[str, str] = {Evidence.OTHER_WORKER: "other-worker", Evidence.EXTRA: "extra"}
    for pk, evidence in unmatched(study).order_by("pk").values_list("pk", "evidence"):
        keys[kinds.get(evidence, "unmatched")].append(pk)
    for pk in keys.pop("other-worker")[:MOST]:
        yield _told("other-worker", subject_pk=pk)
    for kind, found in keys.items():
        yield from _counted(kind, found)


def _not_submitted(study: Study, campaigns: Collection[Campaign], tally: Tally | None) -> list[Attention]:
    some_finished = tally is None or any(row.finished for row in tally.known if row.state in BEGUN)
    if not (some_finished or DamagedPicture.objects.exists()):
        return []
    return _counted("not-submitted", list(finished_not_submitted(study, campaigns).values_list("pk", flat=True)))


def _taken_over(campaigns: Collection[Campaign]) -> Iterator[Attention]:
    """One assignment id under two people: returned by the first, accepted by the second."""
    # the recruiter lists one of them: the other is one that we saw begin; few among many, whose names an index tells
    begun = Assignment.objects.filter(campaign__in=campaigns, state__in=BEGUN).exclude(recruiters.at(vouches=False))
    namesakes = Assignment.objects.filter(
        environment=OuterRef("environment"), assignment_id=OuterRef("assignment_id")
    ).exclude(pk=OuterRef("pk"))
    twice = begun.filter(Exists(namesakes)).order_by().values_list("pk", "assignment_id")
    ids = list(dict.fromkeys(assignment_id for _pk, assignment_id in sorted(twice)))
    if ids:
        last = Assignment.objects.filter(campaign__in=campaigns, assignment_id=ids[0]).order_by("-pk").first()
        yield _told("taken-over", subject_pk=last.pk if last else None, count=len(ids))


def _messages(study: Study) -> list[Attention]:
    refused = Message.objects.filter(recruiters.at(), state=WriteState.REFUSED)
    lost = list(refused.filter(assignment__campaign__study=study).values_list("assignment_id", "last_error"))
    return _counted("notice", [pk for pk, _error in lost], why=lost[0][1] if lost else "")
