"""Keys of an archive, and what is sealed with them."""

from __future__ import annotations

import base64
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper

from humanexp.core import fingerprints
from humanexp.core.errors import Conflict, InputRefused
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


#: Where the passphrase is, if no file is named.
VARIABLE = "BACKUP_PASSPHRASE"
SHORTEST = 12
#: Cost of one guess: 64 MiB and about a quarter of a second.
_N, _R, _P = 2**16, 8, 1
_NEW = f"Make one, for example: python -c 'import secrets; print(secrets.token_urlsafe(24))' > FILE; set {VARIABLE} or "
_ADVICE = _NEW + "name the file with --passphrase-file. Keep a copy of it away from the archives."


def passphrase(file: Path | None) -> str | None:
    """From the file, or from the environment; None where neither has one.

    Raises
    ------
    InputRefused
        If others can read the file, or the passphrase is short.
    """
    if file is None:
        found = os.environ.get(VARIABLE, "")
        where = VARIABLE
    else:
        where = str(file)
        try:
            with file.open(encoding="utf-8") as stream:
                mode = os.fstat(stream.fileno()).st_mode
                found = stream.readline().rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise InputRefused(f"The passphrase cannot be read from {file}: {error}") from error
        if mode & 0o077:
            raise InputRefused(f"Others can read the passphrase in {file}: chmod go= {file}")
    if not found and file is None:
        return None
    if len(found) < SHORTEST:
        raise InputRefused(f"The passphrase in {where} is shorter than {SHORTEST} characters. {_ADVICE}")
    return found


def required(found: str | None) -> str:
    if found is None:
        raise InputRefused(
            f"The archive's keys are encrypted with a passphrase, and there is none. {_ADVICE} Or use --without-keys."
        )
    return found


def seal(keys: Mapping[str, str], words: str) -> bytes:
    salt = secrets.token_bytes(16)
    head = {"kdf": "scrypt", "n": _N, "r": _R, "p": _P, "salt": base64.b64encode(salt).decode("ascii")}
    token = _fernet(words, salt, n=_N, r=_R, p=_P).encrypt(json.dumps(dict(keys), sort_keys=True).encode())
    return json.dumps(head).encode() + b"\n" + token + b"\n"


def unseal(content: bytes, words: str) -> dict[str, str]:
    """
    Raises
    ------
    InputRefused
        If the passphrase is another one, or the file is damaged.
    """
    try:
        head, token = content.split(b"\n")[:2]
        told = json.loads(head)
        cost = {name: int(told[name]) for name in ("n", "r", "p")}
        if told["kdf"] != "scrypt" or cost["n"] > 2**20 or cost["r"] > 32 or cost["p"] > 16:
            raise ValueError("kdf")
        opened = _fernet(words, base64.b64decode(told["salt"]), **cost).decrypt(token)
        keys: dict[str, str] = json.loads(opened)
    except InvalidToken as error:
        raise InputRefused(
            "The passphrase does not open the keys of this archive: it is another one, or the file is damaged."
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputRefused("The file of encrypted keys is damaged. Use the keys of another archive.") from error
    return keys


def _fernet(words: str, salt: bytes, *, n: int, r: int, p: int) -> Fernet:
    stretched = Scrypt(salt=salt, length=32, n=n, r=r, p=p).derive(words.encode())
    return Fernet(base64.urlsafe_b64encode(stretched))
