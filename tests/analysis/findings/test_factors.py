"""Accuracy by factors of pictures: by hand, against another count, under the null, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from analysis.agreement.shape_bias import share_of
from analysis.errors import TableRefused
from analysis.findings.analysing import analyse
from tests.analysis.findings import studies

QUICK: dict[str, Any] = {"study": "s", "seed": 1, "n_bootstrap": 0, "sensitivity": False}


def study(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every third picture stands on grass, the others on sand; of some nothing is known."""
    trials, predictions = studies.study(seed, people=8, trials_each=40)
    numbers = trials["original"].str.extract(r"(\d+)")[0].astype("float64")
    background = np.where(numbers % 3 == 0, "grass", np.where(numbers % 3 == 1, "sand", ""))
    return trials.assign(background=np.where(numbers.isna(), "", background)), predictions


def test_accuracy_by_background_is_that_of_a_count_by_hand() -> None:
    trials, predictions = study(1)
    found = analyse(trials, predictions, factors=("background",), **QUICK)
    assert [(one.value, one.kind) for one in found.factors] == [
        (value, kind) for value in ("grass", "sand") for kind in ("humans", "classifier")
    ]
    shown = trials[trials["role"] != "gold"]
    on_grass = shown[shown["background"] == "grass"]
    people, network, *_ = found.factors
    assert (people.n, people.pictures) == (len(on_grass), on_grass["original"].nunique())
    assert people.accuracy == pytest.approx(on_grass["correct"].mean())
    assert people.interval[0] < people.accuracy < people.interval[1]
    theirs = predictions[predictions["original"].isin(set(on_grass["original"]))]
    assert (network.n, network.accuracy) == (len(theirs), pytest.approx(theirs["correct"].mean()))
    assert found.to_json()["factors"][0]["factor"] == "background"


def test_without_factors_there_is_no_such_key() -> None:
    trials, predictions = study(1)
    assert "factors" not in analyse(trials, predictions, **QUICK).to_json()


def test_one_answer_of_each_person_to_each_picture_has_the_exact_interval() -> None:
    hits = np.array([True] * 7 + [False] * 3)
    share, interval = share_of(hits, people=[f"p{k}" for k in range(10)], pictures=[f"i{k}" for k in range(10)])
    assert share == 0.7 and interval == pytest.approx((beta.ppf(0.025, 7, 4), beta.ppf(0.975, 8, 3)))
    nothing, everything = share_of(np.zeros(0, dtype=bool), people=[], pictures=[])
    assert np.isnan(nothing) and everything == (0.0, 1.0)


def test_a_factor_that_means_nothing_is_covered_by_its_intervals() -> None:
    """People and pictures differ; a factor dealt to pictures at random: the intervals contain the common rate."""
    rng = np.random.default_rng(2)
    covered = []
    for _ in range(200):
        person, picture = rng.normal(0, 0.7, 12)[:, None], rng.normal(0, 0.7, 40)
        right = rng.random((12, 40)) < 1 / (1 + np.exp(-(person + picture)))
        who, what = (grid.ravel() for grid in np.meshgrid(np.arange(12), np.arange(40), indexing="ij"))
        mine = rng.permutation(40)[:20]
        rows = np.isin(what, mine)
        _, (low, high) = share_of(right.ravel()[rows], people=who[rows], pictures=what[rows])
        covered.append(low <= 0.5 <= high)
    assert np.mean(covered) >= 0.92


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({}, "there is no factor 'background'; further columns are: none"),
        ({"background": ""}, "no picture has a value"),
        ({"background": range(1000, 1000 + 368)}, "the picture .* has two values"),
    ],
)
def test_what_is_no_factor_is_refused(columns: dict[str, Any], said: str) -> None:
    trials, predictions = studies.study(3, people=8, trials_each=40)
    with pytest.raises(TableRefused, match=said):
        analyse(trials.assign(**columns), predictions, factors=("background",), **QUICK)
    with pytest.raises(TableRefused, match="there is no factor 'category'"):
        analyse(trials, predictions, factors=("category",), **QUICK)


def test_a_table_of_pictures_gives_what_a_column_of_trials_gives() -> None:
    trials, predictions = study(1)
    shown = trials[["original", "background"]].drop_duplicates()
    table = pd.DataFrame({"original": shown["original"], "factor": "background", "value": shown["background"]})
    strange = pd.DataFrame([{"original": "nowhere", "factor": "material", "value": "wood"}])
    by_column = analyse(trials, predictions, factors=("background",), **QUICK)
    by_table = analyse(
        trials.drop(columns="background"), predictions, factor_table=pd.concat([table, strange]), **QUICK
    )
    assert by_table.factors == by_column.factors, "no picture that was shown has a material"
    assert by_table.data_digest == by_column.data_digest


def test_a_factor_that_names_pictures_is_left_out_with_a_note() -> None:
    trials, predictions = study(1)
    pictures = trials["original"].unique()
    table = pd.DataFrame({"original": pictures, "factor": "photographer", "value": pictures})
    found = analyse(trials.drop(columns="background"), predictions, factor_table=table, **QUICK)
    assert found.factors == ()
    assert f"No accuracy by photographer: its {len(pictures)} values are more than 50." in found.notes


def test_a_factor_with_the_name_of_a_column_is_refused() -> None:
    trials, predictions = study(1)
    table = pd.DataFrame([{"original": trials["original"][0], "factor": "role", "value": "x"}])
    with pytest.raises(TableRefused, match="'role' is a column of trials already"):
        analyse(trials, predictions, factor_table=table, **QUICK)
