from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO

from analysis.file_names import composed
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


@dataclass(frozen=True)
class FoundFiles:
    files: list[LabelledFile]
    #: what was left out, one sentence each
    ignored: list[str] = field(default_factory=list)


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
