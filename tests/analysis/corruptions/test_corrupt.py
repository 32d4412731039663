from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.corruptions import CORRUPTIONS, corrupt
from analysis.corruptions.registry import NO_CORRUPTION, Corruption, collect
from analysis.errors import InvalidInput, ParameterOutOfDomain, PictureRefused, UnknownName
from tests.analysis.corruptions.pictures import textured

PICTURE = np.random.default_rng(5).integers(0, 256, (40, 56, 3), dtype=np.uint8)
GREY = np.full((200, 200, 3), 128, dtype=np.uint8)

names = pytest.mark.parametrize("name", sorted(CORRUPTIONS))


@names
def test_same_arguments_same_bytes_and_the_original_is_untouched(name: str) -> None:
    before = PICTURE.copy()
    parameter = CORRUPTIONS[name].parameter_at(0.6)
    first = corrupt(PICTURE, name, parameter, 7)
    corrupt(PICTURE, name, CORRUPTIONS[name].parameter_at(0.3), 8)
    again = corrupt(PICTURE, name, parameter, 7)
    assert first.dtype == np.uint8
    assert first.shape == PICTURE.shape
    assert np.array_equal(first, again)
    assert np.array_equal(PICTURE, before)


@names
def test_global_random_state_is_neither_read_nor_moved(name: str) -> None:
    parameter = CORRUPTIONS[name].parameter_at(0.5)
    np.random.seed(1)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    first = corrupt(PICTURE, name, parameter, 3)
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert np.array_equal(first, corrupt(PICTURE, name, parameter, 3))


@pytest.mark.parametrize("name", ["gaussian_noise", "uniform_noise"])
def test_seeds_and_functions_draw_different_fields(name: str) -> None:
    fields = [corrupt(GREY, name, 0.2, seed).astype(float) - 128 for seed in (0, 1, 2)]
    for i, first in enumerate(fields):
        for second in fields[i + 1 :]:
            assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 0.02


@names
def test_weakest_end_hardly_changes_and_strongest_changes_much(name: str) -> None:
    picture = textured(128)
    low, high = (corrupt(picture, name, CORRUPTIONS[name].parameter_at(t), 1).astype(int) for t in (0.0, 1.0))
    assert np.abs(low - picture).mean() < 0.5
    assert np.abs(high - picture).mean() > 25


def test_gaussian_noise_has_the_stated_moments() -> None:
    noise = corrupt(GREY, "gaussian_noise", 0.1, 4).astype(float) - 128
    assert noise.mean() == pytest.approx(0.0, abs=0.3)
    assert noise.std() == pytest.approx(25.5, rel=0.01)


def test_uniform_noise_is_symmetric_with_the_stated_width() -> None:
    noise = corrupt(GREY, "uniform_noise", 0.2, 4).astype(float) - 128
    assert (noise.min(), noise.max()) == (-51, 51)
    assert noise.mean() == pytest.approx(0.0, abs=0.3)
    assert noise.std() == pytest.approx(51 / math.sqrt(3), rel=0.01)


def test_gaussian_blur_spreads_a_point_as_the_normal_density() -> None:
    point = np.zeros((61, 61, 3), dtype=np.uint8)
    point[30, 30] = 255
    blurred = corrupt(point, "gaussian_blur", 1.5, 0)[..., 0].astype(float)
    kernel = np.exp(-0.5 * (np.arange(-6, 7) / 1.5) ** 2)
    kernel /= kernel.sum()
    expected = np.rint(255 * np.outer(kernel, kernel))
    assert np.abs(blurred[24:37, 24:37] - expected).max() <= 1


def test_intensities_are_rounded_not_truncated() -> None:
    # Truncation would lower the mean by half a level.
    noisy = corrupt(GREY, "gaussian_noise", 0.02, 11).astype(float)
    assert noisy.mean() == pytest.approx(128.0, abs=0.05)


def test_clean_picture_is_a_copy() -> None:
    clean = corrupt(PICTURE, NO_CORRUPTION, 0, 9)
    assert np.array_equal(clean, PICTURE)
    assert clean is not PICTURE
    with pytest.raises(ParameterOutOfDomain, match="parameter 0"):
        corrupt(PICTURE, NO_CORRUPTION, 0.1, 9)


@names
@pytest.mark.parametrize("parameter", [-1.0, 1e9, math.nan, math.inf, -math.inf])
def test_parameter_outside_the_domain_is_refused(name: str, parameter: float) -> None:
    with pytest.raises(ParameterOutOfDomain, match=name):
        corrupt(PICTURE, name, parameter, 0)


@pytest.mark.parametrize(
    "picture",
    [
        PICTURE.astype(np.float32),
        PICTURE.astype(np.uint16),
        PICTURE[..., 0],
        np.zeros((8, 8, 4), dtype=np.uint8),
        np.zeros((0, 8, 3), dtype=np.uint8),
    ],
)
@pytest.mark.parametrize("name", ["gaussian_noise", NO_CORRUPTION])
def test_pictures_other_than_rgb_uint8_are_refused(picture: np.ndarray, name: str) -> None:
    with pytest.raises(PictureRefused):
        corrupt(picture, name, 0.1 if name != NO_CORRUPTION else 0, 0)


def test_unknown_name_tells_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="frost, gaussian_blur, gaussian_noise, glass_blur"):
        corrupt(PICTURE, "fog", 0.1, 0)


@names
@given(t=st.floats(0, 1))
@settings(max_examples=50, deadline=None)
def test_relative_strength_maps_into_the_domain_and_rises(name: str, t: float) -> None:
    corruption = CORRUPTIONS[name]
    parameter = corruption.parameter_at(t)
    assert corruption.check(parameter) == parameter
    weaker = corruption.parameter_at(t / 2)
    assert weaker <= parameter if corruption.low < corruption.high else weaker >= parameter


@names
def test_ends_of_the_domain_are_exact(name: str) -> None:
    corruption = CORRUPTIONS[name]
    assert corruption.parameter_at(0) == pytest.approx(corruption.low, rel=1e-12)
    assert corruption.parameter_at(1) == pytest.approx(corruption.high, rel=1e-12)
    with pytest.raises(ParameterOutOfDomain):
        corruption.parameter_at(1.0001)


def test_a_falling_parameter_may_damage_more() -> None:
    falling = Corruption(
        name="photons", label="Photons", family="noise", version="1", low=1e6, high=0.05, scale="log",
        unit="photons", function=lambda intensities, parameter, seed: intensities,
    )  # fmt: skip
    assert falling.parameter_at(0.0) == pytest.approx(1e6)
    assert falling.parameter_at(1.0) == pytest.approx(0.05)
    assert falling.check(10.0) == 10.0
    with pytest.raises(ParameterOutOfDomain):
        falling.check(0.01)


def test_a_name_cannot_be_registered_twice() -> None:
    family = (CORRUPTIONS["gaussian_blur"],)
    with pytest.raises(InvalidInput, match="gaussian_blur"):
        collect(family, family)
