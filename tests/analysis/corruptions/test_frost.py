from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from analysis.corruptions import CORRUPTIONS, corrupt
from analysis.corruptions.ice import SIDE_PX, TEXTURES, ice_texture
from analysis.corruptions.imagenet_c import LEVELS
from analysis.corruptions.photographs import photographs_in
from analysis.corruptions.weather import _pane
from analysis.errors import InvalidInput
from tests.analysis.corruptions.pictures import textured

BLACK = np.zeros((96, 96, 3), dtype=np.uint8)


@pytest.mark.parametrize("number", range(TEXTURES))
def test_ice_has_light_dark_and_fine_lines(number: int) -> None:
    texture = ice_texture(number).astype(np.float32)
    assert texture.shape == (SIDE_PX, SIDE_PX, 3)
    assert texture.std() > 25
    assert 90 < texture.mean() < 200
    # Crystals: most of the gradient's energy lies in few pixels, which noise of the same spectrum has not.
    grey = texture.mean(axis=2)
    energy = np.sort((cv2.Laplacian(grey, cv2.CV_32F) ** 2).ravel())[::-1]
    assert energy[: energy.size // 20].sum() > 0.25 * energy.sum()


def test_textures_differ() -> None:
    assert len({ice_texture(number).tobytes() for number in range(TEXTURES)}) == TEXTURES


@pytest.mark.verify
def test_every_texture_is_used() -> None:
    # Weight 0.4 leaves the picture whole: on black, the ice is seen alone.
    drawn = set()
    for seed in range(60):
        pane = corrupt(BLACK, "frost", 1.0, seed)
        for number in range(TEXTURES):
            for turned in (pane[:12, :12], pane[:12, :12][:, ::-1]):
                found = cv2.matchTemplate(ice_texture(number), np.ascontiguousarray(turned), cv2.TM_SQDIFF)
                if found.min() < 1.0:
                    drawn.add(number)
        if len(drawn) == TEXTURES:
            break
    assert drawn == set(range(TEXTURES))


def test_frost_is_the_weighted_sum_of_picture_and_ice() -> None:
    picture = textured(96, 8)
    pane = corrupt(BLACK, "frost", 1.0, 3).astype(float)
    # Up to 0.4 the picture keeps its weight; at 0.75 the formula gives 1 - (0.35 / 0.6)^1.66.
    light = corrupt(picture, "frost", 0.3, 3).astype(float)
    assert np.abs(light - np.clip(picture + 0.3 * pane, 0, 255)).max() <= 1
    strong = corrupt(picture, "frost", 0.75, 3).astype(float)
    weight = 1 - (0.35 / 0.6) ** 1.66
    assert weight == pytest.approx(0.6, abs=0.015)
    assert np.abs(strong - np.clip(weight * picture + 0.75 * pane, 0, 255)).max() <= 1.5


def test_weak_frost_is_no_darkness() -> None:
    # Weights drawn independently can make a picture nearly black; along one path ice only brightens.
    picture = textured(96, 8)
    for weight in (0.01, 0.1, 0.4):
        assert corrupt(picture, "frost", weight, 2).mean() >= picture.mean()


def test_a_picture_larger_than_the_texture_is_covered_without_a_seam() -> None:
    large = np.zeros((40, SIDE_PX + 300, 3), dtype=np.uint8)
    pane = corrupt(large, "frost", 1.0, 4).astype(float)
    jumps = np.abs(np.diff(pane, axis=1)).mean(axis=(0, 2))
    assert jumps.max() < 5 * np.median(jumps)
    assert pane.std(axis=1).min() > 5


def _photographs(folder: Path, colours: list[tuple[int, int, int]]) -> Path:
    folder.mkdir(exist_ok=True)
    for number, colour in enumerate(colours):
        cv2.imwrite(str(folder / f"frost{number}.png"), np.full((50, 70, 3), colour[::-1], dtype=np.uint8))
    return folder


def _in_a_process(code: str, textures: Path | str) -> subprocess.CompletedProcess[str]:
    environment = {"FROST_TEXTURES": str(textures), "PATH": "/usr/bin:/bin"}
    root = Path(__file__).resolve().parents[3]
    return subprocess.run([sys.executable, "-c", code], env=environment, cwd=root, capture_output=True, text=True)


@pytest.mark.process
def test_photographs_are_used_in_their_own_colours_and_tell_in_the_version(tmp_path: Path) -> None:
    folder = _photographs(tmp_path / "frost", [(200, 10, 20), (20, 210, 30), (30, 40, 220)])
    code = (
        "import numpy as np\n"
        "from analysis.corruptions import CORRUPTIONS, corrupt; from analysis.corruptions.imagenet_c import LEVELS\n"
        "black = np.zeros((96, 90, 3), np.uint8)\n"
        "seen = {tuple(corrupt(black, 'frost', 1.0, s)[0, 0].tolist()) for s in range(40)}\n"
        "print(sorted(seen), CORRUPTIONS['frost'].version, LEVELS['frost'].version, LEVELS['brightness'].version)\n"
    )
    answer = _in_a_process(code, folder)
    assert answer.returncode == 0, answer.stderr
    digest = photographs_in(folder).digest
    # All three, and red is red: the channels are not reversed.
    assert "[(20, 210, 30), (30, 40, 220), (200, 10, 20)]" in answer.stdout
    assert f"1-{digest} imagenet-c-1-{digest} imagenet-c-1\n" in answer.stdout
    assert CORRUPTIONS["frost"].version == "1"
    assert LEVELS["frost"].version == "imagenet-c-1"


def test_other_photographs_have_another_digest(tmp_path: Path) -> None:
    first = photographs_in(_photographs(tmp_path / "a", [(1, 2, 3), (4, 5, 6)]))
    same = photographs_in(_photographs(tmp_path / "b", [(1, 2, 3), (4, 5, 6)]))
    swapped = photographs_in(_photographs(tmp_path / "c", [(4, 5, 6), (1, 2, 3)]))
    assert first.digest == same.digest
    assert first.digest != swapped.digest


@pytest.mark.process
def test_folders_without_photographs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no folder"):
        photographs_in(tmp_path / "missing")
    (tmp_path / "notes.txt").write_text("ice")
    with pytest.raises(InvalidInput, match="holds no PNG or JPEG"):
        photographs_in(tmp_path)
    answer = _in_a_process("import analysis.corruptions", tmp_path)
    assert answer.returncode == 1
    assert "FROST_TEXTURES" in answer.stderr.splitlines()[-1]


def test_a_photograph_that_changed_or_is_none_is_refused(tmp_path: Path) -> None:
    folder = _photographs(tmp_path / "frost", [(1, 2, 3), (4, 5, 6)])
    (folder / "frost1.png").write_bytes(b"no picture")
    photographs = photographs_in(folder)
    with pytest.raises(InvalidInput, match="cannot be read"):
        photographs[1]
    (folder / "frost0.png").write_bytes(b"changed")
    with pytest.raises(InvalidInput, match="has changed"):
        photographs[0]


def test_the_pane_is_kept_for_a_search() -> None:
    _pane.cache_clear()
    for weight in (0.1, 0.2, 0.3):
        corrupt(BLACK, "frost", weight, 1)
    assert _pane.cache_info().misses == 1
