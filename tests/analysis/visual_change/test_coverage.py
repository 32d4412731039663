from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.errors import InvalidInput
from analysis.visual_change.coverage import coverage_report, coverage_words, measure_coverage, measure_paper_coverage


def test_counts_by_hand() -> None:
    coverage = measure_coverage([0.0, 0.01, 0.24, 0.26, 0.99, 1.0], bins=4, minimum=2)
    assert coverage.counts == (3, 1, 0, 2)
    assert coverage.edges == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert (coverage.covered, coverage.occupied, coverage.covered_share) == (2, 3, 0.5)


def test_the_papers_bins_are_39() -> None:
    # j = floor(v (M - 1)): 1/39 opens bin 1; v = 1 belongs to the last one.
    coverage = measure_paper_coverage([0.0, 1 / 39 - 1e-9, 1 / 39 + 1e-9, 38.5 / 39, 1.0], minimum=1)
    assert len(coverage.counts) == 39
    assert coverage.counts[:2] == (2, 1)
    assert coverage.counts[38] == 2
    assert coverage.covered_share == pytest.approx(3 / 39)


def test_twenty_a_bin_are_needed_by_default() -> None:
    changes = np.repeat((np.arange(40) + 0.5) / 40, 20)
    assert measure_coverage(changes).covered == 40
    assert measure_coverage(changes[:-1]).covered == 39


@given(st.lists(st.floats(0, 1), max_size=200))
def test_nothing_is_lost_in_binning(changes: list[float]) -> None:
    assert sum(measure_coverage(changes).counts) == len(changes)
    assert sum(measure_paper_coverage(changes).counts) == len(changes)


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan")])
def test_values_that_are_no_visual_change_are_refused(value: float) -> None:
    with pytest.raises(InvalidInput):
        measure_coverage([0.5, value])


def test_report_tells_both_bin_counts() -> None:
    report = coverage_report({"gaussian_blur": [0.1, 0.2], "empty": []}, minimum=1)
    assert report["gaussian_blur"]["n"] == 2
    assert report["gaussian_blur"]["ours"]["bins"] == 40
    assert report["gaussian_blur"]["paper"]["bins"] == 39
    assert report["gaussian_blur"]["ours"]["covered"] == 2
    assert report["empty"]["ours"]["covered"] == 0


def test_words_ask_of_a_set_what_its_number_allows() -> None:
    """320 stimuli are 8 a bin: none can hold 20, and that says nothing about how even they are."""
    even = np.repeat((np.arange(40) + 0.5) / 40, 8)
    lacking = np.concatenate([even[:-16], even[:16]])
    said = {
        name: coverage_words(report)
        for name, report in coverage_report({"even": list(even), "lacking": list(lacking), "few": [0.1, 0.9]}).items()
    }
    assert said["even"] == "40 of 40 bins with at least 8, their even share (20 in each bin would take 800 stimuli)"
    assert said["lacking"].startswith("38 of 40 bins with at least 8, their even share")
    assert said["few"].startswith("2 of 40 bins with at least 1, ")
    full = coverage_report({"full": list(np.repeat((np.arange(40) + 0.5) / 40, 20))})["full"]
    assert coverage_words(full) == f"40 of 40 bins with at least 20 (paper's bins: {full['paper']['covered']} of 39)"
