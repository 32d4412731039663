"""The folder that holds archives: each content once, by its SHA-256 digest; a manifest and sealed keys per archive.

    objects/ab/abcd...      files, rows and lists; written whole, never changed
    archives/NAME/manifest.json
    keys/NAME.sealed

An archive appears by one rename, after everything that it names is on the disk.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from humanexp.console.archives.manifest import Manifest, read_manifest
from humanexp.core.errors import Conflict, InputRefused
from humanexp.core.storage import write_whole

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
