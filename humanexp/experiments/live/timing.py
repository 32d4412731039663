"""How well the pictures of each session were timed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from humanexp.experiments.counting import counting
from humanexp.experiments.models import Response, Study

#: Lowest share of trials in order of each class of sessions.
CLASSES = (0.99, 0.95, 0.9, 0.0)


@dataclass(frozen=True, kw_only=True)
class TimingClass:
    low: float
    high: float
    sessions: int
    #: of all sessions that were timed
    share: float


@dataclass(frozen=True, kw_only=True)
class TimingShares:
    """Trials whose timing was in order, over all sessions and by session."""

    ok: int
    judged: int
    sessions: int
    classes: list[TimingClass]

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> TimingShares:
        return cls(**{**kept, "classes": [TimingClass(**one) for one in kept["classes"]]})

    @property
    def share(self) -> float | None:
        return self.ok / self.judged if self.judged else None


def timing_shares(study: Study) -> TimingShares:
    """Sessions by the share of their judged trials that were in order, of the sessions that count."""
    answers = Response.objects.filter(counting("session"), session__study=study)
    ok, judged = Count("pk", filter=Q(timing_ok=True)), Count("pk", filter=Q(timing_ok__isnull=False))
    by_session = answers.order_by().values("session_id").annotate(ok=ok, judged=judged).filter(judged__gt=0)
    rows = list(by_session.values_list("ok", "judged"))
    sessions = Counter(next(low for low in CLASSES if count_ok >= low * count) for count_ok, count in rows)
    return TimingShares(
        ok=sum(count_ok for count_ok, _ in rows),
        judged=sum(count for _, count in rows),
        sessions=len(rows),
        classes=[
            TimingClass(low=low, high=high, sessions=sessions[low], share=sessions[low] / len(rows) if rows else 0.0)
            for low, high in zip(CLASSES, (1.0, *CLASSES), strict=False)
        ],
    )
