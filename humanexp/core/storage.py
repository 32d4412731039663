"""Files under MEDIA_ROOT: named by relative path in the database, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings


def media_path(relative: str) -> Path:
    """Absolute path of a stored file; refuses a path that leaves MEDIA_ROOT."""
    root = Path(settings.MEDIA_ROOT).resolve()
    path = (root / relative).resolve()
    if not path.is_relative_to(root):
        raise ValueError(f"{relative!r} lies outside MEDIA_ROOT")
    return path


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
