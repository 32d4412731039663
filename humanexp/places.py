"""Where the platform and the marketplace keep what they write, when no setting says it, and keys that are kept there.

Keys are in files that only their owner can read: some are made on a first run, others are given.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

#: Catalogues come with the package.
PACKAGE = Path(__file__).resolve().parent
#: The root of a checkout; of an installed product, the folder in which a command is given.
WORK = PACKAGE.parent if (PACKAGE.parent / "manage.py").is_file() else Path.cwd()


def shipped(name: str) -> Path:
    """Templates or static files: in the package where it is installed, beside manage.py in a checkout."""
    inside = PACKAGE / name
    return WORK / name if not inside.is_dir() and (WORK / "manage.py").is_file() else inside


def read_key(path: Path) -> str | None:
    """The key stored at `path`, if there is one."""
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None


def read_or_create_key(path: Path) -> str:
    """The key stored at `path`; made with mode 0600 when it is not there. Safe when two processes start at once."""
    if (key := read_key(path)) is not None:
        return key
    fresh = _written_beside(path, secrets.token_urlsafe(48))
    try:
        with contextlib.suppress(FileExistsError):  # another process was first: its key is the key
            os.link(fresh, path)
    finally:
        fresh.unlink()
    return path.read_text(encoding="ascii").strip()


def write_key(path: Path, key: str) -> None:
    """In place of the key that was there."""
    _written_beside(path, key).replace(path)


def _written_beside(path: Path, key: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as stream:
        stream.write(key)
    return fresh
