"""What every worker of a test run needs, and is dear: who asks first makes it, the others take what it has made."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(folder: Path, name: str, make: Callable[[Path], object]) -> Path:
    """The file or folder that `make` wrote at the path it was given; to be read and copied, never to be changed."""
    made, unfinished = folder / name, folder / f"{name}.unfinished"
    with (folder / f"{name}.turn").open("ab") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished / name)
            (unfinished / name).rename(made)
            shutil.rmtree(unfinished)
    return made


def folder_of_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The temporary folder that the workers of this run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
