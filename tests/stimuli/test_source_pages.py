from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from PIL import Image

from humanexp.core.errors import Conflict
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.jobs import runner
from humanexp.jobs.models import Job, JobState
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generation import create_stimulus_set
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder, delete_source_set
from tests.markup import markup, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(User.objects.create_user("lab", is_staff=True))
    return client


def body(response, status: int = 200) -> str:  # noqa: ANN001
    assert response.status_code == status, response.content.decode()[-2000:]
    text = words(response.content)
    assert "style=" not in text
    assert "<script>" not in text
    return text


def packed(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return buffer.getvalue()


def upload(client: Client, content: bytes, **fields: str):  # noqa: ANN201
    archive = SimpleUploadedFile("my pets.zip", content, content_type="application/zip")
    return client.post(reverse("stimuli:new_source"), {"name": "pets", "archive": archive, **fields})


ADDRESSES = ["new_source", "source_set", "describe_source", "freeze_source", "delete_source"]


def test_pages_need_an_account(client: Client, source_set: SourceSet) -> None:
    image = SourceImage.objects.first()
    addresses = [reverse(f"stimuli:{name}", args=[] if name == "new_source" else ["pets"]) for name in ADDRESSES]
    addresses += [
        reverse("stimuli:original", args=[image.pk, "small"]),
        reverse("evaluations:select_gold", args=["pets"]),
    ]
    for address in addresses:
        for response in (client.get(address), client.post(address)):
            assert response.status_code == 302, address
            assert "/login/" in response.headers["Location"]
    assert SourceSet.objects.get().frozen_at is None


def test_every_change_needs_the_forms_token(source_set: SourceSet, picture_folder: Path) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_user("lab", is_staff=True))
    for name in ADDRESSES[2:]:
        assert strict.post(reverse(f"stimuli:{name}", args=["pets"])).status_code == 403, name
    assert strict.post(reverse("evaluations:select_gold", args=["pets"])).status_code == 403
    assert upload(strict, packed(picture_folder), name="more").status_code == 403
    assert not Job.objects.exists()
    assert SourceSet.objects.get().frozen_at is None


def test_an_archive_is_sent_imported_by_a_job_and_shown(researcher: Client, picture_folder: Path) -> None:
    assert "multipart/form-data" in body(researcher.get(reverse("stimuli:new_source")))
    response = upload(researcher, packed(picture_folder), provenance="from a shelter", licence="CC0")
    address = reverse("stimuli:source_set", args=["pets"])
    assert (response.status_code, response.headers["Location"]) == (302, address)
    assert "being imported" in body(researcher.get(address))
    (waiting,) = media_path("uploads").glob("*.zip")
    assert waiting.stat().st_size == len(packed(picture_folder))
    runner.run_waiting()
    assert list(media_path("uploads").iterdir()) == []
    text = body(researcher.get(address))
    assert "8 pictures of 3 categories" in text
    assert "from a shelter" in text
    made = SourceSet.objects.get()
    assert (made.created_by.username, made.licence) == ("lab", "CC0")


def test_what_can_be_refused_is_refused_before_a_job_is_made(researcher: Client, source_set: SourceSet) -> None:
    for content, name, reason in (
        (b"PK\x03\x04 not an archive", "more", "no zip archive"),
        (packed(Path(media_path("originals/pets"))), "pets", "already a set of pictures"),
        (packed(Path(media_path("originals/pets"))), "new", "cannot be a name"),
    ):
        assert reason in body(upload(researcher, content, name=name), 422)
    assert "This field is required" in body(researcher.post(reverse("stimuli:new_source"), {"name": "more"}), 422)
    assert not Job.objects.exists()
    assert not list(media_path("uploads").glob("*.zip"))


def test_an_archive_that_is_too_large_is_not_even_read(researcher: Client, picture_folder: Path, settings) -> None:  # noqa: ANN001
    settings.PICTURES_UPLOAD_MAX_MB = 0
    content = packed(picture_folder)
    assert len(content) < 1_000_000
    researcher.post(reverse("stimuli:new_source"), {"name": "pets"})
    response = upload(researcher, content + bytes(1_000_000))
    assert "larger than 0 MB" in body(response, 413)
    assert not Job.objects.exists()


def test_a_refused_import_says_why_and_leaves_nothing(researcher: Client, picture_folder: Path) -> None:
    (picture_folder / "cat" / "broken.jpg").write_bytes(b"\xff\xd8\xff not much")
    upload(researcher, packed(picture_folder))
    runner.run_waiting()
    text = body(researcher.get(reverse("stimuli:source_set", args=["pets"])))
    assert "cat/broken.jpg: this is no picture" in text
    assert Job.objects.get().state == JobState.FAILED
    assert not SourceSet.objects.exists()
    assert [path for path in media_path("").rglob("*") if path.is_file()] == []
    # Sent again, with leave to leave it out.
    upload(researcher, packed(picture_folder), skip_unusable="on")
    runner.run_waiting()
    text = body(researcher.get(reverse("stimuli:source_set", args=["pets"])))
    assert "1 picture that cannot be used" in text
    assert "8 pictures of 3 categories" in text


def test_pictures_come_in_pages_and_by_category(researcher: Client, source_set: SourceSet, monkeypatch) -> None:  # noqa: ANN001
    monkeypatch.setattr("humanexp.stimuli.pages.views.PICTURES_A_PAGE", 3)
    address = reverse("stimuli:source_set", args=["pets"])
    text = body(researcher.get(address, {"page": 2}))
    assert "Page 2 of 3" in text
    assert 'loading="lazy"' in text
    assert text.count("/stimuli/originals/") == 6  # a small copy and a link to the large one, of three
    text = body(researcher.get(address, {"category": "dog"}))
    assert "dog-2" in text
    assert "cat-1" not in text
    body(researcher.get(address, {"category": "lion", "page": "last", "agreement": "none"}))


def test_a_large_set_costs_no_more_queries(
    researcher: Client,
    source_set: SourceSet,
    django_assert_max_num_queries,  # noqa: ANN001
) -> None:
    rows = [
        SourceImage(source_set=source_set, key=f"cat-x{n:05d}", category="cat", file="x", sha256=f"{n:064d}")
        for n in range(3000)
    ]
    SourceImage.objects.bulk_create(rows)
    address = reverse("stimuli:source_set", args=["pets"])
    with django_assert_max_num_queries(14):
        text = body(researcher.get(address, {"page": 20}))
    assert len(text) < 80_000


def test_thumbnails_are_private_small_and_made_once(researcher: Client, source_set: SourceSet) -> None:
    image = SourceImage.objects.get(key="cat-1")
    address = reverse("stimuli:original", args=[image.pk, "small"])
    response = researcher.get(address)
    content = b"".join(response.streaming_content)
    assert content[:3] == b"\xff\xd8\xff"
    assert response.headers["Content-Type"] == "image/jpeg"
    assert "private" in response.headers["Cache-Control"]
    (made,) = media_path("thumbnails/pets").iterdir()
    before = made.stat().st_mtime_ns
    b"".join(researcher.get(address).streaming_content)
    assert made.stat().st_mtime_ns == before
    assert researcher.get(reverse("stimuli:original", args=[image.pk, "huge"])).status_code == 404
    assert researcher.get(reverse("stimuli:original", args=[10**6, "small"])).status_code == 404
    made.unlink()
    media_path(image.file).unlink()
    assert researcher.get(address).status_code == 404


def test_notes_change_until_the_set_is_frozen(researcher: Client, source_set: SourceSet) -> None:
    notes = {"provenance": "a shelter & <friends>", "licence": "CC BY 4.0"}
    researcher.post(reverse("stimuli:describe_source", args=["pets"]), notes)
    address = reverse("stimuli:source_set", args=["pets"])
    text = body(researcher.get(address))
    assert "a shelter &amp; &lt;friends&gt;" in text
    assert "Freeze these pictures" in text
    assert "Delete pets" in text
    researcher.post(reverse("stimuli:freeze_source", args=["pets"]))
    text = body(researcher.get(address))
    assert ">frozen<" in text
    assert "Freeze these pictures" not in text
    assert "Delete pets" not in text
    for name in ("describe_source", "delete_source"):
        refusal = researcher.post(reverse(f"stimuli:{name}", args=["pets"]), {"licence": "mine"})
        assert "frozen since" in body(refusal, 409)
    source_set.refresh_from_db()
    assert source_set.licence == "CC BY 4.0"


def test_a_set_that_nobody_needs_is_deleted_with_its_files(researcher: Client, source_set: SourceSet) -> None:
    b"".join(
        researcher.get(reverse("stimuli:original", args=[SourceImage.objects.first().pk, "small"])).streaming_content
    )
    response = researcher.post(reverse("stimuli:delete_source", args=["pets"]))
    assert response.status_code == 302
    assert not SourceImage.objects.exists()
    assert [path for path in media_path("").rglob("*") if path.is_file()] == []


def test_a_set_in_use_is_not_deleted(source_set: SourceSet) -> None:
    create_stimulus_set(
        Described(source_set=source_set, name="noise", corruptions=["gaussian_noise"], count=2, size_px=112)
    )
    with pytest.raises(Conflict, match="used by the stimulus set noise"):
        delete_source_set(source_set=source_set)
    assert media_path(SourceImage.objects.first().file).exists()


def test_the_page_says_what_a_study_would_need(researcher: Client, source_set: SourceSet) -> None:
    text = body(researcher.get(reverse("stimuli:source_set", args=["pets"])))
    assert "8 originals are too few" in text
    assert markup(text).count(">none<") == 13  # categories without a picture
    assert "would be drawn unchecked" in text


def test_unknown_names_are_plain_404(researcher: Client) -> None:
    assert "no set of pictures named" in body(researcher.get(reverse("stimuli:source_set", args=["none"])), 404)


def test_pictures_that_look_the_same_are_named(researcher: Client, picture_folder: Path) -> None:
    with Image.open(picture_folder / "cat" / "cat-0.png") as picture:
        picture.save(picture_folder / "cat" / "again.jpg", quality=60)
    made = import_images(source=picture_folder, order=ImportOrder(name="pets")).source_set
    shown = body(researcher.get(reverse("stimuli:source_set", args=[made.name])))
    assert "1 picture looks like an earlier one" in shown
    assert "cat/cat-0.png looks like cat/again.jpg" in shown
