"""Which codes an account with a recruiter can have."""

from __future__ import annotations

import re

#: Words that the console's addresses have where an account's code would stand: its page would never be reached.
TAKEN = frozenset({"open", "sites"})


#: It is typed in commands, and ends tokens and names of files.
_CODE = re.compile(r"[a-z][a-z0-9-]{1,11}")


def fault_of_code(code: str) -> str:
    """What it should be; empty where nothing is wrong with it."""
    if not _CODE.fullmatch(code):
        return "2 to 12 small letters, digits and hyphens, a letter first"
    return "another word: a page of the console has this one" if code in TAKEN else ""
