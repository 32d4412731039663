"""What holds for each of the fourteen functions."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from analysis.corruptions import CORRUPTIONS, corrupt
from analysis.corruptions.imagenet_c import LEVELS
from analysis.visual_change.vif import VifReference
from tests.analysis.corruptions.pictures import textured

ROOT = Path(__file__).resolve().parents[3]
PICTURE = textured(128)
REFERENCE = VifReference(PICTURE)
RANDOM_DIRECTION = {"hue_saturation_value", "color_jitter"}
#: Of the first steps of 1/255, at which rounding draws a pattern that stronger damage does not have.
ROUNDING = {"brightness": 0.06, "frost": 0.06}
#: A count of photons is a staircase over its mean.
STAIRCASE = {"shot_noise": 0.02, "glass_blur": 0.02, "motion_blur": 0.01}
names = pytest.mark.parametrize("name", sorted(CORRUPTIONS))


def test_the_fourteen_functions_of_the_study_are_there() -> None:
    by_family: dict[str, set[str]] = {}
    for corruption in CORRUPTIONS.values():
        by_family.setdefault(corruption.family, set()).add(corruption.name)
    assert by_family == {
        "noise": {"gaussian_noise", "shot_noise", "impulse_noise", "uniform_noise"},
        "blur": {"box_blur", "median_blur", "gaussian_blur", "glass_blur", "defocus_blur", "motion_blur"},
        "colour": {"hue_saturation_value", "color_jitter", "brightness"},
        "weather": {"frost"},
    }


@names
def test_each_tells_formula_source_and_departure(name: str) -> None:
    corruption = CORRUPTIONS[name]
    assert all((corruption.formula, corruption.source, corruption.departure, corruption.unit))
    assert corruption.function.__doc__


def changes_over(name: str, levels: int, seed: int = 1) -> np.ndarray:
    corruption = CORRUPTIONS[name]
    strengths = np.linspace(0, 1, levels)
    return np.array(
        [REFERENCE.visual_change(corrupt(PICTURE, name, corruption.parameter_at(float(t)), seed)) for t in strengths]
    )


@names
def test_visual_change_goes_from_nothing_to_much_and_rises(name: str) -> None:
    changes = changes_over(name, 21)
    assert changes[0] <= 0.01
    assert changes.max() >= (0.45 if name in RANDOM_DIRECTION else 0.75 if name == "brightness" else 0.9)
    if name not in RANDOM_DIRECTION:
        dip = (np.maximum.accumulate(changes) - changes).max()
        assert dip <= ROUNDING.get(name, STAIRCASE.get(name, 1e-3))


@names
def test_visual_change_has_no_jumps(name: str) -> None:
    # Over the middle of the domain at 1/255 of its length: kernels of whole pixels would jump by 0.05 and more.
    corruption = CORRUPTIONS[name]
    strengths = 0.5 + np.arange(-8, 9) / 255
    changes = np.array(
        [REFERENCE.visual_change(corrupt(PICTURE, name, corruption.parameter_at(float(t)), 1)) for t in strengths]
    )
    assert np.abs(np.diff(changes)).max() < 0.025


@names
@pytest.mark.parametrize("t", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    "picture",
    [
        np.zeros((96, 96, 3), dtype=np.uint8),
        np.full((96, 96, 3), 255, dtype=np.uint8),
        np.full((96, 120, 3), (200, 30, 90), dtype=np.uint8),
        np.full((1, 1, 3), 77, dtype=np.uint8),
        textured(96)[:, :97],
    ],
    ids=["black", "white", "one colour", "one pixel", "oblong"],
)
def test_edge_pictures(name: str, t: float, picture: np.ndarray) -> None:
    made = corrupt(picture, name, CORRUPTIONS[name].parameter_at(t), 2)
    assert made.shape == picture.shape
    assert made.dtype == np.uint8
    if "blur" in name and picture.std(axis=(0, 1)).max() == 0:
        # An average of one colour is that colour, at the border, too.
        assert np.array_equal(made, picture)


@names
def test_large_pictures(name: str) -> None:
    large = cv2.resize(textured(256), (1024, 1024))
    assert corrupt(large, name, CORRUPTIONS[name].parameter_at(0.9), 2).shape == large.shape


@names
def test_pictures_that_are_views_give_the_same_as_copies(name: str) -> None:
    parameter = CORRUPTIONS[name].parameter_at(0.6)
    turned = PICTURE[::-1, ::-1]
    assert np.array_equal(corrupt(turned, name, parameter, 3), corrupt(turned.copy(), name, parameter, 3))


@names
def test_an_interrupted_search_on_another_picture_changes_nothing(name: str) -> None:
    # Fields, medians and transforms are kept between calls; they must be those of the picture and seed at hand.
    parameter, other = CORRUPTIONS[name].parameter_at(0.6), textured(128, 9)
    first = corrupt(PICTURE, name, parameter, 3)
    corrupt(other, name, CORRUPTIONS[name].parameter_at(0.5), 3)
    corrupt(PICTURE[:100], name, parameter, 4)
    assert np.array_equal(corrupt(PICTURE, name, parameter, 3), first)


CODE = """
import hashlib
import cv2
cv2.setNumThreads(4)
from analysis.corruptions import CORRUPTIONS, corrupt; from analysis.corruptions.imagenet_c import LEVELS
from tests.analysis.corruptions.pictures import textured
for name in sorted(CORRUPTIONS, reverse=True):
    made = [corrupt(textured(224), name, CORRUPTIONS[name].parameter_at(t), 11) for t in (0.35, 0.8)]
    made += [corrupt(textured(224), name, 3, 11, version=LEVELS[name].version)] if name in LEVELS else []
    print(name, hashlib.sha256(b"".join(m.tobytes() for m in made)).hexdigest())
"""


@pytest.mark.process
def test_the_same_bytes_in_a_new_process_with_other_threads_hash_seeds_and_order() -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "123", "PYTHONPATH": str(ROOT)}
    environment["OPENBLAS_NUM_THREADS"] = environment["OMP_NUM_THREADS"] = "4"
    answer = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    here = []
    for name in sorted(CORRUPTIONS):
        made = [corrupt(textured(224), name, CORRUPTIONS[name].parameter_at(t), 11) for t in (0.35, 0.8)]
        made += [corrupt(textured(224), name, 3, 11, version=LEVELS[name].version)] if name in LEVELS else []
        here.append(f"{name} {hashlib.sha256(b''.join(m.tobytes() for m in made)).hexdigest()}")
    assert sorted(answer.stdout.splitlines()) == here
