"""What a person should look at now, and what they can do about it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from humanexp.core import clock
from humanexp.participation.models import DamagedPicture, Session, SessionState
from humanexp.participation.selectors.damaged_pictures import damaged_files
from humanexp.recruitment import money
from humanexp.recruitment.models import (
    Assignment,
    Campaign,
    Environment,
    Evidence,
    HitWrite,
    HitWriteKind,
    Message,
    Pause,
    Payment,
    PaymentKind,
    SenderLease,
)
from humanexp.recruitment.selectors.books import open_differences
from humanexp.recruitment.selectors.disposals import Disposal, disposals
from humanexp.recruitment.selectors.figures import money_of
from humanexp.recruitment.selectors.payments import unmatched, waiting_payments
from humanexp.recruitment.selectors.rejections import proposed_rejections
from humanexp.recruitment.selectors.tally import Tally
from humanexp.recruitment.states import AssignmentState, CampaignState, WriteState
from humanexp.studies.models import Study

#: Of one kind, so many are told one by one.
MOST = 5
#: The recruiter is asked every minute; not for so long, and something is wrong.
ASKED_WITHIN = timedelta(minutes=5)
#: Seen here, and not listed by the recruiter.
BEGUN = (AssignmentState.OPENED, AssignmentState.RETURNED)


@dataclass(frozen=True, kw_only=True)
class Attention:
    """A sentence about what waits for a person, and one about what can be done."""

    text: str
    tone: str = "warn"
    #: damaged-picture, keys, not-asked, ledger, money, cut-hit, open-hit, refused-payment, stuck-payment, removal,
    #: proposal, other-worker, extra, unmatched, not-submitted, taken-over, notice
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
    accounts = list(SenderLease.objects.filter(environment__in={campaign.environment for campaign in campaigns}))
    found = [*_pauses(accounts), *_not_asked(campaigns), *_pictures(study), *_differences(study)]
    found += [*_money(study, accounts, tally), *_hits(study), *_payments(study, tally), *_removals(study, campaigns)]
    if tally is None or tally.people([AssignmentState.SUBMITTED]):
        found += [*_proposals(study), *_submissions(study)]
    if tally is None or tally.people(BEGUN):
        found += [*_not_submitted(study, campaigns, tally), *_taken_over(campaigns)]
    return [*found, *_messages(study)]


def finished_not_submitted(study: Study, campaigns: Collection[Campaign] | None = None) -> QuerySet[Assignment]:
    """People who answered everything, or were kept from it by a damaged picture, and ran out of time to submit it.

    `campaigns`: the study's, where they were read already.
    """
    now = clock.now()
    begun = Assignment.objects.filter(campaign__study=study, state__in=BEGUN, person__isnull=False, compensation=None)
    completed = Session.objects.filter(study=study, state=SessionState.COMPLETED)
    kept_from = DamagedPicture.objects.filter(session__study=study, session__completed_at=None)
    worked = Q(session__in=completed) | Q(session__in=kept_from.values("session"))
    finished = begun.filter(worked).exclude(environment=Environment.LINK)
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


def _pauses(accounts: Collection[SenderLease]) -> Iterator[Attention]:
    for row in accounts:
        if row.pause == Pause.NO:
            continue
        yield Attention(
            text=f"{row.get_environment_display()}: {row.pause_detail}",
            tone="bad",
            kind="keys",
            resolution=_(
                "Nothing is sent. Set keys that are accepted; sending continues automatically within a minute."
            ),
            subject_pk=row.pk,
            environment=row.environment,
        )


def _not_asked(campaigns: Collection[Campaign]) -> Iterator[Attention]:
    """While a campaign is live; a runner that asks and is not answered stands here, too."""
    live = [campaign for campaign in campaigns if campaign.state == CampaignState.LIVE and not campaign.is_link]
    late = clock.now() - ASKED_WITHIN
    asked = [campaign.synced_at or campaign.launched_at for campaign in live]
    if asked and min(asked) < late:
        minutes = int((clock.now() - min(asked)).total_seconds() // 60)
        yield Attention(
            text=ngettext(
                "The recruiter has not been asked for %(count)d minute.",
                "The recruiter has not been asked for %(count)d minutes.",
                minutes,
            )
            % {"count": minutes},
            tone="bad",
            kind="not-asked",
            resolution=_(
                "Submissions since then are unknown here, and none of them is paid. The job runner "
                "(python manage.py run_jobs) asks every minute; its log says what prevents it."
            ),
        )


def _differences(study: Study) -> Iterator[Attention]:
    found = list(open_differences(study).values_list("pk", flat=True))
    if found:
        yield Attention(
            text=ngettext(
                "The ledger and the recruiter differ about %(count)d payment.",
                "The ledger and the recruiter differ about %(count)d payments.",
                len(found),
            )
            % {"count": len(found)},
            tone="bad",
            kind="ledger",
            resolution=_(
                "Bonuses that it concerns wait; all else is paid. Look at what each side says, and say what it is."
            ),
            subject_pk=found[0],
            count=len(found),
        )


def _pictures(study: Study) -> Iterator[Attention]:
    damaged = damaged_files(study)
    for one in damaged[:MOST]:
        place = {"file": one.file, "when": date_format(one.since, "j F, H:i")}
        text = _("The file %(file)s is missing since %(when)s UTC: its picture is no longer shown.")
        if not one.is_missing:
            text = _("The file %(file)s was changed, seen on %(when)s UTC: its picture is no longer shown.")
        stopped = ngettext("It has stopped %(n)d person.", "It has stopped %(n)d people.", one.sessions)
        yield Attention(
            text=f"{text % place} {stopped % {'n': one.sessions}}",
            tone="bad",
            kind="damaged-picture",
            resolution=_(
                "Restore it from the backup, and look at the whole set with verify_stimuli %(set)s; people go on where "
                "they stopped. Whoever runs out of time meanwhile is listed below to be compensated."
            )
            % {"set": one.stimulus_set},
            count=len(damaged),
        )


def _money(study: Study, accounts: Collection[SenderLease], tally: Tally | None) -> Iterator[Attention]:
    asked = [account for account in accounts if account.balance_cents is not None]
    sums = money_of(study, tally) if asked else None
    due = sums.submitted_cents + sums.promised_extra_cents if sums else 0
    for account in asked:
        if account.balance_cents is not None and account.balance_cents < due:
            yield Attention(
                text=_("%(where)s: %(owed)s dollars are due, and %(left)s are in the account.")
                % {
                    "where": account.get_environment_display(),
                    "owed": money.dollars(due),
                    "left": money.dollars(account.balance_cents),
                },
                tone="bad",
                kind="money",
                resolution=_("Add %(missing)s dollars there; everything waiting is paid then.")
                % {"missing": money.dollars(due - account.balance_cents)},
                subject_pk=account.pk,
                environment=account.environment,
            )


def _proposals(study: Study) -> Iterator[Attention]:
    waiting = list(proposed_rejections(study).values_list("assignment_id", "assignment__auto_approves_at"))
    if waiting:
        first, approved_at = waiting[0]
        until = date_format(approved_at, "j F, H:i") if approved_at else "–"
        yield Attention(
            text=ngettext(
                "%(count)d rejection waits for a second person.",
                "%(count)d rejections wait for a second person.",
                len(waiting),
            )
            % {"count": len(waiting)},
            kind="proposal",
            resolution=_(
                "Another owner or payer reads it and agrees, or not. Otherwise the first is approved automatically on "
                "%(until)s UTC."
            )
            % {"until": until},
            subject_pk=first,
            count=len(waiting),
        )


def _removals(study: Study, campaigns: Collection[Campaign]) -> Iterator[Attention]:
    for found in disposals(study, campaigns):
        numbers = {
            "where": capfirst(str(Environment(found.environment).label)),
            "n": found.hits,
            "day": date_format(found.at, "j F Y"),
            "open": ", ".join(_left_open(found)),
        }
        if found.is_over:
            yield Attention(
                text=_("%(where)s removes HITs of this study since %(day)s: %(open)s.") % numbers,
                tone="bad" if found.unconfirmed else "note",
                kind="removal",
                resolution=_(
                    "Removed HITs can no longer be queried, decided or paid there. Every submission has been approved "
                    "automatically, and the answers stay here. Pay a promised bonus another way."
                ),
                environment=found.environment,
                count=found.hits,
            )
            continue
        text = ngettext(
            "%(where)s removes %(n)d HIT of this study on %(day)s, 120 days after its end: %(open)s.",
            "%(where)s removes %(n)d HITs of this study from %(day)s on, 120 days after their end: %(open)s.",
            found.hits,
        )
        yield Attention(
            text=text % numbers,
            kind="removal",
            resolution=_(
                "Submissions and bonuses go with it: nothing can be decided, paid or compared there afterwards; the "
                "answers stay here. Ask the recruiter now, then decide and pay before that day."
            ),
            environment=found.environment,
            count=found.hits,
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
    yield from _not_ended(writes.filter(in_trouble & ends).exclude(last_error=""))
    writes = writes.exclude(ends)
    # A HIT that was stopped before it was sent is refused on purpose.
    refused = writes.filter(state=WriteState.REFUSED, hit__campaign__state="live")
    for write in refused[:MOST]:
        yield Attention(
            text=f"{write.hit}: {write.last_error}",
            tone="bad",
            kind="cut-hit",
            resolution=_("Remove the cause and have it sent again, or stop the campaign."),
            subject_pk=write.hit_id,
        )
    for write in writes.filter(state=WriteState.SENDING).exclude(last_error="")[:MOST]:
        yield Attention(
            text=_("%(hit)s: it is not yet known whether it was published (%(error)s)")
            % {"hit": str(write.hit), "error": write.last_error},
            kind="cut-hit",
            resolution=_("The recruiter is asked before anything is sent again; people may be at work on it already."),
            subject_pk=write.hit_id,
        )


def _not_ended(stops: QuerySet[HitWrite]) -> Iterator[Attention]:
    """HITs of stopped campaigns that the recruiter still shows, as far as anybody knows."""
    first, count = stops.first(), stops.count()
    if first is not None:
        yield Attention(
            text=ngettext(
                "The places of %(count)d stopped HIT can still be taken: the recruiter has not ended it (%(error)s)",
                "The places of %(count)d stopped HITs can still be taken: the recruiter has not ended them (%(error)s)",
                count,
            )
            % {"count": count, "error": first.last_error},
            tone="bad",
            kind="open-hit",
            resolution=_(
                "The request is repeated every minute. If it keeps failing, end the HIT on the recruiter's own page; "
                "this page will notice."
            ),
            subject_pk=first.hit_id,
            count=count,
        )


def _payments(study: Study, tally: Tally | None) -> Iterator[Attention]:
    waiting = waiting_payments(study).select_related(None)
    refused, sending = (tally is None or tally.rows(state=state) for state in (WriteState.REFUSED, WriteState.SENDING))
    for payment in waiting.filter(state=WriteState.REFUSED)[:MOST] if refused else ():
        yield Attention(
            text=f"A {payment.get_kind_display()} was refused: {payment.last_error}",
            tone="bad",
            kind="refused-payment",
            resolution=_("Remove the cause and have it sent again."),
            subject_pk=payment.pk,
        )
    stuck = waiting.filter(state=WriteState.SENDING).exclude(last_error="").first() if sending else None
    if stuck is not None:
        yield Attention(
            text=f"A payment is on its way since {stuck.created_at:%d %B %H:%M}: {stuck.last_error}",
            kind="stuck-payment",
            resolution=_("Nothing has to be done: the recruiter is asked before it is sent again."),
            subject_pk=stuck.pk,
        )


def _submissions(study: Study) -> Iterator[Attention]:
    waiting = list(unmatched(study).order_by("pk").values_list("pk", "evidence"))
    others = [pk for pk, evidence in waiting if evidence == Evidence.OTHER_WORKER]
    for pk in others[:MOST]:
        yield Attention(
            text=_("A submission carries the receipt of a session that was opened under another worker id."),
            kind="other-worker",
            resolution=_("Look at both and decide whom to pay; otherwise it is approved automatically."),
            subject_pk=pk,
        )
    extra = [pk for pk, evidence in waiting if evidence == Evidence.EXTRA]
    if extra:
        yield Attention(
            text=ngettext(
                "%(count)d submission is of a person who had done it in another HIT at the same time.",
                "%(count)d submissions are of people who had done it in another HIT at the same time.",
                len(extra),
            )
            % {"count": len(extra)},
            kind="extra",
            resolution=_(
                "One session of each person counts. Decide whether to pay; otherwise it is approved automatically."
            ),
            subject_pk=extra[0],
            count=len(extra),
        )
    unknown = [pk for pk, evidence in waiting if evidence not in (Evidence.OTHER_WORKER, Evidence.EXTRA)]
    count = len(unknown)
    if count:
        yield Attention(
            text=ngettext(
                "%(count)d submission fits no finished session of ours.",
                "%(count)d submissions fit no finished session of ours.",
                count,
            )
            % {"count": count},
            kind="unmatched",
            resolution=_(
                "Look at each and pay it (it may have been our fault); otherwise it is approved automatically."
            ),
            subject_pk=unknown[0],
            count=count,
        )


def _not_submitted(study: Study, campaigns: Collection[Campaign], tally: Tally | None) -> Iterator[Attention]:
    some_finished = tally is None or any(row.finished for row in tally.known if row.state in BEGUN)
    if not (some_finished or DamagedPicture.objects.exists()):
        return
    found = list(finished_not_submitted(study, campaigns).values_list("pk", flat=True))
    count = len(found)
    if count:
        yield Attention(
            text=ngettext(
                "%(count)d person did their work and never submitted; the recruiter cannot pay them.",
                "%(count)d people did their work and never submitted; the recruiter cannot pay them.",
                count,
            )
            % {"count": count},
            kind="not-submitted",
            resolution=_("Pay a compensation: a bonus on other work of theirs, or a private HIT only for them."),
            subject_pk=found[0],
            count=count,
        )


def _taken_over(campaigns: Collection[Campaign]) -> Iterator[Attention]:
    """One assignment id under two people: returned by the first, accepted by the second."""
    # the recruiter lists one of them: the other is one that we saw begin; few among many, whose names an index tells
    begun = Assignment.objects.filter(campaign__in=campaigns, state__in=BEGUN).exclude(environment=Environment.LINK)
    namesakes = Assignment.objects.filter(
        environment=OuterRef("environment"), assignment_id=OuterRef("assignment_id")
    ).exclude(pk=OuterRef("pk"))
    twice = begun.filter(Exists(namesakes)).order_by().values_list("pk", "assignment_id")
    ids = list(dict.fromkeys(assignment_id for _pk, assignment_id in sorted(twice)))
    count = len(ids)
    if count:
        last = Assignment.objects.filter(campaign__in=campaigns, assignment_id=ids[0]).order_by("-pk").first()
        yield Attention(
            text=ngettext(
                "%(count)d assignment was returned and taken by another person under the same id.",
                "%(count)d assignments were returned and taken by another person under the same id.",
                count,
            )
            % {"count": count},
            tone="note",
            kind="taken-over",
            resolution=_(
                "Nothing has to be done: each person has a row, and only the one whom the recruiter lists is paid."
            ),
            subject_pk=last.pk if last else None,
            count=count,
        )


def _messages(study: Study) -> Iterator[Attention]:
    refused = Message.objects.filter(environment__in=Environment.values, state=WriteState.REFUSED)
    lost = list(refused.filter(assignment__campaign__study=study).values_list("assignment_id", "last_error"))
    count = len(lost)
    if count:
        yield Attention(
            text=ngettext(
                "%(count)d message did not reach its person, or this is not known: %(why)s",
                "%(count)d messages did not reach their people, or this is not known: %(why)s",
                count,
            )
            % {"count": count, "why": lost[0][1]},
            tone="note",
            kind="notice",
            resolution=_("Write again where it matters."),
            subject_pk=lost[0][0],
            count=count,
        )
