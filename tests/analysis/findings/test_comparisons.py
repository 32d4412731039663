from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.curves.binning import bin_index
from analysis.labels.files import default_labels
from analysis.tables.stimuli import STIMULI
from tests.analysis.findings.studies import WRONG_CLASSIFIER, analysed


def own(findings: dict[str, Any], subject: str = "accuracy") -> list[dict[str, Any]]:
    return [entry for entry in findings["comparisons"] if entry["property"] == subject]


def test_corruption_error_has_people_as_its_baseline(findings: dict[str, Any]) -> None:
    for entry in own(findings):
        error = entry["corruption_error"]
        assert error["value"] == pytest.approx((1 - entry["classifier_area"]) / (1 - entry["human_area"]))
        assert 1 < error["interval"][0] < error["value"] < error["interval"][1]


def test_the_leaderboard_is_the_mean_over_corruptions_with_a_joint_interval(findings: dict[str, Any]) -> None:
    row = next(one for one in findings["leaderboard"] if one["property"] == "accuracy")
    entries = own(findings)
    assert row["classifier"] == WRONG_CLASSIFIER and row["corruptions"] == len(entries) == 2
    for name in ("hmri", "mrsi", "human_area", "classifier_area"):
        assert row[name] == pytest.approx(np.mean([entry[name] for entry in entries]))
        low, high = row[f"{name}_interval"]
        assert low <= row[name] <= high
    width = row["hmri_interval"][1] - row["hmri_interval"][0]
    widths = [entry["hmri_interval"][1] - entry["hmri_interval"][0] for entry in entries]
    # Averaging two corruptions narrows the interval, and shared originals keep it above that of independent ones.
    assert 0.5 * np.mean(widths) < width < max(widths)
    assert row["corruption_error"] == pytest.approx((1 - row["classifier_area"]) / (1 - row["human_area"]))


def test_one_corruption_alone_has_the_interval_of_its_comparison(
    tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    trials, predictions = tables
    found = analysed(
        trials[trials["corruption"] != "noise"], predictions, study="s", seed=3, n_bootstrap=60, sensitivity=False
    )
    row, entry = found["leaderboard"][0], own(found)[0]
    assert row["corruptions"] == 1 and row["hmri"] == pytest.approx(entry["hmri"])
    assert row["hmri_interval"] == pytest.approx(entry["hmri_interval"], abs=2e-4)


def test_the_full_set_stands_beside_what_people_saw(findings: dict[str, Any]) -> None:
    blur, noise = own(findings)
    curve = next(c for c in findings["curves"] if c["population"] == WRONG_CLASSIFIER and c["property"] == "accuracy")
    assert blur["full_set"]["n"] == curve["full_set"]["n"] == curve["n"] + 1
    assert blur["full_set"]["classifier_area"] == curve["full_set"]["area"]
    assert blur["full_set"]["hmri"] == pytest.approx(blur["hmri"], abs=0.02)
    assert noise["full_set"] is None


def test_bins_tell_the_mix_of_categories(tables: tuple[pd.DataFrame, pd.DataFrame], findings: dict[str, Any]) -> None:
    trials = tables[0][tables[0]["corruption"] == "blur"]
    entry = next(c for c in findings["curves"] if (c["population"], c["corruption"]) == ("humans", "blur"))
    place = bin_index(trials["visual_change"], 40)
    for one in entry["bins"]:
        mine = trials[place == bin_index([one["v"]], 40)[0]]
        assert one["categories"] == [int((mine["category"] == category).sum()) for category in default_labels().ids]
        assert sum(one["categories"]) == one["n"] and one["thin"] == (one["n"] < 20)
    assert entry["scheme"] == "two-way" and entry["scheme_reason"]


def test_reach_and_coverage_of_the_stimuli(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    rows = [
        {
            "stimulus": f"{original}-{k}",
            "original": original,
            "category": "cat",
            "corruption": "color_jitter",
            "visual_change": most * (k + 1) / 40,
            "reached": k < 30,
        }
        for original, most in (("a", 0.9), ("b", 0.5), ("c", 0.3))
        for k in range(40)
    ]
    found = analysed(tables[0].head(0), study="s", seed=1, n_bootstrap=0, stimuli=STIMULI.frame(rows))
    (entry,) = found["reach"]
    assert (entry["n"], entry["originals"], entry["targets_missed"]) == (120, 3, 30)
    assert (entry["largest"], entry["largest_worst_original"]) == pytest.approx((0.5, 0.3))
    assert (entry["bins"], entry["paper_bins"]) == (40, 39)
    assert entry["covered"] == 0
