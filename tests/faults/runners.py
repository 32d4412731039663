"""`run_jobs` as a real process, with jobs of the tests."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.faults.site import Installation
from tests.journeys.site import ROOT
from tests.limits import LIMIT, until


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
            process.wait(LIMIT)

    def log(self, name: str = "runner") -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def submit(self, kind: str, **parameters: Any) -> int:
        return int(self._python(f"print(services.submit({kind!r}, **{parameters!r}).pk)"))

    def submit_for_later(self, kind: str) -> int:
        """A job that no runner takes before `make_due`."""
        later = "from datetime import timedelta; from django.utils import timezone; "
        return int(self._python(f"{later}print(services.submit({kind!r}, run_after=timezone.now() + timedelta(1)).pk)"))

    def make_due(self, pk: int) -> None:
        """At once, on SQLite: a runner that has been told to stop does not wait until another Python has started."""
        self._change("UPDATE jobs_job SET run_after = NULL WHERE id = ?", pk)

    def end_leases(self) -> None:
        """On SQLite. The lease of a killed runner would run out after half a minute."""
        self._change("UPDATE jobs_job SET lease_until = '2020-01-01 00:00:00' WHERE state = 'running'")

    def _change(self, statement: str, *values: object) -> None:
        file = self.installation.media / "humanexp.sqlite3"
        with contextlib.closing(sqlite3.connect(file, timeout=LIMIT)) as database, database:
            database.execute(statement, values)

    def job(self, pk: int) -> dict[str, Any]:
        names = ("state", "attempt", "runner", "error", "done", "result")
        question = f"SELECT {', '.join(names)} FROM jobs_job WHERE id = {int(pk)}"  # noqa: S608
        if url := self.installation.environment.get("DATABASE_URL"):
            with psycopg.connect(**_parts(url)) as database:
                row = database.execute(question).fetchone()
        else:
            file = self.installation.media / "humanexp.sqlite3"
            with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=LIMIT)) as database:
                row = database.execute(question).fetchone()
        found = dict(zip(names, row, strict=True))
        return {**found, "result": found["result"] if url else json.loads(found["result"])}

    def wait_until(self, pk: int, state: str) -> dict[str, Any]:
        def is_so() -> dict[str, Any] | None:
            return found if (found := self.job(pk))["state"] == state else None

        found = until(is_so, lambda: f"job {pk} is {state}: {self.job(pk)}\n{self.log()[-3000:]}", every_s=0.1)
        assert found is not None
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
