"""Pictures from S3: a real S3 server over HTTP, on loopback."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from moto.server import ThreadedMotoServer

from humanexp.core.connections import storage_of_address
from humanexp.core.errors import InputRefused
from humanexp.core.models import User
from humanexp.jobs.models import Job
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.services.imports import import_images, run_import
from humanexp.stimuli.services.sources import ImportOrder
from humanexp.stimuli.sources import StorageSource

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(endpoint: str, picture_folder: Path, settings, monkeypatch: pytest.MonkeyPatch):  # noqa: ANN001, ANN201
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    client.create_bucket(Bucket="lab")
    for path in picture_folder.rglob("*.png"):
        client.upload_file(str(path), "lab", f"photos/{path.relative_to(picture_folder).as_posix()}")
    client.put_object(Bucket="lab", Key="photos/cat/", Body=b"")  # a folder, as some programs make it
    client.put_object(Bucket="lab", Key="photos/cat/@eaDir/cat-0.png/SYNOPHOTO_THUMB_M.jpg", Body=b"a thumbnail")

    def use(address: str) -> None:
        settings.PICTURES_STORAGE = address
        settings.STORAGES = {**settings.STORAGES, "pictures": storage_of_address(address)}

    use(f"s3://lab?endpoint_url={endpoint}&region=us-east-1")
    yield use
    for entry in client.list_objects_v2(Bucket="lab").get("Contents", []):
        client.delete_object(Bucket="lab", Key=entry["Key"])
    client.delete_bucket(Bucket="lab")


@pytest.mark.parametrize("prefix", ["photos/", "/photos", ""])
def test_a_prefix_is_imported(bucket, prefix: str) -> None:  # noqa: ANN001
    report = import_images(source=StorageSource(prefix), order=ImportOrder(name="pets"))
    assert report.per_category == {"cat": 4, "dog": 3, "knife": 1}
    assert report.ignored == [
        "1 file left by systems and programs (thumbnails, bins, hidden files): @eaDir",
    ]
    assert report.source_set.provenance == f"s3://lab/{prefix.strip('/')}"
    assert SourceImage.objects.get(key="cat-0").source_name.endswith("cat/cat-0.png")


def test_the_command_takes_a_prefix(bucket, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ANN001
    call_command("import_images", from_storage="photos", name="pets")
    assert "pets: 8 pictures imported" in capsys.readouterr().out
    with pytest.raises(CommandError, match="nothing under this prefix"):
        call_command("import_images", from_storage="fotos", name="more")


def test_the_console_takes_a_prefix(bucket, client: Client) -> None:  # noqa: ANN001
    client.force_login(User.objects.create_user("lab", is_staff=True))
    address = reverse("stimuli:new_source")
    assert "s3://lab" in client.get(address).content.decode()
    assert client.post(address, {"name": "pets"}).status_code == 422
    assert client.post(address, {"name": "pets", "storage_prefix": "photos"}).status_code == 302
    run_import(lambda done, total, message="": None, **Job.objects.get().parameters)
    assert SourceSet.objects.get().images.count() == 8


def test_every_failure_of_the_other_side_is_a_sentence(bucket, endpoint: str, monkeypatch) -> None:  # noqa: ANN001
    bucket(f"s3://nowhere?endpoint_url={endpoint}&region=us-east-1")
    with pytest.raises(InputRefused, match="s3://nowhere/photos: there is no such bucket"):
        import_images(source=StorageSource("photos"), order=ImportOrder(name="pets"))
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    bucket("s3://lab?endpoint_url=http://127.0.0.1:9&region=us-east-1")
    with pytest.raises(InputRefused, match="does not answer"):
        import_images(source=StorageSource("photos"), order=ImportOrder(name="pets"))
    assert not SourceSet.objects.exists()


def test_without_keys_it_says_which_are_missing(bucket, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN001
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    bucket(f"s3://lab?endpoint_url={endpoint}&region=us-east-1&addressing_style=path")
    with pytest.raises(InputRefused, match="AWS_ACCESS_KEY_ID"):
        import_images(source=StorageSource("photos"), order=ImportOrder(name="pets"))


def test_without_a_storage_it_says_what_to_set(settings) -> None:  # noqa: ANN001
    with pytest.raises(InputRefused, match="PICTURES_STORAGE"):
        StorageSource("photos")
    settings.STORAGES = {**settings.STORAGES, "pictures": {"BACKEND": "no.such.package.Storage"}}
    with pytest.raises(InputRefused, match="requirements/s3.txt"):
        StorageSource("photos")


@pytest.mark.parametrize(
    "address", ["bucket", "gs://bucket", "s3://", "s3://key:secret@bucket", "s3://bucket?acl=public"]
)
def test_an_address_of_another_form_is_refused(address: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="PICTURES_STORAGE"):
        storage_of_address(address)


def test_an_address_becomes_options() -> None:
    made = storage_of_address("s3://lab/photos?endpoint_url=http://127.0.0.1:9000&region=eu-central-1")
    assert made["OPTIONS"] == {
        "bucket_name": "lab",
        "location": "photos",
        "endpoint_url": "http://127.0.0.1:9000",
        "region_name": "eu-central-1",
    }


def test_a_list_finds_objects_whose_names_store_accents_otherwise(bucket, endpoint: str, picture_folder: Path) -> None:  # noqa: ANN001
    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    stored = unicodedata.normalize("NFD", "Kätzchen/Tom.png")
    client.upload_file(str(picture_folder / "cat" / "cat-0.png"), "lab", f"listed/{stored}")
    text = f"path,category\n{unicodedata.normalize('NFC', stored)},cat\n"
    client.put_object(Bucket="lab", Key="listed/list.csv", Body=text.encode())
    assert import_images(source=StorageSource("listed"), order=ImportOrder(name="pets")).per_category == {"cat": 1}
