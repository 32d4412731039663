"""Files under MEDIA_ROOT: named by relative path in the database, written whole or not at all.

With FILE_STORE, several machines share them (`humanexp.core.file_store`): a file that is asked for is fetched if it is
not here. A mark in MEDIA_ROOT that the database knows says whether the files that are mounted are the ones it names.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection

from humanexp.core import file_store
from humanexp.core.models import StorageMark
from humanexp.core.problems import Problem, bad


def media_path(relative: str) -> Path:
    """Absolute path of a stored file, which is fetched if another machine has made it; refuses to leave MEDIA_ROOT.

    A file that is here is believed: whoever reads it compares its digest, asks for `current_path`, or has had its
    folder brought (`file_store.bring`).
    """
    path = file_store.local_path(relative)
    if settings.FILE_STORE and not path.exists() and file_store.is_shared(relative):
        file_store.fetch(relative)
    return path


def current_path(relative: str) -> Path:
    """The same of a file that may have been replaced, or made anew under its name: a copy that is old is fetched."""
    path = media_path(relative)
    if settings.FILE_STORE:
        file_store.renew(relative)
    return path


def read_checked(relative: str, sha256: str) -> bytes | None:
    """The content, if it has this digest; None where it has another. A copy that is not it is fetched once more.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    """
    content = media_path(relative).read_bytes()
    if hashlib.sha256(content).hexdigest() == sha256:
        return content
    if not settings.FILE_STORE or not file_store.fetch(relative):
        return None
    content = file_store.local_path(relative).read_bytes()
    return content if hashlib.sha256(content).hexdigest() == sha256 else None


def relative_to_media(path: Path) -> str:
    return path.resolve().relative_to(Path(settings.MEDIA_ROOT).resolve()).as_posix()


def write_whole(path: Path, content: bytes) -> None:
    """Write to a temporary file beside `path`, then rename: readers see the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def sweep(files: Iterable[Path], *, older_than_s: float) -> None:
    """Forget files that somebody left, and that have not been written to for so long."""
    for path in files:
        if time.time() - path.stat().st_mtime > older_than_s:
            path.unlink(missing_ok=True)


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
