from __future__ import annotations

import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from humanexp.core.errors import InputRefused
from humanexp.stimuli.models import SourceImage
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder, ImportReport

pytestmark = pytest.mark.django_db

#: n02123045 tabby and n02085936 Maltese dog have categories, n01440764 tench has none.
WNIDS = ["n02123045", "n02123045", "n02085936", "n01440764"]
NAMES = [f"ILSVRC2012_val_{number:08d}" for number in range(1, 5)]


@pytest.fixture
def flat(tmp_path: Path, picture_folder: Path) -> Path:
    """The validation pictures as they are handed out: four of the 50,000."""
    folder = tmp_path / "imagenet" / "val"
    folder.mkdir(parents=True)
    for name, source in zip(NAMES, sorted(picture_folder.rglob("*.png")), strict=False):
        shutil.copy(source, folder / f"{name}.JPEG")
    return folder


def check(report: ImportReport) -> None:
    assert report.per_category == {"cat": 2, "dog": 1}
    assert dict(SourceImage.objects.values_list("key", "wnid")) == {
        "cat-ILSVRC2012_val_00000001": "n02123045",
        "cat-ILSVRC2012_val_00000002": "n02123045",
        "dog-ILSVRC2012_val_00000003": "n02085936",
    }
    (ignored,) = [sentence for sentence in report.ignored if "n01440764" in sentence]
    assert ignored.startswith("1 picture ")


KAGGLE = "ImageId,PredictionString\n" + "".join(
    f"{name},{wnid} 85 1 499 272 {wnid} 1 2 3 4 \n" for name, wnid in zip(NAMES, WNIDS, strict=True)
)
LISTS = {
    "LOC_val_solution.csv": KAGGLE,
    "val.txt": "".join(f"{name}.JPEG {wnid}\n" for name, wnid in zip(NAMES, WNIDS, strict=True)),
    "labels.csv": "file,wnid\n" + "".join(f"val/{name}.JPEG,{wnid}\n" for name, wnid in zip(NAMES, WNIDS, strict=True)),
}


@pytest.mark.parametrize("name", sorted(LISTS))
def test_the_flat_folder_with_a_list_beside_or_in_it(flat: Path, name: str) -> None:
    (flat.parent / name).write_text(LISTS[name])
    check(import_images(source=flat.parent, order=ImportOrder(name="beside")))
    SourceImage.objects.all().delete()
    shutil.move(flat.parent / name, flat / name)
    check(import_images(source=flat, order=ImportOrder(name="within")))


def test_kaggles_list_is_found_beside_the_folder_that_was_named(flat: Path) -> None:
    (flat.parent / "LOC_val_solution.csv").write_text(KAGGLE)
    check(import_images(source=flat, order=ImportOrder(name="val")))


def test_a_list_may_be_named_on_the_command_line(
    flat: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere.txt").write_text(LISTS["val.txt"])
    call_command("import_images", str(flat), name="val", labels=tmp_path / "elsewhere.txt")
    assert "val: 3 pictures imported (cat 2, dog 1)" in capsys.readouterr().out


def test_folders_of_wordnet_ids_below_val(flat: Path) -> None:
    for name, wnid in zip(NAMES, WNIDS, strict=True):
        (flat / wnid).mkdir(exist_ok=True)
        shutil.move(flat / f"{name}.JPEG", flat / wnid / f"{name}.JPEG")
    check(import_images(source=flat.parent, order=ImportOrder(name="val")))


def test_class_numbers_need_the_table_of_the_development_kit(flat: Path) -> None:
    from scipy.io import savemat

    (flat / "ILSVRC2012_validation_ground_truth.txt").write_text("7\n7\n2\n9\n")
    with pytest.raises(InputRefused, match=r"meta.mat of ILSVRC2012_devkit_t12/data there, or LOC_val_solution.csv"):
        import_images(source=flat, order=ImportOrder(name="val"))
    synsets = np.zeros(5, dtype=[("ILSVRC2012_ID", "f8"), ("WNID", "O"), ("num_children", "f8")])
    numbered = [(7, WNIDS[0]), (2, WNIDS[2]), (9, WNIDS[3]), (1, "n01443537"), (1001, "n00001740")]
    for row, (number, wnid) in enumerate(numbered):
        synsets[row] = (number, wnid, 0)
    buffer = io.BytesIO()
    savemat(buffer, {"synsets": synsets.reshape(-1, 1)})
    (flat / "meta.mat").write_bytes(buffer.getvalue())
    check(import_images(source=flat, order=ImportOrder(name="val")))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no list of their labels beside them"),
        (
            "".join(f"{name}.JPEG {wnid}\n" for name, wnid in zip(NAMES[:3], WNIDS, strict=False)),
            "has no line for this picture",
        ),
        ("ILSVRC2012_val_00000001.JPEG 65\n", "line 1: .* is no file and WordNet id"),
        ("".join(f"{NAMES[0]}.JPEG {wnid}\n" for wnid in WNIDS), "has two WordNet ids"),
    ],
)
def test_a_list_that_does_not_fit_is_refused_with_its_place(flat: Path, text: str, reason: str) -> None:
    if text:
        (flat / "val.txt").write_text(text)
    with pytest.raises(InputRefused, match=reason):
        import_images(source=flat, order=ImportOrder(name="val"))


def test_a_smallest_side_may_be_asked_for(picture_folder: Path) -> None:
    with pytest.raises(InputRefused, match=r"128 x 128 px is smaller than the smallest side asked for, 129 px"):
        import_images(source=picture_folder, order=ImportOrder(name="pets", minimum_side_px=129))


def test_a_wordnet_id_in_a_files_name_is_noted(picture_folder: Path) -> None:
    (picture_folder / "dog" / "dog-0.png").rename(picture_folder / "dog" / "n02085936_1003.png")
    (picture_folder / "dog" / "dog-1.png").rename(picture_folder / "dog" / "n02123045_7.png")  # a cat's
    import_images(source=picture_folder, order=ImportOrder(name="pets"))
    assert set(SourceImage.objects.filter(category="dog").values_list("wnid", flat=True)) == {"n02085936", ""}
