"""Ranks as sets: by hand, ties, an oracle, and who is ranked at all."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

from analysis.differences.answers import AnswersToOne, SumsOfNames
from analysis.differences.beside import beside_people
from analysis.differences.family import Estimates, null_draws, stepdown
from analysis.differences.ranks import rank_sets
from benchmarks.claims._studies import SMOOTH
from benchmarks.claims.ranks import Pictures, logits, simulated

PLACE = np.tile((np.arange(40) + 0.5) / 40, 50)
NAMES = np.arange(2000)


def answering(right: np.ndarray) -> dict[str, AnswersToOne]:
    return {"c": AnswersToOne.of(PLACE, right.astype(float), NAMES)}


def test_sets_by_hand() -> None:
    """Two models with the same answers below one that is right more often, above one that hardly ever is."""
    hard = np.random.default_rng(1).permutation(2000) / 2000
    models = {
        "low": answering(hard < 0.1),
        "twin a": answering(hard < 0.5),
        "twin b": answering(hard < 0.5),
        "high": answering(hard < 0.8),
    }
    found = rank_sets({"c": models["low"]["c"]}, models)
    assert found == {"low": (4, 4), "twin a": (2, 3), "twin b": (2, 3), "high": (1, 1)}
    assert rank_sets({"c": models["low"]["c"]}, {"low": models["low"]}) == {}
    assert rank_sets({}, {}) == {}


def test_what_is_ranked_is_the_difference_from_people() -> None:
    """On independent pictures two models are ordered where the two-sample test of their means says so."""
    rng = np.random.default_rng(3)
    people = {"c": AnswersToOne.of(PLACE, (rng.random(2000) < 0.6).astype(float), NAMES, NAMES % 20)}
    for rate, is_ordered in ((0.6, False), (0.72, True)):
        models = {"a": answering(rng.random(2000) < 0.6), "b": answering(rng.random(2000) < rate)}
        beside = beside_people(people, models, attentive={})
        test = stats.ttest_ind(*(one["c"].outcome for one in models.values()))
        assert beside["b"].difference - beside["a"].difference == pytest.approx(
            models["b"]["c"].outcome.mean() - models["a"]["c"].outcome.mean()
        )
        assert bool(test.pvalue < 0.05) is is_ordered
        assert (rank_sets(people, models)["b"] == (1, 1)) is is_ordered


def test_the_first_critical_value_is_tukeys() -> None:
    """Independent means of equal variance: the largest of all pairs follows the studentised range."""
    rng = np.random.default_rng(4)
    count, models = 3000, 6
    outcomes = rng.normal(size=(count, models))
    first, second = np.triu_indices(models, 1)
    matrix = np.eye(models)[first] - np.eye(models)[second]
    sums = SumsOfNames(np.arange(count).astype(str), csr_array((outcomes - outcomes.mean(axis=0)) / count))
    family = Estimates.of(matrix @ outcomes.mean(axis=0), matrix, {"original": sums}, np.zeros(len(matrix)))
    (draws,) = null_draws([family], seed=0, n_draws=20_000)
    _, critical = stepdown(np.zeros(2 * len(matrix)), np.concatenate([draws, -draws], axis=1), 0.05)
    assert critical == pytest.approx(stats.studentized_range.ppf(0.95, models, np.inf) / np.sqrt(2.0), abs=0.04)


def test_models_that_were_measured_elsewhere_have_no_rank() -> None:
    rng = np.random.default_rng(5)
    models = {name: answering(rng.random(2000) < 0.5) for name in ("a", "b", "c")}
    half = models["c"]["c"]
    people = {"c": half, "d": half}
    models["c"] = {"c": half.select(half.place < 0.5)}
    assert set(rank_sets(people, models)) == {"a", "b"}
    models["a"]["d"] = models["b"]["d"] = half
    models["c"] = {"c": half}
    assert set(rank_sets(people, models)) == {"a", "b"}, "means over other corruptions are not compared"


def test_conditions_of_an_experiment_are_ranked_over_those_in_common() -> None:
    place = np.repeat([0.0, 0.5, 1.0], 300)
    right = np.tile(np.arange(300) < 200, 3).astype(float)
    people = {"c": AnswersToOne.of(place, right, np.arange(900), np.arange(900) % 20)}
    worse = AnswersToOne.of(place, np.tile(np.arange(300) < 60, 3).astype(float), np.arange(900))
    models = {"a": {"c": AnswersToOne.of(place, right, np.arange(900))}, "b": {"c": worse}}
    assert rank_sets(people, models, conditions=frozenset({"c"})) == {"a": (1, 1), "b": (2, 2)}


def test_tied_models_are_seldom_ordered_and_a_better_one_is_found() -> None:
    pictures, false, found = Pictures(100, 6), 0, 0
    tied, better = logits(pictures, [[SMOOTH.lowered(0.1)]] * 4), logits(pictures, [[SMOOTH]])
    for seed in range(25):
        people, answers = simulated(np.random.default_rng(seed), pictures, [*better, *tied])
        sets = rank_sets(people, answers, seed=seed)
        found += sets["model 0"] == (1, 1)
        false += any(sets[f"model {number}"] not in ((1, 5), (2, 5)) for number in range(1, 5))
    assert false <= 5 and found >= 20, "binomial bounds of .05 and of .95 are 4 and 21"
