"""Marks and keys that are kept beside rows, on both databases: upgraded, taken back, and written by many at once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.console.kept_facts import WRITERS


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def found(request: Any, tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("kept")
    url = f"sqlite:///{shutil.copy(migrated_database, folder / 'humanexp.sqlite3')}"
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_cluster").create_database()
    ran = subprocess.run(
        [sys.executable, "-m", "tests.console.kept_facts"],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "humanexp.settings",
            "DATABASE_URL": url,
            "MEDIA_ROOT": str(folder / "media"),
        },
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


def test_the_migrations_find_what_the_services_keep(found: dict[str, Any]) -> None:
    assert found["and_back"] == found["there"]
    marks = [is_current for _pk, _study, is_current in found["there"]["verdicts"]]
    assert (marks.count(True), marks.count(False)) == (11, 4)
    assert len({digest for _pk, digest in found["there"]["sessions"]}) == 2
    assert len({campaign for _pk, campaign in found["there"]["payments"]}) == 2


def test_of_many_verdicts_at_one_moment_the_last_one_is_current(found: dict[str, Any]) -> None:
    writers = found["writers"]
    assert writers["appended"] == writers["rows"] == WRITERS
    assert writers["current"] == [writers["last"]]
