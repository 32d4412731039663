from __future__ import annotations

import numpy as np
import pytest

from analysis.curves.binning import scale_abscissa
from analysis.curves.fit import fit_curve
from analysis.curves.trials import CleanTrials
from analysis.errors import InvalidInput, TooFewResponses
from tests.analysis.curves.truths import crowd, gradual

GRID = np.linspace(0, 1, 501)


def answers(upper: float = 0.9, n: int = 2500) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    v = rng.uniform(0, upper, n)
    return v, rng.random(n) < gradual(v)


@pytest.mark.parametrize("method", ["spline", "paper", "isotonic"])
@pytest.mark.parametrize("value", [0.0, 0.04, "chance"])
def test_a_right_anchor_is_met_exactly(method: str, value: float | str) -> None:
    v, y = answers()
    curve = fit_curve(v, y, method=method, right_anchor=value, n_bootstrap=6)  # type: ignore[arg-type]
    wanted = 1 / 16 if value == "chance" else value
    assert curve.predict(1.0) == pytest.approx(wanted, abs=1e-9)
    assert np.diff(curve.predict(GRID)).max() <= 1e-9
    assert curve.bands is not None and np.ptp(curve.bootstrap.draws["trial"][:, -1]) < 1e-6  # type: ignore[union-attr]
    assert (curve.right_anchor.kind, curve.right_anchor.value) == ("fixed", wanted)


def test_both_ends_can_be_held() -> None:
    v, y = answers()
    curve = fit_curve(v, y, anchor=0.95, right_anchor=0.05)
    assert curve.predict(np.array([0.0, 1.0])) == pytest.approx([0.95, 0.05], abs=1e-9)
    # Where answers are, the ends change little.
    free = fit_curve(v, y)
    assert np.abs(curve.predict(np.linspace(0.2, 0.8, 50)) - free.predict(np.linspace(0.2, 0.8, 50))).max() < 0.03


def test_an_assumed_end_measures_nothing_but_bounds_the_area() -> None:
    v, y = answers(0.7)
    free, held = fit_curve(v, y), fit_curve(v, y, right_anchor=0.05)
    assert held.measured == free.measured and held.extrapolated == pytest.approx(0.3)
    assert held.is_withheld and free.is_withheld
    assert held.area_bounds[0] == pytest.approx(0.7 * held.mean_between(0, 0.7) + 0.3 * 0.05, abs=1e-9)


def test_answers_to_noise_are_data_at_one() -> None:
    v, y = answers(0.9)
    noise = CleanTrials(np.arange(400) < 30)
    curve = fit_curve(v, y, right_anchor="soft", noise=noise)
    assert curve.measured[1] == 1.0 and curve.right_anchor.n == 400 and curve.right_anchor.value == 0.075
    assert curve.predict(1.0) == pytest.approx(0.075, abs=0.03)
    published = fit_curve(v, y, method="paper", right_anchor="soft", noise=noise)
    assert published.right_anchor.kind == "fixed" and published.predict(1.0) == pytest.approx(0.075, abs=1e-9)
    among = fit_curve(np.r_[v, np.ones(400)], np.r_[y, np.arange(400) < 30], right_anchor="soft")
    np.testing.assert_array_equal(among.coefficients, curve.coefficients)
    assert among.n_trials == len(v)
    assert curve.data_digest != fit_curve(v, y).data_digest


def test_ids_of_noise_and_clean_trials_are_resampled_with_the_rest() -> None:
    experiment = crowd(3, people=30, trials_each=30)
    people, images = experiment["participants"][:200], experiment["images"][:200]
    options = {
        "anchor": "soft",
        "clean": CleanTrials(np.arange(200) < 190, people, images),
        "right_anchor": "soft",
        "noise": CleanTrials(np.arange(200) < 12, people, images),
    }
    curve = fit_curve(**experiment, **options, n_bootstrap=40, rng=1)  # type: ignore[arg-type]
    naive = fit_curve(**experiment, **options, n_bootstrap=40, rng=1, scheme="naive")  # type: ignore[arg-type]
    assert curve.bands is not None and naive.bands is not None
    assert curve.bands.standard_error[0] > 0 and curve.bands.standard_error[-1] > 0
    assert "two-way" in naive.scheme_reason


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"right_anchor": 1.0}, "below 1"),
        ({"right_anchor": -0.1}, "0 or above"),
        ({"right_anchor": "soft"}, "trials on noise"),
        ({"noise": CleanTrials([1])}, "right anchor"),
        ({"anchor": 0.05, "right_anchor": "chance"}, "falling"),
    ],
)
def test_contradictions_are_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        fit_curve([0.1, 0.2, 0.9], [1, 0, 1], **arguments)  # type: ignore[arg-type]


def test_trials_at_both_ends_alone_make_no_curve() -> None:
    with pytest.raises(TooFewResponses, match="corrupted"):
        fit_curve([0.0, 1.0, 1.0], [1, 0, 0], anchor="soft", right_anchor="soft")


def test_empty_bins_are_named_and_widen_the_bounds() -> None:
    """0.8 left of a gap from 0.4 to 0.6, 0.2 right of it: across the gap the area is anything from 0.04 to 0.16."""
    v = np.r_[np.repeat((np.arange(16) + 0.5) / 40, 400), np.repeat((np.arange(24, 40) + 0.5) / 40, 400)]
    y = np.where(v < 0.5, np.arange(len(v)) % 5 < 4, np.arange(len(v)) % 5 < 1)
    curve = fit_curve(v, y)
    assert curve.empty_bins == tuple(range(16, 24)) and curve.extrapolated == pytest.approx(0.2)
    assert curve.gaps == ((0.4, 0.6),) and not curve.is_withheld
    high, low = (float(curve.predict(at)) for at in (0.4, 0.6))
    across = 0.2 * curve.mean_between(0.4, 0.6)
    assert curve.area_bounds == pytest.approx((curve.area - across + 0.2 * low, curve.area - across + 0.2 * high))
    assert curve.area_bounds[1] - curve.area_bounds[0] == pytest.approx(0.2 * (high - low))


def test_why_a_band_resamples_what_it_does() -> None:
    experiment = crowd(4, people=20, trials_each=20)
    v, y, people, images = (experiment[k] for k in ("visual_change", "correct", "participants", "images"))
    cases = [
        ({"participants": people, "images": images}, "two-way", "20 people gave 20.0 answers"),
        ({"images": images}, "image", "400 originals"),
        ({"participants": people}, "participant", "too narrow"),
        ({}, "naive", "too narrow"),
    ]
    for ids, scheme, words in cases:
        curve = fit_curve(v, y, **ids, n_bootstrap=5)
        assert curve.config.scheme == scheme and words in curve.scheme_reason
    assert fit_curve(v, y).scheme_reason == ""


def test_any_abscissa_along_which_performance_changes_in_one_direction() -> None:
    """Contrast: performance rises with it, so the axis is flipped; places go back to contrasts."""
    rng = np.random.default_rng(0)
    contrast = rng.choice([1.0, 3.0, 5.0, 10.0, 30.0, 50.0, 100.0], 4000)
    correct = rng.random(4000) < 0.06 + 0.9 * contrast / (contrast + 8)
    scaled = scale_abscissa(contrast, correct, lower=0.0)
    assert scaled.flipped and (scaled.lower, scaled.upper) == (0.0, 100.0)
    np.testing.assert_allclose(100.0 * (1.0 - scaled.place), contrast)
    curve = fit_curve(scaled.place, correct)
    assert curve.predict(0.0) > 0.8 > 0.3 > float(curve.predict(0.99))
    assert not scale_abscissa(contrast, ~correct).flipped
    refused = [([1.0, 1.0], {}), ([1.0, np.nan], {}), ([1.0, 5.0], {"upper": 4.0})]
    for values, ends in refused:
        with pytest.raises(InvalidInput):
            scale_abscissa(values, [0, 1], **ends)
