"""A database that is locked, gone and back again: nothing stops, nothing is lost, nothing is paid twice."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from tests.faults.runners import Lab
from tests.faults.site import Installation
from tests.faults.study import study_through
from tests.faults.test_sockets import web_process
from tests.journeys.site import Site
from tests.limits import LIMIT
from tests.postgres import Cluster, missing_programs

pytestmark = pytest.mark.process

LOCKED_S = 30


def lock(database: Path, seconds: float) -> None:
    """As a backup, or a person with a database tool, holds it."""
    with contextlib.closing(sqlite3.connect(database, timeout=LIMIT, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        time.sleep(seconds)
        holder.execute("ROLLBACK")


@pytest.mark.timeout(600)
def test_a_study_goes_through_a_database_that_is_locked_for_half_a_minute(site: Site, tmp_path: Path) -> None:
    def locked() -> None:
        lock(site.media_root / "humanexp.sqlite3", LOCKED_S)

    sys.stdout.write(study_through(site, tmp_path, during_answers=locked, during_payments=locked) + "\n")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """One of the test's own, which it may stop."""
    if missing := missing_programs():
        if os.environ.get("CI") == "true":
            pytest.fail(f"PostgreSQL's programs are missing: {missing}")
        pytest.skip(f"PostgreSQL's programs are not installed: {missing}")
    folder = Path(tempfile.mkdtemp(prefix="hx-pg-"))
    folder.chmod(0o755)
    made = Cluster(folder)
    try:
        made.start()
        yield made
    finally:
        if made.is_running:
            made.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.postgres
@pytest.mark.timeout(600)
def test_web_and_runner_outlast_a_restart_of_postgresql(cluster: Cluster, tmp_path: Path) -> None:
    media = tmp_path / "media"
    media.mkdir()
    installation = Installation(media, {"DATABASE_URL": cluster.create_database()})
    lab = Lab(installation, tmp_path)
    migrated = installation.manage("migrate", "--verbosity", "0")
    assert migrated.returncode == 0, migrated.stderr
    job = lab.submit("faults.long", seconds=25)
    with lab.runner() as runner, web_process(media, lab.environ()) as url:
        lab.wait_until(job, "running")
        with ThreadPoolExecutor(8) as callers:
            assert set(callers.map(_asked, [url] * 40)) == {200}
            cluster.stop()
            down = requests.get(f"{url}/healthz", timeout=LIMIT)
            assert down.status_code == 503 and down.json() == {"status": "not ok"}
            time.sleep(8)
            cluster.start_again()
            assert set(callers.map(_asked, [url] * 40)) == {200}, "a connection that was kept is not used blindly"
        payment = lab.submit("faults.payment")
        lab.wait_until(payment, "done")
        found = lab.wait_until(job, "done")
        assert (found["attempt"], found["error"]) == (1, "")
        assert runner.poll() is None
    assert lab.log().count("cannot go on and tries again") <= 2 * 2, "told once for each change, not each second"


def _asked(url: str) -> int:
    """A page that looks into the database."""
    return requests.get(f"{url}/healthz", timeout=LIMIT).status_code
