from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, Q, QuerySet, Sum

from humanexp.core import clock
from humanexp.experiments.models import Session, SessionState, Study
from humanexp.recruitment import pricing
from humanexp.recruitment.models import Assignment, Campaign, Payment
from humanexp.recruitment.models.campaigns import UNMATCHED
from humanexp.recruitment.selectors.payments import waiting_payments
from humanexp.recruitment.selectors.wages import ENOUGH
from humanexp.recruitment.states import LISTED, AssignmentState, WriteState


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a study's people are. `opened` to `returned` is what we saw; the rest is what recruiters list."""

    places: int
    opened: int
    under_way: int
    returned: int
    #: submitted, whatever became of it
    listed: int
    submitted: int
    unmatched: int
    approved: int
    rejected: int
    quoted_cents: int
    spent_cents: int
    #: planned or on its way
    promised_cents: int
    waiting: int
    oldest_waiting: timedelta | None
    median_minutes: float | None
    hourly_cents: int | None
    synced_at: datetime | None

    @property
    def spent_fraction(self) -> float:
        return min(1.0, self.spent_cents / self.quoted_cents) if self.quoted_cents else 0.0


@dataclass(frozen=True, kw_only=True)
class OpenedBin:
    """Sessions begun and finished in one stretch of time."""

    start: datetime
    opened: int
    completed: int


def progress(study: Study) -> Progress:
    campaigns = list(Campaign.objects.filter(study=study, compensates=None))
    people = Assignment.objects.filter(campaign__study=study).aggregate(
        opened=Count("pk", filter=Q(opened_at__isnull=False)),
        under_way=Count("pk", filter=Q(state=AssignmentState.OPENED)),
        returned=Count("pk", filter=Q(state=AssignmentState.RETURNED)),
        listed=Count("pk", filter=Q(state__in=LISTED)),
        submitted=Count("pk", filter=Q(state=AssignmentState.SUBMITTED)),
        unmatched=Count("pk", filter=Q(state=AssignmentState.SUBMITTED, evidence__in=UNMATCHED, cleared_at=None)),
        approved=Count("pk", filter=Q(state=AssignmentState.APPROVED)),
        rejected=Count("pk", filter=Q(state=AssignmentState.REJECTED)),
    )
    money = Payment.objects.filter(assignment__campaign__study=study)
    waiting = waiting_payments(study)
    oldest = waiting.first()
    minutes = _median_minutes(study)
    rewards = [campaign.reward_cents for campaign in campaigns if campaign.reward_cents]
    return Progress(
        places=sum(campaign.assignments for campaign in campaigns),
        quoted_cents=sum(campaign.quoted_cents for campaign in campaigns),
        spent_cents=_sum(money.filter(state=WriteState.CONFIRMED)),
        promised_cents=_sum(money.filter(state__in=[WriteState.PLANNED, WriteState.SENDING])),
        waiting=waiting.count(),
        oldest_waiting=clock.now() - oldest.created_at if oldest else None,
        median_minutes=minutes,
        hourly_cents=pricing.hourly_cents(reward_cents=max(rewards), minutes=minutes) if rewards and minutes else None,
        synced_at=max((c.synced_at for c in campaigns if c.synced_at), default=None),
        **people,
    )


def sessions_over_time(study: Study, *, bins: int = 24) -> list[OpenedBin]:
    """Begun and finished sessions in equal stretches, from the first one to now."""
    sessions = Session.objects.filter(study=study).exclude(state=SessionState.WITHDRAWN)
    start = sessions.aggregate(first=Min("opened_at"))["first"]
    if start is None:
        return []
    width = max((clock.now() - start) / bins, timedelta(minutes=1))
    counts = sessions.aggregate(
        **{
            f"{moment}_{number}": Count("pk", filter=_within(moment, start + number * width, width, number == bins - 1))
            for moment in ("opened_at", "completed_at")
            for number in range(bins)
        }
    )
    return [
        OpenedBin(
            start=start + number * width,
            opened=counts[f"opened_at_{number}"],
            completed=counts[f"completed_at_{number}"],
        )
        for number in range(bins)
    ]


def _within(moment: str, start: datetime, width: timedelta, is_last: bool) -> Q:
    since = Q(**{f"{moment}__gte": start})
    return since if is_last else since & Q(**{f"{moment}__lt": start + width})


def _median_minutes(study: Study) -> float | None:
    finished = Session.objects.filter(study=study, completed_at__isnull=False).order_by("-pk")
    rows = finished.values_list("opened_at", "completed_at")[:ENOUGH]
    minutes = sorted((completed - opened).total_seconds() / 60 for opened, completed in rows if completed)
    if not minutes:
        return None
    middle = len(minutes) // 2
    return minutes[middle] if len(minutes) % 2 else (minutes[middle - 1] + minutes[middle]) / 2


def _sum(payments: QuerySet[Payment]) -> int:
    found = payments.aggregate(amounts=Sum("amount_cents"), fees=Sum("fee_cents"))
    return (found["amounts"] or 0) + (found["fees"] or 0)
