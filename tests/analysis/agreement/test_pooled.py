from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from analysis.agreement.pairs import error_consistency
from analysis.agreement.pooled import PooledConsistency, pooled_consistency
from analysis.errors import InvalidInput, TooFewResponses


def test_two_observers_on_one_stratum_are_the_published_statistic_but_for_chance() -> None:
    """Chance is of answers to different pictures: of n, (n - 1) / n of the published difference are left."""
    rng = np.random.default_rng(1)
    a, b = rng.random(90) < 0.7, rng.random(90) < 0.5
    one = np.ones(90)
    found, published = pooled_consistency(a, one, b, one), error_consistency(a, b)
    assert found.observed == pytest.approx(published.observed, abs=1e-12)
    assert (found.observed - found.expected) * 89 / 90 == pytest.approx(published.observed - published.expected)
    assert found.pictures == 90 and found.accuracies == pytest.approx(published.accuracies)
    assert found.is_stratified and found.left_out == 0


def test_hand_computed_within_one_group() -> None:
    """Three answers, two right: one pair of three agrees. Two, both right: they agree. One answer: left out."""
    found = pooled_consistency([2, 2, 1], [3, 2, 1])
    assert found.pictures == 2
    assert found.observed == pytest.approx((1 / 3 + 1) / 2)
    # An answer to the first picture and one to the second: 2/3 right and always right.
    assert found.expected == pytest.approx(2 / 3) and found.kappa == pytest.approx(0.0)
    assert not found.is_stratified and found.interval is None, "two pictures are no stratum"


def test_hand_computed_over_two_strata_of_which_one_is_too_small() -> None:
    """Ten pictures: both right on 6, both wrong on 2, one each alone. Nine more in another condition are left out."""
    a = np.array([1] * 6 + [0] * 2 + [1, 0] + [1, 0, 1] * 3)
    b = np.array([1] * 6 + [0] * 2 + [0, 1] + [0, 0, 1] * 3)
    one = np.ones(19)
    found = pooled_consistency(a, one, b, one, strata=[0] * 10 + [1] * 9)
    assert (found.pictures, found.left_out, found.strata) == (10, 9, 1)
    # 7 x 7 pairs less the 6 on one picture are right, 3 x 3 less 2 wrong: 43 + 7 of 90.
    assert (found.observed, found.expected) == pytest.approx((0.8, 50 / 90))
    assert found.kappa == pytest.approx((0.8 - 50 / 90) / (1 - 50 / 90))


def test_without_a_stratum_of_ten_kappa_includes_shared_difficulty() -> None:
    rng = np.random.default_rng(6)
    stratum = np.arange(90) % 10
    p = np.linspace(0.02, 0.98, 10)[stratum]
    a, b, one = rng.random(90) < p, rng.random(90) < p, np.ones(90)
    found = pooled_consistency(a, one, b, one, strata=stratum)
    assert not found.is_stratified and found.interval is None and found.left_out == 0
    assert found.kappa == pytest.approx(pooled_consistency(a, one, b, one).kappa) and found.kappa > 0.3


def independent(runs: int, pictures: int, seed: int) -> list[PooledConsistency]:
    """Two people who err independently given the stratum, of about 30 strata that are easy and hard."""
    found = []
    for run in range(runs):
        rng = np.random.default_rng((seed, pictures, run))
        stratum = rng.integers(30, size=pictures)
        p = np.linspace(0.1, 0.95, 30)[stratum]
        a, b, one = rng.random(pictures) < p, rng.random(pictures) < p, np.ones(pictures)
        found.append(pooled_consistency(a, one, b, one, strata=stratum))
    return found


def missed(found: list[PooledConsistency]) -> float:
    return float(np.mean([one.interval is not None and not one.interval[0] <= 0.0 <= one.interval[1] for one in found]))


def test_independent_people_are_seldom_said_to_agree_or_disagree() -> None:
    """With chance inside strata of one or two pictures kappa was -.41, and 60 % of intervals were without 0."""
    for pictures in (35, 100, 300):
        found = independent(40, pictures, seed=0)
        assert missed(found) <= 0.15
        stratified = [one.kappa for one in found if one.is_stratified]
        if pictures == 300:
            assert len(stratified) == 40 and abs(np.mean(stratified)) < 0.05
        if pictures == 35:
            assert not stratified


@pytest.mark.verify
@pytest.mark.parametrize("pictures", [35, 100, 300, 800])
def test_the_level_of_independent_people(pictures: int) -> None:
    found = independent(400, pictures, seed=1)
    assert missed(found) <= 0.07
    stratified = [one.kappa for one in found if one.is_stratified]
    assert len(stratified) < 40 or abs(np.mean(stratified)) < 0.02


def test_difficulty_that_is_shared_within_strata_is_found() -> None:
    rng = np.random.default_rng(8)
    stratum = np.arange(600) % 20
    p = 1.0 / (1.0 + np.exp(-np.linspace(-1.0, 2.0, 20)[stratum] - rng.normal(0.0, 2.0, 600)))
    a, b, one = rng.random(600) < p, rng.random(600) < p, np.ones(600)
    found = pooled_consistency(a, one, b, one, strata=stratum)
    assert found.interval is not None and found.kappa > found.interval[0] > 0.1
    people = rng.binomial(3, p)
    alone = pooled_consistency(people, np.full(600, 3), strata=stratum)
    assert alone.interval is not None and alone.interval[0] > 0.1


def test_every_pair_of_answers_counts_as_in_brute_force() -> None:
    rng = np.random.default_rng(2)
    answers = [rng.random(n) < 0.6 for n in (2, 3, 5, 4)]
    alike = [np.mean([x == y for x, y in combinations(own, 2)]) for own in answers]
    found = pooled_consistency([own.sum() for own in answers], [len(own) for own in answers])
    assert found.observed == pytest.approx(np.mean(alike))


def test_difficulty_that_differs_between_strata_is_no_consistency() -> None:
    """Independent observers of easy and hard pictures: kappa is near 0 within strata, and far above over all."""
    rng = np.random.default_rng(3)
    stratum = np.arange(4000) % 2
    p = np.where(stratum == 0, 0.95, 0.2)
    a, b, one = rng.random(4000) < p, rng.random(4000) < p, np.ones(4000)
    assert abs(pooled_consistency(a, one, b, one, strata=stratum).kappa) < 0.06
    assert pooled_consistency(a, one, b, one).kappa > 0.4


def test_the_interval_covers_the_truth_of_independent_observers() -> None:
    covered = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        original = np.repeat(np.arange(60), 4)
        a, b = rng.random(240) < 0.7, rng.random(240) < 0.6
        one = np.ones(240)
        interval = pooled_consistency(a, one, b, one, clusters=original).interval
        assert interval is not None
        covered.append(interval[0] <= 0 <= interval[1])
    assert 0.85 <= np.mean(covered) <= 1


def test_pictures_of_one_original_are_drawn_together() -> None:
    """Ten pictures an original that all come out alike are worth one: the interval is about sqrt(10) times as wide."""
    rng = np.random.default_rng(5)
    original = np.repeat(np.arange(40), 10)
    a, b = np.repeat(rng.random(40) < 0.6, 10), np.repeat(rng.random(40) < 0.5, 10)
    one = np.ones(400)

    def width(clusters: np.ndarray | None) -> float:
        found = pooled_consistency(a, one, b, one, clusters=clusters).interval
        assert found is not None
        return found[1] - found[0]

    assert 2.4 < width(original) / width(None) < 4.0


def test_observers_without_a_common_picture_are_refused() -> None:
    with pytest.raises(TooFewResponses):
        pooled_consistency([1, 0], [1, 1])
    with pytest.raises(TooFewResponses):
        pooled_consistency([1, 0], [1, 0], [0, 1], [0, 1])
    with pytest.raises(InvalidInput):
        pooled_consistency([2], [1], [1], [1])
    with pytest.raises(InvalidInput):
        pooled_consistency([1], [1], [1])


def test_the_interval_is_that_of_the_jackknife_over_originals() -> None:
    rng = np.random.default_rng(4)
    original, stratum = np.arange(400) // 4, np.arange(400) % 3
    easy = rng.normal(0.0, 1.5, 100)[original] + np.array([2.0, 1.0, 0.0])[stratum]
    n_a, n_b = rng.integers(1, 4, 400), np.ones(400, dtype=np.int64)
    right_a, right_b = (rng.binomial(n, 1.0 / (1.0 + np.exp(-easy))) for n in (n_a, n_b))

    def found(kept: np.ndarray) -> PooledConsistency:
        columns = (column[kept] for column in (right_a, n_a, right_b, n_b))
        return pooled_consistency(*columns, strata=stratum[kept], clusters=original[kept])

    without = np.array([found(original != one).kappa for one in range(100)])
    error = np.sqrt(99 / 100 * ((without - without.mean()) ** 2).sum())
    whole = found(np.ones(400, dtype=np.bool_)).interval
    assert whole is not None
    # 1.98 to 2.00: t with 60 to 99 degrees of freedom.
    assert (whole[1] - whole[0]) / (2.0 * error) == pytest.approx(1.99, rel=0.03)


def test_without_any_spread_there_is_no_interval() -> None:
    assert pooled_consistency([1, 0, 1], [1, 1, 1], [1, 0, 1], [1, 1, 1]).interval is None
