"""Keys and who can read what."""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings
from django.db import connection

from humanexp.console.doctor_checks.finding import Finding, question
from humanexp.core import sealing


@question("Secret key")
def secret_key() -> Finding:
    if fault := sealing.fault_of_key():
        return Finding(subject="Secret key", state="fault", detail=fault, remedy=sealing.REMEDY)
    where = "the environment" if os.environ.get("SECRET_KEY") else "MEDIA_ROOT/keys/secret_key"
    return Finding(subject="Secret key", state="ok", detail=f"in {where}; keep a copy of it")


@question("File modes")
def file_modes() -> Finding:
    """Worker ids, password hashes and keys are for the owner alone."""
    root = Path(settings.MEDIA_ROOT)
    sites = (path for site in ("marketplace", "panel") for path in root.glob(f"{site}.sqlite3*"))
    secret = [*(root / "keys").glob("*"), *_database_files(), *sites]
    if loose := [path for path in secret if _is_open(path)]:
        names = ", ".join(path.name for path in loose)
        return Finding(
            subject="File modes",
            state="fault",
            detail=f"others can read {names}",
            remedy=f"chmod go= {' '.join(map(str, loose))}",
        )
    if _is_open(root):
        return Finding(
            subject="File modes",
            state="note",
            detail=f"others can look into {root}: uploads, results and logs lie there",
            remedy=f"chmod -R go= {root}",
        )
    return Finding(subject="File modes", state="ok", detail="database, keys and files are their owner's alone")


def _database_files() -> list[Path]:
    """SQLite's file with its journals; another database keeps its own."""
    if connection.vendor != "sqlite":
        return []
    name = Path(str(connection.settings_dict["NAME"]))
    return list(name.parent.glob(f"{name.name}*")) if name.is_absolute() else []


def _is_open(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o077)
