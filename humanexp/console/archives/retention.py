"""How many archives stay."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from humanexp.console.archives.files import digests_of
from humanexp.console.archives.shelf import Shelf


def keep(shelf: Shelf, newest: int, work: Path) -> list[str]:
    """Remove older archives, and contents that no archive names; the names of what went."""
    gone = shelf.names()[:-newest]
    for name in gone:
        (shelf.root / "archives" / name).replace(work / name)
        (shelf.root / "keys" / f"{name}.sealed").unlink(missing_ok=True)
    with closing(sqlite3.connect(work / "named.sqlite3", isolation_level=None)) as named:
        named.execute("PRAGMA journal_mode=OFF")
        named.execute("CREATE TABLE named (digest TEXT PRIMARY KEY) WITHOUT ROWID")
        for name in shelf.names():
            named.execute("BEGIN")
            rows = ((digest,) for digest in digests_of(shelf, shelf.manifest(name)))
            named.executemany("INSERT OR IGNORE INTO named VALUES (?)", rows)
            named.execute("COMMIT")
        for folder in (shelf.root / "objects").iterdir():
            for path in folder.iterdir():
                if not named.execute("SELECT 1 FROM named WHERE digest = ?", [path.name]).fetchone():
                    path.unlink()
    return gone
