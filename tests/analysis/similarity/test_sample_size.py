"""People that a same/different or ABX study needs; `benchmarks.claims.telling_apart` simulates whole plans."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.clusters import exact_bound
from analysis.errors import InvalidInput
from analysis.similarity.sample_size import PlannedPairs, _expected, people_for_equivalence, people_to_detect

ALIKE = PlannedPairs(2, 4, bias=0.0, bias_sd=0.0, careless=0.0, plain_missed=0.0)


def test_the_expected_crowd_is_every_outcome_as_often_as_it_comes() -> None:
    """By hand: without sensitivity and bias either answer comes in half of the trials, so four outcomes are even."""
    crowd = _expected(0.0, ALIKE, 40)
    assert crowd.often is not None
    assert crowd.often.tolist() == pytest.approx([10.0, 10.0, 10.0, 10.0])
    assert _expected(1.3, replace(ALIKE, trials_each=10), 40).d_prime == pytest.approx(1.3, abs=0.1)


def test_many_people_without_bias_need_what_the_binomial_test_says() -> None:
    """Oracle: one-sided test of a share of right answers (independent observation, one known criterion)."""
    planned = replace(ALIKE, trials_each=20, observer_model="independent")
    for d_prime, few in ((0.4, 1.05), (1.0, 1.5)):
        right = stats.norm.cdf(d_prime / 2.0) ** 2 + stats.norm.cdf(-d_prime / 2.0) ** 2
        trials = ((1.645 * 0.5 + 0.8416 * math.sqrt(right * (1 - right))) / (right - 0.5)) ** 2
        # With 18 people in place of 500, the unknown spread of criteria and degrees of freedom take more.
        assert 1.0 <= people_to_detect(d_prime, planned) * 20 / trials <= few


def test_more_is_needed_for_less_and_for_surer_answers() -> None:
    plan = PlannedPairs(10, 8)
    assert people_to_detect(1.0, plan) > people_to_detect(1.5, plan)
    assert people_to_detect(1.0, plan, alpha=0.05 / 3) > people_to_detect(1.0, plan)
    assert people_to_detect(1.0, plan, power=0.9) > people_to_detect(1.0, plan)
    assert people_to_detect(1.0, replace(plan, trials_each=20)) < people_to_detect(1.0, plan)
    alike = people_for_equivalence(plan)
    assert people_for_equivalence(plan, d_prime=0.3) > alike > people_for_equivalence(replace(plan, plain_each=40))
    assert people_for_equivalence(plan, margin=1.5) < alike


def test_plain_pairs_leave_some_careless_answers_possible() -> None:
    plan = PlannedPairs(10, 8, plain_missed=0.05)
    half, all_of_them = (n / (1.0 + 0.4 * math.sqrt(2.0 / 50)) for n in (200, 400))
    bound = {n: 2.0 * exact_bound(0.05 * n, n, 0.05)[1] for n in (half, all_of_them)}
    assert plan.careless_at_most(50, 0.05) == pytest.approx(bound[half])
    assert replace(plan, form="abx").careless_at_most(50, 0.05) == pytest.approx(bound[all_of_them])
    assert replace(plan, plain_each=0).careless_at_most(50, 0.05) == 1.0


def test_the_power_is_reached_by_simulated_crowds() -> None:
    """A small look at what `benchmarks.claims.telling_apart` measures."""
    from benchmarks.claims.telling_apart import planned_for

    study = planned_for(PlannedPairs(10, 8), 1.0)
    rng = np.random.default_rng(8)
    assert np.mean([study(rng)["reached"] for _ in range(30)]) >= 0.6


@pytest.mark.parametrize(
    "call",
    [
        lambda: people_to_detect(0.0, ALIKE),
        lambda: people_to_detect(0.02, PlannedPairs(2, 0)),
        lambda: people_to_detect(1.0, ALIKE, power=1.0),
        lambda: people_for_equivalence(ALIKE, d_prime=1.0),
        lambda: people_for_equivalence(PlannedPairs(4, 0)),
        lambda: PlannedPairs(0, 4),
        lambda: PlannedPairs(4, 4, careless=1.0),
    ],
)
def test_what_has_no_answer_is_refused(call: object) -> None:
    with pytest.raises(InvalidInput):
        call()  # type: ignore[operator]
