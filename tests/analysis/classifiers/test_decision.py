"""From 1,000 (or any) labels to 16: the published mean rule, hand-computed, and its alternatives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.errors import InvalidInput, UnknownName
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids
from analysis.labels.mapping import Answering, Decisions, LabelMapping, Rule, labels_of_classes

KNIFE = class_ids()[499]
DOGS = [wnid for wnid, category in labels_of_classes(default_labels()).items() if category == ("dog",)]


def row(**values: float) -> np.ndarray:
    """One row of 1,000 probabilities with these WordNet ids set."""
    probabilities = np.zeros((1, 1000))
    for wnid, value in values.items():
        probabilities[0, class_ids().index(wnid)] = value
    return probabilities


def decided(probabilities: np.ndarray, labels: Sequence[str], rule: Rule = "mean") -> Decisions:
    return Answering(rule=rule).answer(probabilities, labels)


def test_mean_weighs_one_knife_against_109_dogs() -> None:
    """Knife 0.01 / 1 class = 0.01; dogs 109 x 0.005 / 109 = 0.005; sum of dogs 0.545; largest dog 0.005."""
    probabilities = row(**{KNIFE: 0.01}, **dict.fromkeys(DOGS, 0.005))
    scores = LabelMapping.of(class_ids(), default_labels()).scores(probabilities)
    assert scores[0, default_labels().ids.index("knife")] == pytest.approx(0.01)
    assert scores[0, default_labels().ids.index("dog")] == pytest.approx(0.005)
    assert decided(probabilities, class_ids()).responses.tolist() == ["knife"]
    assert decided(probabilities, class_ids(), rule="sum").responses.tolist() == ["dog"]
    assert decided(probabilities, class_ids(), rule="max").responses.tolist() == ["knife"]
    assert decided(probabilities, class_ids()).confidence[0] == pytest.approx(0.01 / 0.015)
    assert decided(probabilities, class_ids(), rule="sum").confidence[0] == pytest.approx(0.545 / 0.555)


def test_classes_outside_the_207_do_not_count() -> None:
    probabilities = row(n01440764=0.9, **{KNIFE: 0.05})
    decisions = decided(probabilities, class_ids())
    assert decisions.responses.tolist() == ["knife"]
    assert decisions.confidence[0] == pytest.approx(1.0)


def test_a_decision_is_sixteen_way_whatever_the_labels() -> None:
    assert decided(row(**{KNIFE: 1.0}), class_ids()).label_space == 16
    assert decided(np.eye(16), default_labels().ids).label_space == 16


def test_sixteen_labels_in_any_order() -> None:
    labels = tuple(reversed(default_labels().ids))
    decisions = decided(np.eye(16) * 0.85 + 0.15 / 16, labels)
    assert decisions.responses.tolist() == list(labels)
    assert decisions.confidence == pytest.approx(np.full(16, 0.85 + 0.15 / 16))
    assert len(decisions) == 16


def test_ties_go_to_the_first_category_and_nothing_to_chance() -> None:
    decisions = decided(np.zeros((2, 16)), default_labels().ids)
    assert decisions.responses.tolist() == ["airplane", "airplane"]
    assert decisions.confidence == pytest.approx([1 / 16, 1 / 16])


def test_no_pictures_no_decisions() -> None:
    assert len(decided(np.zeros((0, 1000)), class_ids())) == 0


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["mean", "sum", "max"]))
def test_scores_equal_a_plain_loop(seed: int, rule: str) -> None:
    probabilities = np.random.default_rng(seed).dirichlet(np.full(1000, 0.05), size=3)
    plain = {"mean": lambda xs: sum(xs) / len(xs), "sum": sum, "max": max}[rule]
    scores = LabelMapping.of(class_ids(), default_labels(), rule=rule).scores(probabilities)  # type: ignore[arg-type]
    for i in range(3):
        for j, category in enumerate(default_labels().ids):
            members = [
                float(p)
                for p, w in zip(probabilities[i], class_ids(), strict=True)
                if labels_of_classes(default_labels()).get(w) == (category,)
            ]
            assert scores[i, j] == pytest.approx(plain(members))


@pytest.mark.parametrize(
    ("probabilities", "labels", "message"),
    [
        (np.zeros((2, 15)), default_labels().ids, r"16 labels need probabilities of shape \(n, 16\)"),
        (np.full((1, 16), 3.0), default_labels().ids, "softmax"),
        (np.full((1, 16), np.nan), default_labels().ids, "picture 1 are no numbers"),
        (np.full((1, 15), 0.1), default_labels().ids[:-1], "No output stands for truck"),
    ],
)
def test_what_is_no_distribution_over_the_categories_is_refused(
    probabilities: np.ndarray, labels: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        decided(probabilities, labels)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UnknownName, match="'median'.*mean, sum, max"):
        decided(np.eye(16), default_labels().ids, rule="median")  # type: ignore[arg-type]
