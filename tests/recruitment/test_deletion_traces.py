"""After a person was deleted, no file of ours holds their worker id, or a code that leads to them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKER = "A1FORGETMEPLEASE99"
CODE, SESSION = "P-7K3QX2ABCD", "S-7K3QX2ABCE"

MAKE = f"""
import django; django.setup()
from django.utils import timezone
from humanexp.core.storage import media_path, write_whole
from humanexp.participation.models import Participant, Session, StudyTally
from humanexp.studies.models import Origin, Study, StudyFamily
from humanexp.recruiters.models import RecruitedPerson
family = StudyFamily.objects.create(slug="small")
study = Study.objects.create(family=family, version=1, slug="small", title="Small", origin=Origin.COLLECTED)
for code, session, worker in (({CODE!r}, {SESSION!r}, {WORKER!r}), ("P-OTHERPERSN", "S-OTHERSESSN", "A2STAYS")):
    person = Participant.objects.create(family=family, code=code)
    Session.objects.create(study=study, participant=person, code=session, slot=len(code + worker), total=3,
                           token_nonce="x", opened_at=timezone.now())
    RecruitedPerson.objects.create(environment="marketplace", worker_id=worker, family=family, participant=person)
for slug in ("small", "small-timing"):
    study = Study.objects.get_or_create(
        slug=slug, defaults=dict(family=family, version=2, title="Other", origin=Origin.COLLECTED)
    )[0]
    for kind in ("timing", "golds"):
        file = f"tallies/{{slug}}-{{kind}}.json" if kind == "timing" else ""
        if file:
            write_whole(media_path(file), b'{{"participants": {{"{CODE}": 1}}}}' if slug == "small" else b"{{}}")
        StudyTally.objects.create(study=study, kind=kind, content={{"participants": [["{CODE}", 1]]}}, file=file,
                                  answers=9, marker="1", seconds=1, made_at=timezone.now())
"""


@pytest.fixture
def site(tmp_path: Path, migrated_database: Path):
    """A database file with two people, kept open by another process, as the web does."""
    database = tmp_path / "humanexp.sqlite3"
    shutil.copy(migrated_database, database)
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "humanexp.settings",
        "DATABASE_URL": f"sqlite:///{database}",
        "MEDIA_ROOT": str(tmp_path),
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )

    # Somebody else holds the database open: otherwise the last one to leave empties the journal.
    with closing(sqlite3.connect(database)) as web:
        web.execute("PRAGMA journal_mode=WAL")
        web.execute("SELECT 1 FROM sqlite_master").fetchall()
        made = run("-c", MAKE)
        assert made.returncode == 0, made.stderr
        yield tmp_path, run


def holding(folder: Path, text: str) -> list[str]:
    return [path.name for path in sorted(folder.rglob("*")) if path.is_file() and text.encode() in path.read_bytes()]


def test_no_file_holds_the_worker_id_or_the_codes(site):
    folder, run = site
    findings = folder / "results" / "small" / "findings-1.json"
    findings.parent.mkdir(parents=True)
    findings.write_text(json.dumps({"observers": [{"name": CODE, "kind": "human"}, {"name": "P-OTHERPERSN"}], "n": 2}))
    (folder / "notes.csv").write_text(f"participant\n{CODE}\n")
    assert holding(folder, WORKER), "it was there"
    done = run("manage.py", "delete_participant", CODE, "--yes")
    assert done.returncode == 0, done.stderr
    assert holding(folder, WORKER) == []
    assert holding(folder, "A2STAYS"), "the other person's is"
    told = json.loads(findings.read_text())
    (renamed, other) = (one["name"] for one in told["observers"])
    assert renamed.startswith("DP-") and other == "P-OTHERPERSN" and told["n"] == 2
    assert "results/small/findings-1.json: names the person otherwise now" in done.stdout
    assert "notes.csv: still holds a code of the person" in done.stdout
    assert "the Record of the study says who took which" in done.stdout


def test_what_was_counted_with_them_goes_with_them(site):
    folder, run = site
    assert run("manage.py", "delete_participant", CODE, "--yes").returncode == 0
    with closing(sqlite3.connect(folder / "humanexp.sqlite3")) as database:
        kept = database.execute(
            "SELECT slug, kind FROM experiments_studytally JOIN experiments_study AS study ON study.id = study_id"
        ).fetchall()
    assert sorted(kept) == [("small-timing", "golds"), ("small-timing", "timing")], "of another study"
    assert [path.name for path in (folder / "tallies").iterdir()] == ["small-timing-timing.json"]


def test_the_command_says_that_somebody_reads_the_journal(site):
    folder, run = site
    with closing(sqlite3.connect(folder / "humanexp.sqlite3", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM recruitment_recruitedperson").fetchall()
        done = run("manage.py", "delete_participant", CODE, "--yes")
    assert done.returncode != 0 and "its journal (-wal) may hold the worker id" in done.stderr
