from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from analysis.errors import InvalidInput
from analysis.power.crowd import Crowd, LogisticDrop
from analysis.power.sizes import SizeReport, believed_figure, estimate_sizes, fit_power_curve, power_figure, resized
from analysis.power.study import PlannedStudy, PowerReport
from tests.analysis.figures.series import series_of

SMALL = PlannedStudy(Crowd(30, 14, originals=100), curve=LogisticDrop(0.93, 1 / 16, 0.7, 0.1), clean_answers=100)


def test_the_curve_is_the_probit_regression_of_another_library() -> None:
    """Oracle: statsmodels, with the half runs that are added."""
    import statsmodels.api as sm

    people, found, runs = [20, 60, 90], np.array([3, 31, 40]), 40
    curve = fit_power_curve(people, found / runs, runs)
    share = (found + 0.5) / (runs + 1)
    design = np.column_stack([np.sqrt(people), np.ones(3)])
    family = sm.families.Binomial(link=sm.families.links.Probit())
    fitted = sm.GLM(share, design, family=family, var_weights=np.full(3, runs)).fit()
    assert (curve.slope, curve.offset) == pytest.approx(tuple(fitted.params), rel=1e-6)
    covariance = fitted.cov_params()
    assert curve.covariance == pytest.approx((covariance[0, 0], covariance[0, 1], covariance[1, 1]), rel=1e-4)
    people_needed, (low, high) = curve.people(0.8)
    assert curve.power(people_needed) == pytest.approx(0.8) and low < people_needed < high


def test_the_size_is_recovered_and_its_interval_covers() -> None:
    """2,000 simulated answers of a true curve: 0.8 is reached with (1.96 + 0.8416)^2 / 0.3^2 = 87.2 people."""
    rng, sizes, runs = np.random.default_rng(4), [40, 87, 145], 100
    true = (1.96 + 0.8416) ** 2 / 0.3**2
    estimates, covered = [], 0
    for _ in range(300):
        shares = rng.binomial(runs, ndtr(0.3 * np.sqrt(sizes) - 1.96)) / runs
        people, (low, high) = fit_power_curve(sizes, list(shares), runs).people(0.8)
        estimates.append(people)
        covered += low <= true <= high
    assert np.median(estimates) == pytest.approx(true, rel=0.02)
    assert 0.92 <= covered / 300 <= 0.98


def test_a_curve_needs_two_sizes_and_a_rise() -> None:
    with pytest.raises(InvalidInput, match="two sizes"):
        fit_power_curve([20, 20], [0.5, 0.6], 40)
    with pytest.raises(InvalidInput, match="does not rise"):
        fit_power_curve([20, 40], [0.9, 0.2], 40).people(0.8)


def test_sizes_are_simulated_once_and_say_who_is_needed() -> None:
    kept: list[PowerReport] = []
    told: list[tuple[int, int, int]] = []
    found = estimate_sizes(
        SMALL, 0.08, runs=4, keep=kept.append, progress=lambda done, total, people: told.append((done, total, people))
    )
    assert [done for done, _, _ in told] == list(range(1, 21)) and {total for _, total, _ in told} == {20}
    assert (found.planned.people, found.alike.difference, len(found.sizes)) == (30, 0.0, 3)
    assert [one.people for one in found.sizes] == sorted({30, *(one.people for one in kept)})
    assert [one.power for one in found.needed] == [0.8, 0.95]
    assert SizeReport.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert PlannedStudy.from_dict(json.loads(json.dumps(SMALL.to_dict()))) == SMALL

    def never(done: int, total: int, people: int) -> None:
        assert done > 16, "simulated again"  # models are, which cost as much as one size

    assert estimate_sizes(SMALL, 0.08, runs=4, known=kept, progress=never) == found
    drawn = power_figure(found)
    sizes, shares = tuple(one.people for one in found.sizes), tuple(one.different for one in found.sizes)
    assert series_of(drawn)[2][2:] == (sizes, (shares,))
    assert [mark.y for mark in drawn.marks] == [0.8, 0.95]
    assert "areas are" in believed_figure(SMALL.curve, SMALL.curve.lowered(0.08)).description


def test_more_people_do_the_same_each() -> None:
    larger = resized(SMALL, 60)
    assert (larger.crowd, larger.clean_answers) == (replace(SMALL.crowd, people=60), 200)


def test_what_is_out_of_reach_is_a_bound_and_nothing_to_find_is_refused() -> None:
    plain = replace(SMALL, crowd=Crowd(8, 14, originals=60), clean_answers=0)
    hopeless = estimate_sizes(plain, 0.005, runs=2)
    assert hopeless.sizes[-1].people == 64
    assert {one.relation for one in hopeless.needed} == {"more than"} and hopeless.needed[0].interval is None
    easy = estimate_sizes(replace(SMALL, curve=LogisticDrop(0.95, 1 / 16, 0.9, 0.05)), 0.5, runs=3)
    assert [(one.people, one.relation) for one in easy.needed] == [(8, "at most")] * 2
    with pytest.raises(InvalidInput, match="lies above 0"):
        estimate_sizes(SMALL, 0.0)
