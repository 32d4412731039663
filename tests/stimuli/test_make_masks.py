from __future__ import annotations

import csv
import hashlib
from io import StringIO
from pathlib import Path

import cv2
import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.masks import noise_mask
from humanexp.stimuli.services.set_files import MANIFEST


def make(folder: Path, **options: object) -> str:
    stream = StringIO()
    values = {"kind": "vcr", "size": 64, "count": 3, **options}
    call_command("make_masks", to=folder, stdout=stream, **values)
    return stream.getvalue()


def manifest(folder: Path) -> list[dict[str, str]]:
    with (folder / MANIFEST).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"media"}  # the tests' own MEDIA_ROOT


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(2):
        pixels = np.random.default_rng(number).integers(0, 256, (120, 150, 3), dtype=np.uint8)
        cv2.imwrite(str(folder / f"picture{number}.png"), pixels)
    return folder


def test_files_and_manifest_agree_and_are_made_again_alike(tmp_path: Path) -> None:
    said = make(tmp_path / "masks", kind="geirhos2018-batch2", seed=40)
    assert said.startswith("3 masks of the kind geirhos2018-batch2")
    rows = manifest(tmp_path / "masks")
    assert [(row["file"], row["seed"]) for row in rows] == [
        ("000000.png", "40"), ("000001.png", "41"), ("000002.png", "42"),
    ]  # fmt: skip
    for row in rows:
        content = (tmp_path / "masks" / row["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == row["sha256"]
        pixels = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED)
        assert np.array_equal(pixels, noise_mask(int(row["seed"]), 64, 4.0))
    make(tmp_path / "again", kind="geirhos2018-batch2", seed=40)
    assert manifest(tmp_path / "again") == rows
    assert left_in(tmp_path) == {"again", "masks"}


def test_pictures_are_scrambled_in_turn(tmp_path: Path, pictures: Path) -> None:
    make(tmp_path / "masks", kind="phase-scrambled", size=96, pictures=pictures)
    rows = manifest(tmp_path / "masks")
    assert [row["picture"] for row in rows] == ["picture0.png", "picture1.png", "picture0.png"]
    assert len({row["sha256"] for row in rows}) == 3
    pixels = cv2.imread(str(tmp_path / "masks" / "000000.png"))
    assert pixels.shape == (96, 96, 3)


def test_an_empty_folder_is_filled_and_a_full_one_left_alone(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    make(tmp_path / "empty")
    before = {path.name: path.read_bytes() for path in (tmp_path / "empty").iterdir()}
    with pytest.raises(CommandError, match="exists already"):
        make(tmp_path / "empty", seed=9)
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "empty").iterdir()}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kind": "plaid"}, "choose from"),
        ({"size": 1}, "2 to 4096 px"),
        ({"size": 9999}, "2 to 4096 px"),
        ({"count": 0}, "1 to 100000 masks"),
        ({"seed": -1}, "0 or more"),
        ({"kind": "phase-scrambled"}, "--pictures"),
        ({"kind": "phase-scrambled", "pictures": Path("/no/such/folder")}, "no folder"),
        ({"kind": "vcr", "pictures": Path("/tmp")}, "leave --pictures out"),  # noqa: S108
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(tmp_path: Path, options: dict[str, object], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        make(tmp_path / "masks", **options)
    assert left_in(tmp_path) == set()


def test_a_bad_picture_leaves_nothing_behind(tmp_path: Path, pictures: Path) -> None:
    (pictures / "picture1.png").write_bytes(b"no picture")
    with pytest.raises(CommandError):
        make(tmp_path / "masks", kind="phase-scrambled", size=96, pictures=pictures)
    assert left_in(tmp_path) == {"pictures"}


def test_a_folder_that_cannot_be_written_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="cannot be written"):
        make(tmp_path / "file" / "masks")
