from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import django
import hypothesis
import pytest
from django.conf import settings as project
from django.db import connection

from humanexp import processes
from humanexp.participation import presentation
from tests import state
from tests.factories import Tab, collecting_study, make_stimulus_set, new_session
from tests.gate.watch import set_aside
from tests.once import folder_of_run, made_once

ROOT = Path(__file__).resolve().parents[1]

#: Examples that depend on the test alone, and no deadline: a run can be repeated. `make verify` draws new ones.
hypothesis.settings.register_profile("fresh", deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("EXAMPLES", "ci"))

# Whatever a test starts of the product ends with the run, also when that is killed.
os.environ[processes.VARIABLE] = str(os.getpid())

#: Modules of fixtures that several folders use, and what makes a ring of tests.
pytest_plugins = [
    "tests.gate.rings",
    "tests.gate.purity",
    "tests.gate.recorder",
    "tests.limits",
    "tests.spending",
    "tests.postgres",
    "tests.object_server",
    "tests.evidence",
    "tests.browser.machine",
    "tests.recruitment.at_marketplace",
    "tests.recruitment.at_panel",
    "tests.recruitment.bonuses_at_panel",
    "tests.recruitment.panel_door",
    "tests.journeys.processes",
    "tests.stimuli.killing",
]


@pytest.fixture(scope="session")
def migrated_database(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with every table and nothing in it, kept from run to run until there are other migrations."""
    digest = hashlib.sha256(django.__version__.encode())
    patterns = ("**/migrations/*.py", "table_making.py")
    for file in sorted(file for pattern in patterns for file in ROOT.glob(f"humanexp/{pattern}")):
        digest.update(f"\n{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    cache = getattr(pytestconfig, "cache", None)
    folder = cache.mkdir("migrated") if cache else folder_of_run(tmp_path_factory)
    with set_aside():
        return made_once(folder, f"{digest.hexdigest()[:16]}.sqlite3", _migrate)


def _migrate(file: Path) -> None:
    from tests.spending import FREE_ALL

    places = {"DATABASE_URL": f"sqlite:///{file}", "MEDIA_ROOT": str(file.parent)}
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "humanexp.settings", **places},
        check=True,
    )
    with closing(sqlite3.connect(file)) as database:
        database.execute(FREE_ALL)
        database.commit()
        # Nothing of it stays behind in a journal.
        database.execute("PRAGMA journal_mode=DELETE")


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """On SQLite the database that was put in place is not made anew; it goes with the folder of the run."""
    return connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, django_db_keepdb: bool, request: pytest.FixtureRequest
) -> None:
    """The tests' database begins as a copy of the migrated one."""
    if django_db_keepdb:
        shutil.copyfile(request.getfixturevalue("migrated_database"), connection.creation._get_test_db_name())


@pytest.fixture(autouse=True)
def as_after_a_start():
    """What this process remembers of earlier tests counts for nothing."""
    state.forget()


@pytest.fixture
def unhurried(monkeypatch):
    """Answers are taken faster than pictures are shown. A folder or a test that wants this asks for it."""
    monkeypatch.setattr(presentation, "SHARE", 0.0)


@pytest.fixture
def made_up_language(settings, tmp_path_factory):
    """The installation has a catalogue of a language that no one speaks; its name begins with qaa."""
    from tests.made_up import catalogue_file

    folder = tmp_path_factory.mktemp("catalogues")
    (folder / "made-up.toml").write_text(catalogue_file(), encoding="utf-8")
    settings.LOCALE_FOLDER = str(folder)
    return folder


@pytest.fixture
def open_gates(monkeypatch):
    """Studies are launched without a pre-flight check. A folder or a test that wants this asks for it."""
    from humanexp.recruiting import approvals

    monkeypatch.setattr(approvals, "GATES", [])


@pytest.fixture(autouse=True)
def uncounted():
    """Tests begin with an empty database, and none of it is a restored one."""
    shutil.rmtree(Path(project.MEDIA_ROOT) / "sends", ignore_errors=True)


@pytest.fixture
def stimulus_set(db):
    return make_stimulus_set()


@pytest.fixture
def study(stimulus_set):
    """A small one that takes participants."""
    return collecting_study()


@pytest.fixture
def session(study):
    return new_session(study)


@pytest.fixture
def tab(client, session):
    """A tab that holds the session's lease."""
    opened = Tab(client, session)
    assert opened.take_lease().status_code == 200
    return opened
