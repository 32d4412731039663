"""The marketplace's time, which tests can advance."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.utils import timezone

from humanexp.sites.marketplace.models.people import ClockOffset


def now() -> datetime:
    """States are computed at this time; signatures are checked against the machine's."""
    return ClockOffset.now() if settings.MARKETPLACE_TEST_CONTROLS else timezone.now()
