"""`make verify`: everything that the gate leaves out, in an order and with examples that are drawn anew.

    python -m tests.gate.verify [--seed N] [PATH ...]     with paths: the tests behind these alone

What has passed is not run again on the same tree, so that a stopped run goes on where it was; with --seed the order and
the examples of an earlier run come back, and everything runs. A failure is repeated once, alone. `tests/red.toml` names
what is known to be red, with its date: that fails nothing here, and is named when it is green again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.gate import rings, runs
from tests.gate.runs import Run

FOLDER = rings.ROOT / ".gate" / "verify"
#: They starve, stop and kill what a neighbour would need, and run one after the other.
ALONE = "tests/faults"
#: Run again with seven labels instead of the 16 categories: what reads numbers, answers and pages by labels.
SEVEN = rings.ROOT / "fixtures/labels/seven.toml"
OF_LABELS = (
    *(f"tests/analysis/{name}" for name in ("acceptance", "agreement", "claims", "curves", "design", "differences")),
    *(f"tests/analysis/{name}" for name in ("findings", "labels", "observers", "persons", "power", "reporting")),
    *(f"tests/analysis/{name}" for name in ("similarity", "study")),
    *("tests/participation", "tests/results", "tests/screening", "tests/simulation", "tests/studies"),
    "tests/console/test_demo.py",
)


def tree() -> str:
    """A name of what is checked out, with every change that is not committed."""
    digest = hashlib.sha256()
    for command in (["rev-parse", "HEAD^{tree}"], ["diff", "HEAD"], ["ls-files", "--others", "--exclude-standard"]):
        digest.update(subprocess.run(["git", *command], cwd=rings.ROOT, capture_output=True, check=True).stdout)
    return digest.hexdigest()[:16]


def steps(folder: Path, seed: int, paths: Sequence[str]) -> list[Run]:
    """Runs in their order; each leaves its record behind, by which the next call knows what has passed."""
    workers = ["-n", os.environ.get("WORKERS", "4"), "--dist", "worksteal"]
    drawn = [sys.executable, "-m", "pytest", "-q", f"--randomly-seed={seed}"]

    def tests(name: str, *arguments: str) -> Run:
        passed = folder / f"{name}.passed"
        return Run(name, [*drawn, *arguments, "--but", str(passed)], folder, EXAMPLES="fresh")

    if paths:
        named = "-".join(path.strip("/").replace("/", ".") for path in paths)
        return [tests(named[-100:], "--ring", "verify", *paths)]
    return [
        tests("whole", "--ring", "verify", *workers, f"--ignore={ALONE}", "tests"),
        tests("faults", "--ring", "verify", ALONE),
        tests("drawn", "--ring", "pure", *workers, "tests"),
        Run(
            "labels",
            [*drawn, "--ring", "gate", "-m", "not browser", *workers, *OF_LABELS],
            folder,
            DEFAULT_LABELS=str(SEVEN),
        ),
        Run("claims", [sys.executable, "-m", "benchmarks.claims", "--smoke"], folder),
        Run("product", ["make", "--no-print-directory", "product"], folder),
    ]


def finish(run: Run, folder: Path) -> list[dict[str, Any]]:
    """Run what is left of a step; the tests that failed twice."""
    done = folder / f"{run.name}.done"
    if done.exists():
        print(f"{run.name}: done before", flush=True)
        return []
    print(f"{run.name}: {' '.join(run.command)}", flush=True)

    def hear(run: Run, news: list[dict[str, Any]]) -> None:
        for test in news:
            if test["outcome"] == "failed":
                print(f"{run.name}: FAILED {test['test']}", flush=True)
        with (folder / f"{run.name}.passed").open("a", encoding="utf-8") as passed:
            passed.writelines(json.dumps(test) + "\n" for test in news if test["outcome"] != "failed")

    runs.beside([run], hear, lambda run: None)
    failed = run.failed()
    if failed and len(failed) <= 20:
        again = runs.pytest_run(f"{run.name} again", [test["test"] for test in failed], folder, **run.own)
        runs.beside([again], lambda again, news: hear(run, news), lambda again: None)
        failed = again.failed()
    print(f"{run.name}: {run.passed()} passed, {len(failed)} failed, {run.seconds:.0f} s", flush=True)
    for test in failed:
        print(f"\n{'=' * 100}\n{test['test']} ({test['phase']}, load {test['load']:.1f})\n\n{test['said']}")
    if not run.tests and run.status not in (0, 5):
        print(run.output.read_text(encoding="utf-8", errors="replace")[-6000:])
        return [{"test": run.name}]
    if not failed:
        done.touch()
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gate.verify", description=__doc__)
    parser.add_argument("--seed", type=int)
    parser.add_argument("paths", nargs="*")
    asked = parser.parse_args()
    runs.end_when_told()
    seed = random.randrange(2**32) if asked.seed is None else asked.seed
    folder = FOLDER / (f"seed-{seed}" if asked.seed is not None else tree())
    folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {seed}: `python -m tests.gate.verify --seed {seed}` draws the same order and examples", flush=True)
    found = [run for step in steps(folder, seed, asked.paths) for run in finish(step, folder)]
    failed, known = {test["test"] for test in found}, rings.red()
    for test, entry in known.items():
        standing = "known to be red" if test in failed else "named in tests/red.toml, and not red here"
        print(f"{standing} since {entry['date']}: {test}")
    new = sorted(failed - set(known))
    print("\n".join(f"RED {test}" for test in new))
    print(f"verify: {len(new)} red, {len(failed) - len(new)} known to be red")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
