"""What the participant API refused."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Max, OuterRef, Q

from humanexp.participation.models import RefusalReason, RefusedCall, Session
from humanexp.studies.models import Study


@dataclass(frozen=True, kw_only=True)
class RefusedCalls:
    """Refusals of one kind, as far as they are kept."""

    reason: RefusalReason
    count: int
    sessions: int
    latest: datetime


def refused_calls(study: Study | None) -> list[RefusedCalls]:
    """What the participant API refused to the study's sessions; without a study, calls that belong to no session."""
    # looked up call by call: they are few, and sessions are many
    of_study = Exists(Session.objects.filter(pk=OuterRef("session"), study=study))
    kept = RefusedCall.objects.filter(of_study if study else Q(session=None))
    counted = kept.order_by().values_list("reason").annotate(Count("pk"), Count("session", distinct=True), Max("at"))
    return sorted(
        (
            RefusedCalls(reason=RefusalReason(reason), count=count, sessions=sessions, latest=latest)
            for reason, count, sessions, latest in counted
        ),
        key=lambda refused: (-refused.count, refused.reason),
    )
