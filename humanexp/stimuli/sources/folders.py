"""Sources of pictures as folders and archives."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from humanexp.core.errors import InputRefused
from humanexp.stimuli.sources.base import PictureSource, readable, told


class FolderSource(PictureSource):
    """A folder on this machine. Links to files and folders are followed; it is the caller's own machine."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        if not folder.exists():
            raise InputRefused(f"{folder}: there is no such folder or file.")
        self.folder = folder
        self.title = str(folder)

    def names(self) -> list[str]:
        names: list[str] = []
        seen: set[str] = set()
        for place, folders, files in os.walk(self.folder, followlinks=True):
            folders[:] = [name for name in folders if self._is_new(os.path.join(place, name), seen)]
            inner = Path(place).relative_to(self.folder)
            names += [(inner / name).as_posix() for name in files]
        return sorted(names)

    def names_in(self, folder: str) -> list[str]:
        try:
            return os.listdir(self.folder / folder)
        except OSError:  # opening the file says what is wrong
            return []

    def open(self, name: str) -> IO[bytes]:
        path = self.folder / name
        if not path.is_file():  # a device or a pipe would be read for ever
            raise InputRefused(f"{path}: there is no such file.")
        try:
            return path.open("rb")
        except OSError as error:
            raise InputRefused(f"{path}: cannot be read ({error.strerror}).") from error

    def beside(self, name: str) -> str:
        path = self.folder.resolve().parent / name
        return path.read_text(encoding="utf-8-sig", errors="replace") if path.is_file() else ""

    @staticmethod
    def _is_new(folder: str, seen: set[str]) -> bool:
        """Whether this linked folder was not walked before: links may form a ring."""
        if not os.path.islink(folder):
            return True
        real = os.path.realpath(folder)
        if real in seen or os.path.realpath(os.path.dirname(folder)).startswith(real):
            return False
        seen.add(real)
        return True


MAXIMUM_FILES = 200_000
MAXIMUM_UNPACKED_BYTES = 64 * 10**9
#: Pictures hardly shrink by packing; what shrinks a hundredfold is made to fill a disk.
MAXIMUM_RATIO = 100
#: Below this size unpacked the ratio is of no interest.
_HARMLESS_BYTES = 100 * 10**6
#: Of the list of files at the archive's end, which is read into memory.
_MAXIMUM_LIST_BYTES = 64 * 10**6
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)


class ArchiveSource(PictureSource):
    """A zip archive on this machine."""

    def __init__(self, path: Path, *, title: str = "") -> None:
        super().__init__()
        self.title = title or str(path)
        try:
            _check_list(path, self.title)
            self._archive = zipfile.ZipFile(path)
        except FileNotFoundError as error:
            raise InputRefused(f"{self.title}: there is no such folder or file.") from error
        except _BROKEN as error:
            raise self._unreadable(error) from error
        try:
            self._entries, self._ignored = self._look_through()
        except BaseException:
            self._archive.close()
            raise

    def names(self) -> list[str]:
        return sorted(self._entries)

    def names_in(self, folder: str) -> set[str]:
        inside = () if folder == "." else PurePosixPath(folder).parts
        paths = (PurePosixPath(name).parts for name in self._entries)
        return {parts[len(inside)] for parts in paths if parts[: len(inside)] == inside and len(parts) > len(inside)}

    def ignored(self) -> list[str]:
        return self._ignored

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        if name not in self._entries:
            raise InputRefused(f"{name}: there is no such file in {self.title}.")
        try:
            with self._archive.open(self._entries[name]) as stream:
                yield stream
        except _BROKEN as error:
            raise InputRefused(f"{name}: cannot be unpacked ({error}); pack it again or remove it.") from error

    def close(self) -> None:
        self._archive.close()

    def _look_through(self) -> tuple[dict[str, zipfile.ZipInfo], list[str]]:
        entries: dict[str, zipfile.ZipInfo] = {}
        links: list[str] = []
        again: list[str] = []
        unpacked = packed = 0
        for entry in self._archive.infolist():
            if entry.is_dir():
                continue
            name = self._safe_name(entry)
            if entry.flag_bits & 0x1:
                raise InputRefused(f"{self.title}: {name} is encrypted. Pack the pictures without a password.")
            if stat.S_ISLNK(entry.external_attr >> 16):
                links.append(name)
                continue
            if name in entries:
                again.append(name)
                continue
            entries[name] = entry
            unpacked += entry.file_size
            packed += entry.compress_size
        if len(entries) > MAXIMUM_FILES:
            raise InputRefused(f"{self.title}: over {MAXIMUM_FILES} files. Pack fewer, or import the folder itself.")
        if unpacked > MAXIMUM_UNPACKED_BYTES:
            raise InputRefused(
                f"{self.title}: {unpacked / 10**9:.0f} GB unpacked, and {MAXIMUM_UNPACKED_BYTES / 10**9:.0f} GB are "
                "the most. Pack fewer pictures, or import the folder itself."
            )
        if unpacked > _HARMLESS_BYTES and unpacked > MAXIMUM_RATIO * packed:
            raise InputRefused(
                f"{self.title}: {unpacked / 10**6:.0f} MB are packed into {packed / 10**6:.1f} MB, as no pictures are. "
                "Pack the pictures themselves."
            )
        ignored = [f"links, not pictures: {told(links)}"] if links else []
        ignored += [f"a second file of the same name in the archive: {told(again)}"] if again else []
        return entries, ignored

    def _safe_name(self, entry: zipfile.ZipInfo) -> str:
        """The name with slashes; refuses one that points out of the archive, though nothing is written under it."""
        name = entry.filename
        if not entry.flag_bits & 0x800:  # not said to be UTF-8, which many programs write all the same
            try:
                name = name.encode("cp437").decode("utf-8")
            except (UnicodeEncodeError, UnicodeDecodeError):
                name = entry.filename
        name = name.replace("\\", "/")
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or (path.parts and ":" in path.parts[0]):
            raise InputRefused(
                f"{self.title}: the name {readable(name)!r} points out of the archive. Pack the folder again, by its "
                "relative names."
            )
        return readable(path.as_posix())

    def _unreadable(self, error: Exception) -> InputRefused:
        return InputRefused(f"{self.title}: this is no zip archive that can be read ({error}). Pack it again.")


def _check_list(path: Path, title: str) -> None:
    """Refuse an archive whose list of files alone would fill the memory, before it is read."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        stream.seek(max(0, size - 66_000))
        tail = stream.read()
        end = tail.rfind(b"PK\x05\x06")
        if end < 0 or len(tail) < end + 20:
            return  # zipfile says what is wrong
        files, list_bytes = struct.unpack("<HI", tail[end + 10 : end + 16])
        locator = tail.rfind(b"PK\x06\x07", 0, end)
        if (files == 0xFFFF or list_bytes == 0xFFFFFFFF) and 0 <= locator <= len(tail) - 16:
            stream.seek(min(struct.unpack("<Q", tail[locator + 8 : locator + 16])[0], size), os.SEEK_SET)
            record = stream.read(56)
            if record[:4] == b"PK\x06\x06" and len(record) == 56:
                files, list_bytes = struct.unpack("<QQ", record[32:48])
    if files > 2 * MAXIMUM_FILES or list_bytes > _MAXIMUM_LIST_BYTES:
        raise InputRefused(f"{title}: over {MAXIMUM_FILES} files. Pack fewer, or import the folder itself.")


def is_archive(path: Path) -> bool:
    """Whether a file is a zip archive by its name or its first bytes."""
    if path.suffix.lower() == ".zip":
        return True
    with path.open("rb") as stream:
        return stream.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
