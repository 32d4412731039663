"""From 1,000 (or any) labels to 16: the published mean rule, hand-computed, and its alternatives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.categories import CATEGORIES, IMAGENET_WNIDS, WNID_TO_CATEGORY
from analysis.classifiers.decision import category_scores, decide
from analysis.errors import InvalidInput, UnknownName

KNIFE = IMAGENET_WNIDS[499]
DOGS = [wnid for wnid, category in WNID_TO_CATEGORY.items() if category == "dog"]


def row(**values: float) -> np.ndarray:
    """One row of 1,000 probabilities with these WordNet ids set."""
    probabilities = np.zeros((1, 1000))
    for wnid, value in values.items():
        probabilities[0, IMAGENET_WNIDS.index(wnid)] = value
    return probabilities


def test_mean_weighs_one_knife_against_109_dogs() -> None:
    """Knife 0.01 / 1 class = 0.01; dogs 109 x 0.005 / 109 = 0.005; sum of dogs 0.545; largest dog 0.005."""
    probabilities = row(**{KNIFE: 0.01}, **dict.fromkeys(DOGS, 0.005))
    scores = category_scores(probabilities, IMAGENET_WNIDS)
    assert scores[0, CATEGORIES.index("knife")] == pytest.approx(0.01)
    assert scores[0, CATEGORIES.index("dog")] == pytest.approx(0.005)
    assert decide(probabilities, IMAGENET_WNIDS).responses.tolist() == ["knife"]
    assert decide(probabilities, IMAGENET_WNIDS, "sum").responses.tolist() == ["dog"]
    assert decide(probabilities, IMAGENET_WNIDS, "max").responses.tolist() == ["knife"]
    assert decide(probabilities, IMAGENET_WNIDS).confidence[0] == pytest.approx(0.01 / 0.015)
    assert decide(probabilities, IMAGENET_WNIDS, "sum").confidence[0] == pytest.approx(0.545 / 0.555)


def test_classes_outside_the_207_do_not_count() -> None:
    probabilities = row(n01440764=0.9, **{KNIFE: 0.05})
    decisions = decide(probabilities, IMAGENET_WNIDS)
    assert decisions.responses.tolist() == ["knife"]
    assert decisions.confidence[0] == pytest.approx(1.0)


def test_a_decision_is_sixteen_way_whatever_the_labels() -> None:
    assert decide(row(**{KNIFE: 1.0}), IMAGENET_WNIDS).label_space == 16
    assert decide(np.eye(16), CATEGORIES).label_space == 16


def test_sixteen_labels_in_any_order() -> None:
    labels = tuple(reversed(CATEGORIES))
    decisions = decide(np.eye(16) * 0.85 + 0.15 / 16, labels)
    assert decisions.responses.tolist() == list(labels)
    assert decisions.confidence == pytest.approx(np.full(16, 0.85 + 0.15 / 16))
    assert len(decisions) == 16


def test_ties_go_to_the_first_category_and_nothing_to_chance() -> None:
    decisions = decide(np.zeros((2, 16)), CATEGORIES)
    assert decisions.responses.tolist() == ["airplane", "airplane"]
    assert decisions.confidence == pytest.approx([1 / 16, 1 / 16])


def test_no_pictures_no_decisions() -> None:
    assert len(decide(np.zeros((0, 1000)), IMAGENET_WNIDS)) == 0


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["mean", "sum", "max"]))
def test_scores_equal_a_plain_loop(seed: int, rule: str) -> None:
    probabilities = np.random.default_rng(seed).dirichlet(np.full(1000, 0.05), size=3)
    plain = {"mean": lambda xs: sum(xs) / len(xs), "sum": sum, "max": max}[rule]
    scores = category_scores(probabilities, IMAGENET_WNIDS, rule)  # type: ignore[arg-type]
    for i in range(3):
        for j, category in enumerate(CATEGORIES):
            members = [
                float(p)
                for p, w in zip(probabilities[i], IMAGENET_WNIDS, strict=True)
                if WNID_TO_CATEGORY.get(w) == category
            ]
            assert scores[i, j] == pytest.approx(plain(members))


@pytest.mark.parametrize(
    ("probabilities", "labels", "message"),
    [
        (np.zeros((2, 15)), CATEGORIES, r"16 labels need probabilities of shape \(n, 16\)"),
        (np.full((1, 16), 3.0), CATEGORIES, "softmax"),
        (np.full((1, 16), np.nan), CATEGORIES, "picture 1 are no numbers"),
        (np.full((1, 15), 0.1), CATEGORIES[:-1], "No label stands for truck"),
    ],
)
def test_what_is_no_distribution_over_the_categories_is_refused(
    probabilities: np.ndarray, labels: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        decide(probabilities, labels)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UnknownName, match="'median'.*mean, sum, max"):
        decide(np.eye(16), CATEGORIES, "median")  # type: ignore[arg-type]
