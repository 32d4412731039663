"""`doctor` beside real processes: what is wrong with an installation turns it red, and nothing else does."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.faults.runners import Lab
from tests.faults.site import Installation

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> Path:
    """Media of an installation whose job runner has just been at work."""
    folder = tmp_path_factory.mktemp("healthy")
    site = Installation(folder / "media")
    site.media.mkdir(mode=0o700)
    shutil.copyfile(migrated_database, site.media / "humanexp.sqlite3")
    (site.media / "humanexp.sqlite3").chmod(0o600)
    lab = Lab(site, folder)
    with lab.runner():
        lab.wait_until(lab.submit("faults.payment"), "done")
    return site.media


@pytest.fixture
def site(healthy: Path, tmp_path: Path) -> Iterator[Installation]:
    """A copy of it, with a runner that was heard of this moment."""
    made = Installation(shutil.copytree(healthy, tmp_path / "media"))
    _heard_of_the_runner(made, ago=timedelta(0))
    yield made


def _execute(site: Installation, statement: str, *values: object) -> None:
    with contextlib.closing(sqlite3.connect(site.media / "humanexp.sqlite3")) as database:
        done = database.execute(statement, values)
        database.commit()
        assert done.rowcount, "nothing was changed: the test tests nothing"


def _heard_of_the_runner(site: Installation, *, ago: timedelta) -> None:
    at = (datetime.now(UTC) - ago).strftime("%Y-%m-%d %H:%M:%S.%f")
    _execute(site, "UPDATE jobs_runner SET beat_at = ?, prompt_at = ?, long_at = ?", at, at, at)


def silent_runner(site: Installation) -> None:
    _heard_of_the_runner(site, ago=timedelta(seconds=70))


def unapplied_migration(site: Installation) -> None:
    _execute(site, "DELETE FROM django_migrations WHERE id = (SELECT max(id) FROM django_migrations)")


def readable_database(site: Installation) -> None:
    (site.media / "humanexp.sqlite3").chmod(0o644)


def readable_key(site: Installation) -> None:
    (site.media / "keys" / "secret_key").chmod(0o604)


def other_secret_key(site: Installation) -> None:
    site.environment["SECRET_KEY"] = "another key than the one that has signed everything so far"


def address_without_tls(site: Installation) -> None:
    site.environment["PUBLIC_URL"] = "http://lab.example"


def deaf_mail_server(site: Installation) -> None:
    site.environment |= {"EMAIL_HOST": "127.0.0.1", "EMAIL_PORT": "9"}


def examined(site: Installation) -> tuple[int, dict[str, str]]:
    done: subprocess.CompletedProcess[str] = site.manage("doctor", "--strict", "--json")
    findings = json.loads(done.stdout)
    return done.returncode, {row["subject"]: row["detail"] for row in findings if row["state"] in ("fault", "missing")}


def test_a_healthy_installation_is_not_red(site: Installation) -> None:
    assert examined(site) == (0, {})


@pytest.mark.parametrize(
    ("fault", "subject", "told"),
    [
        (silent_runner, "Job runner", "no one is paid"),
        (unapplied_migration, "Database", "1 migrations to apply"),
        (readable_database, "File modes", "humanexp.sqlite3"),
        (readable_key, "File modes", "secret_key"),
        (other_secret_key, "Secret key", "links and codes signed before are refused"),
        (address_without_tls, "Address", "without TLS"),
        (deaf_mail_server, "Mail", "127.0.0.1:9"),
    ],
    ids=lambda value: value.__name__ if callable(value) else None,
)
def test_a_fault_turns_its_line_red_and_no_other(
    site: Installation, fault: Callable[[Installation], None], subject: str, told: str
) -> None:
    fault(site)
    status, red = examined(site)
    assert status == 1 and set(red) == {subject}
    assert told in red[subject]


def test_a_secret_key_that_was_replaced_in_good_order_is_no_fault(site: Installation) -> None:
    before = (site.media / "keys" / "secret_key").read_text().strip()
    other_secret_key(site)
    site.environment["SECRET_KEY_FALLBACKS"] = before
    assert examined(site) == (0, {})
