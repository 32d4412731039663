"""A mark in MEDIA_ROOT that the database knows: whether the files that are mounted are the ones it speaks of."""

from __future__ import annotations

import logging
import secrets

from django.conf import settings
from django.db import DatabaseError, connection

from humanexp.core import file_store
from humanexp.core.models import StorageMark
from humanexp.core.problems import Problem, bad
from humanexp.core.storage import media_path, write_whole

logger = logging.getLogger(__name__)

#: Under MEDIA_ROOT.
MARK = "storage-mark"


def mark_folder() -> None:
    """Done at every start; the first mark stays. A file that is there already is believed: a backup brought it back."""
    try:
        if StorageMark._meta.db_table not in connection.introspection.table_names():
            return
        file_store.sweep_copies_if_due()
        if (mark := StorageMark.objects.first()) is not None:
            _begin_copy(mark)
            return
        token = _found() or secrets.token_hex(16)
        if settings.FILE_STORE:  # another machine may be first
            token = StorageMark.objects.get_or_create(pk=1, defaults={"token": token})[0].token
        if not _found():
            write_whole(media_path(MARK), f"{token}\n".encode())
        StorageMark.objects.get_or_create(pk=1, defaults={"token": token})
    except (DatabaseError, OSError):
        logger.warning("MEDIA_ROOT could not be marked; it is tried again at the next start", exc_info=True)


def _begin_copy(mark: StorageMark) -> None:
    """With FILE_STORE, a MEDIA_ROOT that holds nothing of another database becomes this machine's copy."""
    if settings.FILE_STORE and not _found():
        write_whole(media_path(MARK), f"{mark.token}\n".encode())


def wrong_folder() -> Problem | None:
    """What is wrong with the files that are mounted; None where nothing is, or none was marked yet."""
    mark = StorageMark.objects.first()
    if mark is None or mark.token == _found():
        return None
    return bad(
        f"{settings.MEDIA_ROOT} is not the folder that this database's files were written to.",
        "Mount the right folder as MEDIA_ROOT, or restore it from the backup.",
        notice="The mounted files are not those of this database.",
    )


def _found() -> str:
    path = media_path(MARK)
    return path.read_text(encoding="ascii", errors="replace").strip() if path.is_file() else ""
