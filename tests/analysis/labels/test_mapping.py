"""From outputs to labels: among and open, every rule, several labels of one output, and chance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.errors import InvalidInput, UnknownName
from analysis.labels.files import labels_of_words, shipped
from analysis.labels.imagenet import class_ids
from analysis.labels.mapping import (
    Answering,
    LabelMapping,
    labels_of_classes,
    mapping_of,
    measured_chance,
    outputs_of_labels,
)
from analysis.labels.space import OUTSIDE

PETS = labels_of_words("pets", ["Cat", "Dog"])
#: two kinds of dog, a cat, and a stone
OUTPUTS = ("poodle", "pug", "tabby", "stone")
TABLE = {"poodle": ["dog"], "pug": ["dog"], "tabby": ["cat"]}


def pets(**changes: str) -> LabelMapping:
    return LabelMapping.of(OUTPUTS, PETS, table=TABLE, **changes)  # type: ignore[arg-type]


def test_by_hand() -> None:
    """Dogs .30 and .10: mean .20, sum .40, largest .30; the cat .25, the stone .35."""
    probabilities = np.array([[0.30, 0.10, 0.25, 0.35]])
    answers = {
        (rule, how): pets(rule=rule, decide=how).answer(probabilities)
        for rule in ("mean", "sum", "max")
        for how in ("among", "open")
    }
    assert {asked: found.responses.tolist() for asked, found in answers.items()} == {
        ("mean", "among"): ["cat"],
        ("sum", "among"): ["dog"],
        ("max", "among"): ["dog"],
        ("mean", "open"): [OUTSIDE],
        ("sum", "open"): ["dog"],
        ("max", "open"): [OUTSIDE],
    }
    assert answers["mean", "among"].confidence[0] == pytest.approx(0.25 / 0.45)
    assert answers["max", "open"].confidence[0] == pytest.approx(0.35 / (0.30 + 0.25 + 0.35))
    assert answers["sum", "open"].label_space == 2


def test_labels_of_many_classes_do_not_lose_openly_to_any_single_output() -> None:
    """One clear pug among 118 dogs: its mean lies below whatever else the network considers."""
    dogs = outputs_of_labels(class_ids(), shipped("restricted9"))["dog"]
    probabilities = np.full((1, 1000), 0.1 / 999)
    probabilities[0, dogs[5]] = 0.9
    probabilities[0, class_ids().index("n02797295")] = 0.02  # barrow
    for rule in ("mean", "sum", "max"):
        found = mapping_of(class_ids(), shipped("restricted9"), rule, "open").answer(probabilities)  # type: ignore[arg-type]
        assert found.responses.tolist() == ["dog"]


def test_an_output_may_stand_for_several_labels() -> None:
    space = labels_of_words("homes", ["Animal", "Pet"])
    mapping = LabelMapping.of(("cat", "lion"), space, table={"cat": ["animal", "pet"], "lion": ["animal"]})
    assert mapping.scores(np.array([[0.6, 0.4]])).tolist() == [[0.5, 0.6]]


def test_a_label_without_an_output_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="No output stands for cat"):
        LabelMapping.of(("dog", "stone"), PETS)
    assert outputs_of_labels(("dog", "stone"), PETS) == {"cat": (), "dog": (0,)}
    with pytest.raises(InvalidInput, match="names 'cow', which is none of the labels of pets"):
        LabelMapping.of(OUTPUTS, PETS, table={**TABLE, "stone": ["cow"]})


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(UnknownName, match="'median'"):
        pets(rule="median")
    with pytest.raises(UnknownName, match="among or open"):
        pets(decide="closed")


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["mean", "sum", "max"]), st.sampled_from(["among", "open"]))
def test_restricted_imagenet_equals_a_plain_loop(seed: int, rule: str, how: str) -> None:
    space = shipped("restricted9")
    probabilities = np.random.default_rng(seed).dirichlet(np.full(1000, 0.02), size=3)
    reduce = {"mean": lambda xs: sum(xs) / len(xs), "sum": sum, "max": max}[rule]
    found = mapping_of(class_ids(), space, rule, how).answer(probabilities)  # type: ignore[arg-type]
    for row, response in zip(probabilities, found.responses.tolist(), strict=True):
        named = labels_of_classes(space)
        rivals = {
            label: float(reduce([p for p, w in zip(row, class_ids(), strict=True) if label in named.get(w, ())]))
            for label in space.ids
        }
        best = max(sorted(rivals), key=rivals.__getitem__)
        outside = max(p for p, w in zip(row, class_ids(), strict=True) if w not in named)
        rival = max(p for p, w in zip(row, class_ids(), strict=True) if w in named) if rule == "mean" else rivals[best]
        assert response == (OUTSIDE if how == "open" and outside > rival else best)


def test_the_published_numbers_of_classes() -> None:
    """Restricted ImageNet: ranges of 118, 5, 3, 5, 21, 18, 9, 4, 20 classes; ImageNet-9: 370 classes in all."""
    sizes = {label.id: len(found) for label, found in _columns("restricted9")}
    assert sizes == {
        "dog": 118, "cat": 5, "frog": 3, "turtle": 5, "bird": 21, "primate": 18, "fish": 9, "crab": 4, "insect": 20,
    }  # fmt: skip
    sizes = {label.id: len(found) for label, found in _columns("backgrounds9")}
    assert sizes == {
        "dog": 116, "bird": 52, "vehicle": 42, "reptile": 36, "carnivore": 35, "insect": 27, "instrument": 26,
        "primate": 20, "fish": 16,
    }  # fmt: skip
    assert sum(len(found) for _, found in _columns("objectnet113")) == 125
    assert all(len(found) == 1 for _, found in _columns("imagenet1000"))


def _columns(name: str) -> list[tuple[object, tuple[int, ...]]]:
    space = shipped(name)
    return [(space[label], found) for label, found in outputs_of_labels(class_ids(), space).items()]


def test_of_a_thousand_labels_the_five_best_are_kept() -> None:
    probabilities = np.random.default_rng(1).dirichlet(np.ones(1000), size=4)
    found = mapping_of(class_ids(), shipped("imagenet1000")).answer(probabilities)
    order = np.argsort(-probabilities, axis=1)[:, :5]
    assert found.best.tolist() == np.array(class_ids())[order].tolist()
    assert found.scores == pytest.approx(np.take_along_axis(probabilities, order, axis=1))
    assert not pets().answer(np.array([[0.1, 0.2, 0.3, 0.4]])).best.size


def test_the_digest_tells_rules_decisions_and_columns_apart() -> None:
    digests = {pets().digest, pets(rule="sum").digest, pets(decide="open").digest}
    digests.add(LabelMapping.of(OUTPUTS, PETS, table={**TABLE, "stone": ["cat"]}).digest)
    assert len(digests) == 4
    assert pets().digest == pets().digest


def test_own_labels_are_answered_as_they_are() -> None:
    found = Answering(own_labels=True).answer(np.array([[0.3, 0.1, 0.25, 0.35]]), OUTPUTS)
    assert (found.responses.tolist(), found.label_space) == (["stone"], 4)


def test_measured_chance_is_the_mean_over_permutations() -> None:
    """Null: dealt at random, a network that says dog three times of four is right in (3 x 1 + 1 x 3) / 16."""
    responses, truth = np.array(["dog", "dog", "dog", "cat"]), np.array(["cat", "dog", "cat", "cat"])
    assert measured_chance(responses, truth) == pytest.approx((3 * 1 + 1 * 3) / 16)
    rng = np.random.default_rng(0)
    dealt = [np.mean(rng.permutation(responses) == truth) for _ in range(20_000)]
    assert np.mean(dealt) == pytest.approx(measured_chance(responses, truth), abs=0.005)
    assert measured_chance(truth, truth) == pytest.approx((9 + 1) / 16)
    assert np.isnan(measured_chance(np.array([]), np.array([])))


def test_chance_of_equal_answers_and_equal_labels_is_one_in_all() -> None:
    space = shipped("entry16")
    assert measured_chance(np.array(space.ids), np.array(space.ids)) == pytest.approx(space.chance)
