"""What a person should look at now, and what they can do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from humanexp.core import clock
from humanexp.experiments.models import SessionState, Study
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
    SenderLease,
)
from humanexp.recruitment.selectors.budgets import liability
from humanexp.recruitment.selectors.payments import unmatched, waiting_payments
from humanexp.recruitment.states import AssignmentState, WriteState

#: Of one kind, so many are told one by one.
MOST = 5


@dataclass(frozen=True, kw_only=True)
class Attention:
    """A sentence about what waits for a person, and one about what can be done."""

    text: str
    tone: str = "warn"
    #: keys, ledger, money, refused-payment, stuck-payment, unmatched, other-worker, not-submitted, cut-hit, taken-over
    kind: str = ""
    resolution: str = ""
    #: of the payment, the assignment or the HIT, by kind
    subject_pk: int | None = None
    count: int = 1
    #: of a recruiter's account: pauses and money
    environment: str = ""


def attention(study: Study) -> list[Attention]:
    """The gravest first; empty when all is well."""
    return [
        found
        for look in (_pauses, _money, _hits, _payments, _submissions, _not_submitted, _taken_over, _messages)
        for found in look(study)
    ]


def finished_not_submitted(study: Study) -> QuerySet[Assignment]:
    """People who answered everything, and whose assignment ran out before the recruiter listed it."""
    now = clock.now()
    finished = Assignment.objects.filter(
        campaign__study=study, session__state=SessionState.COMPLETED, person__isnull=False, compensation=None
    ).exclude(environment=Environment.LINK)
    over = Q(state=AssignmentState.RETURNED)
    for campaign in Campaign.objects.filter(study=study, compensates=None):
        ended = now - campaign.assignment_duration
        over |= Q(campaign=campaign, state=AssignmentState.OPENED, opened_at__lt=ended)
    paid = Assignment.objects.filter(payments__kind="compensation", campaign__study=study)
    causes = set(paid.values_list("payments__cause", flat=True))
    keys = [int(cause.rpartition("-")[2]) for cause in causes if cause.startswith("assignment-")]
    return (
        finished.filter(over)
        .exclude(pk__in=keys)
        .select_related("person__participant", "session", "campaign")
        .order_by("pk")
    )


def _pauses(study: Study) -> Iterator[Attention]:
    environments = set(Campaign.objects.filter(study=study).values_list("environment", flat=True))
    for row in SenderLease.objects.filter(environment__in=environments).exclude(pause=Pause.NO):
        is_keys = row.pause == Pause.KEYS
        yield Attention(
            text=f"{row.get_environment_display()}: {row.pause_detail}",
            tone="bad",
            kind="keys" if is_keys else "ledger",
            resolution=_("Nothing is sent. Set keys that are accepted; sending goes on by itself within a minute.")
            if is_keys
            else _("Nothing is sent. Find out about the payment, then compare the books again."),
            subject_pk=row.pk,
            environment=row.environment,
        )


def _money(study: Study) -> Iterator[Attention]:
    owed = liability(study)
    due = owed.submitted_cents + owed.promised_cents
    for environment in set(Campaign.objects.filter(study=study).values_list("environment", flat=True)):
        account = SenderLease.objects.filter(environment=environment, balance_cents__isnull=False).first()
        if account is not None and account.balance_cents is not None and account.balance_cents < due:
            yield Attention(
                text=_("%(where)s: %(owed)s dollars are due, and %(left)s are in the account.")
                % {
                    "where": account.get_environment_display(),
                    "owed": money.dollars(due),
                    "left": money.dollars(account.balance_cents),
                },
                tone="bad",
                kind="money",
                resolution=_("Add %(missing)s dollars there; everything waiting is paid then, the oldest first.")
                % {"missing": money.dollars(due - account.balance_cents)},
                subject_pk=account.pk,
                environment=environment,
            )


def _hits(study: Study) -> Iterator[Attention]:
    writes = HitWrite.objects.filter(hit__campaign__study=study).select_related("hit")
    # A HIT that was stopped before it was sent is refused on purpose.
    refused = writes.filter(state=WriteState.REFUSED, hit__campaign__state="live").exclude(kind=HitWriteKind.EXPIRE)
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
            text=_("%(hit)s: nobody knows yet whether it was published (%(error)s)")
            % {"hit": str(write.hit), "error": write.last_error},
            kind="cut-hit",
            resolution=_("The recruiter is asked before anything is sent again; people may be at work on it already."),
            subject_pk=write.hit_id,
        )


def _payments(study: Study) -> Iterator[Attention]:
    waiting = waiting_payments(study)
    for payment in waiting.filter(state=WriteState.REFUSED)[:MOST]:
        yield Attention(
            text=f"A {payment.get_kind_display()} was refused: {payment.last_error}",
            tone="bad",
            kind="refused-payment",
            resolution=_("Remove the cause and have it sent again."),
            subject_pk=payment.pk,
        )
    stuck = waiting.filter(state=WriteState.SENDING).exclude(last_error="").first()
    if stuck is not None:
        yield Attention(
            text=f"A payment is on its way since {stuck.created_at:%d %B %H:%M}: {stuck.last_error}",
            kind="stuck-payment",
            resolution=_("Nothing has to be done: the recruiter is asked before it is sent again."),
            subject_pk=stuck.pk,
        )


def _submissions(study: Study) -> Iterator[Attention]:
    others = unmatched(study).filter(evidence=Evidence.OTHER_WORKER)
    for row in others[:MOST]:
        yield Attention(
            text=_("A submission carries the receipt of a session that was opened under another worker id."),
            kind="other-worker",
            resolution=_("Look at both and decide whom to pay; if nobody looks, time approves it."),
            subject_pk=row.pk,
        )
    count = unmatched(study).exclude(evidence=Evidence.OTHER_WORKER).count()
    first = unmatched(study).exclude(evidence=Evidence.OTHER_WORKER).first()
    if first is not None:
        yield Attention(
            text=ngettext(
                "%(count)d submission fits no finished session of ours.",
                "%(count)d submissions fit no finished session of ours.",
                count,
            )
            % {"count": count},
            kind="unmatched",
            resolution=_("Look at each and pay it (it may have been our fault); if nobody looks, time approves it."),
            subject_pk=first.pk,
            count=count,
        )


def _not_submitted(study: Study) -> Iterator[Attention]:
    found = finished_not_submitted(study)
    count, first = found.count(), found.first()
    if first is not None:
        yield Attention(
            text=ngettext(
                "%(count)d person finished and never submitted; the recruiter cannot pay them.",
                "%(count)d people finished and never submitted; the recruiter cannot pay them.",
                count,
            )
            % {"count": count},
            kind="not-submitted",
            resolution=_("Pay a compensation: a bonus on other work of theirs, or a private HIT for them alone."),
            subject_pk=first.pk,
            count=count,
        )


def _taken_over(study: Study) -> Iterator[Attention]:
    """One assignment id under two people: returned by the first, accepted by the second."""
    twice = (
        Assignment.objects.filter(campaign__study=study)
        .exclude(environment=Environment.LINK)
        .order_by()
        .values("environment", "assignment_id")
        .annotate(n=Count("pk"))
        .filter(n__gt=1)
    )
    count = twice.count()
    if count:
        ids = list(twice.values_list("assignment_id", flat=True)[:1])
        last = Assignment.objects.filter(campaign__study=study, assignment_id__in=ids).order_by("-pk").first()
        yield Attention(
            text=ngettext(
                "%(count)d assignment was returned and taken by somebody else under the same id.",
                "%(count)d assignments were returned and taken by somebody else under the same id.",
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
    lost = Message.objects.filter(assignment__campaign__study=study, state=WriteState.REFUSED)
    count, first = lost.count(), lost.first()
    if first is not None:
        yield Attention(
            text=ngettext(
                "%(count)d message did not reach its person, or nobody knows: %(why)s",
                "%(count)d messages did not reach their people, or nobody knows: %(why)s",
                count,
            )
            % {"count": count, "why": first.last_error},
            tone="note",
            kind="notice",
            resolution=_("Write again where it matters."),
            subject_pk=first.assignment_id,
            count=count,
        )
