"""One name in two forms: an accent is one character in lists and on most systems, two on macOS."""

from __future__ import annotations

import shutil
import unicodedata
import zipfile
from pathlib import Path

import pytest

from analysis.published_pictures import PublishedPicture, match_pictures
from humanexp.core.errors import InputRefused
from humanexp.stimuli.models import SourceImage
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder

pytestmark = pytest.mark.django_db
FORMS = ("NFC", "NFD")


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
@pytest.mark.parametrize("of_files", FORMS)
@pytest.mark.parametrize("of_list", FORMS)
@pytest.mark.parametrize("name", ["Kätzchen.png", "Ålesund/chaton nº 1.png", "새끼 고양이/고양이.png"])
def test_a_list_finds_files_of_the_other_form(
    tmp_path: Path, picture_folder: Path, name: str, of_list: str, of_files: str, packed: bool
) -> None:
    stored = tmp_path / "handed in" / unicodedata.normalize(of_files, name)
    stored.parent.mkdir(parents=True)
    shutil.copy(picture_folder / "cat" / "cat-0.png", stored)
    source = tmp_path / "handed in" / "list.csv"
    source.write_text(f"path,category\n{unicodedata.normalize(of_list, name)},cat\n", encoding="utf-8")
    if packed:
        source = tmp_path / "handed in.zip"
        with zipfile.ZipFile(source, "w") as archive:
            for file in (path for path in (tmp_path / "handed in").rglob("*") if path.is_file()):
                archive.write(file, file.relative_to(tmp_path / "handed in").as_posix())
    assert import_images(source=source, order=ImportOrder(name="pets")).per_category == {"cat": 1}
    assert SourceImage.objects.get().key == f"cat-{Path(name).stem.replace(' ', '_')}"


def test_files_that_differ_by_that_alone_are_refused(picture_folder: Path) -> None:
    twins = [picture_folder / "cat" / unicodedata.normalize(form, "Kätzchen.png") for form in FORMS]
    shutil.copy(picture_folder / "cat" / "cat-0.png", twins[0])
    shutil.copy(picture_folder / "cat" / "cat-1.png", twins[1])
    table = picture_folder / "list.csv"
    table.write_text("path,category\ncat/Kätzchen.png,cat\n", encoding="utf-8")
    for source in (picture_folder, table):
        with pytest.raises(InputRefused, match=r"two names read .*Kätzchen.png and differ only .* Rename one"):
            import_images(source=source, order=ImportOrder(name="pets"))


def test_a_picture_that_is_missing_is_named_as_the_list_has_it(picture_folder: Path) -> None:
    table = picture_folder / "list.csv"
    table.write_text("path,category\nnirgends/Kätzchen.png,cat\n", encoding="utf-8")
    with pytest.raises(InputRefused, match=r"nirgends/Kätzchen.png: there is no such file"):
        import_images(source=table, order=ImportOrder(name="pets"))


@pytest.mark.parametrize("of_files", FORMS)
def test_a_list_of_wordnet_ids_and_published_trials_find_them_too(
    tmp_path: Path, picture_folder: Path, of_files: str
) -> None:
    (tmp_path / "flat").mkdir()
    name = unicodedata.normalize(of_files, "ärger_1.png")
    shutil.copy(picture_folder / "cat" / "cat-0.png", tmp_path / "flat" / name)
    other = unicodedata.normalize("NFC" if of_files == "NFD" else "NFD", "ärger_1")
    (tmp_path / "labels.txt").write_text(f"{other}.png n02123045\n", encoding="utf-8")
    report = import_images(source=tmp_path / "flat", order=ImportOrder(name="pets"), label_list=tmp_path / "labels.txt")
    assert report.per_category == {"cat": 1}
    shown = PublishedPicture("x", other, "cat", "")
    assert match_pictures([shown], [name], where="flat").files == [(shown, name)]
