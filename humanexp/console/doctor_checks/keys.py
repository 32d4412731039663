"""Keys and who can read what."""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings
from django.db import connection

from humanexp.console.doctor_checks.finding import Finding, State, question
from humanexp.core import fingerprints
from humanexp.core.fingerprints import Standing

#: How the key's standing shows, where it is no fault.
_STATES: dict[Standing, State] = {Standing.UNPROVEN: "note"}


@question("Pseudonym key")
def pseudonym_key() -> Finding:
    if not fingerprints.is_migrated():
        return Finding(subject="Pseudonym key", state="note", detail="not compared: there are migrations to apply")
    examined = fingerprints.examine()
    if examined.sentence:
        state = _STATES.get(examined.standing, "fault")
        return Finding(subject="Pseudonym key", state=state, detail=examined.sentence, remedy=examined.remedy)
    where = "the setting PSEUDONYM_KEY" if settings.PSEUDONYM_KEY else f"MEDIA_ROOT/{fingerprints.FILE}"
    return Finding(subject="Pseudonym key", state="ok", detail=f"{examined.standing.value}; keep a copy of {where}")


@question("Signing key")
def signing_key() -> Finding:
    changed = fingerprints.signing_key_changed() if fingerprints.is_migrated() else None
    if changed is not None:
        return Finding(
            subject="Signing key",
            state="fault",
            detail=f"SECRET_KEY is another one than on {changed.recorded_at:%d %B %Y}: links, tokens and completion "
            "codes signed before are refused",
            remedy="put the old one into SECRET_KEY_FALLBACKS; then, or if it is gone: doctor --record-keys",
        )
    where = "environment" if os.environ.get("SECRET_KEY") else "MEDIA_ROOT/keys/secret_key"
    return Finding(subject="Signing key", state="ok", detail=where)


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
