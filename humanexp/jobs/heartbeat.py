"""The runner's sign of life, written by a thread of its own that no fault of the database ends."""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta

from django.db import connection, connections
from django.db.utils import Error as AnyDatabaseError

from humanexp.core import clock
from humanexp.jobs.models import Runner

logger = logging.getLogger(__name__)
BEAT_S = 10.0
#: A runner that has been silent for this long will not come back: its row goes.
FORGOTTEN_AFTER = timedelta(days=1)


class Pulse:
    """When each lane last went round, by this process's own clock."""

    def __init__(self) -> None:
        self._at: dict[bool, float] = {}

    def beat(self, *, is_prompt: bool) -> None:
        self._at[is_prompt] = time.monotonic()

    def is_beating(self, *, is_prompt: bool) -> bool:
        """Whether the lane went round, or its job renewed its lease, since the beat before the last."""
        at = self._at.get(is_prompt)
        return at is not None and time.monotonic() - at < 2 * BEAT_S


def write(name: str, pulse: Pulse) -> None:
    """Say that the runner lives, and which of its lanes; the newest row speaks for those that have gone."""
    now = clock.now()
    lanes = {
        field: now
        for field, is_prompt in (("prompt_at", True), ("long_at", False))
        if pulse.is_beating(is_prompt=is_prompt)
    }
    Runner.objects.update_or_create(
        name=name, defaults={"beat_at": now, **lanes}, create_defaults={"started_at": now, "beat_at": now, **lanes}
    )
    Runner.objects.filter(beat_at__lt=now - FORGOTTEN_AFTER).exclude(name=name).delete()


def keep(name: str, pulse: Pulse, stop: threading.Event) -> None:
    """Beat until told to stop, whatever the database says meanwhile."""
    is_heard, pause_s = True, min(1.0, BEAT_S)  # the lanes of a new runner are heard of soon
    try:
        while not stop.is_set():
            try:
                write(name, pulse)
                if not is_heard:
                    logger.warning("the heartbeat is written again")
                is_heard, pause_s = True, min(1.0, BEAT_S)  # the lanes of a new runner are heard of soon
            except AnyDatabaseError as error:
                if is_heard:
                    logger.warning("the heartbeat could not be written, tried again until it can: %s", error)
                is_heard = False
                connection.close()
            stop.wait(pause_s)
            pause_s = BEAT_S
    finally:
        connections.close_all()
