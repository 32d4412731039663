"""A disk that is full for a while, the database's own disk included."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.disks import mounted
from tests.faults.study import study_through
from tests.journeys.site import Heard, Site

pytestmark = pytest.mark.process

FULL_S = 15


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that a test can fill."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with mounted(folder, "120m"):
        yield folder


def fill(folder: Path, seconds: float) -> None:
    ballast = folder / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as stream:
        while True:
            stream.write(bytes(65536))
    with contextlib.suppress(OSError), ballast.open("ab", buffering=0) as stream:
        while True:
            stream.write(bytes(512))
    assert shutil.disk_usage(folder).free < 4096
    time.sleep(seconds)
    ballast.unlink()


@pytest.mark.timeout(600)
def test_a_study_goes_through_a_full_disk(prepared: Path, small_disk: Path, tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = shutil.copytree(prepared, small_disk / "media")

    def full() -> None:
        fill(small_disk, FULL_S)

    with Site(settings.MEDIA_ROOT) as site:
        sys.stdout.write(study_through(site, tmp_path, during_answers=full, during_payments=full) + "\n")
    refused = [line for line in Heard(tmp_path / "heard.jsonl") if line.get("status", 0) >= 500]
    assert refused, "nobody met the full disk: the test tests nothing"
