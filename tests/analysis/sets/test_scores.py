"""Scores on sets: by hand, drops against a count of their own, what may not be compared, coverage of a drop."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

from analysis.findings.observations import Observations
from analysis.labels.files import default_labels
from analysis.sets.scores import SetAnswers, drops, set_scores
from tests.labels import label_at

SPACE = default_labels()


def observations(
    observer: Sequence[str], original: Sequence[str], right: Sequence[bool], labels: int = 2
) -> Observations:
    n = len(observer)
    number = np.array([int(one.strip("abcdefghijklmnopqrstuvwxyz-")) for one in original])
    category = np.array([label_at(one % labels) for one in number])
    other = np.array([label_at((one + 1) % 3) for one in number])
    texts = np.full(n, "")
    numbers = np.full(n, np.nan)
    return Observations(
        observer=np.array(observer), session=texts, original=np.array(original), stimulus=np.array(original),
        category=category, corruption=np.full(n, "edges"), condition=np.array([str(one % 2) for one in number]),
        response=np.where(right, category, other), visual_change=numbers,
        correct=np.asarray(right, dtype=np.float64), rt_ms=numbers, timing_ok=numbers,
        imported=np.ones(n, dtype=np.bool_), input_kind=texts,
    )  # fmt: skip


def nobody() -> Observations:
    return observations([], [], [])


def one_model(name: str, right: Sequence[bool], labels: int = 2) -> Observations:
    return observations([name] * len(right), [f"o{k}" for k in range(len(right))], right, labels)


def test_scores_by_hand() -> None:
    people = observations(["ann", "ann", "bob", "bob"], ["o0", "o1", "o0", "o1"], [True, False, True, True])
    models = observations(["net"] * 2 + ["vlm"] * 2, ["o0", "o1"] * 2, [False, False, True, True])
    found = set_scores(SetAnswers("edges", people, models, SPACE))
    assert [(one.observer, one.kind, one.n, one.accuracy) for one in found.scores] == [
        ("chance", "chance", 0, 1 / len(SPACE)),
        ("humans", "humans", 4, 0.75),
        ("ann", "human", 2, 0.5),
        ("bob", "human", 2, 1.0),
        ("vlm", "classifier", 2, 1.0),
        ("net", "classifier", 2, 0.0),
    ]
    of = {one.observer: one for one in found.scores}
    # One observer and two pictures: the exact interval of 1 of 2.
    assert of["ann"].interval == pytest.approx((beta.ppf(0.025, 1, 2), beta.ppf(0.975, 2, 1)))
    assert of["vlm"].favourite is None and of["net"].favourite is not None
    assert of["net"].favourite.share == 0.5
    by_condition = {(one.observer, one.condition): (one.n, one.accuracy) for one in found.conditions}
    assert by_condition[("humans", "0")] == (2, 1.0) and by_condition[("humans", "1")] == (2, 0.5)
    assert ("ann", "0") not in by_condition


def test_chance_is_that_of_the_labels_that_trials_offered() -> None:
    people = observations(["ann", "ann"], ["o0", "o1"], [True, True])
    offered = replace(people, offered=np.array([2, 4]))
    found = set_scores(SetAnswers("edges", offered, nobody(), SPACE))
    assert found.scores[0].accuracy == pytest.approx((1 / 2 + 1 / 4) / 2)


def test_a_set_without_answers_has_no_row() -> None:
    assert set_scores(SetAnswers("edges", nobody(), nobody(), SPACE)).scores == ()


def test_a_drop_counts_the_labels_that_both_sets_have() -> None:
    """The reference has three labels in turn, the set two: every third answer to the reference does not count."""
    before = SetAnswers("clean", nobody(), one_model("net", [True, False, False] * 20, labels=3), SPACE)
    after = SetAnswers("hard", nobody(), one_model("net", [True, False] * 10), SPACE, reference="clean")
    (found,) = drops([before, after])
    assert (found.labels, found.reference_accuracy, found.accuracy, found.drop) == (2, 0.5, 0.5, 0.0)
    assert found.interval is not None and found.interval[0] < 0.0 < found.interval[1]
    assert found.withheld == "" and (found.set, found.reference) == ("hard", "clean")


def test_two_rules_are_not_compared() -> None:
    before = SetAnswers("clean", nobody(), one_model("net", [True, True]), SPACE, {"net": "mean, among"})
    after = SetAnswers("hard", nobody(), one_model("net", [True, False]), SPACE, {"net": "mean, open"}, "clean")
    (found,) = drops([before, after])
    assert found.drop is None and found.accuracy is None
    assert found.withheld == "two rules: mean, among on clean, mean, open on hard"


def test_other_labels_and_nothing_in_common_are_not_compared() -> None:
    from analysis.labels.files import shipped

    other = next(name for name in ("cifar10", "mnist", "imagenet1000") if shipped(name).identity != SPACE.identity)
    before = SetAnswers("clean", nobody(), one_model("net", [True, True]), shipped(other))
    after = SetAnswers("hard", nobody(), one_model("net", [True, False]), SPACE, reference="clean")
    assert drops([before, after])[0].withheld == "the sets have different labels"
    strange = replace(one_model("net", [True, True]), category=np.array([label_at(2), label_at(2)]))
    before = SetAnswers("clean", nobody(), strange, SPACE)
    assert drops([before, after])[0].withheld == "the sets have no label in common"


def test_a_set_whose_reference_is_not_there_and_an_observer_of_one_set_have_no_drop() -> None:
    after = SetAnswers("hard", nobody(), one_model("net", [True, False]), SPACE, reference="clean")
    assert drops([after]) == ()
    before = SetAnswers("clean", nobody(), one_model("another", [True, True]), SPACE)
    assert drops([before, after]) == ()


@pytest.mark.parametrize(("first", "second"), [(0.9, 0.6), (0.5, 0.5), (0.98, 0.98)])
def test_intervals_of_drops_contain_the_true_drop(first: float, second: float) -> None:
    """Recovery, and the null where both shares are one: at least nominal up to the error of 300 repetitions."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(300):
        easy, hard = (one_model("net", (rng.random(n) < share).tolist()) for n, share in ((80, first), (60, second)))
        before = SetAnswers("clean", nobody(), easy, SPACE)
        after = SetAnswers("hard", nobody(), hard, SPACE, reference="clean")
        (found,) = drops([before, after])
        assert found.interval is not None
        held += found.interval[0] <= first - second <= found.interval[1]
    assert held / 300 >= 0.95 - 2.6 * (0.95 * 0.05 / 300) ** 0.5


def test_people_have_a_drop_of_their_own_and_single_persons_none() -> None:
    pictures = [f"o{k}" for k in range(4)]
    who = list(itertools.chain.from_iterable([name] * 4 for name in ("ann", "bob")))
    before = SetAnswers("clean", observations(who, pictures * 2, [True] * 8), nobody(), SPACE)
    after = SetAnswers("hard", observations(who, pictures * 2, [True, False] * 4), nobody(), SPACE, reference="clean")
    found = drops([before, after])
    assert [(one.observer, one.kind, one.drop) for one in found] == [("humans", "humans", 0.5)]
