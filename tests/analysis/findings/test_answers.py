from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.labels.files import default_labels
from tests.analysis.findings.studies import WRONG_CLASSIFIER, analysed, study


def matrices(findings: dict[str, Any], population: str, corruption: str) -> list[dict[str, Any]]:
    return [one for one in findings["confusion"] if (one["population"], one["corruption"]) == (population, corruption)]


@pytest.mark.verify
def test_the_matrix_counts_every_answer_once(
    tables: tuple[pd.DataFrame, pd.DataFrame], findings: dict[str, Any]
) -> None:
    blur = tables[0][tables[0]["corruption"] == "blur"]
    whole, *parts = matrices(findings, "humans", "blur")
    counts = np.array(whole["counts"])
    expected = pd.crosstab(blur["category"], blur["response"])
    for row, category in enumerate(default_labels().ids):
        for column, response in enumerate(whole["responses"]):
            assert counts[row, column] == (expected.at[category, response] if response in expected else 0)
    assert np.trace(counts) == blur["correct"].sum() and whole["responses"][-1] == "na"
    assert np.array_equal(counts, sum(np.array(part["counts"]) for part in parts))
    assert [(part["low"], part["high"]) for part in parts] == [(0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0)]


def test_the_favourite_is_the_wrong_answer_given_most(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials, predictions = tables
    wrong = (trials["corruption"] == "blur") & ~trials["correct"]
    clock = wrong & (trials["category"] != "clock") & (np.arange(len(trials)) % 2 == 0)
    biased = trials.assign(response=trials["response"].mask(clock, "clock"))
    found = analysed(biased, predictions, study="s", seed=1, n_bootstrap=0, sensitivity=False)
    favourite = matrices(found, "humans", "blur")[0]["favourite"]
    answers = biased[wrong & (biased["response"] != "na")]["response"]
    assert favourite == {"response": "clock", "share": pytest.approx((answers == "clock").mean())}


def test_classifiers_with_other_labels_have_no_matrix(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials, predictions = tables
    assert (
        matrices(
            analysed(trials, predictions.assign(label_space=1000), study="s", seed=1, n_bootstrap=0, sensitivity=False),
            WRONG_CLASSIFIER,
            "blur",
        )
        == []
    )


def test_response_times_by_tenths(screened: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials = screened[0]
    found = analysed(trials, study="s", seed=1, n_bootstrap=0, sensitivity=False)
    entry = next(one for one in found["response_times"] if one["corruption"] == "noise")
    counted = trials[trials["accepted"] & (trials["corruption"] == "noise") & (trials["response"] != "na")]
    tenth = counted[(counted["visual_change"] >= 0.3) & (counted["visual_change"] < 0.4)]
    bin_ = next(one for one in entry["bins"] if 0.3 <= one["v"] < 0.4)
    assert bin_["n"] == len(tenth)
    assert bin_["median_ms"] == pytest.approx(tenth["rt_ms"].median())
    assert (bin_["lower_ms"], bin_["upper_ms"]) == pytest.approx(tuple(tenth["rt_ms"].quantile([0.25, 0.75])))
    assert bin_["median_wrong_ms"] == pytest.approx(tenth[~tenth["correct"]]["rt_ms"].median())
    assert sum(one["n"] for one in entry["bins"]) == len(counted)


@pytest.mark.verify
def test_times_of_pointer_and_keyboard_are_never_pooled(screened: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials = screened[0]
    by_keyboard = trials["position"] % 3 == 0
    kinds = by_keyboard.map({True: "key", False: "pointer"})
    slower = trials.assign(rt_ms=trials["rt_ms"] + 1000 * by_keyboard)
    found = analysed(slower.assign(input_kind=kinds), study="s", seed=1, n_bootstrap=0, sensitivity=False)
    pooled = analysed(trials, study="s", seed=1, n_bootstrap=0, sensitivity=False)
    assert {one["input_kind"] for one in pooled["response_times"]} == {None}, "of stored answers nobody kept it"
    entries = {one["input_kind"]: one for one in found["response_times"] if one["corruption"] == "noise"}
    assert set(entries) == {"key", "pointer"}
    for kind, entry in entries.items():
        alone = slower[kinds == kind]
        (expected,) = (
            one
            for one in analysed(alone, study="s", seed=1, n_bootstrap=0, sensitivity=False)["response_times"]
            if one["corruption"] == "noise"
        )
        assert entry["bins"] == expected["bins"]
    mine = next(one for one in found["participants"] if (one["participant"], one["corruption"]) == ("P-3", None))
    own = slower[(slower["participant"] == "P-3") & (slower["role"] == "main") & (kinds == "pointer")]
    assert mine["input_kind"] == "pointer" and mine["median_rt_ms"] == pytest.approx(own["rt_ms"].median())


def test_without_times_there_are_no_entries(findings: dict[str, Any]) -> None:
    assert findings["response_times"] == []


def test_participants_stand_behind_the_mean_curve(
    tables: tuple[pd.DataFrame, pd.DataFrame], findings: dict[str, Any]
) -> None:
    trials = tables[0]
    over_all = {one["participant"]: one for one in findings["participants"] if one["corruption"] is None}
    assert set(over_all) == set(trials["participant"])
    together = trials[(trials["participant"] == "P-3") & (trials["role"] == "main")]
    assert over_all["P-3"]["n"] == len(together) and over_all["P-3"]["accuracy"] == together["correct"].mean()
    one = next(one for one in findings["participants"] if (one["participant"], one["corruption"]) == ("P-3", "blur"))
    mine = together[together["corruption"] == "blur"]
    assert one["n"] == len(mine) and one["accuracy"] == mine["correct"].mean()
    assert sum(part["n"] for part in one["bins"]) == len(mine)
    assert one["area"] is None and one["band"] is None


def test_a_few_answers_to_a_corruption_are_told_over_all_alone(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials = tables[0][tables[0]["position"] % 3 != 0]
    found = analysed(trials, study="s", seed=1, n_bootstrap=0, sensitivity=False)
    assert {one["corruption"] for one in found["participants"] if one["n"] < 20} <= {None}
    assert any(one["corruption"] is None for one in found["participants"])


def test_a_participant_with_answers_enough_has_a_curve(screened: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    trials = screened[0].assign(participant=lambda rows: "P-" + (rows["session"].str[2:].astype(int) % 3).astype(str))
    found = analysed(trials, study="s", seed=1, n_bootstrap=0, sensitivity=False)
    areas = [one["area"] for one in found["participants"] if one["corruption"] == "blur"]
    people = next(one for one in found["curves"] if one["corruption"] == "blur" and one["property"] == "accuracy")
    assert len(areas) == 3 and np.mean(areas) == pytest.approx(people["area"], abs=0.04)
    assert found["participants"][0]["median_rt_ms"] > 600


def test_none_of_these_is_wrong_and_has_a_column_of_its_own() -> None:
    trials, _ = study(5, people=8, trials_each=40)
    named = trials.assign(response=trials["response"].where(trials["correct"] | (trials["position"] % 3 == 0), "none"))
    before, after = (analysed(one, study="s", seed=1, n_bootstrap=0, sensitivity=False) for one in (trials, named))
    assert [one["area"] for one in before["curves"] if one["property"] == "accuracy"] == [
        one["area"] for one in after["curves"] if one["property"] == "accuracy"
    ]
    (plain, *_), (whole, *_) = (matrices(one, "humans", "blur") for one in (before, after))
    assert plain["responses"][-2:] == [default_labels().ids[-1], "na"]
    assert whole["responses"][-2:] == ["none", "na"]
    counts, blur = np.array(whole["counts"]), named[named["corruption"] == "blur"]
    assert counts[:, -2].sum() == (blur["response"] == "none").sum() > 0
    assert counts[:, -1].sum() == (blur["response"] == "na").sum()
    assert counts.sum() == len(blur) == np.array(plain["counts"]).sum()
    wrong = blur[~blur["correct"] & (blur["response"] != "na")]["response"].value_counts()
    assert whole["favourite"] == {"response": "none", "share": pytest.approx(wrong["none"] / wrong.sum())}
    missed = [
        one["misses"]["n"] for one in after["curves"] if (one["corruption"], one["property"]) == ("blur", "accuracy")
    ]
    assert missed == [(blur["response"] == "na").sum()], "none of these is an answer, and no miss"
