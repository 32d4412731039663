"""A private PostgreSQL cluster for tests: made on first use, on a socket of its own, gone at the end of the run.

    @pytest.mark.postgres
    def test_something(postgres_url): ...

`postgres_url` is the DATABASE_URL of an empty database of the test's own, `migrated_postgres_url` of one with every
table and nothing in it: all of these are copies of one, so that the migrations run once. Skipped, with a reason, where
the server programs are missing; with CI=true that is a failure.
"""

from __future__ import annotations

import glob
import os
import pwd
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[1]
TEMPLATE = "migrated"


def _program(name: str) -> str | None:
    found = shutil.which(name)
    return found or next(iter(sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), reverse=True)), None)


def missing_programs() -> str:
    return ", ".join(name for name in ("initdb", "pg_ctl", "createdb") if _program(name) is None)


class Cluster:
    """`initdb` and `pg_ctl` as an unprivileged user: PostgreSQL refuses to run as root."""

    def __init__(self, folder: Path, superuser: str = "humanexp") -> None:
        self.folder, self.superuser = folder, superuser
        self._has_template = False
        self.user = pwd.getpwuid(os.getuid()).pw_name
        self._prefix: list[str] = []
        if os.getuid() == 0:
            self.user = next(name for name in ("postgres", "nobody") if _exists(name))
            account = pwd.getpwnam(self.user)
            os.chown(folder, account.pw_uid, account.pw_gid)
            self._prefix = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]

    def _run(self, program: str, *arguments: str) -> None:
        path = _program(program)
        assert path is not None
        # Output to a file: the server inherits it, and a pipe would never end.
        with (self.folder / f"{program}.log").open("ab") as log:
            subprocess.run(
                [*self._prefix, path, *arguments], check=True, stdout=log, stderr=log, cwd=self.folder, timeout=LIMIT
            )

    def start(self, *, durable: bool = False) -> None:
        """`durable`: commits wait for the disk, as they do in production."""
        self._run("initdb", "-D", str(self.folder / "cluster"), "-U", self.superuser, "-A", "trust", "--no-sync")
        self._durable = durable
        self.start_again()

    def start_again(self) -> None:
        fsync = "on" if self._durable else "off"
        options = f"-k {self.folder} -c listen_addresses='' -c fsync={fsync} -c max_connections=60"
        options += " -c shared_buffers=16MB"
        self._run("pg_ctl", "-D", str(self.folder / "cluster"), "-w", "-o", options, "start")

    @property
    def is_running(self) -> bool:
        return (self.folder / "cluster" / "postmaster.pid").exists()

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "cluster"), "-m", "immediate", "stop")

    def url(self, database: str) -> str:
        return f"postgres://humanexp@/{self.folder}/{database}"

    def create_database(self) -> str:
        return self._create(f"test_{secrets.token_hex(6)}")

    def create_migrated_database(self) -> str:
        """A copy of one that has every table and nothing in it, which the first caller makes."""
        if not self._has_template:
            self._migrate(self._create(TEMPLATE))
            self._has_template = True
        return self._create(f"test_{secrets.token_hex(6)}", f"--template={TEMPLATE}")

    def _create(self, name: str, *options: str) -> str:
        self._run("createdb", "-h", str(self.folder), "-U", self.superuser, *options, name)
        return self.url(name)

    def _migrate(self, url: str) -> None:
        from tests.spending import FREE_ALL

        settings = {"DJANGO_SETTINGS_MODULE": "humanexp.settings", "DATABASE_URL": url}
        with tempfile.TemporaryDirectory() as media:
            subprocess.run(
                [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
                cwd=ROOT,
                env={**os.environ, **settings, "MEDIA_ROOT": media},
                check=True,
                timeout=LIMIT,
            )
        self._run("psql", "-h", str(self.folder), "-U", "humanexp", "-d", TEMPLATE, "-c", FREE_ALL)

    def schema(self, url: str) -> str:
        """Tables, indexes and constraints of a database as SQL."""
        file = self.folder / f"{url.rpartition('/')[2]}.sql"
        database = url.rpartition("/")[2]
        self._run("pg_dump", "-h", str(self.folder), "-U", "humanexp", "--schema-only", "-f", str(file), database)
        # newer versions of pg_dump begin and end with a key of chance
        return "\n".join(line for line in file.read_text().splitlines() if "restrict " not in line)


def _exists(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


@contextmanager
def running_cluster(*, durable: bool = False, superuser: str = "humanexp") -> Iterator[Cluster]:
    """A cluster that is gone afterwards, with its folder."""
    # A short path: the name of a socket has at most 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="hx-pg-"))
    folder.chmod(0o755)
    cluster = Cluster(folder, superuser)
    try:
        cluster.start(durable=durable)
        yield cluster
    finally:
        if cluster.is_running:
            cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[Cluster]:
    if missing := missing_programs():
        if os.environ.get("CI") == "true":
            pytest.fail(f"PostgreSQL's programs are missing: {missing}")
        pytest.skip(f"PostgreSQL's programs are not installed: {missing}")
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def postgres_url(postgres_cluster: Cluster) -> str:
    """DATABASE_URL of an empty database."""
    return postgres_cluster.create_database()


@pytest.fixture
def migrated_postgres_url(postgres_cluster: Cluster) -> str:
    """DATABASE_URL of a database with every table and nothing in it."""
    return postgres_cluster.create_migrated_database()
