"""Files under MEDIA_ROOT: named by relative path in the database, written whole or not at all.

With FILE_STORE, several machines share them (`humanexp.core.file_store`): a file that is asked for is fetched if it is
not here.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

from humanexp.core import file_store


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
