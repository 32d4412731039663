"""An archive in a single tar file, for sending and keeping: the same folder, packed."""

from __future__ import annotations

import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from humanexp.console.archives.shelf import Shelf
from humanexp.core.errors import InputRefused

_NAMES = re.compile(r"objects/[0-9a-f]{2}/[0-9a-f]{64}|archives/[0-9TZ-]+/manifest\.json|keys/[0-9TZ-]+\.sealed")


def is_packed(path: Path) -> bool:
    return path.suffix == ".tar"


@contextmanager
def to_be_packed(file: Path) -> Iterator[Path]:
    """A folder to put one archive into; it becomes the file when the block has ended well."""
    with _beside(file) as folder:
        yield folder / "archive"
        fresh = folder / "fresh.tar"
        with tarfile.open(fresh, "w", format=tarfile.PAX_FORMAT) as tar:
            for path in sorted((folder / "archive").rglob("*")):
                name = path.relative_to(folder / "archive").as_posix()
                if _NAMES.fullmatch(name):
                    tar.add(path, name, recursive=False)
                    tar.members = []  # type: ignore[attr-defined]  # a million would fill the memory
        with fresh.open("rb") as stream:
            os.fsync(stream.fileno())
        fresh.replace(file)


@contextmanager
def unpacked(file: Path) -> Iterator[Shelf]:
    """The archive in the file, unpacked next to it while the block lasts.

    Raises
    ------
    InputRefused
        If the file is none of ours: a name that no archive has leads out of the folder, or to nowhere.
    """
    with _beside(file) as folder:
        try:
            with tarfile.open(file, "r|") as tar:
                for member in tar:
                    if not member.isfile() or not _NAMES.fullmatch(member.name):
                        raise InputRefused(f"{file} contains {member.name!r}, which no archive of HumanExp contains.")
                    content = tar.extractfile(member)
                    target = folder / member.name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    if content is not None:
                        with content, target.open("wb") as stream:
                            shutil.copyfileobj(content, stream, 1 << 20)
                    tar.members = []  # type: ignore[attr-defined]
        except (tarfile.TarError, EOFError) as error:
            raise InputRefused(f"{file} is no archive, or it is damaged: {error}") from error
        yield Shelf(folder)


@contextmanager
def _beside(file: Path) -> Iterator[Path]:
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{file.name}.", dir=file.resolve().parent))
    except OSError as error:
        raise InputRefused(f"{file.parent} cannot be written to: {error.strerror}.") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
