from __future__ import annotations

import json
from dataclasses import replace

import pytest

from analysis.errors import InvalidInput
from analysis.power.crowd import Crowd, LogisticDrop
from analysis.power.study import PlannedStudy, estimate_power
from tests.labels import of_the_sixteen

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


@of_the_sixteen
def test_between_two_options_the_same_rate_shows_less_looking() -> None:
    """Right in .93 of clean pictures: at least (.93 - c) / (1 - c) looked, .925 of 16 and .86 of 2 less the error."""
    crowd, curve = Crowd(60, 30, originals=200, image_sd=0.5), LogisticDrop(0.93, 0.5)
    alike = PlannedStudy(crowd, curve=curve, clean_answers=120, margin=0.15, band_margin=0.4)
    assert alike.chance == 1 / 16 and PlannedStudy.from_dict(alike.to_dict()) == alike
    of_two = replace(alike, chance=0.5)
    many, few = (estimate_power(one, 0.0, runs=6) for one in (alike, of_two))
    assert many.equivalent > 0.5 and few.equivalent < many.equivalent
    assert many.difference_error == few.difference_error, "the same answers"
    stored = {name: value for name, value in alike.to_dict().items() if name != "chance"}
    assert PlannedStudy.from_dict(stored) == alike, "plans of earlier versions are of the product's labels"


@of_the_sixteen
def test_the_believed_curve_falls_to_the_chance_of_the_product_s_labels() -> None:
    assert LogisticDrop().lower == 1 / 16 and LogisticDrop(lower=0.1).lower == 0.1


@pytest.mark.parametrize(
    "bad", [{"chance": 0.93}, {"chance": 0.0}, {"functions": 1}, {"clean_answers": -1}, {"margin": 0.0}, {"alpha": 1.0}]
)
def test_impossible_plans_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        replace(SMALL, **bad)
