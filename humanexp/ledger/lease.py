"""The right to send for an environment, one sender at a time; and how many writes were ever sent.

On one machine a lease ends by the clock that counts from the machine's start, which nobody sets. A holder on another
machine is judged by the wall clock; there `deliver` (delivery.py) keeps two from sending the same attempt.

Writes are counted in the database and in a file beside it. A database that was restored from a backup has forgotten
what was sent since. The file, which is not part of the database, then counts further than it, or is not there:
everything that the database still means to send is asked about first. Where both were set back together nothing here
tells; a bonus is asked about by itself, see bonus_calls.
"""

from __future__ import annotations

import fcntl
import logging
import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.storage import write_whole
from humanexp.jobs import services as jobs
from humanexp.ledger.models.calls import Call
from humanexp.recruiters.models import Pause, RecruiterAccount
from humanexp.recruiters.registry import capabilities_of
from humanexp.recruiters.states import UNSETTLED, WriteState

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


logger = logging.getLogger(__name__)


def file_of(environment: str) -> Path:
    return Path(settings.MEDIA_ROOT) / "sends" / environment


def count_send(environment: str) -> None:
    """Right before a write is sent. The database first: the file is ahead of it only where it has forgotten."""
    if not capabilities_of(environment).vouches:
        return  # there is no other side
    row = RecruiterAccount.objects.filter(environment=environment)
    row.update(sends=F("sends") + 1)
    try:
        _raise_to(environment, row.values_list("sends", flat=True).get())
    except OSError as error:  # a full disk keeps nobody from being paid
        logger.warning("%s: the file that counts sends cannot be written: %s", environment, error)


def notice_restoring(environment: str) -> bool:
    """Whether this database has forgotten sends; then nothing planned in it goes out unasked."""
    if not capabilities_of(environment).vouches:
        return False
    known = _count_in_file(environment)  # read before the database: whoever sends meanwhile is counted there first
    row = RecruiterAccount.objects.get(environment=environment)
    if known is None and not row.sends:
        _raise_to(environment, 0)
        return False
    if known is not None and known <= row.sends:
        return False
    # without its file, a database that has sent is another machine's, or was restored there: nobody knows what it lacks
    sends = max(known or 0, row.sends)
    logger.warning("%s: the database was restored: it may have forgotten what was sent", environment)
    with transaction.atomic():
        open_rows = Call.objects.filter(environment=environment).exclude(state=WriteState.CONFIRMED)
        open_rows.update(ask_first=True)
        RecruiterAccount.objects.filter(pk=row.pk).update(sends=sends, to_compare_since=clock.now())
        record(action="restored-database", subject=f"recruiter:{environment}", forgotten=sends - row.sends)
        jobs.submit("recruitment.reconcile", subject=f"recruiter:{environment}")
    _raise_to(environment, sends)
    return True


def foresee_restoring() -> None:
    """Count a send more than the database knows: call it in the transaction that fills the database from a backup.

    Nobody can say what was sent after the backup, and on another machine the file that counts it is gone. From here on
    every sender notices, also where the restore ends half-way.
    """
    for environment, sends in RecruiterAccount.objects.values_list("environment", "sends"):
        is_used = sends or Call.objects.filter(environment=environment).exists()
        if is_used and capabilities_of(environment).vouches:
            _raise_to(environment, sends + 1)


def treat_as_restored() -> int:
    """Mark what is unsent at once, not only when a sender notices; how many writes are asked about before they go."""
    for environment in RecruiterAccount.objects.values_list("environment", flat=True):
        notice_restoring(environment)
    return Call.objects.filter(ask_first=True, state__in=UNSETTLED).count()


def _raise_to(environment: str, count: int) -> None:
    """The file never counts back, whoever else is counting."""
    with _locked(environment):
        if (_count_in_file(environment) or 0) >= count and file_of(environment).exists():
            return
        write_whole(file_of(environment), f"{count}\n".encode())


def _count_in_file(environment: str) -> int | None:
    """None where there is none, or nothing that counts."""
    try:
        return int(file_of(environment).read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return None


@contextmanager
def _locked(environment: str) -> Iterator[None]:
    folder = file_of(environment).parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / f".{environment}.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
