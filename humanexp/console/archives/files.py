"""Files of an archive: what is in it, and how it is packed."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from django.conf import settings

from humanexp.console.archives.manifest import Manifest
from humanexp.console.archives.shelf import Shelf
from humanexp.core.errors import InputRefused

#: Folders that are made again, or that belong to this machine alone. Keys are sealed; what was sent is counted anew by
#: whoever restores (ledger/delivery.py).
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


@contextmanager
def packed_lines(lines: Iterable[str], work: Path) -> Iterator[BinaryIO]:
    """Gzipped: the same lines always give the same bytes."""
    with tempfile.TemporaryFile(dir=work) as packed:
        with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=3, mtime=0, filename="") as stream:
            for line in lines:
                stream.write(line.encode("utf-8", "surrogatepass") + b"\n")
        packed.seek(0)
        yield packed


def lines_in(shelf: Shelf, digest: str) -> Iterator[str]:
    try:
        with gzip.open(shelf.path_of(digest), "rt", encoding="utf-8", errors="surrogatepass", newline="\n") as stream:
            yield from stream
    except (OSError, EOFError, io.UnsupportedOperation) as error:
        raise InputRefused(f"The content {digest} of the archive is missing or damaged: {error}") from error


def files_in(shelf: Shelf, manifest: Manifest) -> Iterator[FileLine]:
    for line in lines_in(shelf, manifest.listing.object):
        yield FileLine(*json.loads(line))


def digests_of(shelf: Shelf, manifest: Manifest) -> Iterator[str]:
    """Of every content that an archive needs."""
    yield manifest.listing.object
    yield from manifest.sites.values()
    for part in manifest.parts:
        yield part.object
    for file in files_in(shelf, manifest):
        yield file.digest


class FileIndex:
    """Which file of an archive has which content: on disk, for there may be millions."""

    def __init__(self, place: Path) -> None:
        self._rows = sqlite3.connect(place, isolation_level=None)
        self._rows.execute("PRAGMA journal_mode=OFF")
        self._rows.execute("CREATE TABLE files (path TEXT PRIMARY KEY, digest TEXT) WITHOUT ROWID")
        self._rows.execute("BEGIN")

    def add(self, line: FileLine) -> None:
        self._rows.execute("INSERT INTO files VALUES (?, ?)", [line.path, line.digest])

    def lost(self, named: Iterable[tuple[str, str]]) -> list[str]:
        """Files that are named and not there, or not with this digest; an empty digest says nothing."""
        found = []
        for path, digest in named:
            row = self._rows.execute("SELECT digest FROM files WHERE path = ?", [path]).fetchone()
            if row is None or (digest and row[0] != digest):
                found.append(path)
        return found

    def close(self) -> None:
        self._rows.close()
