"""A database of other tables than this version's is refused in one sentence, and left as it is."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

from humanexp import table_making
from humanexp.console.archives.databases import opened, sqlite_entry
from humanexp.core import checks
from humanexp.core.models import Lab
from humanexp.recruiters.models import RecruiterAccount
from humanexp.table_making import OtherTables, check_tables, digest, record_tables, tables_line
from tests.served import ROOT

#: What the migrations of another version might be.
OTHER = "0" * 64
SENTENCE = "were made by another version of HumanExp .* export .* empty database"


def lines(connection: BaseDatabaseWrapper) -> set[tuple[str, str]]:
    return set(MigrationRecorder(connection).applied_migrations())


@pytest.fixture
def empty(tmp_path: Path, django_db_blocker: pytest.FixtureRequest) -> Iterator[BaseDatabaseWrapper]:
    with django_db_blocker.unblock(), opened("empty", sqlite_entry(tmp_path / "empty.sqlite3")) as made:
        yield made


class TestAnEmptyDatabase:
    @pytest.mark.verify
    def test_it_gets_its_tables_and_first_rows_once(self, empty: BaseDatabaseWrapper) -> None:
        for _twice in range(2):
            call_command("migrate", database="empty", verbosity=0)
            assert sorted(RecruiterAccount.objects.using("empty").values_list("environment", "kind")) == [
                (kind, kind) for kind in ("link", "marketplace", "production", "sandbox")
            ]
            assert Lab.objects.using("empty").get().name == "lab"
        assert {line for line in lines(empty) if line[0] == "humanexp"} == {tables_line()}

    def test_nothing_is_written_where_only_the_plan_is_asked_for(self, empty: BaseDatabaseWrapper) -> None:
        call_command("migrate", database="empty", plan=True, verbosity=0)
        assert empty.introspection.table_names() == []

    def test_who_was_interrupted_goes_on(self, empty: BaseDatabaseWrapper) -> None:
        record_tables(using="empty")
        MigrationRecorder(empty).record_applied("core", "0001_initial")
        check_tables(empty)

    def test_one_that_lost_all_tables_is_of_the_version_that_makes_the_next(self, empty: BaseDatabaseWrapper) -> None:
        recorder = MigrationRecorder(empty)
        recorder.ensure_schema()
        recorder.record_applied("humanexp", OTHER)
        check_tables(empty)
        record_tables(using="empty")
        assert lines(empty) == {tables_line()}


@pytest.mark.django_db
class TestAFilledDatabase:
    def test_that_of_this_version_passes(self) -> None:
        check_tables(connection)
        checks.check()

    @pytest.mark.parametrize(
        "applied",
        [
            pytest.param([("humanexp", OTHER), ("core", "0001_initial")], id="changed-migration"),
            pytest.param([("core", "0001_initial"), ("core", "0002_audit_events")], id="before-digests"),
        ],
    )
    def test_that_of_another_version_is_refused_and_stays(self, applied: list[tuple[str, str]]) -> None:
        recorder = MigrationRecorder(connection)
        recorder.migration_qs.all().delete()
        for line in applied:
            recorder.record_applied(*line)
        with pytest.raises(OtherTables, match=SENTENCE):
            checks.check()
        with pytest.raises(CommandError, match=SENTENCE):
            call_command("migrate", verbosity=0)
        with pytest.raises(CommandError, match=SENTENCE):
            call_command("run_jobs", "--once")
        assert lines(connection) == set(applied)


class TestTheDigest:
    def test_it_is_that_of_the_files_wherever_they_lie(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        here = table_making._own_migrations()
        there = {label: shutil.copytree(folder, tmp_path / label) for label, folder in here.items()}
        monkeypatch.setattr(table_making, "_own_migrations", lambda: dict(reversed(there.items())))
        assert digest.__wrapped__() == digest()
        changed = there["core"] / "0001_initial.py"
        changed.write_text(changed.read_text().replace("max_length=40", "max_length=41", 1))
        assert digest.__wrapped__() != digest()

    def test_every_app_has_one_migration(self) -> None:
        names = [file.name for file in ROOT.glob("humanexp/**/migrations/[0-9]*.py")]
        assert set(names) == {"0001_initial.py"} and len(names) >= len(table_making._own_migrations()) + 2


@pytest.mark.process
@pytest.mark.parametrize("made_by", ["marketplace.create_requester", "panel.create_researcher"])
def test_the_sites_refuse_theirs_alike(made_by: str, tmp_path: Path) -> None:
    def start() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", f"humanexp.sites.{made_by}", "--name", "ann"],
            cwd=ROOT,
            env={**os.environ, "MEDIA_ROOT": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    assert start().returncode == 0
    with closing(sqlite3.connect(tmp_path / f"{made_by.partition('.')[0]}.sqlite3")) as database, database:
        database.execute("UPDATE django_migrations SET name = ? WHERE app = 'humanexp'", [OTHER])
    refused = start()
    assert refused.returncode == 1 and refused.stdout == ""
    assert refused.stderr.startswith("The tables of ") and refused.stderr.count("\n") == 1
