"""The keys of this installation: which they are, and whether they are those of an archive."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper

from humanexp.core import fingerprints
from humanexp.core.errors import Conflict
from humanexp.core.models import KeyFingerprint
from humanexp.core.storage import media_path
from humanexp.key_files import read_key, write_key

#: Files below MEDIA_ROOT/keys that hold what the settings of these names may hold instead.
_SETTINGS = {"secret_key": "SECRET_KEY", "pseudonym_key": "PSEUDONYM_KEY"}
_FINGERPRINTS = {"secret_key": fingerprints.SECRET, "pseudonym_key": fingerprints.PSEUDONYM}


def keys_here() -> dict[str, str]:
    """By the name of the file that each is in, or would be in."""
    folder = media_path("keys")
    paths = [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
    found = {path.name: key for path in paths if not path.name.startswith(".") and (key := read_key(path)) is not None}
    for name, setting in _SETTINGS.items():
        if value := str(getattr(settings, setting)):
            found[name] = value
    return found


def fingerprints_of(keys: Mapping[str, str], connection: BaseDatabaseWrapper) -> dict[str, str]:
    """Of the keys in use; of one that is not here, the one that the database recorded."""
    recorded = dict(KeyFingerprint.objects.using(connection.alias).values_list("name", "digest"))
    in_use = {name: KeyFingerprint.digest_of(name, keys[file]) for file, name in _FINGERPRINTS.items() if file in keys}
    return {**recorded, **in_use}


def check(known: Mapping[str, str], keys: Mapping[str, str], *, whose: str) -> None:
    """Refuse keys that are not those of these fingerprints; a key that is not there is none of another.

    Raises
    ------
    Conflict
        Naming the key.
    """
    for file, name in _FINGERPRINTS.items():
        wanted, key = known.get(name), keys.get(file)
        candidates = [key, *(settings.SECRET_KEY_FALLBACKS if file == "secret_key" else [])]
        digests = [KeyFingerprint.digest_of(name, one) for one in candidates if one]
        if wanted and digests and wanted not in digests:
            setting = _SETTINGS[file]
            raise Conflict(
                f"{setting} {whose} is not the key of this archive: participants would be strangers, and their links "
                f"would be refused. Unset {setting}, or remove the file keys/{file} below MEDIA_ROOT, so that the "
                "archive's own key is restored. Nothing was changed."
            )


def given_here() -> dict[str, str]:
    """Keys that somebody has put here; not the SECRET_KEY that this command has made because there was none."""
    found = keys_here()
    if not os.environ.get("SECRET_KEY"):
        found.pop("secret_key", None)
    return found


def put_back(keys: Mapping[str, str]) -> list[str]:
    """Write files of keys, but for those whose setting is in the environment; the names of what was written."""
    written = []
    for name, key in sorted(keys.items()):
        if "/" in name or name.startswith("."):
            continue
        setting = _SETTINGS.get(name)
        path = media_path(f"keys/{name}")
        is_made_now = name == "secret_key"
        if (setting and os.environ.get(setting)) or (path.exists() and not is_made_now):
            continue
        write_key(Path(path), key)
        written.append(name)
    return written
