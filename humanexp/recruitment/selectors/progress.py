from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, Value

from humanexp.core import clock
from humanexp.experiments.models import Session, SessionState, Study
from humanexp.recruitment.selectors.moments import Epoch, Whole
from humanexp.recruitment.selectors.tally import Tally, tally_of
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


def progress(study: Study, tally: Tally | None = None) -> Progress:
    """With the tally of a page that has made it already, nothing is counted again."""
    tally = tally or tally_of(study)
    campaigns = [campaign for campaign in tally.campaigns.values() if not campaign.is_compensation]
    waiting = [row for row in tally.payments if row.state != WriteState.CONFIRMED]
    oldest = min((row.oldest for row in waiting), default=None)
    return Progress(
        places=sum(campaign.assignments for campaign in campaigns),
        opened=sum(row.opened for row in tally.places),
        under_way=tally.people([AssignmentState.OPENED]),
        returned=tally.people([AssignmentState.RETURNED]),
        listed=tally.people(LISTED),
        submitted=tally.people([AssignmentState.SUBMITTED]),
        unmatched=sum(row.unmatched for row in tally.places),
        approved=tally.people([AssignmentState.APPROVED]),
        rejected=tally.people([AssignmentState.REJECTED]),
        quoted_cents=sum(campaign.quoted_cents for campaign in campaigns),
        spent_cents=tally.cents([WriteState.CONFIRMED]),
        promised_cents=tally.cents([WriteState.PLANNED, WriteState.SENDING]),
        waiting=sum(row.count for row in waiting),
        oldest_waiting=clock.now() - oldest if oldest else None,
        synced_at=max((c.synced_at for c in campaigns if c.synced_at), default=None),
    )


def sessions_over_time(study: Study, *, bins: int = 24) -> list[OpenedBin]:
    """Begun and finished sessions in equal stretches, from the first one to now."""
    sessions = Session.objects.filter(study=study).exclude(state=SessionState.WITHDRAWN)
    start = sessions.aggregate(first=Min("opened_at"))["first"]
    if start is None:
        return []
    width = max((clock.now() - start) / bins, timedelta(minutes=1))

    def stretch_of(moment: str) -> Whole:
        return Whole((Epoch(moment) - Value(start.timestamp())) / Value(width.total_seconds()))

    opened, completed = [0] * bins, [0] * bins
    stretches = sessions.order_by().values_list(stretch_of("opened_at"), stretch_of("completed_at"))
    for begun, finished, count in stretches.annotate(n=Count("pk")):
        opened[_clipped(begun, bins)] += count
        if finished is not None:
            completed[_clipped(finished, bins)] += count
    return [
        OpenedBin(start=start + number * width, opened=opened[number], completed=completed[number])
        for number in range(bins)
    ]


def _clipped(stretch: float, stretches: int) -> int:
    """The last one holds what has just happened."""
    return min(max(int(stretch), 0), stretches - 1)
