"""Trials with options of their own, several right labels, and labels that compete: chance, truth and shape bias."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.curves.config import CurveConfig
from analysis.curves.fit import fit_curve
from analysis.differences.answers import AnswersToOne
from analysis.differences.beside import attentive_share
from analysis.errors import InvalidInput, LabelSpaceMismatch, TableRefused
from analysis.findings.analysing import analyse
from analysis.findings.fits import CurveKey
from analysis.findings.observations import read_trials
from analysis.labels.files import default_labels, shipped
from analysis.metrics import compare
from tests.analysis.findings import studies
from tests.labels import of_the_sixteen

QUICK: dict[str, Any] = {"study": "s", "seed": 1, "n_bootstrap": 0, "sensitivity": False}
IDS = default_labels().ids


def study(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    return studies.study(seed, people=8, trials_each=40)


def two_options(trials: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The same study with two options a trial: a wrong answer is the other one."""
    rng = np.random.default_rng(seed)
    options, responses = [], []
    for category, response in zip(trials["category"], trials["response"], strict=True):
        wrong = response if response not in (category, "na") else rng.choice([one for one in IDS if one != category])
        options.append(" ".join(rng.permutation([category, str(wrong)])))
        responses.append(response)
    return trials.assign(options=options, response=responses)


def curves_of(found: Any) -> dict[CurveKey, Any]:
    return {CurveKey(one.population, one.corruption, one.property): one for one in found.curves}


def test_columns_without_a_cell_change_nothing() -> None:
    trials, predictions = study(1)
    empty = trials.assign(options=None, accepted_labels=None, competing=None)
    before, after = (analyse(one, predictions, **QUICK | {"n_bootstrap": 10}).to_json() for one in (trials, empty))
    assert before == after


@of_the_sixteen
def test_all_labels_as_options_change_nothing_but_say_so() -> None:
    trials, predictions = study(1)
    before = analyse(trials, predictions, **QUICK).to_json()
    after = analyse(trials.assign(options=" ".join(IDS)), predictions, **QUICK).to_json()
    assert {one.pop("own_chance") for one in after["curves"] if one["population"] == "humans"} == {1 / 16}
    for found in (before, after):
        del found["data_digest"]
    assert before == after


@of_the_sixteen
def test_chance_of_a_curve_is_the_mean_over_its_trials() -> None:
    trials, _ = study(2)
    half = trials.assign(options=two_options(trials)["options"].where(np.arange(len(trials)) % 3 == 0))
    (blur,) = [one for one in analyse(half, **QUICK).curves if (one.corruption, one.property) == ("blur", "accuracy")]
    shown = half[half["corruption"] == "blur"]
    assert blur.chance == pytest.approx(np.where(shown["options"].notna(), 1 / 2, 1 / 16).mean())
    assert 1 / 16 < blur.chance < 1 / 2


def test_a_network_that_chose_among_all_is_not_set_beside_people_with_two_options() -> None:
    trials, predictions = study(3)
    found = analyse(two_options(trials), predictions, **QUICK)
    assert not found.comparisons and not found.leaderboard
    assert any("no comparison. A guess is right with chance 0.500" in note for note in found.notes)
    with_options = predictions.assign(options=[f"{one} {IDS[IDS.index(one) - 1]}" for one in predictions["category"]])
    assert analyse(two_options(trials), with_options, **QUICK).comparisons


def test_corruptions_with_other_options_are_not_compared() -> None:
    trials, _ = study(4)
    mixed = trials.assign(options=two_options(trials)["options"].where(trials["corruption"] == "blur"))
    found = analyse(mixed, **QUICK | {"n_bootstrap": 10})
    assert not found.similarity and any("other options" in note for note in found.notes)
    assert analyse(two_options(trials), **QUICK | {"n_bootstrap": 10}).similarity


@of_the_sixteen
def test_looking_is_counted_from_chance_by_hand() -> None:
    """50 people, each right on 8 of 10: the rate is .8 without spread over people; chance is taken off."""
    right = np.tile([1.0] * 8 + [0.0] * 2, 50)
    columns = (np.zeros(500), right, np.arange(500), np.repeat(np.arange(50), 10))
    of_16 = attentive_share(AnswersToOne.of(*columns))
    of_2 = attentive_share(AnswersToOne.of(*columns, guesses=np.full(500, 0.5)))
    least = of_16 * (15 / 16) + 1 / 16
    assert of_2 == pytest.approx((least - 0.5) / 0.5)
    assert attentive_share(AnswersToOne.of(*columns, guesses=np.full(500, 1 / 16))) == of_16


def test_looking_counts_every_person_once_in_chance_too() -> None:
    guesses = np.array([0.5] * 30 + [0.25] * 10)
    answers = AnswersToOne.of(np.zeros(40), np.ones(40), np.arange(40), ["a"] * 30 + ["b"] * 10, guesses=guesses)
    assert answers.chance == pytest.approx(0.375)
    assert answers.select(np.arange(40) < 30).chance == pytest.approx(0.5)


def test_guessers_between_two_options_are_found_to_guess() -> None:
    trials, predictions = study(5)
    rng = np.random.default_rng(5)
    other = [IDS[IDS.index(one) - 1] for one in predictions["category"]]
    guessed = np.where(rng.random(len(predictions)) < 0.5, predictions["category"], other)
    options = [" ".join(both) for both in zip(predictions["category"], other, strict=True)]
    coin = predictions.assign(response=guessed, correct=guessed == predictions["category"])
    said = "no more than by guessing"
    assert any(said in note for note in analyse(trials, coin.assign(options=options), **QUICK).notes)
    assert not any(said in note for note in analyse(trials, coin, **QUICK).notes), "of 16 half is no guess"


def test_the_right_anchor_and_the_floor_of_a_psychometric_function_follow_chance() -> None:
    rng = np.random.default_rng(6)
    v = rng.random(4000)
    right = rng.random(4000) < 0.5 + 0.5 / (1 + np.exp((v - 0.4) / 0.05))
    fitted = fit_curve(v, right, right_anchor="chance", own_chance=0.5)
    assert fitted.right_anchor.value == 0.5 and fitted.predict([1.0])[0] == pytest.approx(0.5, abs=1e-6)
    weibull = fit_curve(v, right, method="weibull", own_chance=0.5)
    assert weibull.predict([0.9])[0] == pytest.approx(0.5, abs=0.03)
    assert fit_curve(v, right, method="weibull").predict([0.9])[0] <= 0.5
    same = fit_curve(v, right, method="weibull", label_space=2)
    assert np.array_equal(same.coefficients, weibull.coefficients)
    with pytest.raises(LabelSpaceMismatch, match=r"chance 0\.500 on the human curve and with 0\.062"):
        compare(fitted, fit_curve(v, right))
    with pytest.raises(InvalidInput, match="strictly between 0 and 1"):
        CurveConfig(own_chance=1.0)


@of_the_sixteen
def test_what_contradicts_itself_is_refused_with_row_and_column() -> None:
    trials, _ = study(7)
    first = trials.index[3]

    def refused(said: str, **cells: str) -> None:
        wrong = two_options(trials)
        for name, cell in cells.items():
            wrong[name] = wrong.get(name, "")
            wrong.loc[first, name] = cell
        with pytest.raises(TableRefused, match=said):
            analyse(wrong, **QUICK)

    refused("row 3, column 'options': 'horse' is none", options="horse cow")
    refused("row 3, column 'options': .* leaves nothing", options=trials.loc[first, "category"])
    refused("row 3, column 'response': 'none' is not among the options", response="none")
    shown = trials.assign(accepted_labels=trials["category"])
    with pytest.raises(TableRefused, match="column 'correct': True contradicts"):
        analyse(shown.assign(correct=True), **QUICK)
    shown.loc[shown.index[shown["original"].duplicated()][0], "accepted_labels"] = "bear oven"
    with pytest.raises(TableRefused, match="elsewhere for the picture|contradicts"):
        analyse(shown, **QUICK)


def accepting(trials: pd.DataFrame, lists: dict[str, str]) -> pd.DataFrame:
    accepted = trials["original"].map(lists).fillna("")
    right = [one in cell.split() for one, cell in zip(trials["response"], accepted, strict=True)]
    return trials.assign(accepted_labels=accepted, correct=right)


def test_the_category_as_the_only_accepted_label_changes_nothing() -> None:
    trials, predictions = study(8)
    lists = dict(zip(trials["original"], trials["category"], strict=True))
    before, after = (analyse(one, predictions, **QUICK).to_json() for one in (trials, accepting(trials, lists)))
    for found in (before, after):
        del found["data_digest"]
    known = set(predictions["original"]) <= set(lists)
    assert known and before == after


@of_the_sixteen
def test_several_accepted_labels_are_right_for_people_and_networks_and_raise_chance() -> None:
    trials, predictions = study(9)
    lists = {
        original: f"{category} {IDS[IDS.index(category) - 1]}"
        for original, category in zip(trials["original"], trials["category"], strict=True)
    }
    found = analyse(accepting(trials, lists), predictions, **QUICK)
    curves = curves_of(found)
    assert all(curve.chance == pytest.approx(2 / 16) for curve in curves.values() if curve.property == "accuracy")
    (network,) = {one.population for one in found.curves} - {"humans"}
    right = [
        one in lists[original].split()
        for one, original in zip(predictions["response"], predictions["original"], strict=True)
    ]
    blurred = (predictions["corruption"] == "blur").to_numpy()
    shown = [one for one in found.accuracy if (one.observer, one.condition) == (network, "blur")]
    assert [(one.trials, one.correct) for one in shown] == [(blurred.sum(), np.array(right)[blurred].sum())]
    assert found.comparisons, "people and networks had the same chance"


def test_pictures_without_an_accepted_label_are_left_out_and_counted() -> None:
    trials, predictions = study(10)
    known = sorted(set(trials["original"]) - {"gold"})
    lists = {
        original: category
        for original, category in zip(trials["original"], trials["category"], strict=True)
        if original not in known[:40]
    }
    found = analyse(accepting(trials, lists), predictions, **QUICK)
    gone = trials["original"].isin(known[:40]) & (trials["role"] != "gold")
    assert found.trials is not None and found.trials.without_truth == gone.sum() > 0
    kept = analyse(trials[~gone], predictions[~predictions["original"].isin(known[:40])], **QUICK)
    assert [one.area for one in found.curves] == [one.area for one in kept.curves]
    assert found.accuracy == kept.accuracy


def test_an_answer_that_is_accepted_is_read_as_right() -> None:
    trials, _ = study(11)
    read = read_trials(trials.assign(accepted_labels=trials["response"].replace("na", "cat"), correct=False))
    assert read.correct.sum() == (read.response != "na").sum() > 0


def test_shape_bias_reads_the_competing_labels() -> None:
    trials, predictions = study(12)
    others = {one: IDS[IDS.index(one) - 1] for one in IDS}
    stated = trials.assign(competing=[others[one] for one in trials["category"]])
    found = {one.observer: one for one in analyse(stated, predictions, **QUICK).shape_bias}
    shown = stated[stated["role"] != "gold"]
    shape, texture = (shown["response"] == shown["category"]).sum(), (shown["response"] == shown["competing"]).sum()
    people = found["humans"]
    assert (people.shape, people.texture, people.other) == (shape, texture, len(shown) - shape - texture)
    assert people.bias == pytest.approx(shape / (shape + texture))
    by_hand = shown.assign(
        shape=shown["response"] == shown["category"], texture=shown["response"] == shown["competing"]
    )
    counts = by_hand.groupby("category")[["shape", "texture"]].sum()
    assert {one.category: [one.shape, one.texture] for one in people.by_category} == counts.T.to_dict("list")
    (network,) = set(found) - {"humans"} - set(trials["participant"])
    assert {found[one].by_category for one in set(trials["participant"]) & set(found)} == {()}
    named = predictions["response"] == predictions["category"].map(others)
    assert found[network].texture == named.sum() > 0, "predictions take it from the pictures that people saw"
    assert analyse(trials, predictions, **QUICK).shape_bias == (), "no name says that there is a conflict"


@of_the_sixteen
def test_the_column_of_competing_labels_goes_before_names() -> None:
    trials, _ = study(13)
    named = trials.assign(original=trials["original"] + "-cat1-dog2")
    by_name = analyse(named, **QUICK).shape_bias
    assert [one.category for one in by_name[0].by_category] == ["cat"], "by name the category is the shape's"
    assert by_name and by_name[0].shape == (named.loc[named["role"] != "gold", "response"] == "cat").sum()
    one = named["original"].iloc[0]
    stated = named.assign(
        competing=[
            "oven" if name == one and category != "oven" else ""
            for name, category in zip(named["original"], named["category"], strict=True)
        ]
    )
    rows = stated[(stated["competing"] == "oven") & (stated["role"] != "gold")]
    found = analyse(stated, **QUICK).shape_bias[0]
    assert found.shape + found.texture + found.other == len(rows)


@of_the_sixteen
def test_options_of_other_labels_need_these_labels() -> None:
    trials, _ = study(14)
    with pytest.raises(TableRefused, match="none of the labels of entry16"):
        analyse(trials.assign(options=" ".join(shipped("mnist").ids)), **QUICK)
