"""Known curves come back, intervals cover, equal curves are seldom called different: short here, long in benchmarks."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import interval_coverage, recovery


def cells(runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean curve error and mean error of the area in each of the 16 cells."""
    found = np.array(
        [
            [recovery.recovered("spline", curve, design, seed) for seed in range(runs)]
            for curve in recovery.CURVES
            for design in recovery.DESIGNS
        ]
    )
    return found[:, :, 0].mean(axis=1), found[:, :, 1].mean(axis=1)


def test_sixteen_cells_in_short() -> None:
    errors, biases = cells(4)
    assert len(errors) == 16
    assert errors.mean() <= 0.026 and errors.max() < 0.06
    assert np.abs(biases).mean() <= 0.012


@pytest.mark.slow
def test_sixteen_cells() -> None:
    errors, biases = cells(60)
    assert errors.mean() <= recovery.RMSE_LIMIT
    assert np.abs(biases).mean() <= recovery.BIAS_LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("design", interval_coverage.DESIGNS)
def test_the_interval_of_the_area_covers_as_often_as_it_says(design: str) -> None:
    runs = [interval_coverage.run((design, seed))["two-way"] for seed in range(120)]
    from analysis.curves.bands import normal_quantile
    from analysis.curves.config import OVERLAP_LEVEL

    reach = normal_quantile(OVERLAP_LEVEL)
    covered = np.mean([abs(one["area"] - interval_coverage.TRUTH.area) <= reach * one["error"] for one in runs])
    assert 0.75 <= covered <= 0.92
    spread = np.std([one["area"] for one in runs], ddof=1)
    assert np.median([one["error"] for one in runs]) == pytest.approx(spread, rel=0.2)
