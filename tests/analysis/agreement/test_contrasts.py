"""Pictures on which people and a model differ: by hand, against another count, the null, and what does not count."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.agreement.contrasts import contrasts
from analysis.errors import InvalidInput
from analysis.findings.analysing import analyse
from tests.analysis.findings import studies


def test_by_hand() -> None:
    """Of five pictures of one condition people name 0, 1 and 4, and miss 2; 3 has too few answers."""
    found = contrasts([4, 9, 0, 2, 3], [4, 10, 4, 2, 4], [False, False, True, True, True], ["a"] * 5)
    assert found.people_alone.tolist() == [0, 1] and found.model_alone.tolist() == [2]
    assert found.pictures == 4
    # The model names 2 and 4 of the four that count: half of three named, and half of one missed.
    assert (found.expected_people_alone, found.expected_model_alone) == (1.5, 0.5)


def test_the_clearest_come_first_and_equal_ones_in_their_order() -> None:
    found = contrasts([3, 8, 10, 4, 4], [4, 10, 10, 4, 4], [False] * 5, ["a"] * 5)
    assert found.people_alone.tolist() == [2, 3, 4, 1, 0]


def test_what_chance_would_give_is_within_conditions() -> None:
    """People name all of the easy condition, where the model misses nothing, and none of the hard one."""
    found = contrasts([4] * 10 + [0] * 10, [4] * 20, [True] * 10 + [False] * 10, ["easy"] * 10 + ["hard"] * 10)
    assert len(found.people_alone) == len(found.model_alone) == 0
    assert (found.expected_people_alone, found.expected_model_alone) == (0.0, 0.0)
    pooled = contrasts([4] * 10 + [0] * 10, [4] * 20, [True] * 10 + [False] * 10, ["both"] * 20)
    assert (pooled.expected_people_alone, pooled.expected_model_alone) == (5.0, 5.0)


def test_a_model_that_errs_independently_is_found_as_often_as_chance_says() -> None:
    """The null: over 200 sets the mean number found is the mean expected one, within 2.6 errors."""
    rng = np.random.default_rng(3)
    differences = []
    for _ in range(200):
        condition = rng.integers(0, 3, 120)
        people = rng.binomial(8, rng.beta(2, 1, 120) ** (condition + 1))
        model = rng.random(120) < np.array([0.8, 0.5, 0.2])[condition]
        found = contrasts(people, np.full(120, 8), model, condition)
        differences.append(len(found.people_alone) - found.expected_people_alone)
    assert abs(np.mean(differences)) < 2.6 * np.std(differences) / np.sqrt(len(differences))


def test_a_model_that_errs_where_people_err_is_found_less_often() -> None:
    rng = np.random.default_rng(4)
    people = rng.integers(0, 9, 400)
    found = contrasts(people, np.full(400, 8), people >= 5, np.zeros(400))
    assert len(found.people_alone) == 0 and found.expected_people_alone > 20


def test_nothing_and_wrong_columns() -> None:
    empty = contrasts([], [], [], [])
    assert empty.pictures == 0 and empty.expected_model_alone == 0.0
    assert contrasts([1, 2], [2, 2], [True, False], ["a", "a"]).pictures == 0
    with pytest.raises(InvalidInput, match="one entry a picture"):
        contrasts([1], [2, 3], [True], ["a"])
    with pytest.raises(InvalidInput, match="at most as many right answers"):
        contrasts([3], [2], [True], ["a"])


def shared_study() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Four people for each of the six who saw the pictures first; they are right more often on even pictures."""
    rng = np.random.default_rng(5)
    trials, predictions = studies.study(1, people=6, trials_each=60)
    even = trials["original"].str.extract(r"(\d)$")[0].fillna("1").isin(list("02468")).to_numpy()
    frames = []
    for number in range(4):
        right = rng.random(len(trials)) < np.where(even, 0.95, 0.1)
        frames.append(
            trials.assign(
                participant=trials["participant"] + f"-{number}",
                session=trials["session"] + f"-{number}",
                response=np.where(right, trials["category"], "na"),
                correct=right,
            )
        )
    return pd.concat(frames, ignore_index=True), predictions


def test_findings_name_the_pictures_that_another_count_finds() -> None:
    trials, predictions = shared_study()
    found = analyse(trials, predictions, study="s", seed=1, n_bootstrap=0, sensitivity=False)
    shown = trials[trials["role"].isin(["main", "clean", "consistency_first"])]
    answers = shown.groupby("stimulus")["correct"].agg(["size", "sum"])
    of_model = predictions.set_index(["classifier", "stimulus"])["correct"]
    assert found.contrasts
    for one in found.contrasts:
        mine = of_model[one.classifier]
        known = answers[(answers["size"] >= 3) & answers.index.isin(mine.index)]
        share, right = known["sum"] / known["size"], mine[known.index].astype(bool)
        kind = (share >= 0.75) & ~right if one.named_by == "people" else (share <= 0.25) & right
        assert (one.pictures, one.found) == (len(known), int(kind.sum()))
        assert {picture.picture for picture in one.shown} <= set(kind[kind].index)
        assert len(one.shown) == min(one.found, 24)
        for picture in one.shown:
            assert (picture.right, picture.answers) == (known["sum"][picture.picture], known["size"][picture.picture])


def test_models_with_other_labels_are_left_out() -> None:
    trials, predictions = studies.study(1, people=12, trials_each=120)
    found = analyse(trials, predictions.assign(label_space=1000), study="s", seed=1, n_bootstrap=0, sensitivity=False)
    assert found.contrasts == ()
