"""Models beside people: hand-computed differences, twins, gaps, and who could have shown what."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, t as student

from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.beside import ATTENTIVE, Beside, attentive_share, beside_people
from analysis.errors import InvalidInput
from benchmarks.claims._studies import SHARP, SMOOTH, Size, Study, simulated
from tests.labels import of_the_sixteen

LOOKED = {f"corruption {number}": 0.9 for number in range(3)}


def only(people: AnswersToOne, model: AnswersToOne, **options: object) -> Beside:
    found = beside_people({"c": people}, {"m": {"c": model}}, attentive={"c": 0.9}, **options)  # type: ignore[arg-type]
    return found["m"].corruptions["c"]


def evenly(rates: float | np.ndarray, *, people: int = 0, per_cell: int = 20) -> AnswersToOne:
    """In each of 40 cells so many answers at these rates, on originals of their own."""
    place = np.repeat((np.arange(40) + 0.5) / 40, per_cell)
    rank = np.tile(np.arange(per_cell), 40)
    right = (rank < np.repeat(np.broadcast_to(rates, 40), per_cell) * per_cell).astype(float)
    who = None if not people else np.arange(len(place)) % people
    return AnswersToOne.of(place, right, np.arange(len(place)), who)


def test_differences_by_hand() -> None:
    """People .8 everywhere, the model .5 before Δv .5 and .8 after it."""
    half = np.where(np.arange(40) < 20, 0.5, 0.8)
    found = only(evenly(0.8, people=8), evenly(half))
    assert found.estimate[0] == pytest.approx(-0.15)
    assert found.ranges[0] == (0.0, 1.0) and found.ranges[1] == pytest.approx((0.0, 0.15))
    assert len(found.ranges) == 1 + 35 and found.gaps == ()
    assert found.estimate[1] == pytest.approx(-0.3) and found.estimate[-1] == pytest.approx(0.0)
    assert found.differs and not found.matches and not found.above
    ((start, end),) = found.below
    assert start == 0.0 and 0.45 <= end <= 0.7


def test_the_standard_error_of_independent_answers_is_that_of_two_shares() -> None:
    """Originals of their own, two answers a person far apart: a variance of p (1 - p) / n on either side."""
    rng = np.random.default_rng(4)
    place = np.tile((np.arange(40) + 0.5) / 40, 100)
    sides = [
        AnswersToOne.of(place, (rng.random(4000) < 0.6).astype(float), [f"{side}-{k}" for k in range(4000)], people)
        for side, people in (("h", rng.permutation(4000) // 2), ("m", None))
    ]
    found = only(*sides)
    assert found.standard_error[0] == pytest.approx(np.sqrt(2 * 0.24 / 4000), rel=0.05)
    assert found.standard_error[1:].mean() == pytest.approx(np.sqrt(2 * 0.24 / 600), rel=0.05)


def test_the_interval_reaches_as_far_below_the_estimate_as_above_it() -> None:
    """By the quantile of Student's t that two one-sided tests at level .05 take."""
    found = only(evenly(0.8, people=8), evenly(np.where(np.arange(40) < 20, 0.5, 0.8)))
    reach = student.ppf(0.95, found.degrees_of_freedom) * found.standard_error
    assert found.lower == pytest.approx(found.estimate - reach) and found.upper == pytest.approx(found.estimate + reach)


def test_every_person_counts_once() -> None:
    """One who is right and answers nine times as often as one who is wrong: the mean over people is a half."""
    place = np.repeat((np.arange(40) + 0.5) / 40, 100)
    first = np.tile(np.arange(100) < 90, 40)
    people = AnswersToOne.of(place, first.astype(float), np.arange(4000), np.where(first, "a", "b"))
    found = only(people, evenly(0.5))
    assert found.estimate[0] == pytest.approx(0.0, abs=1e-12)


def test_shared_pictures_narrow_the_difference() -> None:
    rng = np.random.default_rng(2)
    hard = rng.random(4000)
    place = np.tile((np.arange(40) + 0.5) / 40, 100)
    names = [f"o{k}" for k in range(4000)]
    people = AnswersToOne.of(place, (hard < 0.6).astype(float), names, np.arange(4000) % 50)
    same = AnswersToOne.of(place, (hard < 0.6).astype(float), names)
    other = AnswersToOne.of(place, (rng.random(4000) < 0.6).astype(float), names)
    assert only(people, same).standard_error[0] < 0.75 * only(people, other).standard_error[0]


def test_answers_that_are_all_alike_prove_nothing_beyond_their_number() -> None:
    found = only(evenly(1.0, people=10, per_cell=5), evenly(1.0, per_cell=5))
    assert np.all(found.standard_error > 0.0) and not found.differs
    assert found.standard_error[1] > found.standard_error[0]


def test_a_gap_inside_lets_nothing_match_and_no_window_reach_into_it() -> None:
    def without_middle(answers: AnswersToOne) -> AnswersToOne:
        return answers.select((answers.place < 0.3) | (answers.place > 0.6))

    people, model = without_middle(evenly(0.8, people=40, per_cell=400)), without_middle(evenly(0.8, per_cell=400))
    found = only(people, model)
    assert found.gaps == (pytest.approx((0.3, 0.6)),)
    assert not found.matches and np.all(np.abs(found.upper) < 0.03)
    assert all(end <= 0.3 + 1e-9 or start >= 0.6 - 1e-9 for start, end in found.ranges[1:])
    assert only(evenly(0.8, people=40, per_cell=400), evenly(0.8, per_cell=400)).matches


def test_the_range_is_what_both_measured() -> None:
    model = evenly(0.8)
    found = only(evenly(0.8, people=10), model.select(model.place < 0.7))
    assert found.ranges[0] == (0.0, pytest.approx(0.7)) and found.gaps == ()
    nothing = beside_people(
        {"c": model.select(model.place < 0.3)}, {"m": {"c": model.select(model.place > 0.6)}}, attentive={}
    )
    assert nothing == {}


def test_conditions_of_an_experiment_stand_for_windows() -> None:
    place = np.repeat([0.0, 0.25, 0.5, 1.0], 300)
    rng = np.random.default_rng(3)
    right = (rng.random(1200) < np.repeat([0.9, 0.8, 0.5, 0.2], 300)).astype(float)
    people = AnswersToOne.of(place, right, np.arange(1200), np.arange(1200) % 20)
    model = AnswersToOne.of(np.append(place, 0.75), np.append(np.where(place == 0.5, 0.0, right), 1.0), np.arange(1201))
    found = only(people, model, conditions=frozenset({"c"}))
    assert [start for start, _ in found.ranges[1:]] == [0.0, 0.25, 0.5, 1.0], "what one side alone answered is left out"
    assert found.significant[1:].tolist() == [False, False, True, False]
    assert found.below == ((0.5, 0.5),)


def test_a_crowd_that_may_not_have_looked_matches_nobody() -> None:
    people, model = evenly(0.8, people=40, per_cell=400), evenly(0.8, per_cell=400)
    for share, matches in ((0.0, False), (ATTENTIVE - 0.01, False), (ATTENTIVE, True)):
        found = beside_people({"c": people}, {"m": {"c": model}}, attentive={"c": share})
        assert found["m"].matches is matches
    assert not beside_people({"c": people}, {"m": {"c": model}}, attentive={})["m"].matches


@of_the_sixteen
def test_the_attentive_share_by_hand() -> None:
    """50 people with 10 pictures each, 9 of them right: accuracy .9 without any spread between people."""
    right = np.tile(np.arange(10) < 9, 50).astype(float)
    share = attentive_share(AnswersToOne.of(np.zeros(500), right, np.arange(500), np.repeat(np.arange(50), 10)))
    by_pictures = 0.9 - 1.648 * np.sqrt(0.09 / 500)  # t of 499 degrees of freedom
    assert share == pytest.approx((by_pictures - 1 / 16) / (15 / 16), abs=0.004)
    perfect = AnswersToOne.of(np.zeros(500), np.ones(500), np.arange(500), np.repeat(np.arange(50), 10))
    assert attentive_share(perfect) == pytest.approx((0.05 ** (1 / 50) - 1 / 16) / (15 / 16))
    assert attentive_share(AnswersToOne.of([0.0], [1.0], ["a"], ["p"])) == 0.0


@pytest.mark.verify
def test_twins_are_seldom_said_to_differ_and_a_gap_is_found() -> None:
    rng = np.random.default_rng(11)
    false = found = 0
    for seed in range(25):
        lower = SHARP.lowered(0.08)
        study = simulated(rng, Size(60, 16), [SMOOTH, SHARP], [[SMOOTH, SHARP], [SMOOTH, lower]])
        both = judged(study, seed)
        false += bool(both["model 0"].differs_on) or "corruption 0" in both["model 1"].differs_on
        found += "corruption 1" in both["model 1"].differs_on
    assert false <= 5 and found >= 20, "binomial bounds of .05 and of .95 are 4 and 21"


def judged(study: Study, seed: int):  # type: ignore[no-untyped-def]
    return beside_people(study.people, study.models, attentive=LOOKED, seed=seed)


def test_a_matching_model_matches_on_each_and_the_mean_has_its_own_interval() -> None:
    study = simulated(np.random.default_rng(1), Size(200, 40), [SMOOTH] * 3, [[SMOOTH] * 3])
    (found,) = judged(study, 1).values()
    assert found.difference == pytest.approx(np.mean([one.estimate[0] for one in found.corruptions.values()]))
    single = [one.standard_error[0] for one in found.corruptions.values()]
    assert max(single) / 3 < found.standard_error < max(single), "shared people and originals tie the corruptions"
    assert found.matches == all(one.matches for one in found.corruptions.values())


def test_answers_that_would_decide_are_told_at_truths_set_beforehand() -> None:
    """Four times the answers halve the standard errors: the number told must not depend on the difference found."""
    people, model = evenly(0.8, people=40), evenly(0.8)
    found, other = only(people, model), only(people, evenly(0.75))
    assert found.answers_to_match > found.answers == 800
    needed = found.answers_to_match / found.answers
    error = np.max(found.standard_error[1:]) / np.sqrt(needed)
    assert error * (1.645 + 1.282) == pytest.approx(0.10, rel=0.02) or error * (1.645 + 1.282) < 0.10
    assert other.answers_to_match == pytest.approx(found.answers_to_match, rel=0.15)


def test_all_windows_have_to_match_at_once() -> None:
    """By hand: of one estimate |Z| + 1.645 standard errors have to fit; of two independent ones, more have to."""
    found = only(evenly(0.8, people=40), evenly(0.8))
    both = np.array([0.03, 0.03])
    pair = replace(found, standard_error=both, margin=0.03, window_margin=0.03, estimate=both)
    one = replace(pair, correlation=lambda: np.ones((2, 2))).answers_to_match / found.answers
    two = replace(pair, correlation=lambda: np.eye(2)).answers_to_match / found.answers
    assert one == pytest.approx((1.645 + norm.ppf(0.9)) ** 2, rel=0.05)
    assert two == pytest.approx((1.645 + norm.ppf((1.0 + np.sqrt(0.8)) / 2.0)) ** 2, rel=0.05)


def test_the_same_seed_gives_the_same_and_order_does_not_matter() -> None:
    study = simulated(np.random.default_rng(1), Size(40, 16), [SMOOTH], [[SMOOTH], [SHARP]])
    first, again = judged(study, 5), judged(study, 5)
    assert [one.corruptions["corruption 0"].critical for one in first.values()] == [
        one.corruptions["corruption 0"].critical for one in again.values()
    ]
    rows = np.random.default_rng(2).permutation(640)
    shuffled = {
        name: AnswersToOne.of(
            own.place[rows], own.outcome[rows], own.originals.names[own.originals.codes[rows]],
            None if own.people is None else own.people.names[own.people.codes[rows]],
        )
        for name, own in study.people.items()
    }  # fmt: skip
    other = beside_people(shuffled, study.models, attentive=LOOKED, seed=5)["model 0"]
    assert other.difference == pytest.approx(first["model 0"].difference, abs=1e-12)
    assert other.standard_error == pytest.approx(first["model 0"].standard_error)


@pytest.mark.parametrize(
    "columns", [([0.1, 1.2], [1, 0], ["a", "b"]), ([0.1], [2.0], ["a"]), ([0.1], [1.0], ["a", "b"])]
)
def test_columns_that_are_no_answers_are_refused(columns: tuple[list[float], list[float], list[str]]) -> None:
    with pytest.raises(InvalidInput):
        AnswersToOne.of(*columns)


def with_categories(answers: AnswersToOne, easy: np.ndarray) -> AnswersToOne:
    return replace(answers, categories=Clusters.of(np.where(easy, "easy", "hard")))


def test_categories_count_equally_on_both_sides_however_often_each_answered() -> None:
    """Easy pictures are answered rightly, hard ones wrongly; people saw three easy of four, the model one of two."""
    place, rank = np.repeat((np.arange(40) + 0.5) / 40, 20), np.tile(np.arange(20), 40)
    mostly, half = rank < 15, rank < 10
    sides = [AnswersToOne.of(place, easy.astype(float), np.arange(800)) for easy in (mostly, half)]
    assert only(*sides).estimate[0] == pytest.approx(-0.25)
    weighed = only(*(with_categories(own, easy) for own, easy in zip(sides, (mostly, half), strict=True)))
    assert np.abs(weighed.estimate).max() == pytest.approx(0.0, abs=1e-12)


def test_balanced_categories_change_no_digit() -> None:
    people, model = evenly(0.8, people=8), evenly(0.5)
    easy = np.arange(800) % 2 == 0
    plain, weighed = only(people, model), only(with_categories(people, easy), with_categories(model, easy))
    assert np.array_equal(plain.estimate, weighed.estimate) and np.array_equal(plain.lower, weighed.lower)


def test_where_either_side_lacks_a_category_nothing_was_measured() -> None:
    people, model = evenly(0.8, people=8), evenly(0.8)
    easy = (np.arange(800) % 2 == 0) | ((people.place > 0.4) & (people.place < 0.6))
    found = only(with_categories(people, easy), with_categories(model, np.arange(800) % 2 == 0))
    assert len(found.gaps) == 1 and found.gaps[0] == pytest.approx((0.4, 0.6)) and not found.matches
    assert found.ranges[0] == (0.0, 1.0)
