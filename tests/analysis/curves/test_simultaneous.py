"""The band that holds a whole curve."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from analysis.curves.bands import Bands, _wilson
from analysis.curves.fit import fit_curve
from analysis.curves.trials import CleanTrials
from analysis.errors import InvalidInput
from analysis.similarity.verdicts import bands_overlap
from tests.analysis.curves.truths import crowd, kink, sharp


def bands_of(**columns: object) -> Bands:
    bands = fit_curve(n_bootstrap=2, rng=1, **columns).bands  # type: ignore[arg-type]
    assert bands is not None
    return bands


def test_limits_of_a_rate_are_wilsons() -> None:
    # 9 of 10 at 1.96 standard errors: .596 and .982 (Newcombe 1998 prints such limits to three digits)
    lower, upper = _wilson(np.array([0.9]), np.array([10.0]), 1.959964)
    assert [lower[0], upper[0]] == pytest.approx([0.596, 0.982], abs=5e-4)
    theirs = proportion_confint(90, 100, method="wilson")
    assert np.ravel(_wilson(np.array([0.9]), np.array([100.0]), 1.959964)) == pytest.approx(theirs, abs=1e-6)


def test_it_falls_contains_the_drawn_curve_and_depends_on_nothing_but_answers_and_seed() -> None:
    experiment = crowd(1, people=30, trials_each=40)
    band = bands_of(**experiment)
    assert (band.simultaneous_lower <= band.estimate).all() and (band.estimate <= band.simultaneous_upper).all()
    assert np.diff(band.simultaneous_lower).max() <= 1e-12 and np.diff(band.simultaneous_upper).max() <= 1e-12
    more = fit_curve(**experiment, n_bootstrap=40, rng=1).bands
    assert more is not None
    np.testing.assert_array_equal(band.simultaneous_lower, more.simultaneous_lower)


def test_few_people_leave_a_wider_band_than_many_who_gave_as_many_answers() -> None:
    few, many = bands_of(**crowd(2, people=8, trials_each=200)), bands_of(**crowd(2, people=400, trials_each=4))
    width = [float(np.mean(one.simultaneous_upper - one.simultaneous_lower)) for one in (few, many)]
    assert few.critical > many.critical > 2.0 and width[0] > 1.2 * width[1]


def test_over_a_gap_it_holds_every_falling_curve() -> None:
    rng = np.random.default_rng(3)
    v = rng.random(3000) * 0.6
    v[v > 0.3] += 0.4
    y = rng.random(3000) < np.where(v < 0.5, 0.9, 0.2)
    band = bands_of(visual_change=v, correct=y)
    inside = (band.v > 0.31) & (band.v < 0.69)
    assert (band.simultaneous_upper[inside] > 0.85).all() and (band.simultaneous_lower[inside] < 0.25).all()


def test_ends_that_are_held_stay_where_they_are() -> None:
    experiment = crowd(4, people=30, trials_each=40)
    band = bands_of(**experiment, anchor=0.95, right_anchor=0.05)
    assert [band.simultaneous_lower[0], band.simultaneous_upper[0]] == pytest.approx([0.95, 0.95])
    assert [band.simultaneous_lower[-1], band.simultaneous_upper[-1]] == pytest.approx([0.05, 0.05])


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_answers_that_were_all_alike_still_leave_something_open(right: float) -> None:
    band = bands_of(visual_change=np.linspace(0, 1, 200), correct=np.full(200, right), images=np.arange(200))
    width = band.simultaneous_upper - band.simultaneous_lower
    assert width.min() > 0.01 and width.max() < 0.15


def test_clean_answers_narrow_its_left_end() -> None:
    rng = np.random.default_rng(5)
    v = rng.random(800)
    y = rng.random(800) < sharp(v)
    clean = CleanTrials(rng.random(2000) < float(sharp(np.zeros(1))[0]))
    free, held = bands_of(visual_change=v, correct=y), bands_of(visual_change=v, correct=y, anchor="soft", clean=clean)
    narrower, wider = (one.simultaneous_upper[0] - one.simultaneous_lower[0] for one in (held, free))
    assert narrower < 0.7 * wider


def test_it_holds_curves_with_a_bend() -> None:
    """Of 24 studies (nominal 83.4 %) at least 16; the former band held 3 of 30 of its like."""
    held = []
    v = np.linspace(0.0, 1.0, 201)
    for seed in range(24):
        rng = np.random.default_rng(seed)
        place = rng.random(5000)
        band = bands_of(visual_change=place, correct=rng.random(5000) < kink(place))
        held.append(np.all((band.simultaneous_lower <= kink(v)) & (kink(v) <= band.simultaneous_upper)))
    assert sum(held) >= 16


def test_the_overlap_rule_takes_no_other_level() -> None:
    rng = np.random.default_rng(6)
    v = rng.random(300)
    y = rng.random(300) < sharp(v)
    curve = fit_curve(v, y, n_bootstrap=20, rng=1, simultaneous_level=0.9)
    with pytest.raises(InvalidInput, match="0.8342"):
        bands_overlap(curve, curve, np.linspace(0, 1, 5), simultaneous=True)
