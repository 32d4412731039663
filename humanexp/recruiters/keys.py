"""Accounts of recruiters by name: which codes they can have, and where their keys are.

Keys are in settings, in variables of the environment, or in files; they are in no database. A key's file has the name
of its variable in small letters and lies in MEDIA_ROOT/keys, readable by its owner only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.conf import settings

from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import media_path
from humanexp.places import read_key, write_key

#: Words that the console's addresses have where an account's code would stand: its page would never be reached.
TAKEN = frozenset({"open", "sites"})


#: It is typed in commands, and ends tokens and names of files.
_CODE = re.compile(r"[a-z][a-z0-9-]{1,11}")


def fault_of_code(code: str) -> str:
    """What it should be; empty where nothing is wrong with it."""
    if not _CODE.fullmatch(code):
        return "2 to 12 small letters, digits and hyphens, a letter first"
    return "another word: a page of the console has this one" if code in TAKEN else ""


_LONGEST = 500


def key(name: str) -> str:
    """Empty where there is none."""
    return _configured(name) or read_key(file_of(name)) or ""


def missing(names: Sequence[str]) -> list[str]:
    return [name for name in names if not key(name)]


def is_configured(name: str) -> bool:
    """A setting or a variable says it, and goes before a file."""
    return bool(_configured(name))


def file_of(name: str) -> Path:
    return media_path("keys") / name.lower()


def names_for(code: str, *ends: str, is_first: bool) -> tuple[str, ...]:
    """Of an account with this code: names of variables begin with it.

    Before the codes that somebody has chosen stands a word that nothing else begins with: an account called "metrics"
    would take METRICS_TOKEN for its own, and send it to its recruiter.
    """
    word = re.sub(r"[^A-Z0-9]", "_", code.upper())
    prefix = word if is_first else f"RECRUITER_{word}"
    return tuple(f"{prefix}_{end}" for end in ends)


def store(given: Mapping[str, str]) -> None:
    """Into files. Raises InvalidRequest for what cannot be a key."""
    for name, text in given.items():
        if not text or len(text) > _LONGEST or not text.isascii() or not text.isprintable() or " " in text:
            raise InvalidRequest(f"{name}: paste the whole key; it has no spaces.", fields={name: "not a key"})
    if settings.FILE_STORE:
        raise InvalidRequest(
            f"Several machines work here, and secrets are never put where they share files: set {' and '.join(given)} "
            "in the environment of each of them."
        )
    for name, text in given.items():
        write_key(file_of(name), text)


def _configured(name: str) -> str:
    return str(getattr(settings, name, "")) or os.environ.get(name, "")
