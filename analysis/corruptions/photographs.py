"""Photographs of frosted panes from a folder of the lab's own, in place of the drawn textures."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from analysis import opencv as cv2
from analysis.corruptions.registry import Picture
from analysis.errors import InvalidInput
from analysis.file_names import litter_in

_SUFFIXES = frozenset({".png", ".jpg", ".jpeg"})
_KEPT = 8


@dataclass(frozen=True)
class Photographs:
    """The pictures of a folder, in the order of their names.

    Parameters
    ----------
    files : tuple of Path
    digests : tuple of str
        SHA-256 of each file, when the folder was read first.
    """

    files: tuple[Path, ...]
    digests: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: int) -> Picture:
        return _decoded(self.files[number], self.digests[number])

    @property
    def digest(self) -> str:
        """Digest of all files, 12 hexadecimal digits: the same pictures in the same order, the same digest."""
        return hashlib.sha256("".join(self.digests).encode()).hexdigest()[:12]


def photographs_in(folder: Path) -> Photographs:
    """Find the PNG and JPEG files of a folder.

    Raises
    ------
    InvalidInput
        If there is no such folder, or it holds no picture.
    """
    if not folder.is_dir():
        raise InvalidInput(f"There is no folder {folder} with photographs of frost: correct FROST_TEXTURES.")
    named = (path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES and not litter_in(path.name))
    files = tuple(sorted(named))
    if not files:
        raise InvalidInput(f"The folder {folder} holds no PNG or JPEG photograph of frost: correct FROST_TEXTURES.")
    return Photographs(files, tuple(hashlib.sha256(path.read_bytes()).hexdigest() for path in files))


@lru_cache(maxsize=_KEPT)
def _decoded(path: Path, sha256: str) -> Picture:
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InvalidInput(f"The photograph of frost {path} has changed since the start: start again.")
    pixels = cv2.imdecode(np.frombuffer(content, dtype=np.uint8), cv2.IMREAD_COLOR) if content else None
    if pixels is None:
        raise InvalidInput(f"The photograph of frost {path} cannot be read as a picture: remove it.")
    photograph = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), dtype=np.uint8)
    photograph.flags.writeable = False
    return photograph
