"""A thread of the serving process that tells requesters of events."""

from __future__ import annotations

import logging
import time

from django.conf import settings
from django.db import connection
from django.utils import timezone

from humanexp.marketplace import clock
from humanexp.marketplace.services.notifications import find_events, send_events

logger = logging.getLogger(__name__)

#: Between two looks.
_SECONDS = 0.5


def tell_events() -> None:
    """Until the process ends; nothing where no transport is set."""
    while settings.MARKETPLACE_SQS_ENDPOINT_URL or settings.MARKETPLACE_SNS_ENDPOINT_URL:
        time.sleep(_SECONDS)
        try:
            find_events(now=clock.now(), real_now=timezone.now())
            send_events(real_now=timezone.now())
        except Exception:  # the thread outlives a fault of the database; the next look finds what this one missed
            logger.exception("Events could not be told")
            connection.close()
