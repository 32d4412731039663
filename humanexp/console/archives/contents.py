"""Lists of lines and files inside an archive."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from humanexp.console.archives.files import FileLine
from humanexp.console.archives.manifest import Manifest
from humanexp.console.archives.shelf import Shelf
from humanexp.core.errors import InputRefused


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
