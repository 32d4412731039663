"""Means of curves, HMRI and MRSI under weights over visual change: by hand, by summing, with equal weights, covered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.curves.curve import CurveFit
from analysis.curves.fit import fit_curve
from analysis.curves.spline import spline_basis
from analysis.curves.weighting import weighted_integrals
from analysis.metrics import compare, leads
from analysis.study.change_weights import ChangeWeights
from tests.analysis.curves.truths import crowd, gradual, sharp

RISING = ChangeWeights(((0.0, 0.0), (1.0, 5.0)))
SNOW = ChangeWeights(((0.0, 0.0), (0.6, 0.0), (0.6, 1.0), (0.83, 3.0), (1.0, 1.0)))
EQUAL = ChangeWeights(((0.0, 2.0), (0.4, 2.0), (1.0, 2.0)))
TEMPLATE = fit_curve([0.1, 0.9], [1, 0])
MIDDLES = (np.arange(400_000) + 0.5) / 400_000


def line(height: float, slope: float) -> CurveFit:
    basis = spline_basis()
    greville = np.array([basis.knots[k + 1 : k + 4].mean() for k in range(basis.size)])
    coefficients = height - slope * greville
    return replace(TEMPLATE, coefficients=coefficients, area=float(basis.integrals @ coefficients))


def density(weights: ChangeWeights) -> np.ndarray:
    """Weights at the middles, by interpolation between rows, with a mean of 1."""
    changes, heights = np.array(weights.points).T
    # Of two rows at one place the second counts from there on.
    place = np.clip(np.searchsorted(changes, MIDDLES, side="right") - 1, 0, len(changes) - 2)
    share = (MIDDLES - changes[place]) / (changes[place + 1] - changes[place])
    values = heights[place] + share * (heights[place + 1] - heights[place])
    return values / values.mean()


def test_lines_by_hand() -> None:
    """Under the density 2 v the mean of 1 - v is 1/3, and that of 1/2 stays."""
    falling, level = line(1.0, 1.0), line(0.5, 0.0)
    found = compare(falling, level, weights=RISING)
    assert found.human_area == pytest.approx(1 / 3, abs=1e-12) and found.classifier_area == pytest.approx(
        0.5, abs=1e-12
    )
    # 2 v (1/2 - v) over [0, 1/2] is 1/24; 2 v (v - 1/2) over [1/2, 1] is 5/24.
    assert found.human_lead == pytest.approx(1 / 24, abs=1e-12)
    assert found.classifier_lead == pytest.approx(5 / 24, abs=1e-12)
    assert found.hmri == pytest.approx(1 - 1 / 8, abs=1e-12) and found.mrsi == pytest.approx(5 / 12, abs=1e-12)


@pytest.mark.parametrize("weights", [RISING, SNOW])
@pytest.mark.parametrize("method", ["spline", "paper"])
def test_sums_over_a_fine_grid_agree(weights: ChangeWeights, method: str) -> None:
    one, other = (
        fit_curve(**crowd(seed, people=30, trials_each=60, curve=truth), method=method, change_weights=weights)
        for seed, truth in ((1, sharp), (2, gradual))
    )
    heights, others, weight = one.predict(MIDDLES), other.predict(MIDDLES), density(weights)
    assert one.weighted is not None and one.weighted.interval is None
    assert one.weighted.value == pytest.approx(np.mean(heights * weight), abs=2e-6)
    ahead, behind = leads(one, other, weights=weights)
    assert ahead == pytest.approx(np.mean(np.maximum(heights - others, 0) * weight), abs=2e-6)
    assert behind == pytest.approx(np.mean(np.maximum(others - heights, 0) * weight), abs=2e-6)
    low, high = one.weighted.bounds
    assert low <= one.weighted.value <= high


def test_equal_weights_give_the_numbers_without_any() -> None:
    basis = spline_basis()
    assert weighted_integrals(basis, EQUAL, 0.0, 1.0) == pytest.approx(basis.integrals, abs=1e-14)
    columns = crowd(3, people=20, trials_each=40)
    columns["visual_change"] = np.where(columns["visual_change"] > 0.7, 0.7, columns["visual_change"])
    plain, weighted = (fit_curve(**columns, n_bootstrap=40, rng=2, change_weights=one) for one in (None, EQUAL))
    assert plain.weighted is None and plain.gaps and weighted.weighted is not None
    assert weighted.weighted.value == pytest.approx(plain.area, abs=1e-12)
    assert weighted.weighted.interval == pytest.approx(plain.area_interval, abs=1e-12)
    assert weighted.weighted.bounds == pytest.approx(plain.area_bounds, abs=1e-12)
    assert weighted.weighted.extrapolated == pytest.approx(plain.extrapolated, abs=1e-12)
    # Everything else stays to the bit.
    kept = weighted.to_dict()
    assert kept.pop("weighted") and kept["config"].pop("change_weights")
    assert kept == plain.to_dict() and CurveFit.from_dict(weighted.to_dict()) == weighted
    other = fit_curve(**crowd(4, people=20, trials_each=40, curve=sharp), n_bootstrap=40, rng=2)
    usual, equal = compare(plain, other), compare(plain, other, weights=EQUAL)
    for name in type(usual).model_fields:
        assert getattr(equal, name) == pytest.approx(getattr(usual, name), abs=1e-9)


def test_what_lies_in_a_gap_with_most_of_the_weight_widens_the_bounds() -> None:
    columns = crowd(5, people=20, trials_each=60)
    kept = columns["visual_change"] < 0.6
    columns = {name: np.asarray(values)[kept] for name, values in columns.items()}
    curve = fit_curve(**columns, n_bootstrap=20, rng=1, change_weights=SNOW)
    assert curve.weighted is not None and curve.weighted.interval is not None
    assert curve.weighted.extrapolated > 0.95 and curve.weighted.bounds[0] < 0.05
    assert curve.weighted.interval[0] == 0.0 and curve.weighted.interval[1] > curve.weighted.bounds[1]


@pytest.mark.verify
def test_the_interval_covers_the_true_mean() -> None:
    """At least 93 % is what is claimed of the area, whose interval is made in the same way."""
    nodes, factors = np.polynomial.hermite_e.hermegauss(40)
    rates = gradual(MIDDLES[::100])
    logits = np.log(rates / (1 - rates))[:, None] + np.hypot(1.0, 0.7) * nodes
    truth = float(np.mean((1 / (1 + np.exp(-logits)) @ factors / factors.sum()) * density(SNOW)[::100]))
    covers = []
    for seed in range(60):
        answers = crowd(seed, people=20, trials_each=40, image_sd=1.0, participant_sd=0.7, curve=gradual)
        curve = fit_curve(**answers, n_bootstrap=2, rng=seed, change_weights=SNOW)
        assert curve.weighted is not None and curve.weighted.interval is not None
        covers.append(curve.weighted.interval[0] <= truth <= curve.weighted.interval[1])
    assert np.mean(covers) >= 0.93 - 2.6 * np.sqrt(0.93 * 0.07 / 60)
