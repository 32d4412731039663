"""Keys and who can read what."""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings
from django.db import connection

from humanexp.console.doctor_checks.questions import question
from humanexp.core import fingerprints
from humanexp.core.fingerprints import Standing
from humanexp.core.problems import Problem, bad, good, note


@question("Pseudonym key")
def pseudonym_key() -> Problem:
    if not fingerprints.is_migrated():
        return note("not compared: there are migrations to apply")
    examined = fingerprints.examine()
    if examined.sentence:
        say = note if examined.standing == Standing.UNPROVEN else bad
        return say(examined.sentence, examined.remedy)
    where = "the setting PSEUDONYM_KEY" if settings.PSEUDONYM_KEY else f"MEDIA_ROOT/{fingerprints.FILE}"
    return good(f"{examined.standing.value}; keep a copy of {where}")


@question("Signing key")
def signing_key() -> Problem:
    changed = fingerprints.signing_key_changed() if fingerprints.is_migrated() else None
    if changed is not None:
        return bad(
            f"SECRET_KEY is another one than on {changed.recorded_at:%d %B %Y}: links, tokens and completion "
            "codes signed before are refused",
            "put the old one into SECRET_KEY_FALLBACKS; then, or if it is gone: doctor --record-keys",
        )
    where = "environment" if os.environ.get("SECRET_KEY") else "MEDIA_ROOT/keys/secret_key"
    return good(where)


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
