"""Blocks of commands in a document: those fenced as `sh`. A remark before a block says that it is not run, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_BLOCKS = re.compile(r"(?:^<!-- not run by the tests: ([^\n]+) -->\n\n)?^```sh\n(.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    #: as people find it: file and line
    place: str
    commands: str
    #: why the tests do not run it; empty where they do
    not_run: str


def blocks_of(document: Path) -> list[Block]:
    """In order."""
    text = document.read_text(encoding="utf-8")
    return [
        Block(f"{document.name}:{text.count(chr(10), 0, found.start(2))}", found[2], found[1] or "")
        for found in _BLOCKS.finditer(text)
    ]


def script_of(blocks: list[Block]) -> str:
    """One shell runs them all: it says where it is, and the first command that fails ends it."""
    parts = [f"echo '== {block.place}' >&2\n{block.commands}" for block in blocks if not block.not_run]
    return "set -eu -o pipefail\n" + "\n".join(parts)
