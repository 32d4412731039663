"""The right to send for an environment: one sender at a time, whatever the wall clock does.

On one machine a lease ends by the clock that counts from the machine's start, which nobody sets. A holder on another
machine is judged by the wall clock; there `deliver` (services/sending.py) keeps two from sending the same attempt.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from django.db.models import Q

from humanexp.core import clock
from humanexp.recruitment.models import Pause, RecruiterAccount

#: Longer than one write can take (5 s to connect and 20 s to be answered) and the question before it.
LEASE = timedelta(seconds=90)


class Lease:
    """The right to send for one environment; a dead holder's lease runs out."""

    def __init__(self, environment: str, length: timedelta = LEASE) -> None:
        self.environment, self.length = environment, length
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"

    def renew(self) -> bool:
        """Hold it for another while; False when another sender holds it. Asked before every write."""
        now, uptime_s, boot = clock.now(), time.monotonic(), this_boot()
        # An end further off than any lease is long was written before the clock was set back.
        is_over_elsewhere = Q(until__lt=now) | Q(until__gt=now + max(self.length, LEASE))
        elsewhere = Q(boot="") | ~Q(boot=boot) if boot else Q()
        is_over = Q(boot=boot, until_uptime_s__lt=uptime_s) if boot else Q(pk=None)
        free = Q(holder="") | Q(holder=self.holder) | is_over | (elsewhere & is_over_elsewhere)
        row = RecruiterAccount.objects.filter(environment=self.environment).filter(free)
        until_s = uptime_s + self.length.total_seconds()
        return bool(row.update(holder=self.holder, until=now + self.length, until_uptime_s=until_s, boot=boot))

    def give_back(self) -> None:
        row = RecruiterAccount.objects.filter(environment=self.environment, holder=self.holder)
        row.update(holder="", until=None, until_uptime_s=None, boot="")


@lru_cache(maxsize=1)
def this_boot() -> str:
    """Which start of which machine this is; empty where the system does not tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


@contextmanager
def held(environment: str) -> Iterator[Lease | None]:
    """The lease, or None while somebody else has it."""
    RecruiterAccount.objects.get_or_create(environment=environment)
    lease = Lease(environment)
    if not lease.renew():
        yield None
        return
    try:
        yield lease
    finally:
        lease.give_back()


def pause(environment: str, why: Pause, detail: str) -> None:
    """Nothing is sent until the cause is gone; the pages say why. What a person has paused stays so."""
    RecruiterAccount.objects.get_or_create(environment=environment)
    RecruiterAccount.objects.filter(environment=environment).exclude(pause=Pause.HAND).update(
        pause=why, pause_detail=detail[:500]
    )


def resume(environment: str, after: Pause) -> None:
    """End a pause for this cause, and no other."""
    RecruiterAccount.objects.filter(environment=environment, pause=after).update(pause=Pause.NO, pause_detail="")
