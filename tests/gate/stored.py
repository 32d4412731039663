"""The processor time that each test took when it was last measured: what shards are cut by, and what limits are of.

`tests/durations.json` is written by `make durations` and never by a run of the gate, so that a ring is the same tests
in the same order wherever it runs. Seconds are those of the process and of its children: load hardly changes them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tests.gate.rings import ROOT

FILE = ROOT / "tests" / "durations.json"
#: Tests below this are stored in the sum of their file alone.
SMALL_S = 0.5
#: What a file is taken to need that nobody has measured yet.
UNKNOWN_S = 2.0
#: What the tests of a ring may need together, and one of them alone.
SUMS_S = {"pure": 850.0, "process": 200.0, "browser": 240.0}
ONE_S = {"pure": 2.0, "process": 15.0, "browser": 40.0}


def load() -> dict[str, Any]:
    """{"files": {file: {ring: seconds}}, "tests": {node id: [ring, seconds]}}"""
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def save(measured: Iterable[Mapping[str, Any]]) -> None:
    """Replace what is stored of each file and ring that was measured; `measured` are lines of the recorder."""
    stored = load() if FILE.exists() else {"files": {}, "tests": {}}
    sums: dict[tuple[str, str], float] = defaultdict(float)
    tests: dict[str, list[Any]] = {}
    for line in measured:
        if "test" not in line:
            continue
        test, ring, seconds = line["test"], line["ring"], line["processor_s"]
        sums[test.partition("::")[0], ring] += seconds
        if seconds >= SMALL_S:
            tests[test] = [ring, round(seconds, 1)]
    kept = {test: found for test, found in stored["tests"].items() if (test.partition("::")[0], found[0]) not in sums}
    files: dict[str, dict[str, float]] = defaultdict(dict, stored["files"])
    for (file, ring), sum_s in sorted(sums.items()):
        files[file][ring] = round(sum_s, 1)
    there = {file: found for file, found in files.items() if (ROOT / file).exists()}
    text = json.dumps({"files": there, "tests": kept | tests}, indent=0, sort_keys=True)
    FILE.write_text(text + "\n", encoding="utf-8")


def test_files() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))


def cut(files: Iterable[str], seconds: Mapping[str, float], shards: int) -> list[list[str]]:
    """The files in `shards` lists of about equal seconds, each in the order of names."""
    lists: list[list[str]] = [[] for _ in range(shards)]
    sums = [0.0] * shards
    for file in sorted(files, key=lambda name: (-seconds.get(name, UNKNOWN_S), name)):
        least = sums.index(min(sums))
        lists[least].append(file)
        sums[least] += seconds.get(file, UNKNOWN_S)
    return [sorted(names) for names in lists]


def seconds_of(ring: str) -> dict[str, float]:
    """Seconds by file that is there. A file with tests of other rings alone is known to need none."""
    stored = load()["files"].items()
    return {file: sums.get(ring, 0.0) for file, sums in stored if (ROOT / file).is_file()}
