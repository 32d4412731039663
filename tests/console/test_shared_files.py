"""What one machine makes, another one goes on with: uploads, sets, deletions, archives, and what `doctor` says."""

from __future__ import annotations

import io
import threading
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from humanexp.console import doctor_checks as looks
from humanexp.console.archives.backup import back_up
from humanexp.console.archives.restoration import restore_files
from humanexp.console.archives.shelf import Shelf
from humanexp.core import file_store, storage
from humanexp.core.errors import InvalidRequest, JobCancelled
from humanexp.core.models import StoredFile, StoredObject
from humanexp.core.storage import current_path, media_path, write_whole
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import silent
from humanexp.jobs.runner import Patience, run_one, run_waiting
from humanexp.participation.models import Participant
from humanexp.recruiters import keys
from humanexp.recruiting.personal_data import delete_participant
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generated_sets import make_stimuli, verify_stimuli
from humanexp.stimuli.services.generation import create_stimulus_set, delete_stimulus_set, start_generation
from humanexp.stimuli.services.imports import import_images, request_import
from humanexp.stimuli.services.sources import ImportOrder
from tests.analysis.generation.originals import write_originals
from tests.factories import collecting_study, make_stimulus_set, new_session, no_png
from tests.object_server import Go, ObjectServer

pytestmark = pytest.mark.django_db
COUNTS = {"cat": 4, "dog": 3, "knife": 1}


@pytest.fixture
def pets(go_to: Go, tmp_path: Path, settings) -> SourceSet:  # noqa: ANN001
    settings.COMPUTE = "serial"
    write_originals(tmp_path / "pictures", COUNTS)
    go_to("first")
    return import_images(source=tmp_path / "pictures", order=ImportOrder(name="pets")).source_set


def described(pets: SourceSet, *, seed: int = 0) -> Described:
    wanted = {"name": "small", "corruptions": ["gaussian_blur"], "count": 12, "size_px": 96, "enlarge": True}
    return Described(source_set=pets, seed=seed, **wanted)


def made_by(pets: SourceSet, *, seed: int = 0) -> StimulusSet:
    made = create_stimulus_set(described(pets, seed=seed))
    start_generation(stimulus_set=made)
    run_waiting()
    made.refresh_from_db()
    assert made.completed_at is not None, Job.objects.latest("pk").error
    return made


def files_of(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_an_upload_waits_for_the_runner_of_another_machine(go_to: Go, tmp_path: Path) -> None:
    write_originals(tmp_path / "pictures", COUNTS)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        for path in (tmp_path / "pictures").rglob("*.png"):
            packed.write(path, path.relative_to(tmp_path / "pictures"))
    request_import(order=ImportOrder(name="pets"), archive=SimpleUploadedFile("pets.zip", content.getvalue()))
    assert StoredFile.objects.get().path.startswith("uploads/")
    second = go_to("second")
    run_waiting()
    assert Job.objects.get().state == "done", Job.objects.get().error
    assert not StoredFile.objects.filter(path__startswith="uploads/").exists()
    assert not list((second / "uploads").glob("*.zip"))
    first = go_to("first")
    file_store.sweep_copies()
    assert not list((first / "uploads").glob("*.zip")), "the waiting archive goes here, too"
    image = SourceSet.objects.get(name="pets").images.first()
    assert image is not None and media_path(image.file).is_file()


def test_a_set_is_made_here_and_verified_and_deleted_there(pets: SourceSet, go_to: Go) -> None:
    first = go_to("first")
    made = made_by(pets)
    go_to("second")
    found = verify_stimuli(made)
    assert found.passed and found.manifest_rows == 12 + 8
    delete_stimulus_set(stimulus_set=made)
    assert not StoredFile.objects.filter(path__startswith="stimuli/").exists()
    go_to("first")
    assert files_of(first / "stimuli")
    file_store.sweep_copies()
    assert not files_of(first / "stimuli")
    assert files_of(first / "originals")


def test_a_set_that_was_begun_there_is_gone_on_with_and_looked_at_here(pets: SourceSet, go_to: Go) -> None:
    """The machine that began is lost; what it had made need not be made again."""
    made = create_stimulus_set(described(pets))

    def killed(done: int, total: int, message: str = "") -> None:
        if done >= 4:
            raise JobCancelled

    with pytest.raises(JobCancelled):
        make_stimuli(made, killed)
    begun = {one.key: one for one in made.stimuli.all()}
    assert 0 < len(begun) < 20
    second = go_to("second")
    assert all(media_path(one.file).is_file() for one in begun.values()), "the console shows them"
    times = {one.file: (second / one.file).stat().st_mtime_ns for one in begun.values()}
    start_generation(stimulus_set=made)
    run_waiting()
    assert verify_stimuli(made).stimuli.checked == 20
    assert {file: (second / file).stat().st_mtime_ns for file in times} == times


def test_a_set_that_was_made_anew_under_its_name_is_the_new_one_everywhere(pets: SourceSet, go_to: Go) -> None:
    made = made_by(pets)
    go_to("second")
    verify_stimuli(made)
    go_to("first")
    delete_stimulus_set(stimulus_set=made)
    again = made_by(pets, seed=7)
    go_to("second")
    assert verify_stimuli(again).passed


def test_an_archive_holds_what_only_the_storage_has(pets: SourceSet, go_to: Go, tmp_path: Path) -> None:
    first, second = go_to("first"), go_to("second")
    storage.mark_folder()
    made = back_up(to=tmp_path / "archives", passphrase=None, is_verified=False, keep=None, progress=silent)
    assert made.manifest.lost == []
    assert {*files_of(first)} <= {*files_of(second)}
    assert made.manifest.listing.files == len(files_of(second))


def test_an_archive_mends_what_the_storage_has_lost(
    pets: SourceSet, go_to: Go, server: ObjectServer, tmp_path: Path
) -> None:
    storage.mark_folder()
    back_up(to=tmp_path / "archives", passphrase=None, is_verified=False, keep=None, progress=silent)
    image = pets.images.first()
    assert image is not None
    server.lose(image.sha256)
    go_to("third")
    shelf = Shelf(tmp_path / "archives")
    restore_files(shelf=shelf, name=shelf.names()[-1], is_rehearsal=False, progress=silent)
    call_command("files", "--check", "--mend")
    go_to("fourth")
    assert media_path(image.file).is_file()


def test_doctor_reads_a_sample_of_the_storage(pets: SourceSet, go_to: Go, server: ObjectServer) -> None:
    storage.mark_folder()
    assert looks.storage().severity == "good" and "whole" in looks.storage().text
    for sha256 in StoredObject.objects.values_list("pk", flat=True):
        server.spoil(sha256)
    found = looks.storage()
    assert found.severity == "bad" and "missing or damaged: originals/pets/" in found.text
    go_to("second")
    storage.mark_folder()
    assert looks.files().text.startswith("of 8 files looked at, 8 altered")
    server.go_away()
    try:
        assert "FILE_STORE cannot be used" in looks.storage().text
        assert looks.files().severity == "bad"
    finally:
        server.come_back()


def test_an_empty_disk_becomes_a_copy_and_another_installations_does_not(go_to: Go) -> None:
    storage.mark_folder()
    go_to("second")
    storage.mark_folder()
    assert storage.wrong_folder() is None
    write_whole(go_to("third") / storage.MARK, b"of another database\n")
    storage.mark_folder()
    problem = storage.wrong_folder()
    assert problem is not None and "is not the folder" in problem.text


@pytest.mark.django_db(transaction=True)
def test_a_job_waits_for_a_storage_that_is_away_and_loses_no_attempt(
    pets: SourceSet, go_to: Go, server: ObjectServer
) -> None:
    made = create_stimulus_set(described(pets))
    start_generation(stimulus_set=made)
    go_to("second")
    server.go_away()
    try:
        job = jobs.claim(runner="second")
        assert job is not None
        run_one(job, "second", patience=Patience(threading.Event()))
    finally:
        server.come_back()
    job.refresh_from_db()
    assert (job.state, job.attempt) == ("queued", 0) and "Nothing is lost" in job.error
    Job.objects.update(run_after=None)
    run_waiting()
    made.refresh_from_db()
    assert made.completed_at is not None


def test_keys_of_recruiters_are_not_stored_on_one_machine_alone(go_to: Go) -> None:
    with pytest.raises(InvalidRequest, match="set MTURK_KEY in the environment of each"):
        keys.store({"MTURK_KEY": "secret"})
    assert not (go_to("first") / "keys").exists()


def test_a_deleted_person_is_named_in_no_result_of_any_machine(go_to: Go) -> None:
    make_stimulus_set(picture=no_png)
    code = new_session(collecting_study()).participant.code
    first = go_to("first")
    write_whole(media_path("results/pictures/findings-1.json"), f'{{"participant": "{code}"}}'.encode())
    file_store.publish("results/pictures/findings-1.json")
    go_to("second")
    done = delete_participant(code=code)
    assert done.renamed_in == ("results/pictures/findings-1.json",)
    go_to("first")
    file_store.sweep_copies()
    assert code not in "".join(path.read_text() for path in (first / "results").rglob("*.json"))
    assert code.encode() not in current_path("results/pictures/findings-1.json").read_bytes()
    assert not Participant.objects.filter(code=code).exists()
