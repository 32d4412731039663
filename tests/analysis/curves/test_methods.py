"""Every way of drawing a curve: shared promises, and an independent oracle for each."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.interpolate import UnivariateSpline
from scipy.optimize import minimize
from scipy.special import expit

from analysis.curves.curve import CurveFit, threshold
from analysis.curves.fit import fit_curve
from analysis.curves.methods import METHODS, curve_method
from analysis.curves.trials import CleanTrials
from analysis.errors import GridMismatch, InvalidInput, TooFewResponses, UnknownName
from analysis.metrics import compare
from tests.analysis.curves.truths import crowd, gradual, kink, sharp

GRID = np.linspace(0, 1, 1001)
SERIOUS = [name for name in METHODS if name != "paper-code"]


def answers(truth: object, n: int = 4000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    v = rng.random(n)
    return v, rng.random(n) < truth(v)  # type: ignore[operator]


@pytest.mark.verify
@pytest.mark.parametrize("method", METHODS)
def test_one_value_whatever_draws_the_curve(method: str) -> None:
    experiment = crowd(1, people=30, trials_each=40)
    curve = fit_curve(**experiment, method=method, n_bootstrap=12, rng=3)
    heights = curve.predict(GRID)
    assert np.diff(heights).max() <= 1e-12 and heights.min() >= 0 and heights.max() <= 1
    assert curve.area == pytest.approx(np.trapezoid(curve.predict(np.linspace(0, 1, 4001)), dx=1 / 4000), abs=1e-5)
    assert curve.mean_between(0.2, 0.9) == pytest.approx(curve.predict(np.linspace(0.2, 0.9, 20_001)).mean(), abs=1e-4)
    assert CurveFit.from_dict(curve.to_dict()) == curve
    assert curve.config.method == method and METHODS[method].title.endswith(".")
    bands = curve.bands
    assert bands is not None and bands.scheme == "two-way"
    assert (bands.simultaneous_lower <= bands.estimate).all() and (bands.estimate <= bands.simultaneous_upper).all()
    found = compare(curve, fit_curve(**experiment, method=method, n_bootstrap=12, rng=3))
    # Both are the area under the lower curve.
    gap = found.human_area * found.hmri - found.classifier_area * (1.0 - found.mrsi)
    assert found.hmri == 1.0 and abs(gap) < 1e-12
    assert threshold(curve, 0.5).v == pytest.approx(0.85, abs=0.12)


@pytest.mark.parametrize("method", SERIOUS)
@pytest.mark.parametrize("truth", [sharp, kink, gradual])
def test_known_curves_are_recovered(method: str, truth: object) -> None:
    v, y = answers(truth)
    curve = fit_curve(v, y, method=method)
    assert np.sqrt(np.mean((curve.predict(GRID) - truth(GRID)) ** 2)) < 0.035  # type: ignore[operator]
    assert curve.area == pytest.approx(float(truth(GRID).mean()), abs=0.02)  # type: ignore[operator]


def test_isotonic_blocks_are_those_of_another_library() -> None:
    from sklearn.isotonic import IsotonicRegression

    v, y = answers(kink, 800)
    curve = fit_curve(v, y, method="isotonic")
    places, rates, counts = (np.array(column) for column in zip(*((b.v, b.rate, b.n) for b in curve.bins), strict=True))
    pooled = IsotonicRegression(increasing=False).fit_transform(places, rates, sample_weight=counts)
    middles, levels = [], []
    for level in dict.fromkeys(pooled.tolist()):
        block = pooled == level
        middles.append(np.average(places[block], weights=counts[block]))
        levels.append(level)
    assert curve.effective_parameters == len(levels)
    # Between two knots of the stored curve a block's own place may lie: a straight piece is exact to its curvature.
    np.testing.assert_allclose(curve.predict(np.array(middles)), levels, atol=4e-3)


@pytest.mark.parametrize("shape", ["weibull", "logistic"])
def test_psychometric_functions_are_the_likeliest(shape: str) -> None:
    """A general optimiser over the same family, started around the fit, finds nothing likelier."""
    v, y = answers(gradual, 1500)
    curve = fit_curve(v, y, method=shape)
    place = np.array([one.v for one in curve.bins])
    n, x = np.array([one.n for one in curve.bins]), np.array([one.correct for one in curve.bins])

    def rate(theta: np.ndarray, at: np.ndarray) -> np.ndarray:
        height, middle, steep, floor = expit(theta[0]), np.exp(theta[1]), np.exp(theta[2]), expit(theta[3]) / 16
        fallen = np.exp(-((at / middle) ** steep)) if shape == "weibull" else None
        if fallen is None:
            fallen = expit(steep * (1 - at / middle)) / expit(steep)
        return floor + (height - floor) * fallen

    def loss(theta: np.ndarray) -> float:
        p = np.clip(rate(theta, place), 1e-9, 1 - 1e-9)
        return -2 * float(x @ np.log(p) + (n - x) @ np.log(1 - p))

    starts = [np.array([2.0, np.log(m), np.log(s), 0.0]) for m in (0.4, 0.6, 0.8) for s in (3.0, 8.0)]
    found = [minimize(loss, start, method="Nelder-Mead", options={"maxiter": 4000}) for start in starts]
    best = min(found, key=lambda one: float(one.fun))
    share = np.clip(x / n, 1e-12, 1 - 1e-12)
    saturated = -2 * float(x @ np.log(share) + (n - x) @ np.log(1 - share))
    assert curve.deviance + saturated <= best.fun + 0.05
    np.testing.assert_allclose(curve.predict(GRID), rate(best.x, GRID), atol=0.02)


def test_the_published_spline_follows_a_line_and_ends_in_a_median_line() -> None:
    """Rates on a falling line: no residual. A huge roughness leaves a median regression line (statsmodels)."""
    v = np.repeat((np.arange(39) + 0.5) / 39, 100)
    exact = (np.arange(len(v)) % 100 < np.repeat(np.round(95 - 80 * (np.arange(39) + 0.5) / 39), 100)).astype(float)
    on_line = fit_curve(v, exact, method="paper")
    rates = np.array([one.rate for one in on_line.bins])
    assert len(rates) == 39
    assert np.abs(on_line.predict(np.array([one.v for one in on_line.bins])) - rates).max() < 0.006
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.regression.quantile_regression import QuantReg
    from analysis.curves.methods.base import Cells
    from analysis.curves.methods.quantile import _Program
    from analysis.curves.spline import spline_basis

    rng = np.random.default_rng(2)
    places, trials = (np.arange(39) + 0.5) / 39, np.full(39, 50.0)
    noisy = np.clip(0.9 - 0.6 * places + rng.normal(0, 0.05, 39), 0, 1)
    cells = Cells(places, noisy * trials, trials)
    heights, residuals = _Program(cells, spline_basis(400, 1)).solve(noisy, trials, 1e4)
    line = QuantReg(noisy, np.stack([np.ones(39), places], axis=1)).fit(q=0.5, p_tol=1e-10, max_iter=5000)
    assert np.abs(residuals).sum() == pytest.approx(np.abs(noisy - line.fittedvalues).sum(), rel=1e-4)
    assert np.abs(np.diff(heights, 2)).max() < 1e-6


def test_the_published_bins_and_anchors() -> None:
    """39 bins of width 1/39 and a 40th that only 1 reaches; at least 20 answers a bin; held at the clean accuracy."""
    v = np.r_[np.repeat((np.arange(30) + 0.5) / 39, 25), np.repeat(30.5 / 39, 19), 1.0]
    y = np.arange(len(v)) % 10 < 8
    clean = CleanTrials(np.arange(100) < 97)
    curve = fit_curve(v, y, method="paper", anchor="soft", clean=clean)
    assert [one.index for one in curve.bins] == list(range(30))
    assert curve.n_dropped == 20 and curve.n_trials == 750
    assert curve.measured == pytest.approx((0.0, 30 / 39))
    assert (curve.anchor.kind, curve.anchor.value, curve.anchor.n) == ("fixed", 0.97, 100)
    assert curve.predict(0.0) == pytest.approx(0.97, abs=1e-9)
    assert fit_curve(v, y, method="paper", smallest_bin=19).n_dropped == 1


def authors_program(v: np.ndarray, y: np.ndarray, bins: int) -> np.ndarray:
    """Written from the description of the program, one statement a line."""
    accuracy, edges = [], []
    for i in range(bins):
        inside = [bool(y[k]) for k in range(len(v)) if v[k] > i / bins and v[k] < (i + 1) / bins]
        accuracy.append(sum(inside) / len(inside) if inside else 0.0)
        edges.append(i / bins)
    smooth = UnivariateSpline(edges, accuracy, s=0.04)(np.linspace(0, 0.9999, 10_000))
    lowest, curve = np.inf, []
    for value in np.clip(smooth, 0, 1):
        lowest = min(lowest, value)
        curve.append(lowest)
    return np.array(curve)


@pytest.mark.parametrize("bins", [20, 40])
def test_the_authors_program_is_followed_with_its_faults(bins: int) -> None:
    v, y = answers(sharp, 3000)
    v[:5] = [0.0, 0.25, 0.5, 0.75, 1.0]
    curve = fit_curve(v, y, method="paper-code", n_bins=bins)
    expected = authors_program(v, y, bins)
    # The curve is stored at every 25th of the program's points.
    np.testing.assert_allclose(curve.predict(np.arange(400) / 400), expected[::25], atol=1e-9)
    assert curve.area == pytest.approx(expected.mean(), abs=1e-4)
    assert curve.n_dropped == 5
    # Noise is turned into a downward bias, and one empty bin ruins the curve.
    assert curve.area < fit_curve(v, y).area - 0.015
    rows = (v < 0.5) | (v >= 0.55)
    assert fit_curve(v[rows], y[rows], method="paper-code").area < 0.75 * curve.area
    with pytest.raises(InvalidInput, match="no end"):
        fit_curve(v, y, method="paper-code", anchor=1.0)


def test_what_does_not_fit_together_is_refused() -> None:
    v, y = answers(sharp, 400)
    with pytest.raises(UnknownName, match="paper-code"):
        curve_method("loess")
    with pytest.raises(InvalidInput, match="spline"):
        fit_curve(v, y, method="isotonic", segments=10)
    with pytest.raises(TooFewResponses, match="20 trials"):
        fit_curve(v[:100], y[:100], method="paper", anchor=1.0, right_anchor=0.0)
    with pytest.raises(GridMismatch):
        compare(fit_curve(v, y), fit_curve(v, y, method="isotonic"))
