"""The list of digests of a published set, as `sha256sum` writes it."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digest_list(folder: Path, below: str) -> str:
    """A line for every file of a folder, or for one file, below the folder of a set."""
    place = folder / below
    files = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
    digests = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
