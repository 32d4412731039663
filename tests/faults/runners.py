"""`run_jobs` as a real process, with jobs of the tests."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.faults.site import Installation
from tests.journeys.site import ROOT


@dataclass
class Lab:
    """An installation, its database and its runners."""

    installation: Installation
    folder: Path

    def environ(self) -> dict[str, str]:
        return self.installation.environ(DJANGO_SETTINGS_MODULE="tests.faults.settings", COMPUTE="serial")

    @contextlib.contextmanager
    def runner(self, name: str = "runner") -> Iterator[subprocess.Popen[bytes]]:
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "manage.py", "run_jobs"],
                cwd=ROOT,
                env=self.environ(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait(20)

    def log(self, name: str = "runner") -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def submit(self, kind: str, **parameters: Any) -> int:
        return int(self._python(f"print(services.submit({kind!r}, **{parameters!r}).pk)"))

    def job(self, pk: int) -> dict[str, Any]:
        names = ("state", "attempt", "runner", "error", "done", "result")
        question = f"SELECT {', '.join(names)} FROM jobs_job WHERE id = {int(pk)}"  # noqa: S608
        if url := self.installation.environment.get("DATABASE_URL"):
            with psycopg.connect(**_parts(url)) as database:
                row = database.execute(question).fetchone()
        else:
            file = self.installation.media / "humanexp.sqlite3"
            with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=20)) as database:
                row = database.execute(question).fetchone()
        found = dict(zip(names, row, strict=True))
        return {**found, "result": found["result"] if url else json.loads(found["result"])}

    def wait_until(self, pk: int, state: str, *, patience_s: float = 60) -> dict[str, Any]:
        deadline = time.monotonic() + patience_s
        while (found := self.job(pk))["state"] != state:
            assert time.monotonic() < deadline, f"{found}\n{self.log()[-3000:]}"
            time.sleep(0.3)
        return found

    def _python(self, script: str) -> str:
        head = "import django; django.setup(); from humanexp.jobs import services; "
        found = subprocess.run(
            [sys.executable, "-c", head + script],
            cwd=ROOT,
            env=self.environ(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert found.returncode == 0, found.stderr
        return found.stdout.strip().splitlines()[-1]


def _parts(url: str) -> dict[str, str]:
    """postgres://humanexp@//folder/database, as the tests' cluster writes it."""
    folder, _, database = url.removeprefix("postgres://humanexp@/").rpartition("/")
    return {"host": folder, "dbname": database, "user": "humanexp"}
