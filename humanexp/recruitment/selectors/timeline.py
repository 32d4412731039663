from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, Value

from humanexp.core import clock
from humanexp.experiments.models import Session, SessionState, Study
from humanexp.recruitment.selectors.moments import Epoch, Whole


@dataclass(frozen=True, kw_only=True)
class OpenedBin:
    """Sessions begun and finished in one stretch of time."""

    start: datetime
    opened: int
    completed: int


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
