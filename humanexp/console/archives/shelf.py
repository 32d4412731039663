"""The folder that holds archives: each content once, by its SHA-256 digest; a manifest and sealed keys per archive.

    objects/ab/abcd...      files, rows and lists; written whole, never changed
    archives/NAME/manifest.json
    keys/NAME.sealed

An archive appears by one rename, after everything that it names is on the disk.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from humanexp.console.archives.tables import Facts
from humanexp.core.errors import Conflict, InputRefused
from humanexp.core.storage import write_whole

FORMAT = 1
DIGEST = r"^[0-9a-f]{64}$"


class Part(BaseModel):
    """Rows of one table, one after the other: gzipped lines of JSON."""

    model_config = ConfigDict(frozen=True)

    table: str
    object: str = Field(pattern=DIGEST)
    rows: int


class Listing(BaseModel):
    """The list of files: gzipped lines of `files.FileLine`, sorted."""

    object: str = Field(pattern=DIGEST)
    files: int
    bytes: int


class Manifest(BaseModel):
    format: int = FORMAT
    name: str = Field(pattern=r"^[0-9]{8}T[0-9]{6}-[0-9]{2}Z$")
    #: the version that made it
    product: str
    made_at: datetime
    #: sqlite or postgresql
    database: str
    #: "app.name" of every migration that the database had
    migrations: list[str]
    columns: dict[str, list[str]]
    parts: list[Part]
    sequences: dict[str, int]
    facts: Facts
    #: SQLite files of the sites that this distribution brings along, by name
    sites: dict[str, str]
    listing: Listing
    #: files that the database names and that were missing or altered when it was made
    lost: list[str] = []
    #: by which its SECRET_KEY is recognised (core.sealing)
    key_check: str
    #: there is a file of sealed keys
    has_keys: bool
    public_url: str
    verified_at: datetime | None = None


def read_manifest(content: bytes, *, named: str) -> Manifest:
    """
    Raises
    ------
    InputRefused
        If a newer version made it, or it is damaged.
    """
    try:
        loaded = json.loads(content)
        found = loaded["format"]
    except (ValueError, TypeError, KeyError) as error:
        raise InputRefused(f"The manifest of {named} is damaged. Use another archive.") from error
    if found != FORMAT:
        raise InputRefused(
            f"{named} has format {found}; this version of HumanExp reads format {FORMAT}. Restore it with the version "
            f"that made it: {loaded.get('product', 'unknown')}."
        )
    try:
        return Manifest.model_validate(loaded)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise InputRefused(f"The manifest of {named} is damaged at {where}. Use another archive.") from error


_BLOCK = 1 << 20
_PARTIAL = ".partial-"


class Shelf:
    def __init__(self, root: Path) -> None:
        self.root = root

    # Reading ------------------------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Of its archives, oldest first."""
        folder = self.root / "archives"
        found = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        return sorted(name for name in found if (folder / name / "manifest.json").is_file())

    def manifest(self, name: str) -> Manifest:
        path = self.root / "archives" / name / "manifest.json"
        try:
            return read_manifest(path.read_bytes(), named=name)
        except OSError as error:
            raise InputRefused(f"There is no archive {name} in {self.root}: {error.strerror}.") from error

    def latest(self) -> Manifest | None:
        names = self.names()
        return self.manifest(names[-1]) if names else None

    def sealed(self, name: str) -> bytes | None:
        try:
            return (self.root / "keys" / f"{name}.sealed").read_bytes()
        except FileNotFoundError:
            return None

    def path_of(self, digest: str) -> Path:
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise InputRefused(f"{digest!r} is no digest: the archive is damaged.")
        return self.root / "objects" / digest[:2] / digest

    def size_of(self, digest: str) -> int | None:
        try:
            return self.path_of(digest).stat().st_size
        except FileNotFoundError:
            return None

    def is_whole(self, digest: str) -> bool:
        """Whether the content is there and is the one that it was."""
        try:
            with self.path_of(digest).open("rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest() == digest
        except FileNotFoundError:
            return False

    # Writing ------------------------------------------------------------------------------------------------------

    @contextmanager
    def held(self) -> Iterator[Path]:
        """A folder to work in, while no other backup writes here. What a killed one has left is removed first."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in ("objects", "archives", "keys"):
            (self.root / name).mkdir(exist_ok=True, mode=0o700)
        with (self.root / ".lock").open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise Conflict(f"Another backup writes to {self.root}: wait until it has ended.") from error
            for left in self.root.glob(f"{_PARTIAL}*"):
                shutil.rmtree(left)
            work = self.root / f"{_PARTIAL}{os.getpid()}"
            work.mkdir(mode=0o700)
            try:
                yield work
            finally:
                shutil.rmtree(work, ignore_errors=True)

    def put(self, source: BinaryIO, work: Path) -> tuple[str, int, bool]:
        """Keep a content; its digest, its size, and whether it is new here."""
        fresh, digest, size = work / "fresh", hashlib.sha256(), 0
        with fresh.open("wb") as stream:
            while block := source.read(_BLOCK):
                digest.update(block)
                size += len(block)
                stream.write(block)
            stream.flush()
            os.fsync(stream.fileno())
        path = self.path_of(digest.hexdigest())
        # One that is there in part cannot be: contents arrive by rename. One of another length was damaged since.
        if self.size_of(path.name) == size:
            fresh.unlink()
            return path.name, size, False
        path.parent.mkdir(exist_ok=True, mode=0o700)
        fresh.replace(path)
        return path.name, size, True

    def publish(self, manifest: Manifest, sealed: bytes | None, work: Path) -> None:
        """From now on it is an archive."""
        if sealed is not None:
            write_whole(self.root / "keys" / f"{manifest.name}.sealed", sealed)
        folder = work / "archive"
        folder.mkdir(mode=0o700)
        write_whole(folder / "manifest.json", manifest.model_dump_json(indent=1).encode())
        for path in (self.root / "objects", folder):
            _flush(path)
        folder.replace(self.root / "archives" / manifest.name)
        _flush(self.root / "archives")


def _flush(folder: Path) -> None:
    """What was renamed in it is on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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


def keep(shelf: Shelf, newest: int, work: Path) -> list[str]:
    """Remove older archives, and contents that no archive names; the names of what went."""
    gone = shelf.names()[:-newest]
    for name in gone:
        (shelf.root / "archives" / name).replace(work / name)
        (shelf.root / "keys" / f"{name}.sealed").unlink(missing_ok=True)
    with closing(sqlite3.connect(work / "named.sqlite3", isolation_level=None)) as named:
        named.execute("PRAGMA journal_mode=OFF")
        named.execute("CREATE TABLE named (digest TEXT PRIMARY KEY) WITHOUT ROWID")
        for name in shelf.names():
            named.execute("BEGIN")
            rows = ((digest,) for digest in digests_of(shelf, shelf.manifest(name)))
            named.executemany("INSERT OR IGNORE INTO named VALUES (?)", rows)
            named.execute("COMMIT")
        for folder in (shelf.root / "objects").iterdir():
            for path in folder.iterdir():
                if not named.execute("SELECT 1 FROM named WHERE digest = ?", [path.name]).fetchone():
                    path.unlink()
    return gone
