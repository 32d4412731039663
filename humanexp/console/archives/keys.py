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

from humanexp.core.errors import Conflict, InputRefused
from humanexp.core.sealing import check_value
from humanexp.core.storage import media_path
from humanexp.places import read_key, write_key

#: The file below MEDIA_ROOT/keys that has what the setting SECRET_KEY may have instead.
_SIGNING = "secret_key"


def keys_here() -> dict[str, str]:
    """By the name of the file that each is in, or would be in."""
    folder = media_path("keys")
    paths = [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
    found = {path.name: key for path in paths if not path.name.startswith(".") and (key := read_key(path)) is not None}
    return {**found, _SIGNING: str(settings.SECRET_KEY)}


def check(wanted: str, keys: Mapping[str, str], *, whose: str) -> None:
    """Refuse a SECRET_KEY without this check value; one that is not there is not refused.

    Raises
    ------
    Conflict
        If it is another one.
    """
    candidates = [keys.get(_SIGNING), *settings.SECRET_KEY_FALLBACKS]
    values = [check_value(one) for one in candidates if one]
    if values and wanted not in values:
        raise Conflict(
            f"SECRET_KEY {whose} is not the key of this archive: participants would be strangers, and their links "
            f"would be refused. Unset SECRET_KEY, or put the archive's key into the file keys/{_SIGNING} below "
            "MEDIA_ROOT. Nothing was changed."
        )


def given_here() -> dict[str, str]:
    """Keys that somebody has put here; not the SECRET_KEY that this command has made because there was none."""
    found = keys_here()
    if not os.environ.get("SECRET_KEY"):
        found.pop(_SIGNING)
    return found


def put_back(keys: Mapping[str, str]) -> list[str]:
    """Write files of keys, except SECRET_KEY where the environment has it; the names of what was written."""
    written = []
    for name, key in sorted(keys.items()):
        if "/" in name or name.startswith("."):
            continue
        path = media_path(f"keys/{name}")
        # One that is there was made by this command, unless the environment has it.
        if os.environ.get("SECRET_KEY") if name == _SIGNING else path.exists():
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
