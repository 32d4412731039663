"""The manual's way from annotations with boxes to pictures by category."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from PIL import Image

from humanexp.stimuli.models import SourceImage

MANUAL = Path(__file__).parents[2] / "docs" / "stimuli.md"


@pytest.mark.django_db
def test_objects_of_coco_become_pictures_of_their_category(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("val2017").mkdir()
    pixels = np.random.default_rng(1).integers(0, 256, (500, 640, 3), dtype=np.uint8)
    Image.fromarray(pixels).save("val2017/000000000009.png")

    def box(number: int, category: int, bbox: list[float], iscrowd: int = 0) -> dict[str, object]:
        return {"id": number, "image_id": 9, "category_id": category, "bbox": bbox, "iscrowd": iscrowd}

    coco = {
        "images": [{"id": 9, "file_name": "000000000009.png"}],
        "categories": [{"id": 17, "name": "cat"}, {"id": 3, "name": "car"}, {"id": 1, "name": "person"}],
        "annotations": [
            box(1, 17, [10.0, 20.0, 300.0, 240.0]), box(2, 3, [330.0, 200.0, 230.0, 250.0]),
            box(3, 17, [0.0, 0.0, 100.0, 300.0]), box(4, 1, [0.0, 0.0, 300.0, 300.0]),
            box(5, 3, [0.0, 0.0, 400.0, 400.0], iscrowd=1),
        ],
    }  # fmt: skip
    Path("instances_val2017.json").write_text(json.dumps(coco), encoding="utf-8")
    code = re.search(r"^```python\n(import json\n.*?)^```", MANUAL.read_text(encoding="utf-8"), re.M | re.S)
    assert code is not None
    exec(compile(code[1], str(MANUAL), "exec"), {})  # noqa: S102 - the manual's own
    made = sorted(str(path) for path in Path("crops").rglob("*.png"))
    assert made == ["crops/car/2.png", "crops/cat/1.png"], "too small, in a crowd, or of another category"
    assert np.array_equal(np.asarray(Image.open("crops/cat/1.png")), pixels[20:260, 10:310])
    call_command("import_images", "crops", name="coco")
    assert sorted(SourceImage.objects.values_list("category", flat=True)) == ["car", "cat"]
