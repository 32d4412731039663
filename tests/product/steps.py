"""Commands one after the other, as a person gives them; the first that fails ends the run with its output."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.product.declared_imports import ROOT

WAIT_S = 60


def step(what: str, *command: str, cwd: Path, environment: Mapping[str, str], status: int = 0) -> str:
    """What it printed, on both streams where it was to fail."""
    started = time.monotonic()
    print(f"== {what}", flush=True)
    found = subprocess.run(command, cwd=cwd, env=environment, text=True, capture_output=True, check=False)
    print(f"   {time.monotonic() - started:.0f} s", flush=True)
    if found.returncode != status:
        print(found.stdout[-4000:], found.stderr[-4000:], sep="\n")
        raise SystemExit(f"{what}: exit status {found.returncode}")
    return found.stdout + found.stderr if status else found.stdout


@contextlib.contextmanager
def beside(*command: str, cwd: Path, environment: Mapping[str, str], log: Path) -> Iterator[None]:
    """A process for the time of the block."""
    with log.open("wb") as stream:
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=stream, stderr=stream)
    try:
        yield
    finally:
        process.terminate()
        process.wait(WAIT_S)


def check(what: str, holds: bool) -> None:
    if not holds:
        raise SystemExit(f"not so: {what}")


def copy_project(to: Path) -> None:
    """The files of the repository, as they are here, without what git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
