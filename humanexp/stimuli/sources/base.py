from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import IO

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

    def beside(self, name: str) -> str:
        """Text of a small file that lies beside the source, outside of it; empty where there is none."""
        return ""

    def close(self) -> None:  # noqa: B027  most sources keep nothing open
        """Let go of what is open."""


def told(names: list[str]) -> str:
    """The first names, for a sentence."""
    return ", ".join(names[:NAMES_TOLD]) + (f" and {len(names) - NAMES_TOLD} more" if len(names) > NAMES_TOLD else "")


def readable(name: str) -> str:
    """A file's name as it can be stored and shown: no control characters, no undecodable bytes."""
    text = name.encode("utf-8", "replace").decode("utf-8")
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
