"""Crowds of several recruiters: pooled by weights, beside each other, and with people who came twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm

from analysis.claims.recruiters import TRUE_GAP
from analysis.differences.answers import AnswersToOne
from analysis.differences.recruiters import CrowdsBeside, compare_recruiters, repeated
from analysis.errors import InvalidInput
from analysis.recruiters import Recruiters
from benchmarks.claims._studies import SMOOTH
from benchmarks.claims.recruiters import Size, collected, compared

CELLS = np.linspace(0.0, 1.0, 21)


def answers(*rates: float, each: int = 200, first: int = 0) -> AnswersToOne:
    """People with these shares of right answers in every twentieth of the axis, to pictures of their own."""
    place = np.tile((np.arange(20) + 0.5) / 20, each // 20 * len(rates))
    who = np.repeat(np.arange(len(rates)), each)
    rank = np.tile(np.repeat(np.arange(each // 20), 20), len(rates))
    right = (rank < np.array(rates)[who] * (each // 20)).astype(float)
    return AnswersToOne.of(place, right, first + np.arange(len(place)), [f"{first + k:06}" for k in who])


def pooled(one: AnswersToOne, two: AnswersToOne, weights: dict[str, float] | None) -> AnswersToOne:
    names = [own.people.names[own.people.codes] for own in (one, two) if own.people is not None]
    of = {name: recruiter for recruiter, own in zip("ab", names, strict=True) for name in own.tolist()}
    return AnswersToOne.of(
        np.concatenate([one.place, two.place]),
        np.concatenate([one.outcome, two.outcome]),
        np.arange(len(one) + len(two)),
        np.concatenate(names),
        recruiters=Recruiters.of(of, weights),
    )


def only(**crowds: AnswersToOne) -> CrowdsBeside:
    named = {name: {"blur": own} for name, own in crowds.items()}
    (found,) = compare_recruiters(named, attentive=dict.fromkeys(named, 0.95)).values()
    return found


def test_the_pooled_mean_by_hand() -> None:
    """Three people of a recruiter at .8, one of another at .4: .7 where each counts once, .6 and .5 by weights."""
    one, two = answers(0.8, 0.8, 0.8), answers(0.4, first=9000)
    for weights, mean in ((None, 0.7), ({"a": 2.0, "b": 2.0}, 0.6), ({"a": 1.0, "b": 3.0}, 0.5)):
        found = pooled(one, two, weights).by_cell(CELLS)
        assert found.means == pytest.approx(np.full(20, mean)), weights


def test_whoever_answers_more_often_counts_no_more_within_a_recruiter() -> None:
    one, two = pooled_of_unequal(), answers(0.5, first=90_000)
    assert pooled(one, two, {"a": 1.0, "b": 1.0}).by_cell(CELLS).means == pytest.approx(np.full(20, 0.55))


def pooled_of_unequal() -> AnswersToOne:
    """One at 1.0 with 200 answers, one at .2 with 1,000: their mean is .6."""
    often, seldom = answers(0.2, each=1000, first=5000), answers(1.0)
    return AnswersToOne.of(
        np.concatenate([seldom.place, often.place]),
        np.concatenate([seldom.outcome, often.outcome]),
        np.arange(1200),
        ["x"] * 200 + ["y"] * 1000,
    )


def test_weights_hold_when_people_leave() -> None:
    one, two = answers(0.8, 0.8, 0.8), answers(0.4, 0.4, first=9000)
    both = pooled(one, two, {"a": 1.0, "b": 1.0})
    assert both.people is not None
    fewer = both.select(both.people.codes != 4)
    assert fewer.by_cell(CELLS).means == pytest.approx(np.full(20, 0.6))
    alone = both.select(both.people.codes < 3)
    assert alone.by_cell(CELLS).means == pytest.approx(np.full(20, 0.8))


def test_every_recruiter_needs_a_weight() -> None:
    with pytest.raises(InvalidInput, match="weight above 0"):
        Recruiters.of({"x": "a", "y": "b"}, {"a": 1.0})


def test_the_difference_of_two_crowds_by_hand() -> None:
    found = only(a=answers(0.8, 0.6, 0.7), b=answers(0.5, 0.3, first=9000))
    assert found.difference == pytest.approx(0.3) and found.people == (3, 2)
    assert found.interval[0] + found.interval[1] == pytest.approx(0.6)


def test_the_standard_error_is_that_of_a_regression_with_clusters_of_people() -> None:
    """statsmodels: cells of either crowd as columns, covariance clustered by person."""
    rng = np.random.default_rng(3)
    made = collected(rng, Size((40, 25), 60, originals=100_000), [SMOOTH, SMOOTH])
    sides = [own["0"] for own in made.answers.values()]
    found = only(a=sides[0], b=sides[1])
    place, outcome = (np.concatenate([getattr(own, name) for own in sides]) for name in ("place", "outcome"))
    people = np.concatenate([own.people.codes + 1000 * k for k, own in enumerate(sides) if own.people is not None])
    crowd = np.repeat([0, 1], [len(own) for own in sides])
    cell = np.minimum((place * 40).astype(int), 39)
    columns = np.zeros((len(place), 80))
    columns[np.arange(len(place)), 40 * crowd + cell] = 1.0
    fitted = sm.OLS(outcome, columns).fit(cov_type="cluster", cov_kwds={"groups": people})
    contrast = np.repeat([1.0, -1.0], 40) / 40
    assert found.difference == pytest.approx(float(contrast @ fitted.params))
    assert found.standard_error == pytest.approx(float(fitted.t_test(contrast).sd.item()), rel=0.04)


def test_a_true_difference_is_recovered_and_found() -> None:
    rng = np.random.default_rng(5)
    for crowds in (Size((300, 300)), Size((300, 300), 12, 3)):
        (found,) = compared(rng, crowds, [SMOOTH, SMOOTH.lowered(0.06)])
        assert found.difference == pytest.approx(0.06, abs=3 * found.standard_error)
        assert found.word == "different" and found.is_different and not found.is_alike


def test_equal_crowds_are_alike_once_they_are_large_and_seldom_different() -> None:
    rng = np.random.default_rng(8)
    found = [compared(rng, Size((80, 80)), [SMOOTH, SMOOTH], draws=500)[0] for _ in range(25)]
    assert sum(one.is_different for one in found) <= 3
    assert compared(rng, Size((500, 500)), [SMOOTH, SMOOTH])[0].word == "alike"


def test_crowds_that_did_not_look_are_not_alike() -> None:
    made = collected(np.random.default_rng(2), Size((500, 500)), [SMOOTH, SMOOTH])
    sides = [own["0"] for own in made.answers.values()]
    named = {name: {"blur": own} for name, own in zip("ab", sides, strict=True)}
    found = {
        share: compare_recruiters(named, attentive={"a": 0.95, "b": share})["a", "b"] for share in (0.95, 0.85, 0.5)
    }
    assert found[0.95].is_alike and not found[0.5].is_alike and found[0.5].word != "alike"
    assert replace(found[0.95], interval=(-0.027, 0.0)).is_alike
    assert not replace(found[0.85], interval=(-0.027, 0.0)).is_within


def test_a_gap_or_a_corruption_of_one_alone_leaves_it_open() -> None:
    every = answers(*[0.8] * 300)
    part = every.select((every.place < 0.4) | (every.place > 0.7))
    assert only(a=every, b=every).is_alike
    assert only(a=every, b=part).has_gaps and not only(a=every, b=part).is_alike
    more = {"a": {"blur": every, "noise": every}, "b": {"blur": every}}
    assert compare_recruiters(more, attentive={"a": 1.0, "b": 1.0})["a", "b"].has_gaps


def test_of_three_recruiters_one_may_differ() -> None:
    made = collected(np.random.default_rng(2), Size((300, 300, 300)), [SMOOTH, SMOOTH, SMOOTH.lowered(0.1)])
    found = compare_recruiters(made.answers, attentive=made.attentive)
    assert {pair: one.word for pair, one in found.items()} == {
        ("0", "1"): "alike",
        ("0", "2"): "different",
        ("1", "2"): "different",
    }
    assert all(one.times_to_differ >= 1.0 and TRUE_GAP for one in found.values())


def test_repeats_by_hand() -> None:
    """Two recruiters of four people, equally weighted; two of the eight people may be somebody's second time."""
    one, two = answers(0.9, 0.7, 0.7, 0.5), answers(0.8, 0.6, 0.6, 0.4, first=9000)
    both = pooled(one, two, {"a": 1.0, "b": 1.0})
    found = repeated(both, 0.25)
    assert found is not None and found.people == 2
    # Each is an eighth; without the two at .9 and .8, .2 above their crowds, the mean falls by about .2 / 8 each. A
    # residual from the mean of a cell is stretched by the root of n / (n - 1), with n = 80 answers.
    assert found.shift == pytest.approx(2 * 0.2 / 8, rel=0.02)
    # One pair at +.2 and one at -.2: twice the sum of their products is 4 (.2 / 8)^2, and the sum of squares as much.
    squares = 4 * (0.2 / 8) ** 2
    assert (found.width_at_most / found.width) ** 2 == pytest.approx((squares + squares) / squares, rel=0.15)


def test_nobody_repeats_within_one_recruiter() -> None:
    one, two = answers(0.9, 0.7, 0.7, 0.5, 0.6), answers(0.8, first=9000)
    few = repeated(pooled(one, two, None), 0.5)
    assert few is not None and few.people == 1
    assert repeated(one, 0.5) is None
