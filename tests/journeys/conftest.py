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


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A MEDIA_ROOT with two planned studies, "flow" for scripted participants and "glance" for people."""
    media_root = tmp_path_factory.mktemp("prepared") / "media"
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
    return media_root


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
