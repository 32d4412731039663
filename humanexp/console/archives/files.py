"""Files under MEDIA_ROOT: which of them belong into an archive, and where they come back to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from django.conf import settings

from humanexp.core.errors import InputRefused

#: Folders that are made again, or that belong to this machine alone. Keys are sealed; what was sent is counted anew by
#: whoever restores (ledger/lease.py).
LEFT_OUT = frozenset({"keys", "logs", "static", "thumbnails", "uploads", "sends", "fetching"})
#: Databases of the included sites, where they lie beside the platform's files.
SITES = ("marketplace.sqlite3", "panel.sqlite3")
_JOURNALS = ("-wal", "-shm", "-journal", "-turn")


class FileLine(NamedTuple):
    #: relative to MEDIA_ROOT
    path: str
    size: int
    mtime_ns: int
    digest: str

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(self.path.split("/"))


def media_root() -> Path:
    return Path(settings.MEDIA_ROOT).resolve()


def stored_files(databases: set[Path]) -> Iterator[tuple[str, Path, os.stat_result]]:
    """Sorted by the parts of their paths; nothing that is being written, and no link."""
    root = media_root()
    left_out = {str(file) + suffix for file in databases for suffix in ("", *_JOURNALS)}
    for path, status in _walk(root):
        relative = path.relative_to(root)
        if len(relative.parts) > 1 and relative.parts[0] in LEFT_OUT:
            continue
        if str(path) not in left_out:
            yield relative.as_posix(), path, status


def _walk(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except FileNotFoundError:  # removed meanwhile
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            try:
                yield Path(entry.path), entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue


def target_of(path: str) -> Path:
    """Where a file of an archive belongs.

    Raises
    ------
    InputRefused
        If the path leads out of MEDIA_ROOT, or to keys: no archive of ours has such a path.
    """
    pure, root = PurePosixPath(path), media_root()
    target = (root / path).resolve()
    if (
        pure.is_absolute()
        or "\x00" in path
        or any(part in ("..", ".") for part in path.split("/"))
        or not target.is_relative_to(root)
        or target == root
        or pure.parts[0] in LEFT_OUT
    ):
        raise InputRefused(f"The archive names the file {path!r}, which is outside MEDIA_ROOT. It was not restored.")
    return target
