from __future__ import annotations

import numpy as np
import pytest

from analysis.errors import InvalidInput
from analysis.visual_change.coverage import (
    NARROW_BINS,
    ChangeCounts,
    compare_sets,
    level_spreads,
    measure_coverage,
    measure_paper_coverage,
)


def counted(changes: list[float]) -> dict[int, int]:
    places, counts = np.unique(np.floor(np.array(changes) * NARROW_BINS).astype(int), return_counts=True)
    return dict(zip(places.tolist(), counts.tolist(), strict=True))


def test_narrow_bins_add_up_to_the_bins_that_coverage_counts() -> None:
    changes = [0.0, *np.random.default_rng(1).random(5000).tolist(), 1.0]
    counts = ChangeCounts.from_bins(counted(changes))
    assert counts.n == len(changes)
    assert counts.in_bins(40) == measure_coverage(changes).counts
    assert counts.in_bins(39) == measure_paper_coverage(changes).counts
    assert counts.covered(39, 100) == measure_paper_coverage(changes, minimum=100).covered


def test_quantiles_of_a_hand_counted_set() -> None:
    # Two stimuli in [.25, .25 + w), two in [.5, .5 + w), w = 1/1560: a quarter lies below the middle of the first.
    counts = ChangeCounts.from_bins({390: 2, 780: 2})
    assert counts.quantile(0.25) == pytest.approx(390.5 / 1560, abs=1e-15)
    assert counts.quantile(0.5) == pytest.approx(391 / 1560, abs=1e-15)
    assert counts.quantile(0.75) == pytest.approx(780.5 / 1560, abs=1e-15)
    assert counts.quantile(0.0) == pytest.approx(0.25, abs=1e-15)
    assert counts.quantile(1.0) == pytest.approx(781 / 1560, abs=1e-15)
    assert np.isnan(ChangeCounts.from_bins({}).quantile(0.5))


def test_quantiles_are_those_of_the_values_to_a_narrow_bin() -> None:
    changes = np.random.default_rng(2).beta(2, 5, 2001)
    counts = ChangeCounts.from_bins(counted(changes.tolist()))
    for share in (0.05, 0.25, 0.5, 0.75, 0.95):
        assert counts.quantile(share) == pytest.approx(np.quantile(changes, share), abs=2 / NARROW_BINS)


def test_two_sets_by_hand() -> None:
    # Even: 20 stimuli in each of the bins 0 to 9. Levels: 30 in bin 4 (level 1), 19 in bin 20 (level 2), 25 in bin 39.
    even = {"frost": {None: {39 * place: 20 for place in range(10)}}, "fog": {None: {0: 5}}}
    levels = {
        "frost": {1: {39 * 4 + 3: 30}, 2: {39 * 20: 19}, 3: {NARROW_BINS: 25}},
        "snow": {1: {0: 5}},
    }
    comparison = compare_sets(even, levels)
    (frost,) = comparison.functions
    assert (comparison.only_a, comparison.only_b) == (("fog",), ("snow",))
    assert (frost.a.n, frost.a.covered, frost.a.covered_share) == (200, 10, 0.25)
    assert (frost.b.n, frost.b.covered) == (74, 2)
    assert frost.covered_by == (9, 1, 1)
    # With 200 instead of 74 stimuli, bin 20 would hold 51, enough; the larger set stays as it is.
    assert frost.covered_at_equal_number == (10, 3)
    assert frost.b.counts[4] == 30
    assert frost.b.counts[39] == 25
    assert frost.b.shares[20] == 19 / 74
    assert frost.a.levels == ()
    assert [(one.level, one.n) for one in frost.b.levels] == [(1, 30), (2, 19), (3, 25)]
    assert frost.b.levels[0].median == pytest.approx((39 * 4 + 3.5) / 1560)
    assert frost.b.levels[2].quartiles == pytest.approx((1559.25 / 1560, 1559.75 / 1560))
    # In the paper's 39 bins the 20 of bin 9 lie at .225, in bin 8 (.2051 to .2308), together with those at .2051 ...
    assert (
        frost.a.paper_covered == measure_paper_coverage([place / 40 for place in range(10) for _ in range(20)]).covered
    )
    told = comparison.to_dict()["functions"][0]
    assert told["a"]["ours"] == {"bins": 40, "covered": 10, "covered_share": 0.25}
    assert (told["covered_by_a_alone"], told["covered_by_both"], told["covered_by_b_alone"]) == (9, 1, 1)


def test_a_set_without_levels_has_none_and_numbers_beyond_the_range_are_refused() -> None:
    assert level_spreads({None: {3: 1}}) == ()
    with pytest.raises(InvalidInput, match="0 to 1559, not 1561"):
        ChangeCounts.from_bins({1561: 1})
