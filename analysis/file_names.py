"""Names of files and folders: what systems left among those that people hand in, accents, and words as slugs."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

#: Folders of storage boxes (@eaDir, @Recycle), of Windows ($RECYCLE.BIN) and of programs that synchronise (~syncthing~)
#: begin with these; hidden files and folders of every system with a dot.
_FOLDER_MARKS = ("@", "$", "~")
_NAMES = frozenset(
    {
        "__macosx",
        "#recycle",
        "#snapshot",
        "album.db",
        "desktop.ini",
        "ehthumbs.db",
        "ehthumbs_vista.db",
        "found.000",
        "icon\r",
        "lost+found",
        "network trash folder",
        "picasa.ini",
        "recycler",
        "system volume information",
        "temporary items",
        "thumbs.db",
        "zbthumbnail.info",
    }
)
#: Thumbnails and notes that lie beside the pictures once such a folder was copied flat, or to another system.
_FILES = re.compile(
    r"synophoto_.*|synoindex_.*|~\$.*|~syncthing~.*|.*@syno\w+|.*:zone\.identifier|thumbs\.db:.*|.*_\$folder\$",
    re.DOTALL,
)


def litter_in(name: str) -> str:
    """The part of a path, separated by slashes, that no person made or meant; empty where there is none."""
    *folders, file = name.split("/")
    for folder in folders:
        if folder.startswith((".", *_FOLDER_MARKS)) or folder.lower() in _NAMES:
            return folder
    lower = file.lower()
    return file if lower.startswith(".") or lower in _NAMES or _FILES.fullmatch(lower) else ""


def without_litter(names: Iterable[str]) -> tuple[list[str], Counter[str]]:
    """The other names in their order, and the number of files for each name of litter."""
    own: list[str] = []
    left_out: Counter[str] = Counter()
    for name in names:
        if litter := litter_in(name):
            left_out[litter] += 1
        else:
            own.append(name)
    return own, left_out


def composed(name: str) -> str:
    """One form for names that look alike: macOS stores an accent as a character of its own, other systems do not."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def slug_of(title: str) -> str:
    """Lower-case letters, digits, underscores and hyphens of a title, as addresses have them."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain.lower())).strip("-_")
