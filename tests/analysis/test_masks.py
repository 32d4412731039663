from __future__ import annotations

import numpy as np
import pytest

from analysis.errors import InvalidInput, PictureRefused, UnknownName
from analysis.masks import BACKGROUND, MASKS, blank_mask, make_mask, noise_mask, phase_scrambled
from analysis.study.protocol import PROTOCOLS

PICTURE = np.random.default_rng(4).integers(60, 190, (96, 96, 3), dtype=np.uint8)
PICTURE[20:60, 30:70] = (180, 90, 70)


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


@pytest.mark.parametrize(
    "arguments", [(1, 1), (1, 0), (1, 64, 0.0), (1, 64, -1.0), (1, 64, float("nan")), (1, 5000), (-1, 64)]
)
def test_impossible_masks_are_refused(arguments: tuple) -> None:
    with pytest.raises(InvalidInput):
        noise_mask(*arguments)


@pytest.mark.parametrize("size", [224, 256])
@pytest.mark.parametrize("name", ["vcr", "geirhos2018-batch1", "geirhos2018-batch2"])
def test_each_protocol_has_a_mask_of_its_name_and_contrast(name: str, size: int) -> None:
    mask = make_mask(name, 7, size)
    assert mask.shape == (size, size)
    assert (mask.min(), mask.max()) == (0, 255)
    assert np.array_equal(mask, noise_mask(7, size, PROTOCOLS[name].config.mask_contrast))
    assert MASKS[name].contrast == PROTOCOLS[name].config.mask_contrast


@pytest.mark.parametrize("size", [224, 256])
def test_batch_2_is_batch_1_with_four_times_the_contrast_clipped(size: int) -> None:
    weak = make_mask("geirhos2018-batch1", 3, size).astype(float) / 255
    strong = make_mask("geirhos2018-batch2", 3, size).astype(float) / 255
    # Batch 1 is rounded to 1/255; four times half of that.
    assert np.abs(strong - np.clip(4 * (weak - 0.5) + 0.5, 0, 1)).max() <= 2.6 / 255


@pytest.mark.parametrize("size", [224, 256])
def test_amplitude_falls_as_the_root_of_the_frequency_at_the_shown_sizes(size: int) -> None:
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(size), np.fft.fftfreq(size)))
    ring = (frequency > 2 / size) & (frequency < 0.45)
    amplitude = np.sqrt(
        np.mean([np.abs(np.fft.fft2(make_mask("vcr", seed, size).astype(float))) ** 2 for seed in range(6)], axis=0)
    )
    slope = np.polyfit(np.log(frequency[ring]), np.log(amplitude[ring]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.02)


def test_scrambling_keeps_amplitudes_and_mean_and_moves_all_shapes() -> None:
    scrambled = phase_scrambled(PICTURE, 5)
    assert scrambled.shape == PICTURE.shape
    for channel in range(3):
        before, after = (np.abs(np.fft.fft2(p[..., channel].astype(float))) for p in (PICTURE, scrambled))
        assert np.linalg.norm(after - before) < 0.03 * np.linalg.norm(before)
        assert after[0, 0] == pytest.approx(before[0, 0], rel=1e-3)
    assert abs(np.corrcoef(scrambled.ravel().astype(float), PICTURE.ravel())[0, 1]) < 0.5


def test_channels_are_scrambled_alike() -> None:
    grey = np.repeat(PICTURE[..., :1], 3, axis=2)
    scrambled = phase_scrambled(grey, 5)
    assert np.array_equal(scrambled[..., 0], scrambled[..., 2])
    assert np.array_equal(phase_scrambled(grey[..., 0], 5), scrambled[..., 0])


def test_scrambling_is_seeded_and_needs_a_picture_of_the_size() -> None:
    assert np.array_equal(phase_scrambled(PICTURE, 5), make_mask("phase-scrambled", 5, 96, PICTURE))
    assert not np.array_equal(phase_scrambled(PICTURE, 5), phase_scrambled(PICTURE, 6))
    assert phase_scrambled(PICTURE[:, :95], 5).shape == (96, 95, 3)
    with pytest.raises(InvalidInput, match="made from a picture"):
        make_mask("phase-scrambled", 5, 96)
    with pytest.raises(InvalidInput, match="224 x 224"):
        make_mask("phase-scrambled", 5, 224, PICTURE)
    with pytest.raises(PictureRefused):
        phase_scrambled(PICTURE.astype(float), 5)
    with pytest.raises(InvalidInput, match="seed"):
        phase_scrambled(PICTURE, -1)


def test_one_colour_stays_that_colour() -> None:
    flat = np.full((32, 32, 3), (10, 200, 90), dtype=np.uint8)
    assert np.array_equal(phase_scrambled(flat, 1), flat)


def test_no_mask_is_the_grey_of_the_page() -> None:
    assert PROTOCOLS["vcr"].config.background == BACKGROUND
    assert np.all(make_mask("none", 1, 50) == 116)  # 0.454 x 255 = 115.8
    assert np.all(blank_mask(50, 0.4423) == 113)
    with pytest.raises(InvalidInput):
        blank_mask(50, 1.1)


def test_unknown_kinds_tell_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="geirhos2018-batch1, geirhos2018-batch2, none, phase-scrambled, vcr"):
        make_mask("plaid", 1, 64)
