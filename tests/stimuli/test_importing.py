from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from analysis.errors import TableRefused
from humanexp.core.errors import InputRefused, InvalidRequest
from humanexp.core.storage import media_path
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from tests.analysis.generation.originals import write_originals

pytestmark = pytest.mark.django_db


def files_under_media(settings) -> list[Path]:  # noqa: ANN001
    return [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]


def test_folders_become_a_source_set_with_copies(picture_folder: Path) -> None:
    report = import_images(source=picture_folder, order=ImportOrder(name="pets", licence="CC0"))
    assert report.per_category == {"cat": 4, "dog": 3, "knife": 1}
    assert (report.n_images, report.duplicates, report.ignored, report.alike) == (8, [], [], [])
    image = SourceImage.objects.get(key="cat-2")
    assert (image.category, image.width_px, image.height_px) == ("cat", 128, 128)
    content = media_path(image.file).read_bytes()
    assert content == (picture_folder / "cat" / "cat-2.png").read_bytes()
    assert hashlib.sha256(content).hexdigest() == image.sha256
    shutil.rmtree(picture_folder)
    assert media_path(image.file).exists()
    assert (report.source_set.licence, report.source_set.provenance) == ("CC0", str(picture_folder))


def test_wordnet_folders_are_sorted_into_categories_and_others_reported(tmp_path: Path, picture_folder: Path) -> None:
    # n02123045 tabby, n02085936 Maltese dog; n01440764 tench has no category.
    for wnid, source in (("n02123045", "cat"), ("n02085936", "dog"), ("n01440764", "knife")):
        shutil.copytree(picture_folder / source, tmp_path / "imagenet" / wnid)
    (tmp_path / "imagenet" / "README.md").write_text("about")
    report = import_images(source=tmp_path / "imagenet", order=ImportOrder(name="imagenet"))
    assert report.per_category == {"cat": 4, "dog": 3}
    assert len(report.ignored) == 2
    assert any("n01440764" in sentence for sentence in report.ignored)


@pytest.mark.parametrize("as_folder", [False, True])
def test_a_csv_file_names_path_and_category(picture_folder: Path, as_folder: bool) -> None:
    (picture_folder / "more").mkdir()
    for number in (0, 1):
        shutil.move(picture_folder / "cat" / f"cat-{number}.png", picture_folder / "more" / f"{number}.png")
    for category in ("cat", "dog", "knife"):
        shutil.rmtree(picture_folder / category)
    table = picture_folder / "labels.csv"
    table.write_text("\ufeffPath,Category\nmore/0.png,cat\nmore/1.png,Cat\n", encoding="utf-8")
    if as_folder:
        shutil.move(picture_folder / "more", picture_folder / ".more")
        table.write_text("path,category\n.more/0.png,cat\n.more/1.png,cat\n")
    report = import_images(source=picture_folder if as_folder else table, order=ImportOrder(name="table"))
    assert report.per_category == {"cat": 2}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("file,category\na.png,cat\n", "column 'path' is missing"),
        ("path,category\ncat/cat-0.png,cat\ncat/cat-1.png,lion\n", "row 2, column 'category': 'lion'"),
        ("path,category\n,cat\n", "row 1: the column 'path' is empty"),
        ("path,category\nnowhere.png,cat\n", "nowhere.png: there is no such file"),
        ("path,category\n", "names no picture"),
        ("", "is empty"),
    ],
)
def test_a_wrong_csv_is_refused_with_its_place(picture_folder: Path, text: str, reason: str) -> None:
    table = picture_folder / "labels.csv"
    table.write_text(text)
    with pytest.raises((InputRefused, TableRefused), match=reason):
        import_images(source=table, order=ImportOrder(name="table"))
    assert not SourceSet.objects.exists()


def test_one_bad_picture_refuses_everything_and_nothing_is_written(picture_folder: Path, settings) -> None:  # noqa: ANN001
    (picture_folder / "dog" / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 not much of a jpeg")
    (picture_folder / "cat" / "notes.txt").write_text("my cats")
    with pytest.raises(InputRefused) as refusal:
        import_images(source=picture_folder, order=ImportOrder(name="pets"))
    message = refusal.value.message
    assert "2 of 10 pictures cannot be used; nothing was imported" in message
    assert "broken.jpg" in message
    assert "notes.txt" in message
    assert not SourceSet.objects.exists()
    assert not SourceImage.objects.exists()
    assert files_under_media(settings) == []


def test_what_file_browsers_leave_behind_is_no_picture(picture_folder: Path) -> None:
    thumbnail = (picture_folder / "cat" / "cat-0.png").read_bytes()
    for name in (".DS_Store", "Thumbs.db", "@eaDir/cat-0.png/SYNOPHOTO_THUMB_M.jpg", ".thumbnails/cat-0.png"):
        for folder in (picture_folder, picture_folder / "dog"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(thumbnail)
    report = import_images(source=picture_folder, order=ImportOrder(name="pets"))
    assert report.n_images == 8
    (sentence,) = report.ignored
    assert sentence.startswith("8 files left by systems and programs")
    assert "@eaDir (2)" in sentence


def test_a_folder_of_nothing_else_says_what_was_left_out(tmp_path: Path, picture_folder: Path) -> None:
    (tmp_path / "box").mkdir()
    (picture_folder / "cat").rename(tmp_path / "box" / "#recycle")
    with pytest.raises(InputRefused, match=r"no picture in it. Left out were 4 files .* #recycle \(4\)"):
        import_images(source=tmp_path / "box", order=ImportOrder(name="pets"))


def test_duplicates_are_left_out_and_reported(picture_folder: Path) -> None:
    shutil.copy(picture_folder / "cat" / "cat-0.png", picture_folder / "cat" / "copy.png")
    report = import_images(source=picture_folder, order=ImportOrder(name="pets"))
    assert report.n_images == 8
    ((left_out, kept),) = report.duplicates
    assert (Path(left_out).name, Path(kept).name) == ("copy.png", "cat-0.png")


def test_a_picture_saved_again_is_kept_and_told(picture_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Image.open(picture_folder / "cat" / "cat-0.png") as picture:
        picture.save(picture_folder / "cat" / "again.jpg", quality=60)
    call_command("import_images", str(picture_folder), name="pets")
    told = capsys.readouterr().out
    assert "pets: 9 pictures imported" in told
    assert "kept, but looks the same: cat/cat-0.png and cat/again.jpg" in told
    assert SourceSet.objects.get().import_report["alike"] == [["cat/cat-0.png", "cat/again.jpg"]]


def test_one_picture_under_two_categories_is_refused(picture_folder: Path, settings) -> None:  # noqa: ANN001
    shutil.copy(picture_folder / "cat" / "cat-0.png", picture_folder / "dog" / "odd.png")
    with pytest.raises(InputRefused, match=r"odd.png \(dog\) and .*cat-0.png \(cat\) are the same picture"):
        import_images(source=picture_folder, order=ImportOrder(name="pets"))
    assert files_under_media(settings) == []


def test_equal_file_names_get_different_keys(tmp_path: Path) -> None:
    write_originals(tmp_path / "a", {"cat": 2})
    (tmp_path / "a" / "cat" / "inner").mkdir()
    (tmp_path / "a" / "cat" / "cat-1.png").rename(tmp_path / "a" / "cat" / "inner" / "cat-0.png")
    report = import_images(source=tmp_path / "a", order=ImportOrder(name="cats"))
    assert set(report.source_set.images.values_list("key", flat=True)) == {"cat-0", "cat-0-2"}


@pytest.mark.parametrize(
    ("arrange", "reason"),
    [
        (lambda folder: shutil.copytree(folder / "cat", folder / "lion"), "neither one of the 16 .* nor a WordNet id"),
        (lambda folder: shutil.copy(folder / "cat" / "cat-0.png", folder / "stray.png"), "stray.png: .*no category"),
        (shutil.rmtree, "no such folder"),
        (lambda folder: [shutil.rmtree(folder / name) for name in ("cat", "dog", "knife")], "no picture in it"),
    ],
)
def test_wrong_folders_are_refused_with_a_remedy(picture_folder: Path, arrange, reason: str) -> None:  # noqa: ANN001
    arrange(picture_folder)
    with pytest.raises(InputRefused, match=reason):
        import_images(source=picture_folder, order=ImportOrder(name="pets"))
    assert not SourceSet.objects.exists()


def test_names_are_slugs_and_unique(picture_folder: Path, source_set: SourceSet) -> None:
    with pytest.raises(InvalidRequest, match="already a set of pictures named 'pets'"):
        import_images(source=picture_folder, order=ImportOrder(name="pets"))
    for name in ("my pets", "../pets", "", "x" * 81):
        with pytest.raises(InvalidRequest, match="cannot be a name"):
            import_images(source=picture_folder, order=ImportOrder(name=name))


def test_a_set_of_one_name_left_from_a_lost_import_does_no_harm(picture_folder: Path, settings) -> None:  # noqa: ANN001
    lost = Path(settings.MEDIA_ROOT) / "originals" / "pets"
    lost.mkdir(parents=True)
    (lost / "rest.png").write_bytes(b"rest")
    report = import_images(source=picture_folder, order=ImportOrder(name="pets"))
    assert report.n_images == 8
    assert not (lost / "rest.png").exists()
    assert len(files_under_media(settings)) == 8


def test_command_reports_and_refuses(picture_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(picture_folder / "cat" / "cat-0.png", picture_folder / "cat" / "copy.png")
    call_command("import_images", str(picture_folder), name="pets")
    told = capsys.readouterr().out
    assert "pets: 8 pictures imported (cat 4, dog 3, knife 1)" in told
    assert "duplicate left out" in told
    with pytest.raises(CommandError, match="already"):
        call_command("import_images", str(picture_folder), name="pets")
