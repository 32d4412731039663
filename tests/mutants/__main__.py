"""Which of a fixed sample of mistakes the tests of their modules do not notice: `make mutants`."""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from defusedxml import ElementTree

from tests.mutants.areas import AREAS, ROOT
from tests.mutants.mutations import Mutant, mutants_of

#: Results and the copy of the tree are kept here, so that a run that was stopped goes on.
KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "humanexp-mutants"
#: A mutant may take this many times what its tests take without it, and a start.
PATIENCE, START_S = 3, 60
_PYTEST = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:randomly"]
#: Which tests are asked: first those that every change must pass, then, for what they did not notice, all others.
_GATE, _VERIFY = ("--ring", "gate", "-m", "not browser"), ("--ring", "verify", "-m", "not browser")
#: pytest found no test of the ring: nobody has noticed.
_NONE = 5


@dataclass(frozen=True)
class Case:
    """A mutant of a module, and the tests that should fail with it."""

    area: str
    path: str
    mutant: Mutant
    tests: tuple[str, ...]
    diff: str

    @property
    def key(self) -> str:
        """The same as long as neither the mutant nor the lines around it change."""
        return hashlib.sha256(self.diff.encode()).hexdigest()[:12]


def sample(areas: Sequence[str], count: int, seed: int) -> list[Case]:
    """As many of each area as of the others, in turns; what belongs to two areas is drawn for the first."""
    chosen: list[tuple[int, Case]] = []
    drawn: set[tuple[str, Mutant]] = set()
    for area in areas:
        cases: dict[tuple[str, Mutant], Case] = {}
        for suspects in AREAS[area]:
            for path in suspects.paths():
                source = (ROOT / path).read_text(encoding="utf-8")
                for mutant in mutants_of(source):
                    cases[path, mutant] = Case(area, path, mutant, suspects.tests, mutant.diff(source, path))
        left = [case for which, case in cases.items() if which not in drawn]
        wanted = min(len(left), -(-count // len(areas)))
        for place, case in enumerate(random.Random(f"{seed} {area}").sample(left, wanted)):
            chosen.append((place, case))
            drawn.add((case.path, case.mutant))
    return [case for _, case in sorted(chosen, key=lambda one: one[0])][:count]


class Copy:
    """The tree as git sees it, changed and put back; the repository itself is only read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
        shutil.rmtree(folder, ignore_errors=True)
        for name in filter(None, names):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)

    def run(self, tests: Sequence[str], limit_s: float, *options: str) -> tuple[int | None, float, str]:
        """Exit status, or none when the time was over; seconds; and the end of what pytest said."""
        began = time.monotonic()
        process = subprocess.Popen(
            [*_PYTEST, *options, *tests],
            cwd=self.folder,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        status: int | None
        try:
            said, _ = process.communicate(timeout=limit_s)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, status = process.communicate()[0], None
        return status, time.monotonic() - began, said[-2_000:]

    def run_mutated(self, case: Case, tests: Sequence[str], limit_s: float) -> dict[str, Any]:
        """What became of the mutant: noticed by the gate, by verify alone, by nobody; or a test that never ended."""
        file = self.folder / case.path
        source = file.read_text(encoding="utf-8")
        file.write_text(case.mutant.applied_to(source), encoding="utf-8")
        took_s = 0.0
        try:
            for ring, outcome in ((_GATE, "noticed"), (_VERIFY, "by verify")):
                status, seconds, said = self.run(tests, limit_s, *ring)
                took_s += seconds
                if status not in (None, 0, 1, 2, _NONE):
                    raise SystemExit(f"pytest ended with {status}:\n{said}")
                if status in (None, 1, 2):  # 2: the tests could not even be collected
                    return {"outcome": "too slow" if status is None else outcome, "seconds": round(took_s, 1)}
        finally:
            file.write_text(source, encoding="utf-8")
        return {"outcome": "survived", "seconds": round(took_s, 1)}

    def fastest_first(self, tests: Sequence[str]) -> dict[str, Any]:
        """The files of these tests by their time without a mutant; they have to pass."""
        report = self.folder / "report.xml"
        status, seconds, said = self.run(tests, 3_600, *_GATE, f"--junitxml={report}")
        if status not in (0, _NONE):
            raise SystemExit(f"These tests fail without any mutant: {' '.join(tests)}\n{said}")
        took: Counter[str] = Counter()
        for test in ElementTree.parse(report).iter("testcase"):
            took[self._file(test.get("classname", ""))] += float(test.get("time", "0"))
        asked = sorted(took, key=lambda name: took[name])
        return {"files": [*asked, *(name for name in tests if name not in took)], "seconds": round(seconds, 1)}

    def _file(self, dotted: str) -> str:
        """The file of "tests.console.test_access.TestPages"."""
        parts = dotted.split(".")
        while not (self.folder / "/".join(parts)).with_suffix(".py").is_file():
            parts.pop()
        return "/".join(parts) + ".py"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="mutants in the sample (100)")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws another sample")
    parser.add_argument("--areas", nargs="+", choices=AREAS, default=list(AREAS), help="only these")
    parser.add_argument("--results", type=Path, default=KEPT / "results.json", help="a file outside the repository")
    asked = parser.parse_args()
    results: Path = asked.results.resolve()
    if results.is_relative_to(ROOT):
        parser.error("the results belong outside the repository")
    results.parent.mkdir(parents=True, exist_ok=True)
    alone = (results.parent / "lock").open("w")
    try:
        fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        parser.error(f"another run changes the copy of the tree in {results.parent}: wait for it, or give --results")
    known: dict[str, Any] = json.loads(results.read_text()) if results.exists() else {"baselines": {}, "mutants": {}}

    def keep() -> None:
        unfinished = results.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(known, indent=1))
        unfinished.replace(results)

    cases = sample(asked.areas, asked.count, asked.seed)
    copied = Copy(results.parent / "tree")
    for number, case in enumerate(cases, 1):
        if case.key not in known["mutants"]:
            tests = " ".join(case.tests)
            if tests not in known["baselines"]:
                known["baselines"][tests] = copied.fastest_first(case.tests)
                keep()
            baseline = known["baselines"][tests]
            found = copied.run_mutated(case, baseline["files"], PATIENCE * baseline["seconds"] + START_S)
            facts = {"area": case.area, "path": case.path, "kind": case.mutant.kind, "line": case.mutant.line}
            known["mutants"][case.key] = {**facts, **found, "diff": case.diff}
            keep()
        one = known["mutants"][case.key]
        told = f"{one['outcome']:<9} {one['seconds']:>6} s  {case.path}:{one['line']} {one['kind']}"
        print(f"{number:>3}/{len(cases)} {told}", flush=True)
    outcomes = Counter(known["mutants"][case.key]["outcome"] for case in cases)
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
    for case in cases:
        if known["mutants"][case.key]["outcome"] in ("survived", "by verify"):
            print(f"\n{known['mutants'][case.key]['outcome']}:\n{case.diff}")


if __name__ == "__main__":
    main()
