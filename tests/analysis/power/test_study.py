from __future__ import annotations

import json
from dataclasses import replace

import pytest

from analysis.errors import InvalidInput
from analysis.power.crowd import Crowd, LogisticDrop
from analysis.power.study import PlannedStudy, estimate_power

SMALL = PlannedStudy(
    Crowd(30, 14, originals=100),
    curve=LogisticDrop(0.93, 1 / 16, 0.7, 0.1),
    clean_answers=100,
)


def test_a_large_difference_is_found_and_none_is_seldom_found() -> None:
    seen: list[tuple[int, int]] = []
    far = estimate_power(SMALL, 0.2, runs=8, progress=lambda done, runs: seen.append((done, runs)))
    near = estimate_power(SMALL, 0.0, runs=8)
    assert far.different == 1.0 and near.different <= 0.25
    assert seen == [(k, 8) for k in range(1, 9)]
    assert far.answers == 2 * 420 + 100
    assert near.undecided + near.equivalent + near.different >= 1.0
    assert 0.02 < near.interval_width < 0.3 and near.standard_error(0.5) == pytest.approx(0.5 / 8**0.5)
    assert json.loads(json.dumps(far.to_dict()))["runs"] == 8


def test_more_pairs_need_more_and_more_answers_narrow_the_interval() -> None:
    family = estimate_power(replace(SMALL, functions=14), 0.06, runs=8)
    pair = estimate_power(SMALL, 0.06, runs=8)
    assert SMALL.pairs == 1 and replace(SMALL, functions=14).pairs == 91
    assert family.different <= pair.different and family.difference_error == pair.difference_error
    large = estimate_power(replace(SMALL, crowd=Crowd(120, 14, originals=400)), 0.0, runs=4)
    assert large.interval_width < 0.7 * pair.interval_width


def test_a_cancelled_simulation_ends() -> None:
    class Cancelled(Exception):
        pass

    def cancel(done: int, runs: int) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        estimate_power(SMALL, 0.0, runs=3, progress=cancel)


@pytest.mark.parametrize(("difference", "runs", "seed"), [(-0.1, 5, 0), (0.95, 5, 0), (0.0, 0, 0), (0.0, 5, -1)])
def test_impossible_questions_are_refused(difference: float, runs: int, seed: int) -> None:
    with pytest.raises(InvalidInput):
        estimate_power(SMALL, difference, runs=runs, seed=seed)


@pytest.mark.parametrize("bad", [{"functions": 1}, {"clean_answers": -1}, {"margin": 0.0}, {"alpha": 1.0}])
def test_impossible_plans_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        replace(SMALL, **bad)
