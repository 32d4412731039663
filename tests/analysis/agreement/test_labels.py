from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from analysis.agreement.labels import guessed_agreement, label_agreement, one_coin
from analysis.errors import InvalidInput, TooFewResponses

LABELS = 16


def test_agreement_hand_computed() -> None:
    found = label_agreement(["a", "a", "a", "b", "b"], ["cat", "cat", "dog", "cat", "dog"])
    assert [(one.picture, one.n, one.majority) for one in found.pictures] == [("a", 3, "cat"), ("b", 2, None)]
    assert found.pictures[0].agreement == pytest.approx(2 / 3)
    assert found.agreement == pytest.approx(3 / 5)


def test_em_follows_the_reliable_against_a_majority_of_guessers() -> None:
    """Two who agree everywhere else outweigh three who agree with nobody."""
    pictures, people, answers = [], [], []
    rng = np.random.default_rng(0)
    for number in range(40):
        truth = f"c{rng.integers(8)}"
        for person in ("good-1", "good-2"):
            pictures.append(f"p{number}")
            people.append(person)
            answers.append(truth)
        for person in ("bad-1", "bad-2", "bad-3"):
            pictures.append(f"p{number}")
            people.append(person)
            answers.append("c0" if number == 0 else f"c{rng.integers(8)}")
    found = one_coin(pictures, people, answers, labels=8)
    assert found.answers["p0"] == next(a for p, w, a in zip(pictures, people, answers, strict=True) if w == "good-1")
    assert min(found.reliability["good-1"], found.reliability["good-2"]) > 0.9
    assert max(found.reliability[f"bad-{k}"] for k in (1, 2, 3)) < 0.5


def test_a_lone_answer_is_not_certain() -> None:
    found = one_coin(["a"], ["x"], ["cat"], labels=16)
    assert found.answers == {"a": "cat"}
    assert found.certainty["a"] <= 1.0


def test_order_of_answers_does_not_matter() -> None:
    pictures, people, answers, _, _ = crowd(3, each=15, pictures=60)
    order = np.random.default_rng(0).permutation(len(pictures))
    one = one_coin(pictures, people, answers)
    other = one_coin(*([column[k] for k in order] for column in (pictures, people, answers)))
    assert one.answers == other.answers
    assert one.reliability == pytest.approx(other.reliability)


def crowd(
    seed: int, *, each: int, pictures: int = 600
) -> tuple[list[str], list[str], list[str], dict[str, str], dict[str, bool]]:
    """16 categories, five answers a picture, 30 % random clickers, the others right with p = 0.9 (sd 0.05)."""
    rng = np.random.default_rng(seed)
    people = pictures * 5 // each
    truth, spam = rng.integers(0, LABELS, pictures), rng.random(people) < 0.3
    picture = np.concatenate([rng.permutation(pictures) for _ in range(5)])[: people * each]
    person = np.repeat(np.arange(people), each)
    reliability = np.where(spam, 1 / LABELS, np.clip(rng.normal(0.9, 0.05, people), 0, 1))
    right = rng.random(len(person)) < reliability[person]
    given = np.where(right, truth[picture], (truth[picture] + rng.integers(1, LABELS, len(person))) % LABELS)
    return (
        [f"p{k}" for k in picture],
        [f"w{k}" for k in person],
        [f"c{k}" for k in given],
        {f"p{k}": f"c{label}" for k, label in enumerate(truth)},
        {f"w{k}": bool(one) for k, one in enumerate(spam)},
    )


@pytest.mark.parametrize(("each", "majority", "coin"), [(15, 0.926, 0.976), (60, 0.890, 0.964)])
def test_recovers_labels_and_finds_every_random_clicker(each: int, majority: float, coin: float) -> None:
    """Means of 12 crowds against the measured figures for this design; every clicker is found, nobody else."""
    by_majority, by_coin, caught, wronged = [], [], [], []
    for seed in range(12):
        pictures, people, answers, truth, spam = crowd(seed, each=each)
        agreed = label_agreement(pictures, answers)
        found = one_coin(pictures, people, answers, labels=LABELS)
        by_majority.append(np.mean([one.majority == truth[one.picture] for one in agreed.pictures]))
        by_coin.append(np.mean([found.answers[name] == truth[name] for name in found.answers]))
        caught += [found.reliability[name] < 0.4 for name, clicks in spam.items() if clicks]
        wronged += [found.reliability[name] < 0.4 for name, clicks in spam.items() if not clicks]
    assert np.mean(by_majority) == pytest.approx(majority, abs=0.025)
    assert np.mean(by_coin) == pytest.approx(coin, abs=0.015)
    assert np.mean(by_coin) > np.mean(by_majority) + 0.04
    assert np.mean(caught) >= 0.99 and np.mean(wronged) <= 0.003


def test_bad_input_is_refused() -> None:
    with pytest.raises(TooFewResponses):
        label_agreement([], [])
    with pytest.raises(InvalidInput, match="2 pictures"):
        label_agreement(["a", "b"], ["cat"])
    with pytest.raises(InvalidInput, match="labels were offered"):
        one_coin(["a", "b", "c"], ["x", "x", "x"], ["1", "2", "3"], labels=2)
    with pytest.raises(InvalidInput, match="people"):
        one_coin(["a"], [], ["1"])


def _enumerated(n: int, labels: int) -> tuple[float, float]:
    """Mean and variance of the largest count over every way to guess."""
    most = [max(Counter(ways).values()) for ways in itertools.product(range(labels), repeat=n)]
    return float(np.mean(most)), float(np.var(most))


@pytest.mark.parametrize(("n", "labels"), [(1, 4), (2, 4), (3, 4), (5, 4), (4, 2), (7, 2), (6, 3)])
def test_guessing_is_what_all_ways_to_guess_give(n: int, labels: int) -> None:
    mean, variance = _enumerated(n, labels)
    found = guessed_agreement([n], labels)
    assert found.expected == pytest.approx(mean / n)
    assert found.upper == pytest.approx(min(1.0, (mean + 1.96 * variance**0.5) / n))


def test_guessing_of_two_by_hand() -> None:
    # Two of four labels are the same in one case of four: 2 of 2 agree, else 1 of 2.
    assert guessed_agreement([2, 2, 2], 4).expected == pytest.approx(1 / 4 * 1 + 3 / 4 * 1 / 2)


def test_guessers_agree_as_guessing_says_and_no_more() -> None:
    rng = np.random.default_rng(5)
    given = [10] * 60 + [3] * 20
    pictures = [str(k) for k, n in enumerate(given) for _ in range(n)]
    found = guessed_agreement(given, 4)
    agreed = [label_agreement(pictures, [str(one) for one in rng.integers(4, size=len(pictures))]) for _ in range(400)]
    shares = np.array([one.agreement for one in agreed])
    assert shares.mean() == pytest.approx(found.expected, abs=0.003)
    assert 0.955 < (shares <= found.upper).mean() < 0.995


def test_guessing_needs_labels_and_answers() -> None:
    with pytest.raises(InvalidInput):
        guessed_agreement([3], 1)
    with pytest.raises(InvalidInput):
        guessed_agreement([3, 0], 4)
    with pytest.raises(TooFewResponses):
        guessed_agreement([], 4)
