"""People's answers under a distribution: value, oracle, coverage, what reaches the ceiling and what does not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import entropy

from analysis.agreement.soft import shares_of_confidence, soft_agreement
from analysis.errors import InvalidInput, TooFewResponses

LABELS = 16
Shares = NDArray[np.float64]


def population(rng: np.random.Generator, pictures: int) -> Shares:
    """Some pictures are plain, others divide people."""
    return np.asarray(rng.dirichlet(np.full(LABELS, 0.15), size=pictures))


def answered(rng: np.random.Generator, shares: Shares, people: int) -> NDArray[np.int64]:
    return np.array([rng.multinomial(people, one) for one in shares])


def test_by_hand() -> None:
    """Answers 3 and 1 of two labels. People: (2 + .5) / 4 and .5 / 4; a model of .75: (3 x .75 + .5) / 4 = .6875."""
    found = soft_agreement([[3, 1]])
    assert found.cross_entropy == pytest.approx(-(3 * np.log2(0.625) + np.log2(0.125)) / 4)
    model = soft_agreement([[3, 1]], [[0.75, 0.25]])
    assert model.cross_entropy == pytest.approx(-(3 * np.log2(0.6875) + np.log2(0.3125)) / 4)
    assert model.beyond_people == pytest.approx(model.cross_entropy - found.cross_entropy)
    assert found.beyond_people is None and found.guessing == 1.0 and (found.pictures, found.answers) == (1, 4)


def test_cross_entropy_is_the_entropy_and_the_divergence_of_scipy() -> None:
    rng = np.random.default_rng(0)
    counts, shares = answered(rng, population(rng, 50), 9), population(rng, 50)
    smoothed = (8 * shares + 1 / LABELS) / 9
    oracle = [entropy(one, base=2) + entropy(one, own, base=2) for one, own in zip(counts / 9, smoothed, strict=True)]
    assert soft_agreement(counts, shares).cross_entropy == pytest.approx(np.mean(oracle))


@pytest.mark.parametrize("people", [4, 10, 30])
def test_a_model_that_equals_the_population_reaches_the_ceiling_and_a_guesser_does_not(people: int) -> None:
    rng = np.random.default_rng(people)
    worse = beyond = 0.0
    for _ in range(200):
        shares = population(rng, 60)
        counts = answered(rng, shares, people)
        equal = soft_agreement(counts, shares)
        guesser = soft_agreement(counts, np.full(shares.shape, 1 / LABELS))
        assert equal.beyond_people is not None and equal.beyond_interval is not None
        assert guesser.beyond_interval is not None and guesser.beyond_interval[0] > 0.0
        assert guesser.cross_entropy == pytest.approx(4.0)
        worse += equal.beyond_interval[0] > 0.0
        beyond += equal.beyond_people
    assert worse / 200 <= 0.05 and beyond / 200 <= 0.0


def test_the_mean_over_new_pictures_is_covered_for_people_and_for_a_model() -> None:
    rng = np.random.default_rng(8)

    def model_of(shares: Shares) -> Shares:
        return 0.7 * shares + 0.3 / LABELS

    many = population(rng, 60_000)
    counts = answered(rng, many, 6)
    truths = soft_agreement(counts).cross_entropy, soft_agreement(counts, model_of(many)).beyond_people
    covered = []
    for _ in range(400):
        shares = population(rng, 60)
        counts = answered(rng, shares, 6)
        people, model = soft_agreement(counts), soft_agreement(counts, model_of(shares))
        assert model.beyond_interval is not None and truths[1] is not None
        covered.append(
            (
                people.interval[0] <= truths[0] <= people.interval[1],
                model.beyond_interval[0] <= truths[1] <= model.beyond_interval[1],
            )
        )
    assert (np.mean(covered, axis=0) >= 0.92).all()


def test_pictures_of_one_original_count_together() -> None:
    rng = np.random.default_rng(2)
    counts = np.repeat(answered(rng, population(rng, 30), 6), 4, axis=0)
    alone, together = soft_agreement(counts), soft_agreement(counts, originals=np.repeat(np.arange(30), 4))
    assert together.cross_entropy == alone.cross_entropy and together.originals == 30
    assert together.interval[1] - together.interval[0] > 1.8 * (alone.interval[1] - alone.interval[0])


def test_people_who_all_agree_predict_each_other_up_to_the_smoothing() -> None:
    """Ten alike: (9 + 1/16) / 10. A model that is sure of the same is smoothed as much: nothing is beyond."""
    counts = np.zeros((40, LABELS))
    counts[:, 3] = 10
    sure = shares_of_confidence(np.full(40, 3), np.ones(40), LABELS)
    found = soft_agreement(counts, sure)
    assert found.cross_entropy == pytest.approx(-np.log2((9 + 1 / 16) / 10)) and found.beyond_people == pytest.approx(0)


def test_what_a_confidence_leaves_is_spread_evenly() -> None:
    shares = shares_of_confidence([0, -1], [0.7, 0.6], 4)
    assert shares[0] == pytest.approx([0.7, 0.1, 0.1, 0.1])
    # Named outside the labels: the rest is theirs, and .6 is nobody's.
    assert shares[1] == pytest.approx([0.1] * 4)


def test_bad_input_is_refused() -> None:
    with pytest.raises(TooFewResponses, match="4 people"):
        soft_agreement([[2, 1]])
    with pytest.raises(InvalidInput, match="one probability"):
        soft_agreement([[3, 1]], [[1.0]])
    with pytest.raises(InvalidInput, match="sum to at most 1"):
        soft_agreement([[3, 1]], [[0.9, 0.9]])
    with pytest.raises(InvalidInput, match="two or more"):
        soft_agreement([[3], [4]])
    with pytest.raises(InvalidInput, match="answer 1: the confidence is 87"):
        shares_of_confidence([0, 1], [0.5, 87.0], 4)
