from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from humanexp.core.errors import InputRefused
from humanexp.core.storage import media_path
from humanexp.stimuli import sources
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from humanexp.stimuli.sources import ArchiveSource

pytestmark = pytest.mark.django_db


@pytest.fixture
def packed(tmp_path: Path, picture_folder: Path):  # noqa: ANN201
    """Make an archive of the pictures, with more entries."""

    def pack(*more: tuple[str | zipfile.ZipInfo, bytes], below: str = "") -> Path:
        path = tmp_path / "pictures.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(picture_folder.rglob("*.png")):
                archive.write(file, f"{below}{file.relative_to(picture_folder).as_posix()}")
            for name, content in more:
                archive.writestr(name, content)
        return path

    return pack


def refused(path: Path, reason: str) -> None:
    with pytest.raises(InputRefused, match=reason):
        import_images(source=path, order=ImportOrder(name="pets"))
    assert not SourceSet.objects.exists()
    assert [left for left in media_path("").rglob("*") if left.is_file()] == []


@pytest.mark.parametrize("below", ["", "my pets/", "a/b/c/"])
def test_an_archive_is_imported_wherever_its_categories_stand(packed, below: str) -> None:  # noqa: ANN001
    report = import_images(source=packed(below=below), order=ImportOrder(name="pets"))
    assert report.per_category == {"cat": 4, "dog": 3, "knife": 1}
    image = SourceImage.objects.get(key="dog-1")
    assert image.source_name == f"{below}dog/dog-1.png"
    assert media_path(image.file).read_bytes()[:4] == b"\x89PNG"


def test_what_is_no_picture_is_told(packed, picture_folder: Path) -> None:  # noqa: ANN001
    link = zipfile.ZipInfo("cat/link.png")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = packed(
        (link, b"/etc/passwd"),
        ("__MACOSX/cat/._cat-0.png", b"litter"),
        (".DS_Store", b"litter"),
        ("cat/Thumbs.db", b"litter"),
        ("cat/more.zip", b"PK\x03\x04"),
        ("LICENSE", b"CC0"),
    )
    report = import_images(source=path, order=ImportOrder(name="pets"))
    assert report.n_images == 8
    told = "\n".join(report.ignored)
    assert "links, not pictures: cat/link.png" in told
    assert "archives within the source, not looked into: cat/more.zip" in told
    assert "LICENSE" in told
    assert "3 files left by systems and programs" in told
    assert "Thumbs.db" in told
    assert report.source_set.import_report["ignored"] == report.ignored


@pytest.mark.parametrize("name", ["../evil.png", "/etc/evil.png", "cat/../../evil.png", "..\\evil.png", "C:\\evil.png"])
def test_names_that_point_out_of_the_archive_refuse_it(packed, tmp_path: Path, name: str) -> None:  # noqa: ANN001
    refused(packed((name, b"x")), "points out of the archive")
    assert not list(tmp_path.rglob("evil*"))


def test_bombs_are_refused_before_they_are_unpacked(packed, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN001
    bomb = packed(("cat/bomb.bmp", bytes(150_000_000)))
    assert bomb.stat().st_size < 2_000_000
    refused(bomb, "150 MB are packed into .* as no pictures are")
    monkeypatch.setattr(sources, "MAXIMUM_UNPACKED_BYTES", 10_000)
    refused(packed(), "GB are the most")
    monkeypatch.setattr(sources, "MAXIMUM_FILES", 3)
    refused(packed(), "over 3 files")


def test_a_list_of_files_that_would_fill_the_memory_is_not_read(packed, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN001
    monkeypatch.setattr(sources, "_MAXIMUM_LIST_BYTES", 100)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    path = Path(media_path("x.zip"))
    path.write_bytes(b"PK\x05\x06" + b"\0" * 4 + b"\x05\0\x05\0" + b"\xff\0\0\0" + bytes(6))
    with pytest.raises(InputRefused, match="Pack fewer"):
        ArchiveSource(path)


def test_an_encrypted_archive_is_refused(packed) -> None:  # noqa: ANN001
    path = packed()
    content = bytearray(path.read_bytes())
    place = content.index(b"PK\x01\x02")
    content[place + 8] |= 1
    path.write_bytes(bytes(content))
    refused(path, "is encrypted")


@pytest.mark.parametrize("keep", [10, 2000, -30])
def test_a_damaged_archive_is_refused(packed, keep: int) -> None:  # noqa: ANN001
    path = packed()
    path.write_bytes(path.read_bytes()[:keep])
    refused(path, "no zip archive that can be read")


def test_a_damaged_entry_is_told_by_name(packed) -> None:  # noqa: ANN001
    path = packed()
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("cat/cat-1.png")
    content = bytearray(path.read_bytes())
    middle = entry.header_offset + 60 + entry.compress_size // 2
    content[middle : middle + 20] = b"\xff" * 20
    path.write_bytes(bytes(content))
    refused(path, "1 of 8 pictures cannot be used(.|\n)*cat/cat-1.png: cannot be unpacked")


def test_names_in_odd_encodings_stay_different(packed, picture_folder: Path) -> None:  # noqa: ANN001
    contents = [path.read_bytes() for path in sorted(picture_folder.rglob("cat-*.png"))]
    for path in picture_folder.rglob("cat-*.png"):
        path.unlink()
    utf8 = "cat/k\N{LATIN SMALL LETTER A WITH DIAERESIS}tzchen.png"
    path = packed((utf8, contents[0]), ("cat/mXwchen.png", contents[1]), ("cat/a\nb.png", contents[2]))
    # Other programs write names in UTF-8 without saying so: two bytes for the X, of the same length in the name.
    path.write_bytes(path.read_bytes().replace(b"cat/mXwchen.png", b"cat/m\xc3\xb6chen.png"))
    import_images(source=path, order=ImportOrder(name="pets"))
    names = set(SourceImage.objects.filter(category="cat").values_list("source_name", flat=True))
    assert {utf8, "cat/m\N{LATIN SMALL LETTER O WITH DIAERESIS}chen.png"} < names
    assert len(names) == 3
    assert all(name.isprintable() for name in names)


def test_a_table_in_an_archive_names_its_pictures(tmp_path: Path, picture_folder: Path) -> None:
    path = tmp_path / "table.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(picture_folder / "cat" / "cat-0.png", "set/pictures/0.png")
        archive.write(picture_folder / "dog" / "dog-0.png", "set/pictures/1.png")
        archive.write(picture_folder / "dog" / "dog-1.png", "set/pictures/2.png")
        archive.writestr("set/labels.csv", "path,category\npictures/0.png,n02123045\npictures/1.png,dog\n")
    report = import_images(source=path, order=ImportOrder(name="pets"))
    assert report.per_category == {"cat": 1, "dog": 1}
    assert SourceImage.objects.get(category="cat").wnid == "n02123045"


def test_the_same_picture_in_two_kinds_of_file_is_found(picture_folder: Path) -> None:
    from PIL import Image

    Image.open(picture_folder / "cat" / "cat-0.png").save(picture_folder / "cat" / "again.bmp")
    report = import_images(source=picture_folder, order=ImportOrder(name="pets"))
    assert report.n_images == 8
    ((left, kept),) = report.duplicates
    assert {left, kept} == {"cat/again.bmp", "cat/cat-0.png"}


def test_a_contradiction_leaves_out_both_where_that_is_asked_for(picture_folder: Path) -> None:
    (picture_folder / "dog" / "odd.png").write_bytes((picture_folder / "cat" / "cat-0.png").read_bytes())
    report = import_images(source=picture_folder, order=ImportOrder(name="pets", skip_unusable=True))
    assert report.per_category == {"cat": 3, "dog": 3, "knife": 1}
    assert report.n_images == SourceImage.objects.count() == 7
    assert "both are left out" in report.unusable[0]


def test_progress_is_told_and_may_stop_the_import(packed) -> None:  # noqa: ANN001
    from humanexp.core.errors import JobCancelled

    seen: list[tuple[int, int]] = []

    def stop_at_five(done: int, total: int, message: str = "") -> None:
        seen.append((done, total))
        if done == 5:
            raise JobCancelled

    with pytest.raises(JobCancelled):
        import_images(source=packed(), order=ImportOrder(name="pets"), progress=stop_at_five)
    assert seen == [(n, 8) for n in range(1, 6)]
    assert [left for left in media_path("").rglob("*") if left.is_file()] == []


def test_a_full_disk_is_told_and_leaves_nothing(picture_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    true_open = Path.open

    def full(self: Path, mode: str = "r", *args: object, **options: object) -> object:
        if mode == "ab":
            raise OSError(errno.ENOSPC, "No space left on device")
        return true_open(self, mode, *args, **options)

    monkeypatch.setattr(Path, "open", full)
    refused(picture_folder, "could not be stored under .*No space left on device")
