"""Which tests of `make verify` a change touches: the cheapest of them belong to the gate, too.

`tests/rooms.toml` says which tests stand behind which part of the product. A change is everything since a base:

1. `GATE_BASE`, if it is set;
2. where this branch left `origin/main`, if it has left it;
3. the newest first parent that was committed at least eight hours before HEAD: what landed before this work began;
4. none, in a shallow or a new repository: then one file a room is tried.
"""

from __future__ import annotations

import os
import subprocess
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.gate.rings import ROOT

ROOMS = ROOT / "tests" / "rooms.toml"
LIMIT_S = 240.0
#: What a file is taken to need that nobody has measured yet: most of these open pages.
UNKNOWN_S = 20.0
_WORK_S = 8 * 3600


@dataclass(frozen=True, kw_only=True)
class Selection:
    #: how the base was found, in words, and the tests' files in the order in which they were chosen
    base: str
    files: tuple[str, ...]
    left_out: tuple[str, ...]
    seconds: float


def rooms() -> dict[str, list[str]]:
    return dict(tomllib.loads(ROOMS.read_text(encoding="utf-8"))["rooms"])


def _git(folder: Path, *arguments: str) -> str:
    ran = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    return ran.stdout.strip() if ran.returncode == 0 else ""


def base_of(folder: Path = ROOT) -> tuple[str, str]:
    """The commit that the change began at, or "", and how it was found."""
    if named := os.environ.get("GATE_BASE"):
        commit = _git(folder, "rev-parse", "--verify", f"{named}^{{commit}}")
        if not commit:
            raise SystemExit(f"GATE_BASE={named}: no commit of this repository is called that.")
        return commit, f"GATE_BASE={named}"
    head = _git(folder, "rev-parse", "HEAD")
    left = _git(folder, "merge-base", "HEAD", "origin/main")
    if left and left != head:
        return left, "where the branch left origin/main"
    if head:
        line = _git(folder, "log", "--first-parent", "--format=%H %ct", "HEAD")
        commits = [(commit, int(at)) for commit, at in map(str.split, line.splitlines())]
        for commit, at in commits[1:]:
            if at <= commits[0][1] - _WORK_S:
                return commit, "the newest commit eight hours older than this one"
    return "", "no older commit is known: one file of each room"


def changed_since(base: str, folder: Path = ROOT) -> list[str]:
    """Paths that differ from the base, what is not committed included."""
    names = _git(folder, "diff", "--name-only", base).splitlines()
    return sorted({*names, *_git(folder, "ls-files", "--others", "--exclude-standard").splitlines()})


def room_of(path: str, prefixes: Iterable[str]) -> str | None:
    """The longest prefix that the path begins with."""
    return max((prefix for prefix in prefixes if path.startswith(prefix)), key=len, default=None)


def files_behind(room: Sequence[str], seconds: Mapping[str, float]) -> list[str]:
    """The test files that a room names, by file or by folder; those alone that have tests of the ring."""
    named = [file for file in seconds if any(file == name or file.startswith(f"{name}/") for name in room)]
    return sorted(file for file in named if seconds[file] > 0)


def select(
    changed: Sequence[str] | None,
    seconds: Mapping[str, float],
    named: Mapping[str, Sequence[str]],
    limit_s: float = LIMIT_S,
) -> tuple[list[str], list[str]]:
    """Files to run and files left out; `changed` is None where no base is known.

    Tests that changed come first, then the files behind what changed, each the cheapest first, until the seconds are
    spent.
    """

    def cost_s(file: str) -> float:
        return seconds.get(file, UNKNOWN_S)

    def cheapest(files: Iterable[str]) -> list[str]:
        return sorted(set(files), key=lambda file: (cost_s(file), file))

    if changed is None:
        behind = [files_behind(room, seconds) for room in named.values()]
        wanted = cheapest(min(files, key=lambda file: (seconds[file], file)) for files in behind if files)
    else:
        tests = [path for path in changed if Path(path).match("test_*.py") and (ROOT / path).exists()]
        own = cheapest(path for path in tests if seconds.get(path) != 0)
        found = {room_of(path, named) for path in changed} - {None}
        others = cheapest(file for room in found for file in files_behind(named[str(room)], seconds))
        wanted = own + [file for file in others if file not in set(own)]
    chosen: list[str] = []
    spent_s = 0.0
    for file in wanted:
        if spent_s + cost_s(file) <= limit_s:
            chosen.append(file)
            spent_s += cost_s(file)
    return chosen, [file for file in wanted if file not in set(chosen)]


def selection(seconds: Mapping[str, float]) -> Selection:
    base, found = base_of()
    chosen, left_out = select(changed_since(base) if base else None, seconds, rooms())
    return Selection(
        base=f"{base[:12]} ({found})" if base else found,
        files=tuple(chosen),
        left_out=tuple(left_out),
        seconds=sum(seconds.get(file, UNKNOWN_S) for file in chosen),
    )
