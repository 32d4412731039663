"""How many writes were ever sent, counted in the database and in a file beside it.

A database that was restored from a backup has forgotten what was sent since. The file, which is not part of the
database, then counts further than it, or is not there: everything that the database still means to send is asked about
first. Where both were set back together nothing here tells; a bonus is asked about by itself, see paying_in_calls.
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
from humanexp.recruitment.models import Call, RecruiterAccount
from humanexp.recruitment.recruiters import capabilities_of
from humanexp.recruitment.states import UNSETTLED, WriteState

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
