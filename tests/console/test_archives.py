"""An installation is lost and comes back: rows, files, keys, running sessions; and what is refused."""

from __future__ import annotations

import gzip
import hashlib
import json
import tarfile
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from humanexp.console import doctor_checks
from humanexp.console.archives import databases, keys, restoration, tables
from humanexp.console.archives.backup import Made, back_up
from humanexp.console.archives.databases import ArchiveDamaged, facts_now, opened, scratch
from humanexp.console.archives.keys import passphrase
from humanexp.console.archives.restoration import Restored
from humanexp.console.archives.shelf import Shelf, stored_files, unpacked
from humanexp.console.models import Backup
from humanexp.core import storage
from humanexp.core.connections import database_of_address
from humanexp.core.errors import Conflict, InputRefused
from humanexp.core.models import AuditEvent, User
from humanexp.core.storage import media_path, write_whole
from humanexp.jobs.models import Runner
from humanexp.participation.models import Response
from humanexp.stimuli.models import SourceImage
from humanexp.studies.models import Study
from tests.factories import Tab, collecting_study, make_stimulus_set, new_session, png

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unhurried", "cheap_passphrases")]

WORDS = "correct horse battery"


@pytest.fixture
def cheap_passphrases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody guesses here."""
    monkeypatch.setattr(keys, "_N", 2**4)


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    storage.mark_folder()
    return tmp_path / "media"


@pytest.fixture
def lab(media: Path, client: Any) -> Tab:
    """A study with pictures and a plan, and a person in the middle of it."""
    make_stimulus_set(picture=picture_here)
    study = collecting_study(by=User.objects.create_user("lab"))
    write_whole(media / "keys" / "marketplace_secret", b"of the marketplace")
    tab = Tab(client, new_session(study))
    assert tab.take_lease().status_code == 200
    assert tab.answer(0).status_code in (200, 201)
    return tab


def picture_here(number: int) -> tuple[str, str]:
    """Path and digest of a picture in this test's own folder."""
    write_whole(media_path(f"stimuli/{number}.png"), png(number))
    return f"stimuli/{number}.png", hashlib.sha256(png(number)).hexdigest()


def originals() -> set[str]:
    """Of the factories' sets: rows without files."""
    return set(SourceImage.objects.values_list("file", flat=True))


def silent(_done: int, _total: int, _what: str) -> None:
    """No terminal."""


def save(to: Path, **changed: Any) -> Made:
    return back_up(to=to, **{"passphrase": WORDS, "is_verified": True, "keep": None, "progress": silent, **changed})


def bring_back(to: Path, **changed: Any) -> Restored:
    shelf = Shelf(to)
    wanted = {"passphrase": WORDS, "with_keys": True, "is_rehearsal": False, "progress": silent, **changed}
    return restoration.restore(shelf=shelf, name=shelf.names()[-1], **wanted)


def lose_everything(settings: Any, tmp_path: Path) -> Path:
    """Another machine: nothing in the database, nothing in the folder."""
    call_command("flush", interactive=False, verbosity=0)
    settings.MEDIA_ROOT = tmp_path / "another-machine"
    settings.MEDIA_ROOT.mkdir()
    return tmp_path / "another-machine"


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def all_facts() -> Any:
    return facts_now(connection, apps)


@pytest.mark.verify
def test_the_same_study_goes_on_after_all_was_lost(lab: Tab, media: Path, tmp_path: Path, settings: Any) -> None:
    before, files = all_facts(), contents(media)
    made = save(tmp_path / "archives")
    assert made.manifest.verified_at and set(made.manifest.lost) == originals() and made.manifest.facts == before
    folder = lose_everything(settings, tmp_path)
    assert not Study.objects.exists() and not contents(folder)

    done = bring_back(tmp_path / "archives")
    after = all_facts()
    assert after.plans == before.plans and len(before.plans) == 1 and after.ledger == before.ledger
    # what restoring writes: the record of it, a comparison of each account, and that it waits for that
    differing = {name for name in before.tables if after.tables[name] != before.tables[name]}
    assert differing <= {"core_auditevent", "jobs_job", "recruitment_senderlease"}
    assert AuditEvent.objects.filter(action="restore").count() == 1
    restored = contents(folder)
    assert done.keys == ["marketplace_secret", "secret_key"]
    assert restored["keys/secret_key"].decode().strip() == settings.SECRET_KEY
    made_here = {path for path in restored if path.startswith("sends/")} | {"keys/secret_key"}
    assert {path: restored[path] for path in restored.keys() - made_here} == files
    # the person's tab still has its token and its lease
    assert lab.answer(1).status_code in (200, 201)
    assert Response.objects.count() == 2


@pytest.mark.verify
def test_a_second_archive_holds_only_what_is_new(lab: Tab, media: Path, tmp_path: Path) -> None:
    first = save(tmp_path / "archives")
    assert first.bytes_new > 20_000
    unchanged = save(tmp_path / "archives")
    write_whole(media / "originals" / "new.png", bytes(50_000))
    more = save(tmp_path / "archives")
    assert unchanged.bytes_new < 2_000, "the rows of this very backup alone"
    assert more.bytes_new > 50_000
    assert more.contents_new == 3, "the file, the list of files, and the row of the backup before"
    # a file that changed is read again, one that did not is not
    write_whole(media / "originals" / "new.png", b"other")
    again = save(tmp_path / "archives")
    assert again.contents_new == 3 and again.bytes_new < more.bytes_new - 45_000


@pytest.mark.verify
def test_old_archives_go_and_take_their_contents_along(lab: Tab, media: Path, tmp_path: Path) -> None:
    big = media / "originals" / "big.bin"
    write_whole(big, b"x" * 40_000)
    save(tmp_path / "archives")
    digest = hashlib.sha256(b"x" * 40_000).hexdigest()
    big.unlink()
    for _ in range(2):
        save(tmp_path / "archives")
    assert Shelf(tmp_path / "archives").size_of(digest) == 40_000
    made = save(tmp_path / "archives", keep=2)
    shelf = Shelf(tmp_path / "archives")
    assert len(made.removed) == 2 and len(shelf.names()) == 2 and shelf.size_of(digest) is None
    assert len(list((tmp_path / "archives" / "keys").iterdir())) == 2
    for name in shelf.names():
        databases.check_contents(shelf, shelf.manifest(name), progress=silent)


@pytest.mark.verify
def test_a_key_that_was_given_out_is_not_given_out_again(lab: Tab, tmp_path: Path, settings: Any) -> None:
    gone = User.objects.create_user("gone")
    number = gone.pk
    gone.delete()
    save(tmp_path / "archives")
    lose_everything(settings, tmp_path)
    bring_back(tmp_path / "archives")
    assert User.objects.create_user("next").pk == number + 1


def test_a_file_that_the_database_names_and_that_is_not_there_is_told(lab: Tab, media: Path, tmp_path: Path) -> None:
    plan = Study.objects.get().plan_file
    media_path(plan).write_bytes(b"another plan")
    made = save(tmp_path / "archives")
    assert set(made.manifest.lost) - originals() == {plan}
    assert Backup.objects.get().lost_files == len(originals()) + 1
    assert doctor_checks.backup().severity == "note"


class TestRefused:
    """With a sentence, and nothing written."""

    @pytest.fixture
    def archives(self, lab: Tab, tmp_path: Path) -> Path:
        save(tmp_path / "archives")
        return tmp_path / "archives"

    @pytest.fixture
    def elsewhere(self, archives: Path, settings: Any, tmp_path: Path) -> Path:
        return lose_everything(settings, tmp_path)

    def refused(self, archives: Path, elsewhere: Path, error: type[Exception], match: str, **changed: Any) -> None:
        with pytest.raises(error, match=match):
            bring_back(archives, **changed)
        assert contents(elsewhere) == {} and not Study.objects.exists()

    def test_a_damaged_file_is_named(self, archives: Path, elsewhere: Path) -> None:
        shelf = Shelf(archives)
        plan = next(iter(shelf.manifest(shelf.names()[-1]).facts.plans.values()))
        shelf.path_of(plan).write_bytes(b"x" * (shelf.size_of(plan) or 0))
        self.refused(archives, elsewhere, ArchiveDamaged, r"damaged: plans/.*\.jsonl")
        shelf.path_of(plan).unlink()
        self.refused(archives, elsewhere, ArchiveDamaged, r"has lost a content: plans/.*\.jsonl")

    def test_damaged_rows_are_named(self, archives: Path, elsewhere: Path) -> None:
        shelf = Shelf(archives)
        part = next(p for p in shelf.manifest(shelf.names()[-1]).parts if p.table == "experiments_response")
        shelf.path_of(part.object).write_bytes(b"x")
        self.refused(archives, elsewhere, ArchiveDamaged, "rows of experiments_response")

    def test_another_passphrase(self, archives: Path, elsewhere: Path) -> None:
        self.refused(archives, elsewhere, InputRefused, "passphrase does not open", passphrase="not the passphrase")
        self.refused(archives, elsewhere, InputRefused, "there is none", passphrase=None)

    def test_another_key(self, lab: Tab, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        own = settings.SECRET_KEY
        save(tmp_path / "with-key")
        folder = lose_everything(settings, tmp_path)
        settings.SECRET_KEY = "a key of somebody else"
        monkeypatch.setenv("SECRET_KEY", settings.SECRET_KEY)
        for with_keys in (True, False):
            self.refused(tmp_path / "with-key", folder, Conflict, "SECRET_KEY", with_keys=with_keys)
        settings.SECRET_KEY = own
        assert bring_back(tmp_path / "with-key", is_rehearsal=True).keys

    def test_a_database_that_is_not_empty(self, archives: Path) -> None:
        with pytest.raises(Conflict, match=r"not empty: .* has \d+ rows"):
            bring_back(archives)

    def test_the_folder_of_another_installation(self, archives: Path, elsewhere: Path) -> None:
        (elsewhere / storage.MARK).write_text("another\n")
        with pytest.raises(Conflict, match="files of another installation"):
            bring_back(archives)
        assert list(contents(elsewhere)) == [storage.MARK]

    @pytest.mark.parametrize("path", ["../../etc/cron.d/evil", "/etc/passwd", "a/../../b", "keys/secret_key", "."])
    def test_a_path_out_of_the_folder(self, archives: Path, elsewhere: Path, path: str) -> None:
        shelf = Shelf(archives)
        plan = next(iter(shelf.manifest(shelf.names()[-1]).facts.plans.values()))
        line = json.dumps([path, shelf.size_of(plan), 1, plan])
        self.change(archives, listing=lambda old: {**old, "object": put(shelf, line.encode() + b"\n"), "files": 1})
        self.refused(archives, elsewhere, InputRefused, "outside MEDIA_ROOT")

    @pytest.mark.parametrize(
        "migrations",
        [
            pytest.param(lambda had: [*had, "core.9999_of_the_future"], id="newer"),
            pytest.param(lambda had: [one for one in had if not one.startswith("humanexp.")], id="other-tables"),
        ],
    )
    def test_an_archive_of_another_version(self, archives: Path, elsewhere: Path, migrations: Any) -> None:
        self.change(archives, migrations=migrations)
        self.refused(archives, elsewhere, InputRefused, "another version of HumanExp")

    def test_an_archive_of_another_format(self, archives: Path, elsewhere: Path) -> None:
        self.change(archives, format=lambda old: old + 1)
        self.refused(archives, elsewhere, InputRefused, "has format 2")

    def test_rows_that_are_not_those_that_were_counted(self, archives: Path, elsewhere: Path) -> None:
        def altered(old: Any) -> Any:
            old["tables"]["experiments_response"]["digest"] = "0" * 64
            return old

        self.change(archives, facts=altered)
        with pytest.raises(ArchiveDamaged, match="experiments_response has 1 rows, and they are not the same"):
            bring_back(archives)
        assert not Study.objects.exists(), "rows come all together or not at all"

    def change(self, archives: Path, **changes: Callable[[Any], Any]) -> None:
        shelf = Shelf(archives)
        path = archives / "archives" / shelf.names()[-1] / "manifest.json"
        told = json.loads(path.read_text())
        path.write_text(json.dumps({**told, **{name: change(told[name]) for name, change in changes.items()}}))


def put(shelf: Shelf, lines: bytes) -> str:
    content = gzip.compress(lines)
    digest = hashlib.sha256(content).hexdigest()
    shelf.path_of(digest).parent.mkdir(exist_ok=True)
    shelf.path_of(digest).write_bytes(content)
    return digest


def test_verifying_finds_what_the_archive_lacks(lab: Tab, tmp_path: Path) -> None:
    """As if rows had been lost on their way into it."""
    manifest = save(tmp_path / "archives", is_verified=False).manifest
    assert manifest.verified_at is None and Backup.objects.get().verified_at is None
    shelf, less = Shelf(tmp_path / "archives"), manifest.model_copy()
    less.parts = [part for part in manifest.parts if part.table != "experiments_response"]

    def check(told: Any) -> None:
        sealed = shelf.sealed(manifest.name)
        databases.verify(shelf, told, sealed, WORDS, work=tmp_path, written_since=0, progress=silent)

    check(manifest)
    with pytest.raises(ArchiveDamaged, match="experiments_response has 0 rows instead of 1"):
        check(less)


def test_a_rehearsal_writes_nothing(lab: Tab, tmp_path: Path, settings: Any) -> None:
    save(tmp_path / "archives")
    folder = lose_everything(settings, tmp_path)
    done = bring_back(tmp_path / "archives", is_rehearsal=True)
    assert done.files > 10 and done.keys and contents(folder) == {} and not Study.objects.exists()


def test_missing_and_altered_files_come_back_alone(lab: Tab, media: Path, tmp_path: Path) -> None:
    save(tmp_path / "archives")
    plan, pictures = media_path(Study.objects.get().plan_file), [path for _, path, _ in stored_files(set())]
    original, picture = plan.read_bytes(), next(path for path in pictures if path.suffix == ".png")
    plan.write_bytes(b"altered")
    picture.unlink()
    out = StringIO()
    call_command("restore", str(tmp_path / "archives"), "--files", stdout=out)
    assert "2 files were brought back" in out.getvalue()
    assert plan.read_bytes() == original and picture.is_file() and Response.objects.count() == 1


@pytest.mark.verify
def test_a_single_file(lab: Tab, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(keys.VARIABLE, WORDS)
    before, file = all_facts(), tmp_path / "all.tar"
    call_command("backup", "--to", str(file), stdout=StringIO())
    with pytest.raises(CommandError, match="is a file already"):
        call_command("backup", "--to", str(file))
    folder = lose_everything(settings, tmp_path)
    call_command("restore", str(file), stdout=StringIO())
    assert all_facts().tables["experiments_response"] == before.tables["experiments_response"]
    assert contents(folder)[Study.objects.get().plan_file]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("name", ["../../etc/evil", "/etc/evil", "objects/aa/../../../evil"])
def test_a_single_file_that_leads_elsewhere(name: str, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "evil.tar", "w") as tar:
        member = tarfile.TarInfo(name)
        member.size = 4
        tar.addfile(member, BytesIO(b"evil"))
    with pytest.raises(InputRefused, match="which no archive"), unpacked(tmp_path / "evil.tar"):
        pytest.fail("it was unpacked")
    assert [path.name for path in tmp_path.rglob("*evil*")] == ["evil.tar"]


class TestPassphrase:
    def test_of_a_file_that_others_can_read_is_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "words"
        file.write_text(f"{WORDS}\n")
        file.chmod(0o640)
        with pytest.raises(InputRefused, match="chmod go="):
            passphrase(file)
        file.chmod(0o600)
        assert passphrase(file) == WORDS

    def test_that_is_short_or_missing_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(keys.VARIABLE, "short")
        with pytest.raises(CommandError, match="shorter than 12"):
            call_command("backup", "--to", str(tmp_path / "archives"))
        monkeypatch.delenv(keys.VARIABLE)
        with pytest.raises(CommandError, match="--without-keys"):
            call_command("backup", "--to", str(tmp_path / "archives"))
        assert not (tmp_path / "archives").exists()

    def test_keys_are_nowhere_in_plain(self, lab: Tab, tmp_path: Path, settings: Any) -> None:
        save(tmp_path / "archives")
        told = b"".join(contents(tmp_path / "archives").values())
        assert settings.SECRET_KEY.encode() not in told and b"of the marketplace" not in told


@pytest.mark.parametrize("place", ["media/inside", "."])
def test_archives_lie_apart_from_what_they_hold(lab: Tab, tmp_path: Path, place: str) -> None:
    with pytest.raises(InputRefused, match="contain one another"):
        save(tmp_path / place)


class TestMove:
    def address(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path / 'moved.sqlite3'}"

    def test_refused_while_a_runner_is_alive(self, lab: Tab, tmp_path: Path) -> None:
        now = timezone.now()
        Runner.objects.create(name="one", started_at=now, beat_at=now - timedelta(seconds=20))
        with pytest.raises(Conflict, match="job runner one is alive"):
            restoration.move_database(address=self.address(tmp_path), progress=silent)
        assert not (tmp_path / "moved.sqlite3").exists()

    def test_refused_to_itself_and_to_nowhere(self, lab: Tab) -> None:
        with pytest.raises(InputRefused, match="in use"):
            restoration.move_database(address=f"sqlite:///{connection.settings_dict['NAME']}", progress=silent)
        with pytest.raises(InputRefused, match="must begin with"):
            restoration.move_database(address="mysql://a/b", progress=silent)

    def test_refused_where_something_is(self, lab: Tab, tmp_path: Path, migrated_database: Path) -> None:
        target = tmp_path / "moved.sqlite3"
        target.write_bytes(migrated_database.read_bytes())
        with opened("other", database_of_address(self.address(tmp_path))) as other:
            User.objects.using(other.alias).create(username="somebody")
        with pytest.raises(Conflict, match="not empty: core_user has 1 rows"):
            restoration.move_database(address=self.address(tmp_path), progress=silent)

    @pytest.mark.process
    def test_of_all_rows(self, lab: Tab, tmp_path: Path, migrated_database: Path) -> None:
        (tmp_path / "moved.sqlite3").write_bytes(migrated_database.read_bytes())
        before = all_facts()
        assert restoration.move_database(address=self.address(tmp_path), progress=silent).facts == before
        with opened("other", database_of_address(self.address(tmp_path))) as other:
            assert facts_now(other, apps) == before
            here, there = (tables.sequences_of(of, tables.models_of(apps)) for of in (connection, other))
            assert {name: there[name] for name, last in here.items() if last} == {k: n for k, n in here.items() if n}
        assert all_facts() == before


def test_every_table_belongs_to_a_model(migrated_database: Path) -> None:
    """A table without one would be in no archive."""
    known = {model._meta.db_table for model in tables.models_of(apps)}
    there = {name for name in connection.introspection.table_names() if not name.startswith("sqlite_")}
    assert there - known == {"django_migrations"}


def test_a_scratch_database_has_every_table_and_column(tmp_path: Path) -> None:
    def columns(of: Any) -> dict[str, set[str]]:
        with of.cursor() as cursor:
            names = [name for name in of.introspection.table_names(cursor) if not name.startswith("sqlite_")]
            return {name: {c.name for c in of.introspection.get_table_description(cursor, name)} for name in names}

    real = columns(connection)
    del real["django_migrations"]
    with scratch(tmp_path) as made:
        assert columns(made) == real


class TestDoctor:
    def row(self, hours: float, **more: Any) -> Backup:
        at = timezone.now() - timedelta(hours=hours)
        facts = {"name": "n", "place": "/archives", "rows": 1, "files": 1, "bytes_new": 1, "verified_at": at}
        return Backup.objects.create(made_at=at, **{**facts, **more})

    def test_nothing_to_lose(self) -> None:
        assert doctor_checks.backup().severity == "note"

    def test_answers_without_an_archive(self, lab: Tab) -> None:
        told = doctor_checks.backup()
        assert told.severity == "bad" and "answers are on this machine only" in told.text and told.remedy

    def test_a_fresh_archive(self, lab: Tab) -> None:
        self.row(20)
        told = doctor_checks.backup()
        assert told.severity == "good" and "20 hours old, in /archives" in told.text

    def test_an_old_archive(self, lab: Tab) -> None:
        self.row(49)
        told = doctor_checks.backup()
        assert told.severity == "bad" and "2 days old" in told.text

    def test_a_fresh_archive_that_nobody_proved(self, lab: Tab) -> None:
        self.row(1, verified_at=None)
        assert doctor_checks.backup().severity == "bad"
        self.row(49)
        self.row(1, verified_at=None)
        assert doctor_checks.backup().severity == "bad"
        self.row(20)
        self.row(1, verified_at=None)
        assert doctor_checks.backup().severity == "good"
