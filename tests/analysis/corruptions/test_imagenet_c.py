from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.corruptions import CORRUPTIONS, corrupt, find_corruption
from analysis.corruptions.imagenet_c import LEVELS
from analysis.errors import ParameterOutOfDomain, UnknownName
from analysis.visual_change.vif import VifReference
from tests.analysis.corruptions.pictures import textured

VERSION = "imagenet-c-1"
PICTURE = textured(224)
GREY = np.full((224, 224, 3), 128, dtype=np.uint8)

names = pytest.mark.parametrize("name", sorted(LEVELS))


def test_the_nine_shared_functions_have_levels() -> None:
    assert set(LEVELS) == {
        "gaussian_noise", "shot_noise", "impulse_noise", "defocus_blur", "glass_blur", "motion_blur", "frost",
        "brightness", "gaussian_blur",
    }  # fmt: skip
    assert set(LEVELS) < set(CORRUPTIONS)


@names
def test_levels_are_whole_numbers_from_one_to_five(name: str) -> None:
    for level in range(1, 6):
        corrupt(PICTURE, name, level, 0, version=VERSION)
    for parameter in (0, 6, 2.5, math.nan):
        with pytest.raises(ParameterOutOfDomain):
            corrupt(PICTURE, name, parameter, 0, version=VERSION)
    assert [LEVELS[name].parameter_at(t) for t in (0, 0.24, 0.5, 0.76, 1)] == [1, 2, 3, 4, 5]


@names
def test_each_level_changes_the_picture_more(name: str) -> None:
    reference = VifReference(PICTURE)
    changes = [reference.visual_change(corrupt(PICTURE, name, level, 1, version=VERSION)) for level in range(1, 6)]
    assert changes[0] > 0.1
    assert changes == sorted(changes) or name == "glass_blur"  # its third level has three iterations, its fourth two
    assert changes[-1] > changes[0] + 0.05


def test_levels_carry_the_published_numbers() -> None:
    noise = [corrupt(GREY, "gaussian_noise", level, 1, version=VERSION).astype(float).std() / 255 for level in (1, 2)]
    assert noise == pytest.approx([0.08, 0.12], rel=0.01)
    shot = corrupt(GREY, "shot_noise", 3, 1, version=VERSION).astype(float).std() / 255
    assert shot == pytest.approx(math.sqrt(12 * 128 / 255) / 12, rel=0.02)
    lost = [np.mean(corrupt(GREY, "impulse_noise", level, 1, version=VERSION) != 128) for level in range(1, 6)]
    assert lost == pytest.approx([0.03, 0.06, 0.09, 0.17, 0.27], abs=0.003)
    added = [int(corrupt(GREY, "brightness", level, 1, version=VERSION)[0, 0, 0]) for level in range(1, 6)]
    assert added == [min(255, round(128 + 255 * c)) for c in (0.1, 0.2, 0.3, 0.4, 0.5)]


@pytest.mark.parametrize(("level", "sigma"), [(1, 1.0), (5, 6.0)])
def test_gaussian_blur_is_that_of_the_continuous_function(level: int, sigma: float) -> None:
    levelled = corrupt(PICTURE, "gaussian_blur", level, 1, version=VERSION)
    assert np.array_equal(levelled, corrupt(PICTURE, "gaussian_blur", sigma, 1))


def test_frost_weighs_picture_and_ice_as_published() -> None:
    black = corrupt(np.zeros_like(PICTURE), "frost", 1, 5, version=VERSION).astype(float)
    assert black.max() <= 0.4 * 255 + 0.5
    for level, picture_weight, ice_weight in ((1, 1.0, 0.4), (3, 0.7, 0.7), (5, 0.6, 0.75)):
        expected = np.clip(picture_weight * PICTURE + ice_weight / 0.4 * black, 0, 255)
        difference = np.abs(corrupt(PICTURE, "frost", level, 5, version=VERSION) - expected)
        assert difference.max() <= 2


def test_motion_trails_to_one_side_within_45_degrees_of_the_horizontal() -> None:
    point = np.zeros((101, 101, 3), dtype=np.uint8)
    point[50, 50] = 255
    rows, columns = np.mgrid[-50:51, -50:51]
    for seed in range(8):
        trail = corrupt(point, "motion_blur", 2, seed, version=VERSION)[..., 0].astype(float)
        trail /= trail.sum()
        x, y = (trail * columns).sum(), (trail * rows).sum()
        assert abs(y) <= abs(x) + 0.2
        # Mean of half a normal density of deviation 5 on whole px.
        assert 2.5 < math.hypot(x, y) < 4.5


def test_versions_tell_the_two_kinds_apart() -> None:
    assert find_corruption("gaussian_blur", VERSION) is LEVELS["gaussian_blur"]
    assert find_corruption("gaussian_blur") is CORRUPTIONS["gaussian_blur"]
    assert find_corruption("gaussian_blur", CORRUPTIONS["gaussian_blur"].version) is CORRUPTIONS["gaussian_blur"]
    with pytest.raises(UnknownName, match=f"there is {CORRUPTIONS['gaussian_blur'].version} and {VERSION}"):
        find_corruption("gaussian_blur", "0")
    with pytest.raises(UnknownName, match="no version"):
        find_corruption("median_blur", VERSION)
    with pytest.raises(UnknownName, match="no corruption named 'fog'"):
        find_corruption("fog", VERSION)
