from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from humanexp.core.errors import InputRefused
from humanexp.stimuli.sources.base import PictureSource


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
