from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.curves.curve import CurveFit, threshold
from analysis.curves.fit import fit_curve
from analysis.curves.trials import CleanTrials
from analysis.errors import InvalidInput, TooFewResponses
from tests.analysis.curves.truths import crowd, kink, marginal_area, sharp

GRID = np.linspace(0, 1, 1001)


def simulated(seed: int = 0, n: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    v = rng.random(n)
    return v, rng.random(n) < sharp(v)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=5, max_size=120),
    st.sampled_from([None, 0.4, 1.0, "soft"]),
)
def test_every_curve_is_monotone_bounded_and_has_an_area_in_range(
    rows: list[tuple[float, bool]], anchor: float | str | None
) -> None:
    v, y = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    clean = CleanTrials([True, True, False]) if anchor == "soft" else None
    if anchor != "soft" and len({min(int(value * 40), 39) for value in v}) < 2:
        with pytest.raises(TooFewResponses):
            fit_curve(v, y, anchor=anchor)
        return
    curve = fit_curve(v, y, anchor=anchor, clean=clean)  # type: ignore[arg-type]
    heights = curve.predict(GRID)
    assert np.diff(heights).max() <= 1e-12
    assert heights.min() >= 0 and heights.max() <= 1
    assert 0 <= curve.area <= 1
    assert curve.area_bounds[0] <= curve.area <= curve.area_bounds[1]
    assert abs(curve.area - heights.mean()) < 2e-3
    if isinstance(anchor, float):
        assert curve.predict(0.0) == pytest.approx(anchor, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 20), st.lists(st.integers(0, 39), min_size=3, max_size=40, unique=True))
def test_constant_outcomes_give_a_constant_area_whatever_bins_are_empty(right: int, occupied: list[int]) -> None:
    v = np.repeat((np.array(occupied) + 0.5) / 40, 20)
    y = np.tile(np.arange(20) < right, len(occupied))
    curve = fit_curve(v, y)
    assert curve.area == pytest.approx(right / 20, abs=2e-3)
    assert curve.predict(GRID) == pytest.approx(np.full(1001, right / 20), abs=5e-3)


def test_empty_bins_change_nothing_else() -> None:
    """Fits on 40 and on 120 bins agree when every trial has its own visual change on the finer grid."""
    v = np.repeat((np.arange(40) + 0.5) / 40, 25)
    rng = np.random.default_rng(3)
    y = rng.random(len(v)) < kink(v)
    coarse, fine = fit_curve(v, y), fit_curve(v, y, n_bins=120)
    np.testing.assert_allclose(fine.coefficients, coarse.coefficients, atol=1e-9)
    assert len(fine.bins) == 40


def test_row_order_changes_nothing() -> None:
    experiment = crowd(1, people=30, trials_each=20)
    order = np.random.default_rng(0).permutation(len(experiment["correct"]))
    shuffled = {name: column[order] for name, column in experiment.items()}
    assert fit_curve(**shuffled, n_bootstrap=50, rng=4) == fit_curve(**experiment, n_bootstrap=50, rng=4)


def test_digest_follows_the_trials() -> None:
    v, y = simulated()
    digest = fit_curve(v, y).data_digest
    assert fit_curve(v, y, n_bins=20).data_digest == digest
    changed = y.copy()
    changed[0] = ~changed[0]
    assert fit_curve(v, changed).data_digest != digest
    assert fit_curve(v, y, images=np.arange(len(v))).data_digest != digest


def test_round_trip_through_json_loses_nothing() -> None:
    experiment = crowd(2, people=25, trials_each=20)
    clean = CleanTrials(
        np.ones(40), participants=[f"P-{k % 25}" for k in range(40)], images=[f"image-{k}" for k in range(40)]
    )
    curve = fit_curve(**experiment, anchor="soft", clean=clean, n_bootstrap=60, rng=1)
    again = CurveFit.from_dict(json.loads(json.dumps(curve.to_dict())))
    assert again == curve
    assert again.bootstrap is not None and curve.bootstrap is not None
    for unit, draws in curve.bootstrap.draws.items():
        assert (again.bootstrap.draws[unit] == draws).all()
    light = CurveFit.from_dict(curve.to_dict(draws=False))
    assert light.bootstrap is None and light.area_interval == curve.area_interval


def test_the_same_seed_gives_the_same_curve_and_another_seed_does_not() -> None:
    experiment = crowd(3, people=25, trials_each=20)
    first, second = (fit_curve(**experiment, n_bootstrap=50, rng=9) for _ in range(2))
    assert first == second
    other = fit_curve(**experiment, n_bootstrap=50, rng=10)
    assert other.area == first.area and other.bands != first.bands
    assert other.area_interval == first.area_interval, "the interval of the area is not resampled"
    one, two = (fit_curve(**experiment, n_bootstrap=50, rng=np.random.default_rng(9)) for _ in range(2))
    assert one == two


def test_a_hard_anchor_is_met_exactly_and_a_soft_one_bends_to_the_trials() -> None:
    v, y = simulated()
    assert fit_curve(v, y, anchor=1.0).predict(0.0) == pytest.approx(1.0, abs=1e-12)
    strong = fit_curve(v, y, anchor="soft", clean=CleanTrials(np.r_[np.ones(990), np.zeros(10)]))
    weak = fit_curve(v, y, anchor="soft", clean=CleanTrials([True]))
    assert strong.predict(0.0) == pytest.approx(0.99, abs=0.006)
    assert float(weak.predict(0.0)) < float(strong.predict(0.0))
    assert strong.anchor.value == 0.99 and strong.anchor.n == 1000


def test_soft_anchor_may_stand_among_the_trials() -> None:
    v, y = simulated()
    clean = np.ones(30)
    apart = fit_curve(v, y, anchor="soft", clean=CleanTrials(clean))
    among = fit_curve(np.r_[v, np.zeros(30)], np.r_[y, clean], anchor="soft")
    np.testing.assert_array_equal(among.coefficients, apart.coefficients)
    assert among.n_trials == apart.n_trials == len(v)


def test_extrapolation_is_reported_with_its_bounds() -> None:
    rng = np.random.default_rng(1)
    v = rng.uniform(0.2, 0.7, 2000)
    v[:2] = [0.2001, 0.6999]
    y = rng.random(2000) < 0.8
    free, held = fit_curve(v, y), fit_curve(v, y, anchor=0.9)
    assert free.measured == pytest.approx((0.2, 0.7)) and free.extrapolated == pytest.approx(0.5)
    assert held.measured == pytest.approx((0.0, 0.7)) and held.extrapolated == pytest.approx(0.5)
    assert np.ravel(held.gaps) == pytest.approx([0.0, 0.2, 0.7, 1.0]) and held.is_withheld
    last = float(free.predict(0.7))
    inside = 0.5 * free.mean_between(0.2, 0.7)
    assert free.area_bounds[0] == pytest.approx(inside + 0.2 * float(free.predict(0.2)))
    assert free.area_bounds[1] == pytest.approx(inside + 0.2 + 0.3 * last)


def test_bands_contain_each_other_in_the_right_order() -> None:
    curve = fit_curve(**crowd(5, people=40, trials_each=25), n_bootstrap=200, rng=0)
    bands = curve.bands
    assert bands is not None and bands.scheme == "two-way"
    narrow, wide = bands.pointwise(0.5), bands.pointwise(bands.level)
    assert (narrow[0] >= wide[0]).all() and (narrow[1] <= wide[1]).all()
    assert (bands.simultaneous_upper >= bands.estimate).all()
    assert bands.critical > 1.37
    np.testing.assert_allclose(bands.estimate, curve.predict(bands.v), atol=1e-12)
    np.testing.assert_array_equal(wide[0], bands.lower)


def test_repeated_answers_widen_the_two_way_band_but_not_the_naive_one() -> None:
    experiment = crowd(6, people=40, trials_each=50, answers_an_image=5)
    errors = {
        scheme: fit_curve(**experiment, n_bootstrap=200, rng=0, scheme=scheme).area_standard_error  # type: ignore[arg-type]
        for scheme in ("naive", "image", "two-way")
    }
    assert errors["image"] > 1.2 * errors["naive"]
    assert errors["two-way"] >= errors["image"]


def test_naive_standard_error_equals_theory_for_a_constant_curve() -> None:
    rng = np.random.default_rng(8)
    v = rng.random(4000)
    y = rng.random(4000) < 0.7
    curve = fit_curve(v, y, n_bootstrap=400, rng=1)
    assert curve.area_standard_error == pytest.approx(np.sqrt(0.7 * 0.3 / 4000), rel=0.2)


@pytest.mark.parametrize(("right", "n"), [(1.0, 150), (0.0, 10), (1.0, 300)])
def test_answers_that_were_all_alike_leave_as_much_open_as_the_exact_bound(right: float, n: int) -> None:
    curve = fit_curve(np.linspace(0.0, 1.0, n), np.full(n, right), images=np.arange(n), n_bootstrap=400, rng=1)
    assert curve.area == pytest.approx(right, abs=1e-9) and curve.area_interval is not None
    reached = abs(curve.area_interval[0] + curve.area_interval[1] - curve.area - right)
    assert reached == pytest.approx(1 - 0.025 ** (1 / n), rel=0.05)
    assert curve.bands is not None and np.ptp(curve.bands.upper - curve.bands.lower) < 1e-6


def test_of_one_person_or_one_original_no_spread_is_claimed() -> None:
    rng = np.random.default_rng(3)
    v = rng.random(200)
    y, names = rng.random(200) < 1 - v, np.arange(200)
    one = ["P-1"] * 200
    person = fit_curve(v, y, participants=one, images=names, n_bootstrap=50, rng=1)
    assert person.config.scheme == "image" and "one observer" in person.scheme_reason
    assert fit_curve(v, y, images=one, n_bootstrap=50, rng=1).config.scheme == "naive"
    picture = fit_curve(v, y, participants=names % 9, images=one, n_bootstrap=50, rng=1)
    assert picture.config.scheme == "participant" and (picture.area_standard_error or 0) > 0.01
    with pytest.raises(InvalidInput, match="only one"):
        fit_curve(v, y, participants=one, images=names, n_bootstrap=50, scheme="two-way")


@pytest.mark.promise(9)
def test_interval_covers_the_marginal_truth() -> None:
    truth = marginal_area(sharp, float(np.hypot(2.0, 0.5)))
    covered = []
    for seed in range(40):
        curve = fit_curve(**crowd(seed, people=30, trials_each=40), n_bootstrap=100, rng=seed)
        assert curve.area_interval is not None
        covered.append(curve.area_interval[0] <= truth <= curve.area_interval[1])
    assert np.mean(covered) >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize(("answers", "people", "each"), [(5, 550, 9), (1, 550, 9), (5, 20, 250)])
def test_standard_error_equals_the_true_one_in_three_designs(answers: int, people: int, each: int) -> None:
    areas, errors = [], []
    for seed in range(150):
        experiment = crowd(seed, people=people, trials_each=each, answers_an_image=answers)
        curve = fit_curve(**experiment, n_bootstrap=200, rng=seed)
        areas.append(curve.area)
        errors.append(curve.area_standard_error)
    assert np.median(errors) == pytest.approx(np.std(areas), rel=0.15)


def test_threshold_is_where_the_curve_crosses() -> None:
    curve = fit_curve(**crowd(9, people=60, trials_each=40), n_bootstrap=200, rng=2)
    found = threshold(curve, 0.5)
    assert found.v is not None and found.interval is not None and found.interval[1] is not None
    assert float(curve.predict(found.v)) == pytest.approx(0.5, abs=2e-3)
    assert found.interval[0] < found.v < found.interval[1]
    flat = fit_curve(np.linspace(0, 1, 100), np.ones(100))
    assert threshold(flat, 0.5).v is None
    with pytest.raises(InvalidInput):
        threshold(flat, 1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"visual_change": [0.1, 0.2], "correct": [1]}, "one entry"),
        ({"visual_change": [0.1, 1.2], "correct": [1, 0]}, "entry 1"),
        ({"visual_change": [0.1, 0.2], "correct": [1, float("nan")]}, "Outcomes"),
        ({"visual_change": [0.1, 0.2], "correct": [1, 2]}, "Outcomes"),
        ({"visual_change": [0.1, 0.2], "correct": [1, 0], "images": ["a"]}, "images"),
        ({"visual_change": [0.1, 0.2], "correct": [1, 0], "anchor": 1.5}, "anchor"),
        ({"visual_change": [0.1, 0.2], "correct": [1, 0], "anchor": "soft"}, "clean trials"),
        ({"visual_change": [0.1, 0.2], "correct": [1, 0], "clean": CleanTrials([1])}, 'not "soft"'),
        ({"visual_change": [0.1, 0.2], "correct": [1, 0], "n_bootstrap": 1}, "spread"),
        ({"visual_change": [0.1, 0.2], "correct": [1, 0], "n_bootstrap": 5, "scheme": "image"}, "ids"),
        ({"visual_change": [0.1, 0.2], "correct": [1, 0], "rng": -1, "n_bootstrap": 5}, "seed"),
        (
            {
                "visual_change": [0.1, 0.2],
                "correct": [1, 0],
                "images": ["a", "b"],
                "anchor": "soft",
                "clean": CleanTrials([1]),
            },
            "only one of",
        ),
    ],
)
def test_bad_arguments_are_refused_with_a_reason(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        fit_curve(**arguments)  # type: ignore[arg-type]


def test_a_curve_is_not_asked_beyond_its_axis_and_ids_are_never_empty() -> None:
    curve = fit_curve([0.1, 0.9], [1, 0])
    for beyond in (-0.01, 1.01, float("nan")):
        with pytest.raises(InvalidInput):
            curve.predict(beyond)
    for ids in (["a", None], [1.0, float("nan")]):
        with pytest.raises(InvalidInput, match="Entry 1 of participants"):
            fit_curve([0.1, 0.9], [1, 0], participants=ids)


def test_too_little_is_refused() -> None:
    with pytest.raises(TooFewResponses):
        fit_curve([], [])
    with pytest.raises(TooFewResponses, match="one bin"):
        fit_curve([0.51, 0.512], [1, 0])
