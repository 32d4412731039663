from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from analysis.agreement.pairs import error_consistency, kappa_from_counts, stretch_of
from analysis.agreement.posterior import kappa_interval
from analysis.clusters import clustered
from analysis.errors import InvalidInput, TooFewResponses


def test_hand_computed() -> None:
    """Ten pictures, 6 and 5 right, 4 both: c_obs = 0.7, c_exp = 0.3 + 0.2 = 0.5, kappa = 0.4."""
    a = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    b = [1, 1, 1, 1, 0, 0, 1, 0, 0, 0]
    found = error_consistency(a, b)
    assert found.observed == pytest.approx(0.7)
    assert found.expected == pytest.approx(0.5)
    assert found.kappa == pytest.approx(0.4)
    assert found.n == 10 and found.accuracies == (0.6, 0.5) and not found.shown


def test_equals_cohens_kappa_of_statsmodels() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.stats.inter_rater import cohens_kappa
    rng = np.random.default_rng(0)
    for _ in range(10):
        a, b = rng.random(80) < 0.7, rng.random(80) < 0.4
        table = np.array([[np.sum((a == i) & (b == j)) for j in (0, 1)] for i in (0, 1)])
        assert error_consistency(a, b).kappa == pytest.approx(cohens_kappa(table).kappa, abs=1e-12)


def test_equal_observers_are_wholly_consistent_and_nobody_knows_how_surely() -> None:
    assert error_consistency([1, 0, 1], [1, 0, 1]).kappa == 1.0
    assert error_consistency([1, 1], [0, 0]).kappa == 0.0
    interval = error_consistency([1, 0] * 30, [1, 0] * 30).interval
    assert interval is not None
    lower, upper = interval
    assert 0.8 < lower < 1.0 and upper == 1.0


@pytest.mark.parametrize("answer", [0, 1])
def test_of_observers_who_never_differ_from_each_other_or_themselves_kappa_is_undefined(answer: int) -> None:
    found = error_consistency([answer] * 50, [answer] * 50)
    assert math.isnan(found.kappa) and found.interval is None and not found.shown
    assert "undefined" in found.summary() and "undefined" in repr(found)


@pytest.mark.parametrize("cells", [(5, 2, 3, 2), (29, 0, 0, 1), (28, 1, 1, 0), (80, 20, 30, 30), (150, 2, 3, 5)])
def test_the_interval_is_that_of_draws_from_the_posterior(cells: tuple[int, int, int, int]) -> None:
    """Oracle: a million draws from the Dirichlet distribution with half a picture more in each cell."""
    drawn = np.random.default_rng(0).dirichlet(np.array(cells) + 0.5, size=1_000_000)
    first, second = drawn[:, 0] + drawn[:, 1], drawn[:, 0] + drawn[:, 2]
    expected = first * second + (1.0 - first) * (1.0 - second)
    oracle = np.quantile((drawn[:, 0] + drawn[:, 3] - expected) / (1.0 - expected), [0.025, 0.975])
    assert kappa_interval(*cells, 0.95) == pytest.approx(oracle, abs=0.006)


def test_an_interval_covers_whatever_the_kappa_and_is_shown_from_thirty_pictures() -> None:
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(400):
        copied = rng.random(30) < 0.4
        a = rng.random(30) < 0.8
        found = error_consistency(a, np.where(copied, a, rng.random(30) < 0.8))
        if found.interval is not None:
            covered.append(found.interval[0] <= 0.4 <= found.interval[1])
            assert found.shown
    assert np.mean(covered) >= 0.92
    assert not error_consistency(a[:29], ~a[:29]).shown


def test_who_copies_on_a_share_of_pictures_is_found_to() -> None:
    """Right on .8 and copied on a quarter of the pictures, else right on .4: exact shares of 10,000 pictures."""
    shares = {(1, 1): 0.25 * 0.8 + 0.75 * 0.8 * 0.4, (1, 0): 0.75 * 0.8 * 0.6, (0, 1): 0.75 * 0.2 * 0.4}
    shares[0, 0] = 1.0 - sum(shares.values())
    a, b = np.repeat(np.array(list(shares)), [round(10_000 * share) for share in shares.values()], axis=0).T
    assert error_consistency(a, b).copied == pytest.approx(0.25)
    assert error_consistency(b, a).copied == pytest.approx(0.25)
    assert "on 25 % of the pictures" in " ".join(error_consistency(a, b).summary().split())
    assert math.isnan(error_consistency([1] * 50, [1, 0] * 25).copied)
    alike = error_consistency([1, 1, 0, 0, 1], [1, 0, 1, 0, 1])
    assert alike.copied == pytest.approx(alike.kappa)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="2 and 3"):
        error_consistency([1, 0], [1, 0, 1])
    with pytest.raises(InvalidInput, match="right"):
        error_consistency([1, 0.5], [1, 0])
    with pytest.raises(TooFewResponses):
        error_consistency([], [])


def test_pictures_of_originals_of_their_own_change_nothing() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.random(60) < 0.8, rng.random(60) < 0.7
    assert error_consistency(a, b, originals=rng.permutation(60)) == error_consistency(a, b)


def test_every_picture_twice_is_half_as_many_pictures() -> None:
    """The variance doubles, but for the corrections (2G - 1) / (G - 1) of 2G pictures and G originals."""
    rng = np.random.default_rng(7)
    a, b = (np.repeat(rng.random(40) < p, 2) for p in (0.7, 0.6))
    original = np.repeat(np.arange(40), 2)
    # Without the t quantile: at a level near 0 that of few degrees of freedom is nearly the normal one.
    assert stretch_of(a, b, original, level=0.01) ** 2 == pytest.approx(79 / 39, rel=0.03)
    alone, together = error_consistency(a, b), error_consistency(a, b, originals=original)
    assert together.kappa == alone.kappa and (together.n, together.originals) == (80, 40)
    assert alone.interval is not None and together.interval is not None
    grown = (together.interval[1] - together.interval[0]) / (alone.interval[1] - alone.interval[0])
    assert grown == pytest.approx(stretch_of(a, b, original))


def test_the_design_effect_is_that_of_statsmodels_for_the_numerical_derivative() -> None:
    import statsmodels.api as sm

    rng = np.random.default_rng(8)
    original = rng.integers(30, size=200)
    easy = rng.normal(0.0, 3.0, 30)[original]
    _, original = np.unique(original, return_inverse=True)
    a, b = (rng.random(200) < 1.0 / (1.0 + np.exp(-(shift + easy))) for shift in (0.5, 1.0))

    def kappa(weights: np.ndarray) -> float:
        return float(kappa_from_counts(weights @ a, weights @ b, weights @ (a & b), weights.sum())[2])

    step = 1e-4
    ones = np.ones(200)
    moved = np.array([(kappa(ones + step * one) - kappa(ones - step * one)) / (2.0 * step) for one in np.eye(200)])
    model = sm.OLS(moved, ones)
    robust = model.fit(cov_type="cluster", cov_kwds={"groups": original}).bse[0] ** 2 / model.fit().bse[0] ** 2
    freedom = clustered([np.bincount(original, weights=moved)[:, None]], np.zeros(1)).degrees_of_freedom[0]
    from scipy.stats import norm, t

    wanted = np.sqrt(robust) * t.ppf(0.975, freedom) / norm.ppf(0.975)
    assert robust > 1.2
    assert stretch_of(a, b, original) == pytest.approx(wanted, rel=1e-5)


def test_pictures_that_all_agree_count_as_one_an_original() -> None:
    a = np.repeat([True] * 30 + [False] * 10, 3)
    assert stretch_of(a, a, np.repeat(np.arange(40), 3)) == pytest.approx(math.sqrt(3.0))
    with pytest.raises(InvalidInput):
        error_consistency(a, a, originals=[1, 2])


def test_kappa_is_shown_by_originals() -> None:
    rng = np.random.default_rng(9)
    a, b = rng.random(60) < 0.7, rng.random(60) < 0.6
    assert error_consistency(a, b, originals=np.arange(60) // 2).shown
    assert not error_consistency(a, b, originals=np.arange(60) // 3).shown
