"""Databases of earlier versions become today's, and nothing in them is lost.

`databases/` holds one for every version: the dump of a demo's SQLite file, with jobs that wait under names of its time.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from tests.limits import LIMIT
from tests.postgres import postgres_cluster  # noqa: F401  (a fixture)

ROOT = Path(__file__).resolve().parents[2]
#: Of every stored answer of the study `demo`, as rows of an export, computed by the version that wrote the database.
ROWS = {"2026-11-23": "9ca1ffe1b3660d9423d98302264387fac30ae661b8eb28f3b86a29bd27dfcb62"}


def manage(url: str, media: Path, *arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "humanexp.settings",
            "DATABASE_URL": url,
            "MEDIA_ROOT": str(media),
        },
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout


def migrate(url: str, media: Path, *target: str) -> None:
    manage(url, media, "manage.py", "migrate", "--verbosity", "0", *target)


def schema(file: Path) -> set[tuple[str, str, str | None]]:
    with closing(sqlite3.connect(file)) as connection:
        found = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
        return set(found.fetchall())


def sizes(file: Path) -> dict[str, int]:
    """Rows by table, without those that Django keeps of its models and migrations, and without jobs."""
    kept = {"django_migrations", "django_content_type", "auth_permission", "jobs_job", "jobs_runner"}
    with closing(sqlite3.connect(file)) as connection:
        tables = {name for kind, name, _ in schema(file) if kind == "table"} - kept
        return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}  # noqa: S608


@pytest.fixture(scope="module", params=sorted(ROWS))
def upgraded(request: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("upgraded")
    file = folder / "humanexp.sqlite3"
    script = gzip.decompress((Path(__file__).parent / f"databases/{request.param}.sql.gz").read_bytes()).decode()
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(script)
    before = {"schema": schema(file), "sizes": sizes(file)}
    url = f"sqlite:///{file}"
    migrate(url, folder)
    after = {"schema": schema(file), "sizes": sizes(file)}
    told: dict[str, Any] = json.loads(manage(url, folder, "-m", "tests.upgrades.upgraded"))
    return {"of": request.param, "before": before, "after": after, **told}


def test_an_upgraded_database_has_the_tables_of_a_fresh_one(upgraded: dict[str, Any], migrated_database: Path) -> None:
    assert upgraded["after"]["schema"] == schema(migrated_database)


def test_every_row_is_there_after_the_upgrade(upgraded: dict[str, Any]) -> None:
    before, after = upgraded["before"]["sizes"], upgraded["after"]["sizes"]
    # What came later is empty; every recruiter that could be launched through has its account.
    assert after == dict.fromkeys(after, 0) | before | {"recruitment_senderlease": 4}
    assert before["experiments_response"] == 784 and before["recruitment_senderlease"] <= 4


def test_an_export_of_it_has_the_same_rows_to_the_bit(upgraded: dict[str, Any]) -> None:
    assert upgraded["rows"] == ROWS[upgraded["of"]]


def test_jobs_that_wait_under_former_names_are_done_and_not_doubled(upgraded: dict[str, Any]) -> None:
    assert {"experiments.tally", "experiments.sweep_previews"} <= set(upgraded["former"])
    assert upgraded["doubled"] == []
    assert upgraded["ended"] == [["experiments.tally", "done", ""]]


def test_the_move_of_experiments_renames_no_table(upgraded: dict[str, Any]) -> None:
    def tables(when: str) -> set[str]:
        return {
            name for kind, name, _ in upgraded[when]["schema"] if name.startswith("experiments_") and kind == "table"
        }

    moved = [*apps.get_app_config("studies").get_models(), *apps.get_app_config("participation").get_models()]
    assert tables("before") == tables("after")
    assert {model._meta.db_table for model in moved} >= tables("before")
    assert not list(apps.get_app_config("experiments").get_models())


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def moved(request: Any, tmp_path: Path, migrated_database: Path) -> dict[str, Any]:
    """What a fresh database looks like, one just after and before the move, and after all; and what the move sends."""
    file = tmp_path / "humanexp.sqlite3"
    if request.param == "postgres":
        cluster = request.getfixturevalue("postgres_cluster")
        url = cluster.create_database()
        migrate(url, tmp_path)
    else:
        url = f"sqlite:///{shutil.copy(migrated_database, file)}"

    def now() -> object:
        return cluster.schema(url) if request.param == "postgres" else schema(file)

    fresh = now()
    sent = json.loads(manage(url, tmp_path, "-m", "tests.upgrades.moved", "after"))
    just_after = now()
    manage(url, tmp_path, "-m", "tests.upgrades.moved", "before")
    before = now()
    migrate(url, tmp_path)
    return {"fresh": fresh, "just after": just_after, "before": before, "after": now(), "sent": sent}


def test_the_move_sends_nothing_to_the_database(moved: dict[str, Any]) -> None:
    assert len(moved["sent"]) == 16 and not any(moved["sent"].values())
    assert "experiments_session" in str(moved["before"])
    assert moved["before"] == moved["just after"]
    assert moved["after"] == moved["fresh"]
