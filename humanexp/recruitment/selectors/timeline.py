from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from humanexp.core import clock
from humanexp.experiments.models import Session, SessionState, Study


@dataclass(frozen=True, kw_only=True)
class OpenedBin:
    """Sessions begun and finished in one stretch of time."""

    start: datetime
    opened: int
    completed: int


def sessions_over_time(study: Study, *, bins: int = 24) -> list[OpenedBin]:
    """Begun and finished sessions in equal stretches, from the first one to now."""
    sessions = Session.objects.filter(study=study).exclude(state=SessionState.WITHDRAWN)
    start = sessions.order_by("opened_at").values_list("opened_at", flat=True).first()
    if start is None:
        return []
    width = max((clock.now() - start) / bins, timedelta(minutes=1))
    starts = [start + number * width for number in range(bins)]
    # Stretch by stretch: an index counts each, and no moment is computed with.
    opened, completed = (_counted(sessions, moment, starts) for moment in ("opened_at", "completed_at"))
    return [
        OpenedBin(start=start, opened=begun, completed=finished)
        for start, begun, finished in zip(starts, opened, completed, strict=True)
    ]


def _counted(sessions: QuerySet[Session], moment: str, starts: Sequence[datetime]) -> list[int]:
    """How many fall into each stretch; the first and the last one hold what lies beside."""
    counts, known = [], sessions.filter(**{f"{moment}__isnull": False})
    for start, end in zip([None, *starts[1:]], [*starts[1:], None], strict=True):
        part = known.filter(**{f"{moment}__gte": start}) if start else known
        counts.append((part.filter(**{f"{moment}__lt": end}) if end else part).count())
    return counts
