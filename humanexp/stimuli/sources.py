"""Where pictures come from: a folder, an archive, or the storage that the setting PICTURES_STORAGE names."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import InvalidStorageError, storages

from analysis.errors import install
from analysis.file_names import composed
from analysis.generation.originals import MAXIMUM_BYTES
from humanexp.core.errors import InputRefused

#: Names in one sentence; the rest is counted.
NAMES_TOLD = 5


@dataclass(frozen=True)
class LabelledFile:
    #: path within the source, parts separated by slashes
    name: str
    category: str
    #: WordNet id, where the source names it
    wnid: str = ""
    #: labels that are right answers where there are several; empty: its own alone
    accepted: tuple[str, ...] = ()
    #: what else the picture could be taken for: the texture of a cue conflict
    competing: str = ""
    #: further properties by name, such as the background
    factors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FoundFiles:
    files: list[LabelledFile]
    #: what was left out, one sentence each
    ignored: list[str] = field(default_factory=list)
    #: what the source wrote, the label that it was read as (empty: of none), and of how many pictures
    read: list[tuple[str, str, int]] = field(default_factory=list)


class PictureSource(ABC):
    """A tree of files."""

    #: what messages call it, and the provenance where none is given
    title: str

    def __init__(self) -> None:
        self._spellings: dict[str, Spellings] = {}

    @abstractmethod
    def names(self) -> list[str]:
        """Paths of all files within it, sorted, parts separated by slashes."""

    def ignored(self) -> list[str]:
        """What stands in it and is no file to be looked at, one sentence each."""
        return []

    @abstractmethod
    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """The bytes of one file.

        Raises
        ------
        InputRefused
            If there is no such file, or it cannot be read.
        """

    @abstractmethod
    def names_in(self, folder: str) -> Iterable[str]:
        """Last names of the files and folders in one of its folders; nothing where there is no such folder."""

    def as_written(self, name: str) -> str:
        """The name of a file as it stands here: a list may write an accent as one character, a system as two.

        Raises
        ------
        InputRefused
            If two files or folders differ by that alone.
        """
        if name.isascii():
            return name
        place = PurePosixPath()
        for part in PurePosixPath(name).parts:
            folder = place.as_posix()
            if not part.isascii() and folder not in self._spellings:
                self._spellings[folder] = Spellings(self.names_in(folder), title=self.title)
            place /= part if part.isascii() else self._spellings[folder].of(part)
        return place.as_posix()

    def beside(self, name: str) -> str:
        """Text of a small file that lies beside the source, outside of it; empty where there is none."""
        return ""

    def close(self) -> None:  # noqa: B027  most sources keep nothing open
        """Let go of what is open."""


class Spellings:
    """Names, found by their composed form (NFC)."""

    def __init__(self, names: Iterable[str], *, title: str) -> None:
        self._by_form: dict[str, str] = {}
        for name in names:
            if self._by_form.setdefault(composed(name), name) != name:
                raise InputRefused(
                    f"{title}: two names read {readable(composed(name))} and differ only in how the accent is stored "
                    "(one character or two). Rename one of them."
                )

    def of(self, name: str) -> str:
        """The name among them; as given where there is none."""
        return self._by_form.get(composed(name), name)


def told(names: list[str]) -> str:
    """The first names, for a sentence."""
    return ", ".join(names[:NAMES_TOLD]) + (f" and {len(names) - NAMES_TOLD} more" if len(names) > NAMES_TOLD else "")


def readable(name: str) -> str:
    """A file's name as it can be stored and shown: no control characters, no undecodable bytes."""
    text = name.encode("utf-8", "replace").decode("utf-8")
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


class FolderSource(PictureSource):
    """A folder on this machine. Links to files and folders are followed; it is the caller's own machine."""

    def __init__(self, folder: Path, *, only: Callable[[str], bool] | None = None) -> None:
        """`only` says which of its files belong to the source, by their paths; all of them without it."""
        super().__init__()
        if not folder.exists():
            raise InputRefused(f"{folder}: there is no such folder or file.")
        self.folder = folder
        self.title = str(folder)
        self._only = only

    def names(self) -> list[str]:
        names: list[str] = []
        seen: set[str] = set()
        for place, folders, files in os.walk(self.folder, followlinks=True):
            folders[:] = [name for name in folders if self._is_new(os.path.join(place, name), seen)]
            inner = Path(place).relative_to(self.folder)
            names += [(inner / name).as_posix() for name in files]
            if self._only is not None:
                folders.clear()
        return sorted(filter(self._only, names) if self._only is not None else names)

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


#: Name in Django's STORAGES.
ALIAS = "pictures"
_UNSET = "No storage is set: set PICTURES_STORAGE, for example to s3://bucket?region=eu-central-1."


def is_storage_configured() -> bool:
    return ALIAS in settings.STORAGES


class StorageSource(PictureSource):
    """All files under a prefix of the configured storage, which keeps its connections for the next import."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        if not is_storage_configured():
            raise InputRefused(_UNSET)
        self.prefix = prefix.strip("/")
        self._storage: Any = _open_storage()
        self.title = f"{settings.PICTURES_STORAGE.split('?')[0].rstrip('/')}/{self.prefix}"

    def names(self) -> list[str]:
        with self._telling():
            names = sorted(self._walk(self.prefix))
        if not names:
            raise InputRefused(
                f"{self.title}: there is nothing under this prefix. Check its spelling and its capitals."
            )
        return names

    def names_in(self, folder: str) -> list[str]:
        with self._telling():
            folders, files = self._storage.listdir(self._key("" if folder == "." else folder))
        return [*folders, *files]

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        with self._telling(name), self._storage.open(self._key(name), "rb") as stream:
            if stream.size > MAXIMUM_BYTES:  # told by the answer that opened it, before a byte is fetched
                raise InputRefused(f"{name}: over {MAXIMUM_BYTES // 10**6} MB; save the picture smaller.")
            yield stream

    def _key(self, name: str) -> str:
        return "/".join(part for part in (self.prefix, name) if part)

    def _walk(self, folder: str) -> Iterator[str]:
        """Names relative to the prefix."""
        folders, files = self._storage.listdir(folder)
        for name in files:
            if name not in ("", "."):  # some programs store an empty object in a folder's place
                yield f"{folder}/{name}"[len(self.prefix) :].lstrip("/")
        for name in folders:
            yield from self._walk(f"{folder}/{name}" if folder else name)

    @contextmanager
    def _telling(self, name: str = "") -> Iterator[None]:
        """Every failure of the other side becomes a sentence."""
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

        try:
            yield
        except NoCredentialsError as error:
            raise InputRefused(
                f"{self.title}: there are no access keys. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
            ) from error
        except ClientError as error:
            raise InputRefused(f"{self.title}: {_SENTENCES.get(_code(error), _other(error))}") from error
        except BotoCoreError as error:
            raise InputRefused(
                f"{self.title}: the storage does not answer ({error}). Check PICTURES_STORAGE."
            ) from error
        except FileNotFoundError as error:
            raise InputRefused(f"{name or self.title}: there is no such file in {self.title}.") from error


_SENTENCES = {
    "NoSuchBucket": "there is no such bucket. Check PICTURES_STORAGE.",
    "AccessDenied": "the access keys may not read there. Ask the owner of the bucket.",
    "403": "the access keys may not read there. Ask the owner of the bucket.",
    "InvalidAccessKeyId": "the storage does not know these access keys. Check AWS_ACCESS_KEY_ID.",
    "SignatureDoesNotMatch": "the secret access key is wrong. Check AWS_SECRET_ACCESS_KEY.",
    "PermanentRedirect": "the bucket is in another region. Add ?region=... to PICTURES_STORAGE.",
}


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _other(error: Any) -> str:
    return f"the storage refuses ({_code(error)}: {error.response.get('Error', {}).get('Message', '')})."


def _open_storage() -> Any:
    try:
        return storages[ALIAS]
    except (InvalidStorageError, ImproperlyConfigured, ImportError) as error:
        raise InputRefused(
            f"The storage of PICTURES_STORAGE cannot be used ({error}). If a package is missing: {install('s3')}."
        ) from error
