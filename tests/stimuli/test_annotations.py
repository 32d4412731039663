"""Objects that COCO and Pascal VOC annotate with boxes become pictures of their category."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from humanexp.core.storage import media_path
from humanexp.stimuli.models import SourceImage, SourceSet
from tests.labels import of_the_sixteen

pytestmark = [pytest.mark.django_db, of_the_sixteen]
PIXELS = np.random.default_rng(1).integers(0, 256, (500, 640, 3), dtype=np.uint8)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    (tmp_path / "photos").mkdir()
    Image.fromarray(PIXELS).save(tmp_path / "photos/000000000009.png")
    return tmp_path / "photos"


def box(number: int, category: int, bbox: Any, **more: Any) -> dict[str, Any]:
    return {"id": number, "image_id": 9, "category_id": category, "bbox": bbox, "iscrowd": 0, **more}


def coco(path: Path, *annotations: dict[str, Any], file: str = "000000000009.png") -> Path:
    named = [{"id": 17, "name": "cat"}, {"id": 3, "name": "car"}, {"id": 1, "name": "person"}]
    told = {"images": [{"id": 9, "file_name": file}], "categories": named, "annotations": annotations}
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


def imported(photos: Path, annotations: Path, *more: str) -> str:
    out = StringIO()
    call_command("import_images", str(photos), f"--annotations={annotations}", "--name=cut", *more, stdout=out)
    return out.getvalue()


def test_objects_of_coco_become_pictures_of_their_category(photos: Path, tmp_path: Path) -> None:
    file = coco(
        tmp_path / "instances.json",
        box(1, 17, [10.0, 20.0, 300.0, 240.0]), box(2, 3, [330.0, 200.0, 230.0, 250.0]),
        box(3, 17, [0.0, 0.0, 100.0, 300.0]), box(4, 1, [0.0, 0.0, 300.0, 300.0]),
        box(5, 3, [0.0, 0.0, 400.0, 400.0], iscrowd=1), box(6, 17, [400.0, 250.0, 300.0, 300.0]),
    )  # fmt: skip
    said = imported(photos, file, "--minimum-side=224", "--skip-unusable")
    cut = {one.source_name: np.asarray(Image.open(media_path(one.file))) for one in SourceImage.objects.all()}
    assert set(cut) == {"cat/000000000009-1.png", "cat/000000000009-3.png", "car/000000000009-1.png"}, "one is small"
    assert np.array_equal(cut["cat/000000000009-1.png"], PIXELS[20:260, 10:310])
    assert np.array_equal(cut["cat/000000000009-3.png"], PIXELS[250:500, 400:640]), "cut at the edge of the picture"
    assert "1 crowds in one box" in said and "1 objects that are none of the 16 labels" in said and "person" in said


def test_objects_of_pascal_voc_are_cut_at_pixels_that_are_counted_from_one(photos: Path, tmp_path: Path) -> None:
    (tmp_path / "Annotations").mkdir()
    objects = "".join(
        f"<object><name>{name}</name><difficult>{difficult}</difficult><bndbox><xmin>11</xmin><ymin>21</ymin>"
        f"<xmax>310</xmax><ymax>260</ymax></bndbox></object>"
        for name, difficult in (("dog", 0), ("boat", 1))
    )
    text = f"<annotation><filename>000000000009.png</filename>{objects}</annotation>"
    (tmp_path / "Annotations/000000000009.xml").write_text(text, encoding="utf-8")
    imported(photos, tmp_path / "Annotations")
    one = SourceImage.objects.get()
    assert one.category == "dog"
    assert np.array_equal(np.asarray(Image.open(media_path(one.file))), PIXELS[20:260, 10:310])


@pytest.mark.parametrize(
    ("boxes", "file", "sentence"),
    [
        ([box(1, 17, [10, 20, 300])], "000000000009.png", "annotation 1: .* It needs bbox with four numbers"),
        ([box(1, 99, [10, 20, 30, 40])], "000000000009.png", "annotation 1: KeyError.99.. It needs bbox"),
        ([box(1, 17, [700, 20, 30, 40])], "000000000009.png", "annotation 1: the box lies outside of 000000000009.png"),
        ([box(1, 17, [0, 0, 300, 300])], "gone.png", "there is no picture gone.png in"),
        ([], "000000000009.png", "there is no object with a box in it"),
    ],
)
def test_annotations_that_cannot_be_read_are_refused(
    photos: Path, tmp_path: Path, boxes: list[dict[str, Any]], file: str, sentence: str
) -> None:
    annotations = coco(tmp_path / "instances.json", *boxes, file=file)
    with pytest.raises(CommandError, match=sentence):
        imported(photos, annotations)
    assert not SourceSet.objects.exists()
