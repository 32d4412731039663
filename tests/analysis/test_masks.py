from __future__ import annotations

import numpy as np
import pytest

from analysis.errors import InvalidInput
from analysis.masks import noise_mask


def test_same_seed_same_mask_and_other_seeds_share_nothing() -> None:
    first, again, other = noise_mask(3, 96), noise_mask(3, 96), noise_mask(4, 96)
    assert first.shape == (96, 96)
    assert first.dtype == np.uint8
    assert np.array_equal(first, again)
    assert abs(np.corrcoef(first.ravel().astype(float), other.ravel().astype(float))[0, 1]) < 0.15


def test_the_full_range_is_used() -> None:
    mask = noise_mask(1, 224)
    assert (mask.min(), mask.max()) == (0, 255)


def test_power_falls_as_one_over_frequency() -> None:
    # Recovered from many masks: the slope of log power over log frequency is -1 (amplitude: -1/2, not -1).
    size = 128
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(size), np.fft.fftfreq(size)))
    power = np.mean([np.abs(np.fft.fft2(noise_mask(seed, size).astype(float))) ** 2 for seed in range(24)], axis=0)
    ring = (frequency > 2 / size) & (frequency < 0.45)
    slope = np.polyfit(np.log(frequency[ring]), np.log(power[ring]), 1)[0]
    assert slope == pytest.approx(-1.0, abs=0.03)


def test_mask_is_periodic() -> None:
    mask = noise_mask(2, 128).astype(float)
    across_the_seam = np.abs(mask[:, 0] - mask[:, -1]).mean()
    between_neighbours = np.abs(np.diff(mask, axis=1)).mean()
    assert across_the_seam == pytest.approx(between_neighbours, rel=0.25)


def test_contrast_scales_about_the_middle_grey_and_clips() -> None:
    # By hand: (m - 1/2) c + 1/2.
    full = noise_mask(5, 64).astype(float) / 255
    half = noise_mask(5, 64, contrast=0.5).astype(float) / 255
    assert np.abs(half - (0.25 + 0.5 * full)).max() < 1 / 255
    strong = noise_mask(5, 64, contrast=4.0)
    assert np.mean((strong == 0) | (strong == 255)) > 0.2
    assert abs(np.median(strong) - np.median(noise_mask(5, 64))) < 100


@pytest.mark.parametrize("arguments", [(1, 1), (1, 0), (1, 64, 0.0), (1, 64, -1.0), (1, 64, float("nan"))])
def test_impossible_masks_are_refused(arguments: tuple) -> None:
    with pytest.raises(InvalidInput):
        noise_mask(*arguments)
