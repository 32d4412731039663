"""Published sets by pages: a study taken away as an archive, and an archive brought, on which models are scored."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from humanexp.core.models import AuditEvent, User
from humanexp.jobs import runner
from humanexp.jobs.models import JobState
from humanexp.participation.models import Session
from humanexp.results.set_archives import IMPORT_SET_KIND, import_of
from humanexp.stimuli.models import SourceSet
from humanexp.studies.models import Role, Study, StudyMembership
from tests.labels import of_the_sixteen
from tests.results.edges import media
from tests.results.test_set_publication import elsewhere, made

__all__ = ["media"]
pytestmark = [pytest.mark.django_db, of_the_sixteen]
BRING = "/scores/sets/new/"


@pytest.fixture
def ada(client: Client) -> User:
    ada = User.objects.create_user("ada")
    client.force_login(ada)
    return ada


def member(study: Study, user: User, role: Role = Role.OWNER) -> str:
    StudyMembership.objects.update_or_create(study=study, user=user, defaults={"role": role})
    return reverse("results:publish", args=[study.slug])


def archive_of(study: Study, client: Client, user: User) -> bytes:
    sent = client.post(member(study, user), {"version": "2", "citation": "Ada 2026"})
    assert sent.headers["Content-Disposition"] == 'attachment; filename="blur-2.zip"'
    return b"".join(sent.streaming_content)


def bring(client: Client, content: bytes) -> Any:
    return client.post(BRING, {"archive": SimpleUploadedFile("blur.zip", content)})


def changed(archive: bytes, name: str, content: bytes) -> bytes:
    """The archive with a file of another content, or a further one."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as before, zipfile.ZipFile(out, "w") as after:
        for one in before.namelist():
            if one != name:
                after.writestr(one, before.read(one))
        after.writestr(name, content)
    return out.getvalue()


def test_a_study_goes_as_an_archive_and_is_scored_on_elsewhere(
    client: Client, settings: Any, tmp_path: Any, ada: User
) -> None:
    client.logout()
    with elsewhere(settings, tmp_path):
        lab = User.objects.create_user("lab")
        client.force_login(lab)
        study = made()
        page = client.get(member(study, lab)).content.decode()
        assert "blur is collecting, not stopped" in page
        archive = archive_of(study, client, lab)
        persons = [one for row in Session.objects.values_list("code", "participant__code") for one in row]
        assert AuditEvent.objects.get(action="publish-set").by == lab
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        assert packed.testzip() is None and "blur/set.toml" in packed.namelist()
        content = b"\n".join(map(packed.read, packed.namelist()))
    assert not [code for code in persons if code.encode() in content]
    client.force_login(ada)
    assert bring(client, archive).status_code == 302
    runner.run_waiting(kinds=[IMPORT_SET_KIND])
    assert import_of(ada).result == {"set": "blur-2"}
    assert "The set is here" in client.get(BRING).content.decode()
    assert 'value="blur-2"' in client.get(reverse("results:scores")).content.decode()
    (found,) = json.loads(client.get("/scores.json", {"on": "blur-2"}).content)["sets"]
    assert sum(row["kind"] == "human" for row in found["scores"]) == 8
    # Nobody else sees it, and sent again it is the same set.
    client.force_login(User.objects.create_user("eve"))
    assert "blur-2" not in client.get(reverse("results:scores")).content.decode()
    client.force_login(ada)
    bring(client, archive)
    runner.run_waiting(kinds=[IMPORT_SET_KIND])
    assert import_of(ada).state == JobState.DONE and SourceSet.objects.count() == 1
    assert not list((settings.MEDIA_ROOT / "uploads").glob("*"))


def test_who_may_not_export_takes_no_set(client: Client, ada: User) -> None:
    study = made()
    address = member(study, ada, Role.VIEWER)
    assert client.get(address).status_code == client.post(address, {"version": "1"}).status_code == 403
    assert not AuditEvent.objects.filter(action="publish-set").exists()


def test_what_cannot_be_a_set_is_said_in_the_form(client: Client, ada: User) -> None:
    study = made()
    SourceSet.objects.update(licence="")
    refused = client.post(member(study, ada), {"version": "1"})
    assert refused.status_code == 422 and "The licence of the pictures is not recorded" in refused.content.decode()


def test_an_archive_without_a_set_is_refused_at_once(client: Client, settings: Any, ada: User) -> None:
    for content, sentence in (
        (zip_of({"cat/1.png": b"x"}), "there is no set.toml in it"),
        (zip_of({"a/set.toml": b"", "b/set.toml": b""}), "there is more than one set.toml"),
        (b"PK", "no zip archive that can be read"),
    ):
        refused = bring(client, content)
        assert refused.status_code == 422 and sentence in refused.content.decode()
    assert import_of(ada) is None and not list((settings.MEDIA_ROOT / "uploads").glob("*"))


def test_a_changed_picture_refuses_the_whole_set_by_its_name(client: Client, settings: Any, ada: User) -> None:
    archive = changed(archive_of(made(), client, ada), "blur/pictures/p00001.png", b"another")
    Study.objects.update(slug="own")
    before = SourceSet.objects.count()
    bring(client, archive)
    runner.run_waiting(kinds=[IMPORT_SET_KIND])
    job = import_of(ada)
    assert job.state == JobState.FAILED and "pictures/p00001.png: not the picture that" in job.error
    assert str(settings.MEDIA_ROOT) not in job.error and "/tmp" not in job.error.splitlines()[-1]  # noqa: S108
    assert SourceSet.objects.count() == before and not list((settings.MEDIA_ROOT / "uploads").glob("*"))


def test_a_set_names_no_file_of_the_server(client: Client, settings: Any, ada: User, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the key of this server")
    named = f'name = "edges"\nversion = "1"\n[pictures]\ndigests = "{secret}"\n'
    bring(client, zip_of({"edges/set.toml": named.encode(), "edges/pictures/dog/1.png": b"x"}))
    runner.run_waiting(kinds=[IMPORT_SET_KIND])
    job = import_of(ada)
    assert job.state == JobState.FAILED and "pictures.digests must be a path below the folder" in job.error
    assert "the key of this server" not in job.error


def zip_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()
