"""What stays behind of rows that were deleted: the database's journal, and files that name them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from django.conf import settings
from django.db import connection

from humanexp.core.storage import write_whole

#: Kinds of files that name nobody: pictures, and numbers by picture.
_MUTE = frozenset({".png", ".jpg", ".jpeg", ".npy", ".npz", ".pt", ".pt2", ".onnx"})
_AT_ONCE = 2**20


def empty_journal() -> bool:
    """Write SQLite's journal back into the file and cut it off; False where somebody is reading it just now.

    Call it outside a transaction. Other databases clean up by themselves.
    """
    if connection.vendor != "sqlite":
        return True
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        is_busy, *_pages = cursor.fetchone()
    return not is_busy


def files_naming(codes: Collection[str]) -> list[Path]:
    """Files under MEDIA_ROOT, the database's own apart, in which one of the codes stands as text."""
    root = Path(settings.MEDIA_ROOT)
    wanted = [code.encode() for code in codes]
    return sorted(path for path in _written(root) if _names(path, wanted))


def rename_in(path: Path, names: dict[str, str]) -> None:
    """Put other names into a text file, which is whole at every moment."""
    content = path.read_bytes()
    for code, other in names.items():
        content = content.replace(code.encode(), other.encode())
    write_whole(path, content)


def _written(root: Path) -> Iterator[Path]:
    own = Path(str(settings.DATABASES["default"]["NAME"])).name
    for path in root.rglob("*"):
        if path.suffix.lower() not in _MUTE and not (own and path.name.startswith(own)) and path.is_file():
            yield path


def _names(path: Path, wanted: Collection[bytes]) -> bool:
    overlap = max(map(len, wanted), default=1) - 1
    rest = b""
    with path.open("rb") as stream:
        while piece := stream.read(_AT_ONCE):
            text = rest + piece
            if any(code in text for code in wanted):
                return True
            rest = text[-overlap:] if overlap else b""
    return False
