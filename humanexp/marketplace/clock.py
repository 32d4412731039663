"""The marketplace's time: the machine's, plus what a test has advanced it by."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from humanexp.marketplace.models import ClockOffset


def now() -> datetime:
    """States are computed at this time; signatures are checked against the machine's."""
    if not settings.MARKETPLACE_TEST_CONTROLS:
        return timezone.now()
    return timezone.now() + timedelta(seconds=ClockOffset.seconds())
