"""A thread of the serving process that tells requesters of events."""

from __future__ import annotations

import logging
import threading

logger = logging.getLogger(__name__)

#: Between two looks.
_SECONDS = 0.5


class Notifier(threading.Thread):
    """Runs until the process ends; does nothing where no transport is set."""

    def __init__(self) -> None:
        super().__init__(name="notifier", daemon=True)
        self._stopped = threading.Event()

    def run(self) -> None:
        from django.conf import settings
        from django.db import connection
        from django.utils import timezone

        from humanexp.marketplace import clock
        from humanexp.marketplace.services.notifications import find_events, send_events

        if not (settings.MARKETPLACE_SQS_ENDPOINT_URL or settings.MARKETPLACE_SNS_ENDPOINT_URL):
            return
        while not self._stopped.wait(_SECONDS):
            try:
                find_events(now=clock.now(), real_now=timezone.now())
                send_events(real_now=timezone.now())
            except Exception:  # the thread outlives a fault of the database; the next look finds what this one missed
                logger.exception("Events could not be told")
                connection.close()

    def stop(self) -> None:
        self._stopped.set()
