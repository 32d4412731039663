"""How many writes were ever sent, counted in the database and in a file beside it.

A database that was restored from a backup has forgotten what was sent since. The file, which is not part of the
database, then counts further than it: everything that the database still means to send is asked about first.
"""

from __future__ import annotations

import fcntl
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import F

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.storage import write_whole
from humanexp.jobs import services as jobs
from humanexp.recruitment.models import (
    HitWrite,
    Message,
    Payment,
    QualificationWrite,
    RecruiterAccount,
    RecruiterWrite,
    Rejection,
    ReturnRequest,
)
from humanexp.recruitment.recruiters import capabilities_of
from humanexp.recruitment.states import WriteState

logger = logging.getLogger(__name__)

KINDS: tuple[type[RecruiterWrite], ...] = (QualificationWrite, HitWrite, Payment, Rejection, ReturnRequest, Message)


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
    if known is None:
        _raise_to(environment, row.sends)
        return False
    if known <= row.sends:
        return False
    logger.warning("%s: the database has forgotten %d sends; it was restored", environment, known - row.sends)
    with transaction.atomic():
        for kind in KINDS:
            open_rows = kind._default_manager.filter(environment=environment).exclude(state=WriteState.CONFIRMED)
            open_rows.update(ask_first=True)
        RecruiterAccount.objects.filter(pk=row.pk).update(sends=known, to_compare_since=clock.now())
        record(action="restored-database", subject=f"recruiter:{environment}", forgotten=known - row.sends)
        jobs.submit("recruitment.reconcile", subject=f"recruiter:{environment}")
    return True


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
