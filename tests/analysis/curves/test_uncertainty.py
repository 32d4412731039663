from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import norm

from analysis.clusters import Clustered
from analysis.curves.fit import fit_curve
from analysis.curves.uncertainty import identified_interval


def spread(errors: list[float], freedom: float = np.inf) -> Clustered:
    return Clustered(np.array(errors) ** 2, np.full(len(errors), freedom))


def test_without_a_gap_it_is_the_t_interval() -> None:
    # 97.5 % quantile of t with 4 degrees of freedom: 2.776
    found = identified_interval(np.array([0.5, 0.5]), spread([0.1, 0.1], 4.0), 0.95)
    assert found == pytest.approx((0.5 - 0.2776, 0.5 + 0.2776), abs=1e-4)


def test_far_bounds_are_passed_on_one_side_only() -> None:
    # 1.645 standard errors beyond each bound (Imbens and Manski 2004, section 3)
    found = identified_interval(np.array([0.3, 0.6]), spread([0.01, 0.02]), 0.95)
    assert found == pytest.approx((0.3 - 0.01645, 0.6 + 0.0329), abs=1e-4)


@pytest.mark.parametrize("truth", [0.48, 0.5, 0.52])
def test_near_bounds_cover_wherever_the_truth_lies(truth: float) -> None:
    """Bounds that are a standard error apart: the nominal rate at both ends, more between them."""
    error = 0.04
    rng = np.random.default_rng(3)
    covered = []
    for shift in rng.normal(0.0, error, 2000):
        low, high = identified_interval(np.array([0.48, 0.52]) + shift, spread([error, error]), 0.95)
        covered.append(low <= truth <= high)
    assert np.mean(covered) == pytest.approx(0.95 if truth != 0.5 else 0.97, abs=0.015)
    critical = (0.52 - identified_interval(np.array([0.52, 0.56]), spread([error, error]), 0.95)[0]) / error
    assert norm.cdf(critical + 1.0) - norm.cdf(-critical) == pytest.approx(0.95, abs=1e-6)


def test_a_flat_curve_has_the_clustered_error_of_a_mean() -> None:
    """Where the curve is level its area is the mean of all answers, with the standard error of statsmodels."""
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(20), 150)
    v = np.tile((np.arange(150) + 0.5) / 150, 20)
    y = rng.random(3000) < np.clip(0.5 + 0.15 * rng.normal(size=20), 0.05, 0.95)[people]
    curve = fit_curve(v, y, participants=people, n_bootstrap=2)
    oracle = sm.OLS(y.astype(float), np.ones(3000)).fit(cov_type="cluster", cov_kwds={"groups": people})
    assert curve.area == pytest.approx(float(y.mean()), abs=0.01)
    assert curve.area_standard_error == pytest.approx(float(oracle.bse[0]), rel=0.08)


def test_weights_make_each_person_count_once() -> None:
    """Two people, one of whom answers four times as often: the area is midway between theirs."""
    v = (np.arange(400) + 0.5) / 400
    place, person = np.r_[np.tile(v, 4), v], np.repeat([0, 1], [1600, 400])
    right = np.where(person == 0, np.arange(2000) % 5 < 4, np.arange(2000) % 5 < 2)
    plain = fit_curve(place, right, participants=person)
    weighted = fit_curve(place, right, participants=person, weights=np.where(person == 0, 1.0, 4.0))
    assert plain.area == pytest.approx(0.8 * 0.8 + 0.2 * 0.4, abs=0.005)
    assert weighted.area == pytest.approx(0.6, abs=0.005)
    assert sum(one.n for one in weighted.bins) == 2000


def test_equal_weights_change_nothing() -> None:
    rng = np.random.default_rng(5)
    v = rng.random(600)
    people, y = np.arange(600) % 15, rng.random(600) < 1 - v
    plain, weighted = (
        fit_curve(v, y, participants=people, n_bootstrap=4, weights=w) for w in (None, np.full(600, 2.0))
    )
    assert weighted.area == pytest.approx(plain.area, abs=1e-12)
    assert weighted.area_interval == pytest.approx(plain.area_interval, abs=1e-12)


def test_answers_that_lie_thinly_leave_short_gaps_and_a_missing_end_one() -> None:
    v = np.r_[np.linspace(0.0, 0.7, 400), 0.9]
    curve = fit_curve(v, v < 0.5)
    assert curve.gaps == ((0.725, 1.0),) or curve.gaps == ((0.7, 1.0),)
    assert curve.measured[1] == curve.gaps[0][0] and curve.is_withheld, "one answer at .9 measures nothing"
    thin = fit_curve(np.linspace(0.0, 1.0, 60), np.arange(60) < 30)
    assert len(thin.gaps) > 5 and max(end - start for start, end in thin.gaps) < 0.1


def test_bounds_that_rounding_alone_keeps_apart_are_one() -> None:
    """With 24 degrees of freedom both ends of the search then lie on one side of the level."""
    apart, one = (
        identified_interval(np.array([0.1, upper]), spread([0.02, 0.02], 24.0), 0.95)
        for upper in (np.nextafter(0.1, 1.0), 0.1)
    )
    assert apart == pytest.approx(one, abs=1e-15)
