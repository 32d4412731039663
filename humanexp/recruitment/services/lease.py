from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db.models import Q

from humanexp.core import clock
from humanexp.recruitment.models import Pause, SenderLease

#: Longer than one write can take (5 s to connect and 20 s to be answered) and the question before it.
LEASE = timedelta(seconds=90)


class Lease:
    """The right to send for one environment; a dead holder's lease runs out."""

    def __init__(self, environment: str, length: timedelta = LEASE) -> None:
        self.environment, self.length = environment, length
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"

    def renew(self) -> bool:
        """Hold it for another while; False when another sender holds it. Asked before every write."""
        now = clock.now()
        free = Q(holder="") | Q(holder=self.holder) | Q(until__lt=now)
        row = SenderLease.objects.filter(environment=self.environment).filter(free)
        return bool(row.update(holder=self.holder, until=now + self.length))

    def give_back(self) -> None:
        row = SenderLease.objects.filter(environment=self.environment, holder=self.holder)
        row.update(holder="", until=None)


@contextmanager
def held(environment: str) -> Iterator[Lease | None]:
    """The lease, or None while somebody else has it."""
    SenderLease.objects.get_or_create(environment=environment)
    lease = Lease(environment)
    if not lease.renew():
        yield None
        return
    try:
        yield lease
    finally:
        lease.give_back()


def pause(environment: str, why: Pause, detail: str) -> None:
    """Nothing is sent until the cause is gone; the pages say why. Books that differ stay the graver cause."""
    SenderLease.objects.get_or_create(environment=environment)
    row = SenderLease.objects.filter(environment=environment)
    if why != Pause.LEDGER:
        row = row.exclude(pause=Pause.LEDGER)
    row.update(pause=why, pause_detail=detail[:500])


def resume(environment: str, after: Pause) -> None:
    """End a pause for this cause, and no other."""
    SenderLease.objects.filter(environment=environment, pause=after).update(pause=Pause.NO, pause_detail="")
