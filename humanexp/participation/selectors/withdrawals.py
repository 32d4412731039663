"""Sessions whose people took their answers back, until these are erased."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from humanexp.participation.models import Session, SessionState
from humanexp.studies.models import Study


def undoable(study: Study) -> QuerySet[Session]:
    """Withdrawn, and not erased: the latest first."""
    withdrawn = Session.objects.filter(study=study, state=SessionState.WITHDRAWN, erased_at=None)
    return withdrawn.exclude(withdrawn_at=None).select_related("participant", "study").order_by("-withdrawn_at", "-pk")


def taken_back(study: Study, *, since: datetime, opened_before: datetime) -> QuerySet[Session]:
    """Sessions that counted with answers, and were withdrawn since: what was computed meanwhile may hold them."""
    # few among many: by their keys, which an index tells
    withdrawn = Session.objects.filter(pk__in=Session.objects.filter(study=study, state=SessionState.WITHDRAWN))
    counted = withdrawn.filter(is_verified=True, cursor__gt=0)
    return counted.filter(withdrawn_at__gte=since, opened_at__lt=opened_before)
