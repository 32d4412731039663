"""Commands on a database and a folder of their own, for tests that kill them; `pets` is one with 24 pictures."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.analysis.generation.originals import write_originals
from tests.limits import LIMIT

ROOT = Path(__file__).parents[2]
GENERATE = ["generate_stimuli", "--images", "pets", "--corruption", "gaussian_noise,gaussian_blur", "--count", "200"]
FUNCTIONS = ("gaussian_noise", "gaussian_blur")
N_STIMULI = 2 * 200 + 24


def command(media: Path, *arguments: str, compute: str = "processes:2") -> dict[str, object]:
    """Arguments of `subprocess.Popen` for a management command on a database of its own."""
    return program(media, "manage.py", *arguments, compute=compute)


def program(media: Path, *arguments: str, compute: str = "processes:2") -> dict[str, object]:
    environment = {"MEDIA_ROOT": str(media), "COMPUTE": compute, "DJANGO_SETTINGS_MODULE": "humanexp.settings"}
    return {
        "args": [sys.executable, *arguments],
        "cwd": ROOT,
        "env": {**os.environ, **environment},
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "text": True,
    }


def run(media: Path, *arguments: str, compute: str = "processes:2") -> str:
    finished = subprocess.run(**command(media, *arguments, compute=compute), timeout=LIMIT, check=False)
    assert finished.returncode == 0, finished.stdout
    return finished.stdout


#: Kills its own process when it has recorded its first pictures.
_DIES_EARLY = """
import os, signal, sys
import django
django.setup()
from humanexp.stimuli.services import generated_sets
record = generated_sets.store_stimuli
def record_and_die(**named):
    record(**named)
    if named["rows"]:
        os.kill(os.getpid(), signal.SIGKILL)
generated_sets.store_stimuli = record_and_die
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", *sys.argv[1:]])
"""


def run_until_it_dies(media: Path, *arguments: str) -> None:
    killed = subprocess.run(**program(media, "-c", _DIES_EARLY, *arguments), timeout=LIMIT, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stdout


def rows(media: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(media / "humanexp.sqlite3", timeout=LIMIT)) as database:
        return database.execute(query).fetchall()


def end_lease(media: Path) -> None:
    """The lease of a killed process would run out after half a minute."""
    with closing(sqlite3.connect(media / "humanexp.sqlite3", timeout=LIMIT)) as database, database:
        database.execute("UPDATE jobs_job SET lease_until = '2020-01-01 00:00:00' WHERE state = 'running'")


MADE = "SELECT key, sha256, parameter, visual_change FROM stimuli_stimulus ORDER BY key"


def count_rows(media: Path) -> int:
    return rows(media, "SELECT count(*) FROM stimuli_stimulus")[0][0]


@pytest.fixture(scope="module")
def imported_pets(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> Path:
    folder = tmp_path_factory.mktemp("imported")
    write_originals(folder / "pictures", {"cat": 8, "dog": 8, "oven": 8})
    (folder / "media").mkdir()
    shutil.copy(migrated_database, folder / "media" / "humanexp.sqlite3")
    run(folder / "media", "import_images", str(folder / "pictures"), "--name", "pets")
    return folder / "media"


@pytest.fixture
def pets(imported_pets: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(imported_pets, tmp_path / "media", dirs_exist_ok=True))
