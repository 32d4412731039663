from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.discrete.discrete_model import Probit

from analysis.errors import InvalidInput, TooFewResponses
from analysis.similarity.discrimination import DiscriminationTest, PlainPairs, discrimination_test
from analysis.similarity.sensitivity import Crowd, d_prime_of, share_right
from analysis.study.design import DiscriminationForm


def answers(n: int, k: int) -> np.ndarray:
    return np.arange(n) < k


def turns(n: int) -> np.ndarray:
    return np.arange(n) % 2 == 0


def one_observer(alarms: int, hits: int, each: int, form: DiscriminationForm = "same-different") -> DiscriminationTest:
    """So many "different" answers to each kind of pair."""
    said = np.concatenate([answers(each, alarms), answers(each, hits)])
    same = answers(2 * each, each)
    return discrimination_test(said ^ same, same=same, form=form)


def plain(people: int, trials: int, *, missed: float = 0.0, seed: int = 0) -> PlainPairs:
    """Plain pairs of sessions that all count, of which a share of the differences is missed."""
    same = np.tile(turns(trials), people)
    person = np.repeat(np.arange(people), trials)
    everyone = np.ones(len(same), dtype=bool)
    correct = same | (np.random.default_rng(seed).random(len(same)) >= missed)
    return PlainPairs(
        correct=correct, same=same, answered=everyone, counts=everyone, participants=person, sessions=person
    )


def simulated(
    seed: int, *, people: int, trials: int, apart: float, bias: float, sd: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Right answers, same pairs and people, of observers with unit slope and z(H) - z(F) = apart."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), trials)
    same = np.tile(turns(trials), people)
    above = (bias + sd * rng.standard_normal(people))[person]
    said = rng.random(len(same)) < stats.norm.cdf(np.where(same, 0.0, apart) - above)
    return said ^ same, same, person


def test_thirty_trials_with_sixteen_right() -> None:
    """The worked example: exact interval 0.343 to 0.717, nowhere near a decision."""
    found = discrimination_test(answers(30, 16), same=turns(30))
    assert found.interval == pytest.approx((0.343, 0.717), abs=5e-4)
    assert found.verdict == "undecided"


@pytest.mark.parametrize(("n", "k"), [(30, 16), (30, 0), (30, 30), (240, 131), (1000, 527), (7, 3)])
def test_the_share_right_has_scipys_exact_interval(n: int, k: int) -> None:
    two_sided = stats.binomtest(k, n, 0.5).proportion_ci(0.95, "exact")
    found = discrimination_test(answers(n, k), same=turns(n))
    assert found.interval == pytest.approx((two_sided.low, two_sided.high), abs=1e-10)


def test_shares_right_of_observers_without_bias() -> None:
    """By hand for d' = 1 and 2 (Macmillan and Creelman 2005, chapter 9)."""
    assert share_right(1.0, "same-different", "independent") == pytest.approx(0.573, abs=5e-4)
    assert share_right(2.0, "same-different", "independent") == pytest.approx(0.733, abs=5e-4)
    # Phi(sqrt 2) Phi(1) + Phi(-sqrt 2) Phi(-1) = 0.9214 * 0.8413 + 0.0786 * 0.1587
    assert share_right(2.0, "abx", "independent") == pytest.approx(0.7876, abs=1e-4)
    # 0.9214 * Phi(2 / sqrt 6) + 0.0786 * Phi(-2 / sqrt 6) = 0.9214 * 0.7929 + 0.0786 * 0.2071
    assert share_right(2.0, "abx", "differencing") == pytest.approx(0.7468, abs=1e-4)

    def differencing(k: float) -> float:
        hit = stats.norm.cdf((1.0 - k) / 2**0.5) + stats.norm.cdf((-1.0 - k) / 2**0.5)
        return float((hit + 1.0 - 2.0 * stats.norm.cdf(-k / 2**0.5)) / 2.0)

    best = optimize.minimize_scalar(lambda k: -differencing(k), bounds=(0.0, 5.0), method="bounded")
    assert share_right(1.0, "same-different", "differencing") == pytest.approx(-best.fun, abs=1e-8)
    for form, model in (("same-different", "independent"), ("abx", "differencing"), ("same-different", "differencing")):
        assert d_prime_of(share_right(1.3, form, model), form, model) == pytest.approx(1.3)  # type: ignore[arg-type]
        assert [d_prime_of(p, form, model) for p in (0.3, 0.5, 1.0)] == [0.0, 0.0, np.inf]  # type: ignore[arg-type]


def test_one_observer_by_hand() -> None:
    """80 hits and 40 false alarms of 100 each.

    Independent: z(.8) - z(.4) = 0.8416 + 0.2533 = 1.0950, Phi(0.5475) = 0.7080, d' = 2 z((1 + sqrt 0.4160) / 2) = 1.85.
    Differencing: k = -sqrt 2 z(.2) = 1.1902, and d' = 2.358 gives Phi(0.826) + Phi(-2.509) = 0.7956 + 0.0061.
    """
    found = one_observer(40, 80, 100)
    assert (found.hit_rate, found.false_alarm_rate, found.correct) == (0.8, 0.4, 140)
    z = stats.norm.ppf([80.5 / 101, 40.5 / 101])
    assert found.criterion == pytest.approx(-(z[0] + z[1]) / 2)
    assert found.observer_model == "differencing" and found.other_model is not None
    assert found.d_prime == pytest.approx(2.358, abs=0.01)
    assert found.other_model.d_prime == pytest.approx(1.85, abs=0.005)
    assert found.margin_d_prime == 1.0 and found.margin == pytest.approx(0.0558, abs=1e-4)


def test_one_observer_of_unit_slope_is_statsmodels_probit() -> None:
    said = np.concatenate([answers(200, 30), answers(200, 52)])
    same = answers(400, 200)
    crowd = Crowd(said, ~same, np.zeros(400, dtype=np.int64), None, "same-different", "independent")
    both = Probit(said.astype(float), np.column_stack([np.ones(400), ~same])).fit(disp=False)
    none = Probit(said.astype(float), np.ones((400, 1))).fit(disp=False)
    assert 2.0 * stats.norm.ppf(share_right(crowd.d_prime, "same-different", "independent")) == pytest.approx(
        both.params[1], abs=1e-4
    )
    assert crowd.ratio(0.0) == pytest.approx(np.sqrt(2.0 * (both.llf - none.llf)), rel=0.01)


def test_a_crowd_is_fitted_as_by_brute_force() -> None:
    """The marginal likelihood by a fine sum, its maximum by a simplex."""
    right, same, person = simulated(4, people=6, trials=24, apart=0.9, bias=0.6, sd=0.8)
    said = right ^ same
    crowd = Crowd(said, ~same, person, None, "same-different", "independent")
    at = np.linspace(-9.0, 9.0, 1801)

    def lost(x: np.ndarray) -> float:
        above = x[1] + np.exp(x[2]) * at
        alarm, hit = stats.norm.cdf(-above), stats.norm.cdf(x[0] - above)
        total = x[2]
        for one in range(6):
            own = person == one
            a, b = said[own & same], said[own & ~same]
            like = alarm ** a.sum() * (1 - alarm) ** (~a).sum() * hit ** b.sum() * (1 - hit) ** (~b).sum()
            total += np.log(np.sum(like * stats.norm.pdf(at)) * (at[1] - at[0]))
        return -float(total)

    found = optimize.minimize(lost, [0.5, 0.5, -0.5], method="Nelder-Mead", options={"xatol": 1e-5, "fatol": 1e-8})
    assert share_right(crowd.d_prime, "same-different", "independent") == pytest.approx(
        stats.norm.cdf(found.x[0] / 2.0), abs=1e-4
    )


def test_differing_criteria_do_not_make_sensitivity_smaller() -> None:
    """z(H) - z(F) = 0.7 with criteria of sd 1: taken for one observer the crowd would seem to have 0.5."""
    apart, pooled = [], []
    for seed in range(12):
        right, same, person = simulated(seed, people=60, trials=20, apart=0.7, bias=0.5, sd=1.0)
        for kept, who in ((apart, person), (pooled, np.zeros_like(person))):
            crowd = Crowd(right ^ same, ~same, who, None, "same-different", "independent")
            kept.append(2.0 * stats.norm.ppf(share_right(crowd.d_prime, "same-different", "independent")))
    assert np.mean(apart) == pytest.approx(0.7, abs=0.07)
    assert np.mean(pooled) == pytest.approx(0.7 / 2**0.5, abs=0.07)


def test_bias_is_told_from_sensitivity() -> None:
    """Always "same": half right, nothing known of the sensitivity, and no certainty from rates of 0."""
    same = turns(200)
    constant = discrimination_test(same, same=same, participants=np.arange(200) // 10, plain=plain(20, 16))
    assert constant.accuracy == 0.5 and constant.hit_rate == 0.0 and constant.false_alarm_rate == 0.0
    assert constant.criterion is not None and constant.criterion > 2
    assert constant.verdict == "undecided" and constant.upper_bound > 0.8


def test_a_biased_crowd_that_tells_pairs_apart_is_not_equivalent() -> None:
    """False alarms .5 %, z(H) - z(F) = 1.2: right in 53 %, but with a d' of about 2."""
    called = []
    for seed in range(5):
        right, same, person = simulated(seed, people=30, trials=20, apart=1.2, bias=2.576, sd=0.0)
        found = discrimination_test(right, same=same, participants=person, plain=plain(30, 16))
        assert found.accuracy < 0.6 and found.d_prime is not None and found.d_prime_upper is not None
        assert found.d_prime_upper >= found.d_prime
        called.append(found.equivalent)
    assert not any(called)


def test_a_crowd_that_guesses_is_equivalent_only_where_it_could_have_shown_a_difference() -> None:
    right, same, person = simulated(7, people=60, trials=40, apart=0.0, bias=0.5, sd=0.5)
    alone = discrimination_test(right, same=same, participants=person)
    assert alone.verdict == "undecided" and alone.assay is None
    assert alone.d_prime_upper is not None and alone.d_prime_upper < 1.0
    found = discrimination_test(right, same=same, participants=person, plain=plain(60, 16, missed=0.03))
    assert found.verdict == "equivalent" and found.assay is not None and found.assay.shown
    assert 0.06 / 2 < found.assay.careless < 0.1 < found.assay.careless_at_most < 0.2
    assert found.upper_bound < 0.5 + found.margin
    half = discrimination_test(right, same=same, participants=person, plain=plain(60, 16, missed=0.4))
    assert half.verdict == "undecided" and half.assay is not None and half.assay.careless_at_most > 0.8
    # Plain pairs that nobody tells apart.
    blind = discrimination_test(right, same=same, participants=person, plain=plain(60, 16, missed=1.0))
    assert blind.verdict == "undecided" and blind.assay is not None and not blind.assay.shown


def test_what_screening_cut_off_is_counted_as_careless() -> None:
    """A fifth of the differences is missed; of 4 plain pairs 3 must be right.

    Of sessions with at most one of two differences missed the share is 2 p q / (p^2 + 2 p q) / 2 = 1/6; against the
    sessions without a miss it is q / p = .2 / .8 again.
    """
    people = 3000
    same = np.tile([True, False, True, False], people)
    person = np.repeat(np.arange(people), 4)
    correct = same | (np.random.default_rng(3).random(4 * people) >= 0.2)
    passed = (np.bincount(person, weights=~correct) <= 1)[person]
    everyone = np.ones(4 * people, dtype=bool)
    pairs = PlainPairs(
        correct=correct, same=same, answered=everyone, counts=passed, participants=person, sessions=person
    )
    right, alike, who = simulated(1, people=10, trials=10, apart=0.0, bias=0.0, sd=0.5)
    assay = discrimination_test(right, same=alike, participants=who, plain=pairs).assay
    assert assay is not None and assay.trials == passed.sum()
    assert assay.careless == pytest.approx(0.4, abs=0.03)


def test_an_abx_observer_who_judges_every_picture_on_its_own_is_recovered() -> None:
    """Which of A and B has more of it, and whether X has more than the middle: the answer joins the two."""
    rng = np.random.default_rng(8)
    n, d_prime = 40_000, 1.5
    a_has, x_is_a = rng.random(n) < 0.5, rng.random(n) < 0.5
    x_has = a_has == x_is_a
    a, b, x = (rng.standard_normal(n) + d_prime * has for has in (a_has, ~a_has, x_has))
    says_a = (a > b) == (x > d_prime / 2)
    found = discrimination_test(says_a == x_is_a, form="abx", same=x_is_a, observer_model="independent")
    assert found.d_prime == pytest.approx(d_prime, abs=0.05)
    assert found.criterion == pytest.approx(0.0, abs=0.03)
    # One who goes by which of A and B is nearer to X.
    nearer = np.abs(a - x) < np.abs(b - x)
    compared = discrimination_test(nearer == x_is_a, form="abx", same=x_is_a)
    assert compared.d_prime == pytest.approx(d_prime, abs=0.05)
    # The same observer with a liking for "b": the accuracy falls, and the criterion tells why.
    likes_b = says_a & (rng.random(n) < 0.7)
    biased = discrimination_test(likes_b == x_is_a, form="abx", same=x_is_a, observer_model="independent")
    assert biased.accuracy < found.accuracy and biased.criterion is not None and biased.criterion < -0.3
    assert biased.d_prime is not None
    assert d_prime_of(biased.accuracy, "abx", "independent") < biased.d_prime <= d_prime + 0.1


def test_a_same_different_observer_who_goes_by_the_difference_is_recovered() -> None:
    rng = np.random.default_rng(2)
    n, d_prime = 40_000, 1.5
    same = turns(n)
    apart = rng.standard_normal(n) - rng.standard_normal(n) + d_prime * ~same
    for k in (1.0, 3.0):
        found = discrimination_test((np.abs(apart) > k) ^ same, same=same)
        assert found.d_prime == pytest.approx(d_prime, abs=0.06)


def test_a_form_and_a_model_that_there_are_not_are_refused() -> None:
    with pytest.raises(InvalidInput, match="same-different, abx"):
        discrimination_test([1, 0], same=[1, 0], form="oddity")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="differencing, independent"):
        discrimination_test([1, 0], same=[1, 0], observer_model="ideal")  # type: ignore[arg-type]


def test_clusters_widen_the_interval_and_independent_people_do_not() -> None:
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(30), 20)
    skill = np.where(np.arange(30) < 15, 0.95, 0.35)[person]
    spread_out, same = rng.random(600) < skill, turns(600)
    alone = discrimination_test(spread_out, same=same)
    clustered = discrimination_test(spread_out, same=same, participants=person)
    assert clustered.design_effect > 3
    assert clustered.interval[0] < alone.interval[0] and clustered.interval[1] > alone.interval[1]
    assert clustered.p > alone.p


def test_pictures_that_several_people_saw_are_clusters() -> None:
    """All answers to a picture are the same: 400 of them say no more than 20."""
    rng = np.random.default_rng(6)
    same = np.tile(turns(20), 20)
    picture, person = np.tile(np.arange(20), 20), np.repeat(np.arange(20), 20)
    right = (rng.random(20) < 0.7)[picture]
    alone = discrimination_test(right, same=same, participants=person)
    shared = discrimination_test(right, same=same, participants=person, pictures=picture)
    assert shared.p > 100 * alone.p


def test_missed_trials_are_wrong_in_the_share_and_no_answers() -> None:
    same = turns(200)
    right, answered = np.arange(200) % 10 < 6, np.arange(200) % 10 < 8
    found = discrimination_test(right & answered, same=same, answered=answered)
    only = discrimination_test(right[answered], same=same[answered])
    assert (found.trials, found.accuracy) == (200, 0.6) and only.accuracy == 0.75
    assert (found.d_prime, found.p, found.hit_rate) == (only.d_prime, only.p, only.hit_rate)


def test_one_kind_of_pair_alone_tells_no_sensitivity() -> None:
    found = discrimination_test(answers(40, 35), same=np.zeros(40, dtype=bool))
    assert found.d_prime is None and found.verdict == "undecided" and found.p == 1.0 and found.criterion is None


def test_bad_columns_are_refused() -> None:
    with pytest.raises(TooFewResponses):
        discrimination_test([], same=[])
    with pytest.raises(InvalidInput, match="correct"):
        discrimination_test([0.5], same=[1])
    with pytest.raises(InvalidInput, match="same"):
        discrimination_test([1, 0], same=[1])
    with pytest.raises(InvalidInput, match="participants"):
        discrimination_test([1, 0], same=[1, 0], participants=["a"])
    with pytest.raises(InvalidInput, match="margin"):
        discrimination_test([1, 0], same=[1, 0], d_prime_margin=0.0)
