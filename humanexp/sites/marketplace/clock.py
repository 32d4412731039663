"""The marketplace's time: the machine's, plus what a test has advanced it by."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from humanexp.sites.marketplace.errors import InvalidParameterValue
from humanexp.sites.marketplace.models import ClockOffset

_MAXIMUM_SECONDS = 10 * 365 * 86_400


def now() -> datetime:
    """States are computed at this time; signatures are checked against the machine's."""
    if not settings.MARKETPLACE_TEST_CONTROLS:
        return timezone.now()
    return timezone.now() + timedelta(seconds=ClockOffset.seconds())


@transaction.atomic
def advance(*, seconds: float) -> float:
    """Move the marketplace's clock forward; the whole advance so far is returned. Time never goes back."""
    if not 0 <= seconds <= _MAXIMUM_SECONDS:
        raise InvalidParameterValue("advance_seconds must be from 0 to ten years.")
    offset, _ = ClockOffset.objects.select_for_update().get_or_create(pk=1)
    offset.advance_seconds += seconds
    offset.save(update_fields=["advance_seconds"])
    return offset.advance_seconds
