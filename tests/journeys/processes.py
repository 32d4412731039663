"""Fixtures of a lab's machine: its three processes over a copy of planned studies."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.site import ROOT, Site
from tests.once import folder_of_run, made_once


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> Path:
    """A MEDIA_ROOT with planned studies: "flow" and "storm" for scripted participants, "glance" for people."""

    def prepare(media_root: Path) -> None:
        media_root.mkdir()
        shutil.copy(migrated_database, media_root / "humanexp.sqlite3")
        made = subprocess.run(
            [sys.executable, "-m", "tests.journeys.prepare"],
            cwd=ROOT,
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "humanexp.settings",
                "MEDIA_ROOT": str(media_root),
                "COMPUTE": "serial",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stdout + made.stderr

    return made_once(folder_of_run(tmp_path_factory), "prepared", prepare)


@pytest.fixture
def marketplace_controls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A marketplace with a settable clock and faults; with `usefixtures`, so that `site` starts with it."""
    monkeypatch.setenv("MARKETPLACE_TEST_CONTROLS", "1")


@pytest.fixture
def site(prepared: Path, tmp_path: Path, settings: Any) -> Iterator[Site]:
    """The three processes over a copy of it."""
    settings.MEDIA_ROOT = shutil.copytree(prepared, tmp_path / "media")
    with Site(settings.MEDIA_ROOT) as running:
        yield running
