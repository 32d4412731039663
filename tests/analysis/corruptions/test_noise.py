from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.corruptions import corrupt
from analysis.corruptions.poisson import EXPANSION_FROM, _uniform, poisson_counts

GREY = np.full((200, 200, 3), 128, dtype=np.uint8)
WHITE = np.full((200, 200, 3), 255, dtype=np.uint8)


def test_gaussian_noise_has_the_stated_distribution() -> None:
    noise = corrupt(GREY, "gaussian_noise", 0.1, 4).astype(float) - 128
    # Rounded to whole levels, so that 0.5 is added before the continuous distribution is asked.
    for bound in (-40, -20, -5, 0, 5, 20, 40):
        assert np.mean(noise <= bound) == pytest.approx(stats.norm.cdf((bound + 0.5) / 25.5), abs=0.006)


def test_uniform_noise_is_symmetric() -> None:
    # Noise that is only positive brightens the picture by half its width.
    noise = corrupt(GREY, "uniform_noise", 0.4, 9).astype(float) - 128
    assert (noise.min(), noise.max()) == (-102, 102)
    assert noise.mean() == pytest.approx(0, abs=0.6)
    assert np.mean(noise < 0) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("channel", [0, 1, 2])
def test_noise_channels_are_independent(channel: int) -> None:
    noise = corrupt(GREY, "gaussian_noise", 0.1, 4).astype(float)
    correlation = np.corrcoef(noise[..., channel].ravel(), noise[..., (channel + 1) % 3].ravel())[0, 1]
    assert abs(correlation) < 0.02


@pytest.mark.parametrize("share", [0.01, 0.2, 0.9])
def test_impulses_replace_the_stated_share_by_black_and_white_alike(share: float) -> None:
    noisy = corrupt(GREY, "impulse_noise", share, 3)
    values, counts = np.unique(noisy, return_counts=True)
    assert values.tolist() == [0, 128, 255]
    black, kept, white = counts / noisy.size
    assert 1 - kept == pytest.approx(share, abs=0.005)
    assert black == pytest.approx(white, abs=0.005)


def test_impulses_that_are_there_stay_as_the_share_grows() -> None:
    weak, strong = (corrupt(GREY, "impulse_noise", share, 3) for share in (0.1, 0.5))
    hit = weak != 128
    assert np.array_equal(weak[hit], strong[hit])


@pytest.mark.parametrize("mean", [0.3, 2.0, 10.0, 23.9, 24.1, 60.0, 400.0, 20_000.0])
def test_counts_are_the_quantiles_of_the_poisson_distribution(mean: float) -> None:
    counts = poisson_counts(WHITE, mean, 17)
    expected = stats.poisson.ppf(_uniform(WHITE.shape, 17)[0].astype(np.float64), mean).reshape(WHITE.shape)
    difference = np.abs(counts - expected)
    # Float32 quantiles resolve a count where there are few; far above, the picture resolves 1 in 255.
    assert difference.max() <= max(1.0, 1e-4 * mean)
    tolerated = 0.0 if mean < EXPANSION_FROM else (2e-3 if mean < 1000 else 1.0)
    assert np.mean(difference > 0) <= tolerated


@pytest.mark.parametrize("photons", [0.5, 8.0, 40.0, 300.0])
def test_counts_follow_the_poisson_distribution_at_every_intensity(photons: float) -> None:
    ramp = np.repeat(np.arange(256, dtype=np.uint8), 600).reshape(256, 200, 3)
    counts = poisson_counts(ramp, photons, 3)
    assert np.all(counts[0] == 0)
    for level in (1, 60, 128, 200, 255):
        drawn, mean = counts[level].ravel(), photons * level / 255
        assert drawn.mean() == pytest.approx(mean, abs=4.5 * np.sqrt(mean / drawn.size))
        assert drawn.var() == pytest.approx(mean, rel=0.35)
        assert stats.kstest(drawn, stats.poisson(mean).cdf, method="asymp").statistic <= 0.06 + stats.poisson.pmf(
            int(mean), mean
        )


def test_shot_noise_tables_against_chi_square() -> None:
    counts = poisson_counts(WHITE, 5.0, 21).ravel().astype(int)
    observed = np.bincount(np.minimum(counts, 14), minlength=15)
    expected = stats.poisson.pmf(np.arange(15), 5.0)
    expected[14] = stats.poisson.sf(13, 5.0)
    assert stats.chisquare(observed, expected * counts.size).pvalue > 1e-3


def test_the_expansion_against_chi_square() -> None:
    counts = poisson_counts(WHITE, 40.0, 22).ravel().astype(int)
    low, high = 25, 58
    observed = np.bincount(np.clip(counts, low, high) - low, minlength=high - low + 1)
    expected = stats.poisson.pmf(np.arange(low, high + 1), 40.0)
    expected[0], expected[-1] = stats.poisson.cdf(low, 40.0), stats.poisson.sf(high - 1, 40.0)
    assert stats.chisquare(observed, expected * counts.size).pvalue > 1e-3


def test_counts_rise_with_the_photons_pixel_by_pixel() -> None:
    last = poisson_counts(WHITE, 1.0, 5)
    for photons in (2.0, 10.0, 20.0, 30.0, 100.0):  # across the change from table to expansion
        counts = poisson_counts(WHITE, photons, 5)
        assert np.all(counts >= last)
        last = counts


def test_shot_noise_leaves_black_black_and_a_million_photons_leave_the_picture() -> None:
    black = np.zeros_like(GREY)
    assert np.array_equal(corrupt(black, "shot_noise", 0.5, 1), black)
    assert np.abs(corrupt(GREY, "shot_noise", 1e6, 1).astype(int) - 128).max() <= 1
    assert corrupt(GREY, "shot_noise", 10.0, 1).mean() == pytest.approx(128, abs=1.0)
