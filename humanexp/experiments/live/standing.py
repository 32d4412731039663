from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models import Case, CharField, Q, Value, When
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from humanexp.core import clock
from humanexp.experiments.models import SessionState

#: Who was not heard of for longer has fallen silent: between rounds people rest, but hardly ever that long.
SILENT_AFTER = timedelta(minutes=30)


class Standing(models.TextChoices):
    """What a session is doing now, whatever its state says."""

    UNDER_WAY = "under-way", _("under way")
    SILENT = "silent", _("silent")
    FINISHED = "finished", _("finished")
    LEFT = "left", _("left")


def standing_case() -> Case:
    """The standing of a session, told by the database."""
    finished = Q(state__in=(SessionState.COMPLETED, SessionState.SUBMITTED))
    return Case(
        When(finished, then=Value(Standing.FINISHED.value)),
        When(state=SessionState.WITHDRAWN, then=Value(Standing.LEFT.value)),
        When(seen_at__gte=clock.now() - SILENT_AFTER, then=Value(Standing.UNDER_WAY.value)),
        default=Value(Standing.SILENT.value),
        output_field=CharField(),
    )


def seen_at() -> Coalesce:
    return Coalesce("last_seen_at", "opened_at")
