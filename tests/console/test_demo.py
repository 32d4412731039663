"""What the demo refuses, before it removes or makes anything. The whole demo: tests/journeys/test_demo.py."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from analysis.examples.pictures import write_source_folder
from humanexp.console import demo_steps
from humanexp.console.demo_steps import Options
from humanexp.core.errors import StudyRefused
from humanexp.core.models import User
from humanexp.jobs.models import Job
from humanexp.stimuli.models import SourceSet
from humanexp.studies.models import Study
from tests.recruitment.studies import make_study
from tests.served import ROOT

OPTIONS = Options(participants=4, seed=3)


@pytest.fixture(autouse=True)
def media_root(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """A folder of its own; and the handler that the command sets is taken back."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    before = signal.getsignal(signal.SIGTERM)
    yield settings.MEDIA_ROOT
    signal.signal(signal.SIGTERM, before)


def demo(*more: str) -> None:
    call_command("demo", "--no-serve", "--participants", "4", "--seed", "3", *more)


@pytest.mark.process
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--participants", "3"], "at least 4"),
        (["--participants", "many"], "not a whole number"),
        (["--seed", "-1"], "expected one argument|not a whole number"),
        (["--seed", "100000"], "0 to 99999"),
        (["--images", "/nowhere"], "/nowhere: there is no such folder"),
        (["--json", "/nowhere/numbers.json"], "cannot be written"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(
    arguments: list[str], complaint: str, media_root: Path
) -> None:
    with pytest.raises(CommandError, match=complaint):
        demo(*arguments)
    assert not list(media_root.iterdir())


@pytest.mark.process
@pytest.mark.parametrize("port", [8000, 8001])
def test_a_taken_port_is_named_before_any_work(port: int, media_root: Path) -> None:
    with socket.socket() as other:
        with contextlib.suppress(OSError):  # somebody else has it: as good
            other.bind(("127.0.0.1", port))
            other.listen()
        with pytest.raises(CommandError, match=r"Port 800[01] is in use: stop .*--no-serve"):
            call_command("demo", "--participants", "4")
    assert not list(media_root.iterdir())


@pytest.mark.process
def test_a_demo_on_the_panel_needs_its_port(media_root: Path) -> None:
    with socket.socket() as other:
        with contextlib.suppress(OSError):  # somebody else has it: as good
            other.bind(("127.0.0.1", 8002))
            other.listen()
        with pytest.raises(CommandError, match=r"Port 800[02] is in use"):
            call_command("demo", "--recruiter", "panel", "--participants", "4")
    assert not list(media_root.iterdir())


def test_a_record_of_an_earlier_version_is_of_the_marketplace(media_root: Path) -> None:
    (media_root / "demo.json").write_text(json.dumps({"participants": 4, "seed": 3, "images": ""}), encoding="utf-8")
    assert demo_steps.finished_with(OPTIONS)
    with pytest.raises(StudyRefused, match="--fresh"):
        demo_steps.finished_with(Options(participants=4, seed=3, recruiter="panel"))


@pytest.mark.process
@pytest.mark.django_db
@pytest.mark.parametrize("arguments", [[], ["--fresh"]])
def test_other_work_in_the_database_is_never_removed(arguments: list[str], media_root: Path) -> None:
    SourceSet.objects.create(name="my photographs")
    picture = media_root / "originals" / "my photographs" / "cat" / "1.png"
    picture.parent.mkdir(parents=True)
    picture.touch()
    with pytest.raises(CommandError, match=r"other work \(my photographs\).*nothing was removed"):
        demo(*arguments)
    assert SourceSet.objects.get().name == "my photographs"
    assert picture.exists()


def test_clearing_removes_what_demos_made_and_nothing_else(transactional_db: None, media_root: Path) -> None:
    make_study("demo")
    SourceSet.objects.update(name="demo")
    User.objects.create_user("researcher", password="of the demo")
    User.objects.create_user("ada", password="her own")
    Job.objects.create(kind="stimuli.generate")
    kept = [media_root / name for name in ("notes.txt", "photographs/cat/1.jpg", "keys/secret_key")]
    gone = [media_root / name for name in ("originals/demo/cat/1.png", "plans/demo-1.jsonl", "marketplace.sqlite3")]
    for path in [*kept, *gone]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    demo_steps.record_finished(OPTIONS)

    demo_steps.clear()

    assert not Study.objects.exists()
    assert not SourceSet.objects.exists()
    assert not Job.objects.exists()
    assert all(path.exists() for path in kept)
    assert not any(path.exists() for path in gone)
    assert not demo_steps.is_finished()
    account = User.objects.get()
    assert account.username == "ada"
    assert account.check_password("her own")


@pytest.mark.process
@pytest.mark.parametrize("name", ["demo", "my photographs"])
def test_a_fresh_demo_sets_a_database_of_another_version_aside_unless_it_holds_other_work(
    name: str, media_root: Path, migrated_database: Path
) -> None:
    file = media_root / "humanexp.sqlite3"
    shutil.copyfile(migrated_database, file)
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE django_migrations SET name = 'another' WHERE app = 'humanexp'")
        database.execute(
            "INSERT INTO stimuli_sourceset (name, created_at, lab_id, provenance, licence, gold_classifiers, "
            "import_report, set_document, set_digest) VALUES (?, '', 'lab', '', '', '[]', '{}', '', '')",
            [name],
        )
    script = "import django; django.setup(); from humanexp.console.demo_steps import *; set_aside_other_tables()"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "humanexp.settings", "MEDIA_ROOT": str(media_root)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    aside = media_root / "humanexp.sqlite3.set-aside"
    if name == "demo":
        assert done.returncode == 0 and aside.exists() and not file.exists()
    else:
        assert "other work (my photographs)" in done.stderr and file.exists() and not aside.exists()


@pytest.mark.process
@pytest.mark.django_db
def test_a_demo_of_other_options_stays_unless_a_fresh_one_is_asked_for() -> None:
    assert not demo_steps.finished_with(OPTIONS)
    demo_steps.record_finished(OPTIONS)
    assert demo_steps.finished_with(OPTIONS)
    with pytest.raises(CommandError, match=r"made with participants 4, seed 3\. Add --fresh"):
        demo("--seed", "5")


@pytest.mark.process
@pytest.mark.django_db
def test_a_finished_demo_tells_its_numbers_again(media_root: Path, tmp_path: Path) -> None:
    numbers = {
        "truth": {"curves": [], "similarity": []},
        "comparisons": [],
        "similarity": [],
        "discrimination": [],
        "sessions": {"submitted": 4, "accepted": 4, "excluded": {}},
        "payments": {
            "approved": 4,
            "rejected": 0,
            "bonuses": 0,
            "total_cents": 576,
            "owed_cents": 480,
            "paid_cents": 0,
            "fee_cents": 96,
        },
    }
    demo_steps.record_finished(OPTIONS)
    (media_root / "demo-numbers.json").write_text(json.dumps(numbers))
    demo("--json", str(tmp_path / "numbers.json"))
    assert json.loads((tmp_path / "numbers.json").read_text()) == numbers


@pytest.mark.process
@pytest.mark.django_db
def test_two_demos_never_work_in_one_folder() -> None:
    with demo_steps.owned(), pytest.raises(CommandError, match="Another demo is at work"):
        demo()
    with demo_steps.owned():
        pass
    with pytest.raises(StudyRefused), demo_steps.owned(), demo_steps.owned():
        pass


@pytest.mark.process
@pytest.mark.parametrize("fresh", [[], ["--fresh"]])
@pytest.mark.parametrize(
    ("file", "complaint"),
    [
        ("cat/broken.jpg", r"1 of 17 pictures cannot be used.*\n.*cat/broken\.jpg"),
        ("unicorn/1.jpg", r"'unicorn' is neither one of the 16 labels .* Rename the folder"),
        ("", r"16 different photographs are too few, .* at least \d+\. Fewest are of airplane \(1\).* Add \d"),
    ],
)
def test_photographs_that_cannot_make_a_demo_are_refused_before_anything_is_removed(
    file: str, complaint: str, fresh: list[str], media_root: Path, tmp_path: Path
) -> None:
    photos = tmp_path / "photos"
    write_source_folder(photos, 1, seed=3)
    if file:
        (photos / file).parent.mkdir(exist_ok=True)
        (photos / file).write_text("no picture")
    with pytest.raises(CommandError, match=complaint):
        demo("--images", str(photos), *fresh)
    assert not list(media_root.iterdir())


@pytest.mark.process
def test_pictures_that_the_demo_would_remove_are_not_taken_as_its_source(media_root: Path) -> None:
    (media_root / "originals" / "demo").mkdir(parents=True)
    with pytest.raises(CommandError, match="belongs to the demo"):
        demo("--images", str(media_root / "originals" / "demo"))
