"""Files that machines share through an S3 server, over HTTP: two MEDIA_ROOTs, one database."""

from __future__ import annotations

import hashlib
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from humanexp.core import clock, file_store
from humanexp.core.errors import FileRefused, FilesAway
from humanexp.core.models import ForgottenFile, StoredFile, StoredObject
from humanexp.core.objects import objects
from humanexp.core.storage import current_path, media_path, read_checked, write_whole
from tests.object_server import Go, ObjectServer

pytestmark = pytest.mark.django_db

PICTURE = "stimuli/pets/cat.png"


def publish(content: bytes, path: str = PICTURE) -> str:
    write_whole(media_path(path), content)
    assert file_store.publish(path) == 1
    return hashlib.sha256(content).hexdigest()


@pytest.mark.process
def test_another_machine_has_what_was_published(go_to: Go, server: ObjectServer) -> None:
    sha256 = publish(b"cat")
    assert server.held().count(server.key_of(sha256)) == 1
    second = go_to("second")
    assert media_path(PICTURE).read_bytes() == b"cat"
    assert (second / PICTURE).stat().st_mtime_ns == StoredFile.objects.get(path=PICTURE).mtime_ns
    assert not list((second / "fetching").iterdir())


@pytest.mark.process
def test_a_file_that_is_here_costs_no_query_and_no_call(go_to: Go, server: ObjectServer) -> None:
    sha256 = publish(b"cat")
    server.go_away()
    try:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            assert read_checked(PICTURE, sha256) == b"cat"
        assert not asked.captured_queries
    finally:
        server.come_back()


def test_without_a_store_nothing_is_asked(settings, tmp_path: Path) -> None:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path
    write_whole(media_path(PICTURE), b"cat")
    with CaptureQueriesContext(connection) as asked:
        assert file_store.publish(PICTURE) == 0 and file_store.bring("") == 0
        assert current_path(PICTURE).read_bytes() == b"cat"
        file_store.forget(PICTURE)
        assert not media_path("stimuli/pets/dog.png").exists()
    assert not asked.captured_queries


@pytest.mark.process
def test_whole_folders_go_and_come_at_once(go_to: Go) -> None:
    first = go_to("first")
    names = [f"stimuli/many/{number:04}.png" for number in range(700)]
    for number, name in enumerate(names):
        write_whole(media_path(name), f"picture {number % 600}".encode())
    write_whole(first / "stimuli/many/.unfinished", b"half")
    assert file_store.publish("stimuli/many") == 700
    assert file_store.publish("stimuli/many") == 0, "what is known as it is, is not sent again"
    assert StoredObject.objects.count() == 600, "one content under two names is one"
    second = go_to("second")
    assert file_store.bring("stimuli/many") == 700
    assert file_store.bring("stimuli/many") == 0
    assert all((second / name).read_bytes() == (first / name).read_bytes() for name in names)


@pytest.mark.process
def test_a_replaced_file_is_fetched_anew_and_the_old_copy_goes(go_to: Go) -> None:
    publish(b"old")
    second = go_to("second")
    media_path(PICTURE)
    go_to("first")
    new = publish(b"new")
    go_to("second")
    assert media_path(PICTURE).read_bytes() == b"old", "believed: nothing is asked"
    assert current_path(PICTURE).read_bytes() == b"new"
    write_whole(second / PICTURE, b"damaged on this disk")
    assert read_checked(PICTURE, new) == b"new"
    third = go_to("third")
    media_path(PICTURE)
    go_to("first")
    file_store.forget("stimuli/pets")
    go_to("third")
    assert file_store.sweep_copies() == 1 and not (third / PICTURE).exists()


@pytest.mark.process
def test_a_copy_that_was_made_anew_under_the_same_name_stays(go_to: Go) -> None:
    first = go_to("first")
    publish(b"old")
    file_store.forget(PICTURE)
    publish(b"new")
    assert file_store.sweep_copies() == 0 and (first / PICTURE).read_bytes() == b"new"


@pytest.mark.process
def test_a_file_that_was_forgotten_and_published_again_as_it_is_stays(go_to: Go) -> None:
    first = go_to("first")
    publish(b"cat")
    file_store.forget(PICTURE)
    assert file_store.publish(PICTURE) == 1
    assert file_store.sweep_copies() == 0 and (first / PICTURE).read_bytes() == b"cat"


@pytest.mark.process
@pytest.mark.parametrize("harm", ["spoil", "lose"])
def test_a_damaged_or_missing_object_is_refused_by_name(
    go_to: Go, server: ObjectServer, harm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sha256 = publish(f"to {harm}".encode())
    getattr(server, harm)(sha256)
    second = go_to("second")
    with pytest.raises(
        FileRefused, match=rf"{PICTURE} is (damaged|missing) in FILE_STORE.*files --check --mend"
    ) as told:
        media_path(PICTURE)
    assert told.value.is_missing == (harm == "lose")
    assert not (second / PICTURE).exists() and not list((second / "fetching").iterdir())
    assert file_store.bring("", leave_refused=True) == 0
    with pytest.raises(CommandError, match="1 files are missing or damaged"):
        call_command("files", "--check")
    go_to("first")
    call_command("files", "--check", "--mend")
    assert f"{PICTURE}: stored again" in capsys.readouterr().out
    go_to("second")
    assert read_checked(PICTURE, sha256) == f"to {harm}".encode()


@pytest.mark.process
def test_a_storage_that_is_away_is_waited_for(go_to: Go, server: ObjectServer) -> None:
    publish(b"cat")
    go_to("second")
    server.go_away()
    try:
        with pytest.raises(FilesAway, match="Nothing is lost"):
            media_path(PICTURE)
        assert "cannot be used" in objects().fault()
        write_whole(media_path("plans/a.jsonl"), b"plan")
        with pytest.raises(FilesAway):
            file_store.publish("plans/a.jsonl")
        assert not StoredFile.objects.filter(path="plans/a.jsonl").exists(), "no row before its content"
    finally:
        server.come_back()
    assert media_path(PICTURE).read_bytes() == b"cat" and not objects().fault()
    assert file_store.publish("plans/a.jsonl") == 1


@pytest.mark.process
def test_contents_go_when_nobody_names_them_and_not_before(go_to: Go, server: ObjectServer) -> None:
    kept, gone = publish(b"kept", "plans/kept.jsonl"), publish(b"gone", "plans/gone.jsonl")
    publish(b"gone", "plans/also.jsonl")
    file_store.forget("plans/gone.jsonl")
    StoredObject.objects.update(touched_at=clock.now() - timedelta(days=2))
    assert file_store.collect() == 0, "another file has the same content"
    file_store.forget("plans/also.jsonl")
    StoredObject.objects.filter(pk=gone).update(touched_at=clock.now())
    assert file_store.collect() == 0, "somebody may be about to name it"
    StoredObject.objects.filter(pk=gone).update(touched_at=clock.now() - timedelta(days=2))
    assert file_store.collect() == 1
    assert server.key_of(gone) not in server.held() and server.key_of(kept) in server.held()
    assert list(StoredObject.objects.values_list("pk", flat=True)) == [kept]


@pytest.mark.process
def test_two_at_once_fetch_one_file(go_to: Go) -> None:
    content = bytes(range(256)) * 4096
    publish(content)
    one = next(file_store._published(StoredFile.objects.all()))
    go_to("second")
    found: list[bytes] = []

    def read() -> None:
        file_store._bring(one)
        found.append(file_store.local_path(PICTURE).read_bytes())

    readers = [threading.Thread(target=read) for _ in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert found == [content] * 8


@pytest.mark.process
def test_two_machines_write_the_same_file(go_to: Go, server: ObjectServer) -> None:
    sha256 = publish(b"plan", "plans/a-1234.jsonl")
    go_to("second")
    write_whole(file_store.local_path("plans/a-1234.jsonl"), b"plan")
    file_store.publish("plans/a-1234.jsonl")
    assert StoredFile.objects.get().content_id == sha256 and server.held().count(server.key_of(sha256)) == 1
    first = go_to("first")
    assert current_path("plans/a-1234.jsonl").read_bytes() == b"plan"
    file_store.sweep_copies()
    assert (first / "plans/a-1234.jsonl").exists()


@pytest.mark.parametrize("path", ["keys/secret_key", "logs/web.log", "sends/production", ""])
def test_what_is_this_machines_alone_is_never_published(go_to: Go, path: str) -> None:
    write_whole(go_to("first") / "keys/secret_key", b"secret")
    with pytest.raises(ValueError, match="not for other machines"):
        file_store.publish(path)
    assert file_store.shared_folders() == []
    with CaptureQueriesContext(connection) as asked:
        media_path("keys/another")
        media_path("storage-mark")
    assert not asked.captured_queries


@pytest.mark.process
def test_an_installation_on_disk_moves_into_a_store(go_to: Go, capsys: pytest.CaptureFixture[str]) -> None:
    first = go_to("first")
    for path in (PICTURE, "plans/a.jsonl", "uploads/half", "keys/secret_key", "thumbnails/a.jpg"):
        write_whole(first / path, path.encode())
    call_command("files", "--publish")
    assert "2 files published" in capsys.readouterr().out
    second = go_to("second")
    call_command("files", "--fetch")
    assert sorted(path.name for path in second.rglob("*") if path.is_file()) == ["a.jsonl", "cat.png"]


@pytest.mark.process
def test_a_new_bucket_is_filled_from_here(go_to: Go, server: ObjectServer) -> None:
    sha256 = publish(b"cat of a restored archive")
    server.lose(sha256)
    assert file_store.store_again() == 1
    assert server.key_of(sha256) in server.held()


@pytest.mark.process
def test_what_waits_too_long_is_forgotten(go_to: Go) -> None:
    publish(b"archive", "uploads/a.zip")
    file_store.forget_left("uploads", older_than_s=3600)
    assert StoredFile.objects.count() == 1
    StoredFile.objects.update(mtime_ns=0)
    file_store.forget_left("uploads", older_than_s=3600)
    assert not StoredFile.objects.exists() and ForgottenFile.objects.get().path == "uploads/a.zip"
