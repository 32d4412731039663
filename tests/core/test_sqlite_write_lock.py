"""The turn of writers, between processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]

WRITES = """
import django
django.setup()
from django.db import connection
from humanexp.core.connections import write_turn
with write_turn(), connection.cursor() as cursor:
    cursor.execute("SELECT 1")
connection.close()
"""


def test_a_process_that_took_its_turn_ends_without_a_complaint(tmp_path: Path) -> None:
    places = {"DATABASE_URL": f"sqlite:///{tmp_path / 'site.sqlite3'}", "MEDIA_ROOT": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", WRITES],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "humanexp.settings", **places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "site.sqlite3-turn").exists()
