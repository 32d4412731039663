from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from analysis.curves.categories import CategoryGap, equal_categories
from analysis.curves.curve import CurveFit
from analysis.curves.fit import fit_curve
from analysis.curves.trials import CleanTrials


def spread_out(number: int, start: float = 0.0, end: float = 1.0) -> np.ndarray:
    return start + (end - start) * (np.arange(number) + 0.5) / number


def names(*counts: int) -> np.ndarray:
    return np.repeat([f"category {number}" for number in range(len(counts))], counts)


def test_weights_within_a_window_are_those_computed_by_hand() -> None:
    """30 answers of one category and 10 of another, in one window: 40 / (2 x 30) and 40 / (2 x 10)."""
    found = equal_categories(np.r_[spread_out(30), spread_out(10)], names(30, 10))
    assert (found.number, found.gaps) == (2, ())
    assert found.factors is not None
    assert found.factors[:30] == pytest.approx(2 / 3) and found.factors[30:] == pytest.approx(2.0)


def test_windows_are_as_many_as_are_full_and_each_is_balanced_for_itself() -> None:
    """200 answers: four windows of 2 x 25. In the first half one category answers four times as often, then 1.5."""
    places = (spread_out(number, start, start + 0.5) for start, number in [(0.0, 80), (0.0, 20), (0.5, 60), (0.5, 40)])
    place, category = np.concatenate(list(places)), np.r_[names(80, 20), names(60, 40)]
    found = equal_categories(place, category)
    assert found.factors is not None
    expected = np.repeat([5 / 8, 5 / 2, 5 / 6, 5 / 4], [80, 20, 60, 40])
    assert found.factors == pytest.approx(expected)
    for window in range(4):
        rows = (place * 4).astype(int) == window
        own = [found.factors[rows & (category == name)].sum() for name in np.unique(category)]
        assert own[0] == pytest.approx(own[1], rel=1e-12)


def test_a_person_who_counts_more_brings_a_category_more() -> None:
    """Weights of 1 and 3 beside each other are a category's share: (30 + 3 x 10) / (2 x 30) = 1."""
    weights = np.repeat([1.0, 3.0], [30, 10])
    assert equal_categories(np.r_[spread_out(30), spread_out(10)], names(30, 10), weights=weights).factors is None


def test_balanced_categories_one_category_or_very_few_answers_are_not_weighed() -> None:
    twice = np.tile(spread_out(100), 2)
    assert equal_categories(twice, names(100, 100)).factors is None
    assert equal_categories(twice, names(200)).factors is None
    assert equal_categories(twice[:19], names(10, 9)).factors is None


def test_a_stretch_without_a_category_is_its_gap_unless_chance_would_leave_it() -> None:
    """Behind .8 one of two has no answers; the 30 there would be 15 each."""
    place = np.r_[spread_out(120, 0.0, 0.8), spread_out(150)]
    found = equal_categories(place, names(120, 150))
    assert found.gaps == (CategoryGap("category 0", 0.8, 1.0),)
    assert found.factors is None
    few = equal_categories(np.r_[spread_out(16, 0.0, 0.8), spread_out(20)], names(16, 20))
    assert few.gaps == ()


def test_answers_to_one_picture_are_one_chance_to_be_there() -> None:
    place = np.repeat(np.r_[spread_out(16, 0.0, 0.8), spread_out(20)], 10)
    category, pictures = np.repeat(names(16, 20), 10), np.repeat(np.arange(36), 10)
    assert equal_categories(place, category).gaps != ()
    assert equal_categories(place, category, pictures=pictures).gaps == ()


def test_a_category_that_only_the_study_has_is_missing_everywhere() -> None:
    found = equal_categories(np.tile(spread_out(100), 2), names(100, 100), study=["category 0", "category 9"])
    assert (found.number, found.gaps) == (3, (CategoryGap("category 9", 0.0, 1.0),))


def curve_of(rng: np.random.Generator, share: float, reach: float = 1.0, **more: object) -> CurveFit:
    """4,000 answers, a share of which are to an easy category; behind the reach all are."""
    place = rng.random(4000)
    easy = (rng.random(4000) < share) | (place > reach)
    correct = rng.random(4000) < np.where(easy, 0.9, 0.3) * expit((0.7 - place) / 0.08)
    categories = np.where(easy, "easy", "hard")
    return fit_curve(place, correct, images=np.arange(4000), n_bootstrap=2, **{"categories": categories, **more})


TRUTH = 0.6 * float(np.mean(expit((0.7 - spread_out(2000)) / 0.08)))


def test_the_area_is_that_of_equal_categories_however_often_each_was_shown() -> None:
    rng = np.random.default_rng(4)
    fits = [curve_of(rng, 0.8) for _ in range(12)]
    areas = np.array([fit.area for fit in fits])
    assert areas.mean() == pytest.approx(TRUTH, abs=2.6 * areas.std(ddof=1) / np.sqrt(12))
    assert all(not fit.category_gaps for fit in fits)
    covered = [low <= TRUTH <= high for low, high in (fit.area_interval or (1.0, 0.0) for fit in fits)]
    assert sum(covered) >= 10
    assert curve_of(rng, 0.8, categories=None).area > TRUTH + 0.05


def test_where_a_category_is_missing_the_area_is_known_within_what_its_fall_leaves() -> None:
    """Behind .5 nothing is known of the hard category but that it lies between 0 and its height before."""
    fit = curve_of(np.random.default_rng(5), 0.5, reach=0.5)
    assert fit.category_gaps == (CategoryGap("hard", 0.5, 1.0),)
    before = 0.3 * float(np.mean(expit((0.7 - spread_out(400, 0.35, 0.5)) / 0.08)))
    easy = 0.9 * float(np.mean(expit((0.7 - spread_out(400, 0.5, 1.0)) / 0.08))) * 0.5
    known = 0.6 * float(np.mean(expit((0.7 - spread_out(400, 0.0, 0.5)) / 0.08))) * 0.5
    assert fit.area_bounds[0] == pytest.approx(known + easy / 2, abs=0.015)
    assert fit.area_interval is not None
    lower, upper = fit.area_interval
    assert lower < known + easy / 2 and upper > known + easy / 2 + 0.5 * before / 2 - 0.01
    assert lower < TRUTH < upper and lower <= fit.area <= upper
    again = CurveFit.from_dict(fit.to_dict())
    assert again == fit and again.category_gaps == fit.category_gaps


def test_one_category_or_equal_shares_change_no_digit() -> None:
    rng = np.random.default_rng(6)
    place, correct, people = rng.random(600), rng.random(600) < 0.5, np.arange(600) % 10
    fits = [
        fit_curve(place, correct, participants=people, n_bootstrap=4, categories=categories)
        for categories in (None, np.full(600, "one"))
    ]
    assert fits[0] == fits[1]
    twice, both = np.repeat(place, 2), np.tile(["one", "two"], 600)
    plain, balanced = (
        fit_curve(twice, np.repeat(correct, 2), n_bootstrap=4, categories=categories) for categories in (None, both)
    )
    assert plain == balanced


def test_clean_answers_count_by_categories_too() -> None:
    place = np.tile(spread_out(100), 2)
    clean = CleanTrials(np.r_[np.ones(60), np.zeros(20)], categories=names(60, 20))
    fit = fit_curve(place, place < 0.5, categories=names(100, 100), anchor="soft", clean=clean)
    assert fit.anchor.value == pytest.approx(0.5)
