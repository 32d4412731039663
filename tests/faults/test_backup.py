"""Backups beside real work and real faults: writers, a killed process, a full disk, PostgreSQL, the manual."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, connections
from django.utils import timezone

from humanexp.console.archives import keys, tables
from humanexp.console.archives.backup import ArchiveNotWritten, back_up
from humanexp.console.archives.databases import check_contents, facts_now, opened
from humanexp.console.archives.restoration import move_database, restore
from humanexp.console.archives.shelf import Shelf
from humanexp.core import storage
from humanexp.core.connections import database_of_address
from humanexp.core.errors import Conflict
from humanexp.participation.models import Response, Trial
from tests.disks import mounted
from tests.factories import collecting_study, make_stimulus_set, new_session
from tests.faults.site import ROOT, Installation
from tests.limits import LIMIT, until

pytestmark = [pytest.mark.process, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unhurried")]

WORDS = "correct horse battery"
WRITERS = 3


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(keys, "_N", 2**4)
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    storage.mark_folder()
    return tmp_path / "media"


@pytest.fixture
def study(media: Path) -> Any:
    make_stimulus_set()
    return collecting_study()


@pytest.fixture
def site(media: Path) -> Installation:
    """Processes on the same database and files."""
    url = f"sqlite:///{connection.settings_dict['NAME']}"
    return Installation(media, {"DATABASE_URL": url, keys.VARIABLE: WORDS})


def silent(_done: int, _total: int, _what: str) -> None:
    """No terminal."""


def save(to: Path, **changed: Any) -> Any:
    return back_up(to=to, **{"passphrase": WORDS, "is_verified": True, "keep": None, "progress": silent, **changed})


def bring_back(archives: Path, settings: Any, tmp_path: Path) -> None:
    call_command("flush", interactive=False, verbosity=0)
    settings.MEDIA_ROOT = tmp_path / "another-machine"
    settings.MEDIA_ROOT.mkdir()
    shelf, name = Shelf(archives), Shelf(archives).names()[-1]
    restore(shelf=shelf, name=name, passphrase=WORDS, with_keys=True, is_rehearsal=False, progress=silent)


class Writers:
    """Threads that store answers as fast as they can; `acknowledged` grows with each."""

    def __init__(self, study: Any) -> None:
        self.sessions = [new_session(study, code=f"P-{number}") for number in range(WRITERS)]
        self.acknowledged: set[tuple[int, int]] = set()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._write, args=[session.pk]) for session in self.sessions]

    def _write(self, session: int) -> None:
        try:
            for position in range(100_000):
                if self._stop.is_set():
                    return
                trial = Trial.objects.get(session_id=session, position=position % 4)
                Response.objects.filter(session_id=session, position=trial.position).delete()
                made = Response.objects.create(
                    session_id=session,
                    trial=trial,
                    position=trial.position,
                    response="dog",
                    rt_ms=position,
                    received_at=timezone.now(),
                )
                self.acknowledged.add((session, made.pk))
        finally:
            connections.close_all()

    def __enter__(self) -> Writers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


@pytest.mark.gate
@pytest.mark.promise(1)
def test_a_backup_beside_writers_is_one_moment_and_holds_up_nobody(study: Any, settings: Any, tmp_path: Path) -> None:
    with Writers(study) as writers:
        until(lambda: len(writers.acknowledged) >= 20, "the writers get on")
        before = len(writers.acknowledged)
        manifest = save(tmp_path / "archives").manifest
        meanwhile = len(writers.acknowledged) - before
    assert manifest.verified_at and meanwhile > 20, "nobody wrote: the test tests nothing"
    rows = manifest.facts.tables["experiments_response"].rows
    bring_back(tmp_path / "archives", settings, tmp_path)
    assert Response.objects.count() == rows <= 4 * WRITERS


@pytest.mark.gate
@pytest.mark.promise(1)
def test_a_killed_backup_leaves_the_last_archive_as_it_was(study: Any, site: Installation, tmp_path: Path) -> None:
    archives = tmp_path / "archives"
    save(archives)
    before = {path: path.read_bytes() for path in archives.rglob("*") if path.is_file() and path.name != ".lock"}
    (site.media / "originals").mkdir(exist_ok=True)
    (site.media / "originals" / "large.bin").write_bytes(os.urandom(40_000_000))
    process = subprocess.Popen(
        [sys.executable, "manage.py", "backup", "--to", str(archives)],
        cwd=ROOT,
        env=site.environ(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    begun = (".partial-*/fresh", ".partial-*/snapshot.sqlite3")
    until(lambda: process.poll() is not None or any(list(archives.glob(one)) for one in begun), "it begins")
    assert process.poll() is None, "it never began"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert list(archives.glob(".partial-*")), "it had ended: the test tests nothing"
    assert len(Shelf(archives).names()) == 1
    assert {path: path.read_bytes() for path in before} == before
    # the next one cleans up and goes on
    save(archives)
    assert not list(archives.glob(".partial-*")) and len(Shelf(archives).names()) == 2
    shelf = Shelf(archives)
    for name in shelf.names():
        check_contents(shelf, shelf.manifest(name), progress=silent)


def test_of_two_backups_at_once_one_is_refused(study: Any, tmp_path: Path) -> None:
    save(tmp_path / "archives")
    with Shelf(tmp_path / "archives").held(), pytest.raises(Conflict, match="Another backup"):
        save(tmp_path / "archives")


def test_a_full_disk_is_told_and_costs_no_earlier_archive(study: Any, media: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with mounted(disk, "16m"):
        save(disk / "archives")
        (media / "originals").mkdir(exist_ok=True)
        (media / "originals" / "large.bin").write_bytes(os.urandom(30_000_000))
        with pytest.raises(ArchiveNotWritten, match="No space left.* Earlier archives are as they were"):
            save(disk / "archives")
        shelf = Shelf(disk / "archives")
        [name] = shelf.names()
        check_contents(shelf, shelf.manifest(name), progress=silent)
        (media / "originals" / "large.bin").unlink()
        save(disk / "archives")


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.timeout(1200)
def test_to_postgresql_and_back(
    study: Any, site: Installation, settings: Any, tmp_path: Path, postgres_url: str, migrated_database: Path
) -> None:
    """Moved there, backed up there beside an open connection, restored into SQLite; and moved back."""
    new_session(study)
    before, order = facts_now(connection, apps), tables.models_of(apps)
    numbers = tables.sequences_of(connection, order)
    assert move_database(address=postgres_url, progress=silent).facts == before
    with opened("other", database_of_address(postgres_url)) as other:
        assert facts_now(other, apps) == before
        filled = {name: number for name, number in numbers.items() if number}
        assert tables.sequences_of(other, order) == filled

        there = Installation(site.media, {**site.environment, "DATABASE_URL": postgres_url})
        refused = there.manage("move_database", "--to", f"sqlite:///{tmp_path / 'back.sqlite3'}")
        assert refused.returncode and "Another process uses the database" in refused.stderr, refused.stderr
        saved = there.manage("backup", "--to", str(tmp_path / "archives"))
        assert saved.returncode == 0 and "restored into a scratch database" in saved.stdout, saved.stderr

    shutil.copyfile(migrated_database, tmp_path / "back.sqlite3")
    moved = there.manage("move-database", "--to", f"sqlite:///{tmp_path / 'back.sqlite3'}")
    assert moved.returncode == 0, moved.stderr
    with opened("other", database_of_address(f"sqlite:///{tmp_path / 'back.sqlite3'}")) as other:
        found = facts_now(other, apps)
        assert [line for line in before.differences(found) if "console_backup" not in line] == []

    archived = Shelf(tmp_path / "archives").latest()
    assert archived is not None and archived.database == "postgresql"
    assert archived.facts.differences(before) == []
    bring_back(tmp_path / "archives", settings, tmp_path)
    assert facts_now(connection, apps).plans == before.plans


def test_a_move_is_refused_while_another_process_is_connected(study: Any, site: Installation, tmp_path: Path) -> None:
    """SQLite tells by its locks."""
    hold = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT count(*) FROM core_user'); "
    hold += "print('ready', flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-c", hold, str(connection.settings_dict["NAME"])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout and process.stdout.readline() == "ready\n"
        refused = site.manage("move_database", "--to", f"sqlite:///{tmp_path / 'moved.sqlite3'}")
        assert refused.returncode and "Another process uses the database" in refused.stderr, refused.stderr
    finally:
        process.communicate("")


@pytest.fixture
def commands() -> list[str]:
    """The blocks of the manual that are for a shell."""
    text = (ROOT / "docs" / "operate" / "backup.md").read_text(encoding="utf-8")
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.timeout(900)
def test_the_commands_of_the_manual(
    commands: list[str], study: Any, site: Installation, tmp_path: Path, migrated_database: Path
) -> None:
    """In order, on a server with a study; in the end the other folder has it, too."""
    new_session(study)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copyfile(migrated_database, elsewhere / "humanexp.sqlite3")  # empty, and saves minutes of migrations
    places = {
        "ARCHIVES": str(tmp_path / "archives"),
        "PASSPHRASE_FILE": str(tmp_path / "passphrase"),
        "ELSEWHERE": str(elsewhere),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    environment = site.environ(**places)
    del environment[keys.VARIABLE]
    assert len(commands) == 7
    for block in commands:
        done = subprocess.run(
            ["bash", "-euc", block],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
    with opened("other", database_of_address(f"sqlite:///{elsewhere / 'humanexp.sqlite3'}")) as other:
        assert facts_now(other, apps).plans == facts_now(connection, apps).plans
