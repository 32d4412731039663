from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from scipy import ndimage

from analysis.corruptions import corrupt
from analysis.corruptions.blur import blur_along_line
from analysis.corruptions.convolution import (
    blur_along_both_axes,
    blur_with_quadrant,
    disc_quadrant,
    gaussian_half_kernel,
)
from analysis.visual_change.vif import VifReference
from tests.analysis.corruptions.pictures import textured

PICTURE = textured(96, 2)[:, :80]
POINT = np.zeros((61, 61, 3), dtype=np.uint8)
POINT[30, 30] = 255


def by_scipy(picture: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    convolved = [ndimage.convolve(picture[..., i].astype(float), kernel, mode="reflect") for i in range(3)]
    return np.rint(np.clip(np.stack(convolved, axis=2), 0, 255))


@pytest.mark.parametrize("sigma", [0.3, 1.0, 3.4, 3.6, 8.0, 20.0])  # both ways to convolve, kernels wider than pictures
def test_gaussian_blur_against_scipy(sigma: float) -> None:
    expected = np.stack(
        [ndimage.gaussian_filter(PICTURE[..., i].astype(float), sigma, radius=math.ceil(4 * sigma)) for i in range(3)],
        axis=2,
    )
    assert np.abs(corrupt(PICTURE, "gaussian_blur", sigma, 0) - np.rint(expected)).max() <= 1
    assert np.mean(corrupt(PICTURE, "gaussian_blur", sigma, 0) != np.rint(expected)) < 1e-3


@pytest.mark.parametrize("side", [1, 3, 7, 41])
def test_odd_boxes_are_plain_means(side: int) -> None:
    expected = by_scipy(PICTURE, np.full((side, side), 1 / side**2))
    assert np.abs(corrupt(PICTURE, "box_blur", side, 0) - expected).max() <= 1


def test_a_box_between_odd_sides_counts_its_rim_by_half() -> None:
    # Side 4: three whole pixels, and half of one on both sides.
    row = np.array([0.5, 1, 1, 1, 0.5]) / 4
    expected = np.rint(255 * np.outer(row, row))
    blurred = corrupt(POINT, "box_blur", 4.0, 0)[28:33, 28:33, 1]
    assert np.abs(blurred - expected).max() <= 1
    assert corrupt(POINT, "box_blur", 4.0, 0)[27, 30].max() == 0


@pytest.mark.parametrize("side", [3, 9, 41])
def test_odd_medians_against_scipy(side: int) -> None:
    expected = np.stack([ndimage.median_filter(PICTURE[..., i], side, mode="nearest") for i in range(3)], axis=2)
    assert np.array_equal(corrupt(PICTURE, "median_blur", side, 0), expected)


def test_a_median_between_odd_sides_is_mixed_from_its_neighbours() -> None:
    three, five = (corrupt(PICTURE, "median_blur", side, 0).astype(float) for side in (3, 5))
    mixed = corrupt(PICTURE, "median_blur", 3.5, 0)
    assert np.abs(mixed - (0.75 * three + 0.25 * five)).max() <= 0.5


@pytest.mark.parametrize("radius", [0.5, 1.3, 4.0, 12.7, 25.0])
def test_defocus_against_scipy(radius: float) -> None:
    reach = math.ceil(radius + 0.5)
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disc = np.clip(radius + 0.5 - np.hypot(rows, columns), 0, 1)
    assert np.abs(corrupt(PICTURE, "defocus_blur", radius, 0) - by_scipy(PICTURE, disc / disc.sum())).max() <= 1


def test_the_disc_has_about_the_area_of_a_disc() -> None:
    quadrant = disc_quadrant(10.0)
    assert 1 / quadrant[0, 0] == pytest.approx(math.pi * 10**2, rel=0.01)


def test_kernels_wider_than_the_picture_meet_the_mirrored_picture_again() -> None:
    small = textured(96, 3)[:7, :5].astype(np.float32)
    half = gaussian_half_kernel(6.0)  # 24 px to each side
    whole = np.concatenate([half[:0:-1], half])
    expected = ndimage.convolve1d(ndimage.convolve1d(small.astype(float), whole, axis=0), whole, axis=1)
    assert blur_along_both_axes(small, half) == pytest.approx(expected, abs=0.01)
    quadrant = np.outer(half, half)
    assert blur_with_quadrant(small, quadrant) == pytest.approx(expected, abs=0.01)


def test_a_line_of_seven_pixels_along_the_axes_is_a_mean() -> None:
    places, weights = np.arange(-3.0, 4.0), np.full(7, 1 / 7)
    for angle, kernel in ((0.0, np.full((1, 7), 1 / 7)), (math.pi / 2, np.full((7, 1), 1 / 7))):
        blurred = np.rint(blur_along_line(PICTURE.astype(np.float32), places, weights, angle))
        assert np.abs(blurred - by_scipy(PICTURE, kernel)).max() <= 1


@pytest.mark.parametrize("length", [5.0, 20.5, 60.0])
def test_motion_smears_a_point_along_a_line_of_the_stated_length(length: float) -> None:
    point = np.zeros((121, 121, 3), dtype=np.float32)
    point[60, 60] = 1e4
    places = np.linspace(-0.5, 0.5, 512) * length
    smear = blur_along_line(point, places, np.full(512, 1 / 512), 0.7)[..., 0].astype(float)
    smear /= smear.sum()
    rows, columns = np.mgrid[-60:61, -60:61]
    covariance = np.array([[(smear * a * b).sum() for a in (columns, rows)] for b in (columns, rows)])
    along, across = np.array([math.cos(0.7), math.sin(0.7)]), np.array([-math.sin(0.7), math.cos(0.7)])
    # Variance of a uniform line, and of the pixels by which it is drawn.
    assert along @ covariance @ along == pytest.approx(length**2 / 12, rel=0.1, abs=0.35)
    assert across @ covariance @ across < 0.4


def test_motion_goes_in_a_direction_of_the_seed() -> None:
    smears = [corrupt(POINT, "motion_blur", 25.0, seed) for seed in range(6)]
    assert len({smear.tobytes() for smear in smears}) == 6
    assert smears[0].tobytes() == corrupt(POINT, "motion_blur", 25.0, 0).tobytes()


def test_glass_moves_pixels_all_over_the_picture_and_is_no_gaussian_blur() -> None:
    picture = textured(224, 4)
    glass = corrupt(picture, "glass_blur", 6.0, 1)
    gaussian = corrupt(picture, "gaussian_blur", 0.7 * math.sqrt(6.0) * math.sqrt(2), 1)
    for rows in (slice(0, 32), slice(96, 128), slice(192, 224)):
        for columns in (slice(0, 32), slice(96, 128), slice(192, 224)):
            difference = np.abs(glass[rows, columns].astype(int) - gaussian[rows, columns])
            assert difference.mean() > 1.0
    # Another seed moves them elsewhere, all over the picture, too.
    other = corrupt(picture, "glass_blur", 6.0, 2).astype(int)
    assert np.mean(np.abs(glass - other)[40:] > 0) > 0.5
    reference = VifReference(picture)
    assert reference.visual_change(glass) > reference.visual_change(gaussian) + 0.03


def test_glass_keeps_the_mean_colour() -> None:
    picture = textured(224, 4)
    for displacement in (1.0, 10.0):
        glass = corrupt(picture, "glass_blur", displacement, 1)
        assert np.abs(glass.mean(axis=(0, 1)) - picture.mean(axis=(0, 1))).max() < 2.0


@pytest.mark.parametrize(
    "name", ["box_blur", "median_blur", "gaussian_blur", "glass_blur", "defocus_blur", "motion_blur"]
)
def test_blurs_do_not_depend_on_the_number_of_threads(name: str) -> None:
    picture = textured(224, 6)
    threads = cv2.getNumThreads()
    try:
        made = set()
        for number in (1, 2, 4):
            cv2.setNumThreads(number)
            made.add(corrupt(picture, name, 9.3, 5).tobytes())
            corrupt(textured(96, 7), name, 3.0, 1)
        assert len(made) == 1
    finally:
        cv2.setNumThreads(threads)
