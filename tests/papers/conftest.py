from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.gate.watch import set_aside
from tests.once import folder_of_run, made_once
from tests.papers.workspace import Workspace, at, make


@pytest.fixture(scope="module")
def workspace(
    migrated_database: Path, django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    """The workspace, of which each file of tests has a copy."""
    with set_aside(), django_db_blocker.unblock():
        made = made_once(folder_of_run(tmp_path_factory), "papers", partial(make, migrated_database))
        own = shutil.copytree(made, tmp_path_factory.mktemp("papers") / "workspace")
        with at(own) as found:
            yield found
