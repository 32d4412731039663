"""`make test`: the rings one after the other, a second look at what may have failed by chance, and one last line.

    python -m tests.gate               what every change must pass
    python -m tests.gate durations     store what the tests of the last runs took (see stored.py)

Checks run beside the two shards of the pure ring, then the process ring beside the browser ring, then what the change
touches. Failures outside the pure ring are looked at once more, alone.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.gate import rings, runs, stored, touched
from tests.gate.runs import Run

FOLDER = rings.ROOT / ".gate"
#: The pure ring is a function of the tree: its third failure says as much as its hundredth.
ENOUGH = 3
#: Nothing is waited for there: a test that takes so long waits for what never comes.
PURE_S = 120
#: With more failures than this nothing is repeated: it is no chance.
FEW = 5


class Gate:
    def __init__(self, folder: Path, pytest: Callable[..., Run] = runs.pytest_run) -> None:
        self.folder, self.pytest, self.began = folder, pytest, time.monotonic()
        self.runs: list[Run] = []
        self.red_runs: list[Run] = []
        #: tests that failed and passed when they were looked at alone
        self.flaky: list[dict[str, Any]] = []
        self.failed: list[dict[str, Any]] = []

    def say(self, words: str) -> None:
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        print(f"{minutes:3d}:{seconds:02d}  {words}", flush=True)

    def beside(self, *going: Run) -> None:
        self.runs += going
        runs.beside(going, self._hear, self._ended)

    def _hear(self, run: Run, news: list[dict[str, Any]]) -> None:
        for test in news:
            if test["outcome"] == "failed":
                self.failed.append(test)
                self.say(f"{run.name}: FAILED {test['test']}: {test['said'].strip().splitlines()[-1][:200]}")
        pure = [each for each in self.runs if each.name.startswith("pure")]
        if run in pure and sum(len(each.failed()) for each in pure) >= ENOUGH:
            for each in pure:
                each.stop()

    def _ended(self, run: Run) -> None:
        stopped = f", stopped at failure {ENOUGH}" if run.was_stopped else ""
        counts = f"{run.passed()} passed, {len(run.failed())} failed, " if run.tests else ""
        self.say(f"{run.name}: {counts}{'red' if run.status else 'green'}{stopped}, {run.seconds:.0f} s")
        if run.broke:
            self.red_runs.append(run)
            print(_tail(run.output), flush=True)

    def look_again(self) -> None:
        """Failures of the other rings, alone: an error of the product fails again."""
        chance = [test for test in self.failed if test["ring"] != "pure"]
        if not chance or len(self.failed) > FEW:
            return
        # Money, answers and rights: a machine that is slow may be excused, a wrong sum never.
        again = [test for test in chance if not test["promise"] or test["waited"] or test["phase"] == "setup"]
        if not again:
            return
        names = [test["test"] for test in again]
        second = self.pytest("second look", names, self.folder, GATE_TRACE="1", **self._evidence("second"))
        self.runs.append(second)
        self.say(f"once more, alone: {len(again)}")
        runs.beside([second], lambda run, news: None, lambda run: None)
        passed = {test["test"] for test in second.tests if test["outcome"] == "passed"}
        self.flaky = [test for test in again if test["test"] in passed]
        self.failed = [test for test in self.failed if test["test"] not in passed]

    def _evidence(self, name: str) -> dict[str, str]:
        return {"GATE_EVIDENCE": str(self.folder / "evidence" / name)}

    def marked_ring(self, ring: str, shards: int) -> list[Run]:
        """The ring of tests that are marked for the gate, in so many processes."""
        files = [file for file in stored.test_files() if "mark.gate" in (rings.ROOT / file).read_text(encoding="utf-8")]
        halves = stored.cut(files, stored.seconds_of(ring), shards)
        return [
            self.pytest(f"{ring} ring {number}", ["--ring", ring, *half], self.folder, **self._evidence(ring))
            for number, half in enumerate(halves, start=1)
        ]

    def run(self) -> int:
        self.say(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
        shards = stored.cut(stored.test_files(), stored.seconds_of("pure"), 2)
        self.beside(
            Run("checks", ["make", "--no-print-directory", "check"], self.folder),
            *(
                self.pytest(
                    f"pure ring {number}",
                    ["--ring", "pure", f"--maxfail={ENOUGH}", f"--timeout={PURE_S}", *files],
                    self.folder,
                )
                for number, files in enumerate(shards, start=1)
            ),
        )
        # People who look at a page for a while leave the processors to others.
        self.beside(*self.marked_ring("process", 1), *self.marked_ring("browser", 2))
        self.touched_ring()
        self.look_again()
        return self.report()

    def touched_ring(self) -> None:
        seconds = stored.seconds_of("verify")
        found = touched.selection(seconds)
        self.say(f"touched since {found.base}: {len(found.files)} files, about {found.seconds:.0f} s")
        for title, files in (("runs", found.files), ("left to make verify", found.left_out)):
            print(f"       {title}: {' '.join(files) or 'nothing'}", flush=True)
        halves = [files for files in stored.cut(found.files, seconds, 2) if files]
        going = [
            self.pytest(
                f"touched ring {number}", ["--ring", "touched", *half], self.folder, **self._evidence("touched")
            )
            for number, half in enumerate(halves, start=1)
        ]
        for run in going:
            run.may_be_empty = True
        self.beside(*going)

    def report(self) -> int:
        for test in self.failed:
            _print_evidence(test)
        for run in self.red_runs:
            print(f"\nRED {run.name}: {' '.join(run.command[:6])} … ended with {run.status}; {run.output}")
        for test in self.flaky:
            _print_evidence(test)
            print(f"FAILED, AND PASSED ALONE: {test['test']}. This is a defect of the highest class: find its cause,")
            print("or write the test with date and cause into tests/quarantine.toml.")
        for test, entry in rings.quarantined().items():
            print(f"quarantined since {entry['date']}: {test} ({entry['cause']})")
        with (self.folder / "flaky.log").open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(test) + "\n" for test in self.flaky)
        failed = len(self.failed) + len(self.red_runs)
        passed = sum(run.passed() for run in self.runs)
        skipped = sum(test["outcome"] == "skipped" for run in self.runs for test in run.tests)
        self.say(f"{skipped} skipped, {len(self.flaky)} passed at the second look, load {os.getloadavg()[0]:.1f}")
        print(f"{passed} passed, {failed} failed", flush=True)
        return 1 if failed else 0


def _tail(file: Path, lines: int = 60) -> str:
    return "\n".join(file.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def _print_evidence(test: dict[str, Any]) -> None:
    print(f"\n{'=' * 100}\n{test['test']} ({test['phase']}, {test['ring']} ring, load {test['load']:.1f}, seed 1)\n")
    print(test["said"])
    for name, text in test["output"]:
        print(f"--- {name}\n" + "\n".join(text.splitlines()[-40:]))


def main(arguments: list[str]) -> int:
    if arguments == ["durations"]:
        records = sorted(FOLDER.glob("**/*.jsonl"))
        stored.save(json.loads(line) for file in records for line in file.read_text(encoding="utf-8").splitlines())
        return 0
    if arguments:
        print(__doc__)
        return 2
    runs.end_when_told()
    shutil.rmtree(FOLDER / "evidence", ignore_errors=True)
    FOLDER.mkdir(exist_ok=True)
    return Gate(FOLDER).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
