"""Keys and who can read what."""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings
from django.db import connection

from humanexp.console.doctor_checks.questions import question
from humanexp.core import sealing
from humanexp.core.problems import Problem, bad, good, note


@question("Secret key")
def secret_key() -> Problem:
    if fault := sealing.fault_of_key():
        return bad(fault, sealing.REMEDY)
    where = "the environment" if os.environ.get("SECRET_KEY") else "MEDIA_ROOT/keys/secret_key"
    return good(f"in {where}; keep a copy of it")


@question("File modes")
def file_modes() -> Problem:
    """Worker ids, password hashes and keys are for the owner alone."""
    root = Path(settings.MEDIA_ROOT)
    sites = (path for site in ("marketplace", "panel") for path in root.glob(f"{site}.sqlite3*"))
    secret = [*(root / "keys").glob("*"), *_database_files(), *sites]
    if loose := [path for path in secret if _is_open(path)]:
        names = ", ".join(path.name for path in loose)
        return bad(f"others can read {names}", f"chmod go= {' '.join(map(str, loose))}")
    if _is_open(root):
        return note(f"others can look into {root}: uploads, results and logs lie there", f"chmod -R go= {root}")
    return good("database, keys and files are their owner's alone")


def _database_files() -> list[Path]:
    """SQLite's file with its journals; another database keeps its own."""
    if connection.vendor != "sqlite":
        return []
    name = Path(str(connection.settings_dict["NAME"]))
    return list(name.parent.glob(f"{name.name}*")) if name.is_absolute() else []


def _is_open(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o077)
