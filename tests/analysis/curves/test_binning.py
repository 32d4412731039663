from __future__ import annotations

import numpy as np
import pytest

from analysis.curves.binning import bin_index, bin_trials
from analysis.errors import InvalidInput


def test_bins_are_half_open_and_the_last_is_closed() -> None:
    assert bin_index([0.0, 0.0249, 0.025, 0.975, 1.0]).tolist() == [0, 0, 1, 39, 39]


def test_abscissa_is_the_mean_visual_change_and_empty_bins_are_left_out() -> None:
    bins = bin_trials(
        np.array([0.01, 0.02, 0.51, 0.51]),
        np.array([1.0, 0.0, 1.0, 0.5]),
        images=np.array([0, 0, 1, 2]),
    )
    assert [one.index for one in bins] == [0, 20]
    assert [one.v for one in bins] == pytest.approx([0.015, 0.51])
    assert [one.n for one in bins] == [2, 2]
    assert [one.rate for one in bins] == [0.5, 0.75]
    assert [one.originals for one in bins] == [1, 2]


@pytest.mark.parametrize("bad", [-0.001, 1.001, float("nan"), float("inf")])
def test_a_visual_change_outside_the_range_is_refused_with_its_place(bad: float) -> None:
    with pytest.raises(InvalidInput, match="entry 1"):
        bin_index([0.5, bad])
