from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.integrate import quad

from analysis.curves.curve import CurveFit
from analysis.curves.fit import fit_curve
from analysis.curves.spline import spline_basis
from analysis.errors import GridMismatch, LabelSpaceMismatch
from analysis.metrics import compare, leads
from tests.analysis.curves.truths import crowd, gradual, sharp

TEMPLATE = fit_curve([0.1, 0.9], [1, 0])


def curve_with(coefficients: np.ndarray) -> CurveFit:
    """A curve of these coefficients (fitted to something else, then given them)."""
    basis = spline_basis()
    return replace(TEMPLATE, coefficients=coefficients, area=float(basis.integrals @ coefficients))


falling = st.lists(st.floats(0, 1), min_size=23, max_size=23).map(lambda values: np.array(sorted(values, reverse=True)))


def brute_force(first: CurveFit, second: CurveFit) -> tuple[float, float]:
    """Adaptive quadrature over 2,000 cells, independent of any root finding."""

    def gap(v: float) -> float:
        return float(first.predict(v) - second.predict(v))

    edges = np.linspace(0, 1, 2001)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    middles, half = (edges[1:] + edges[:-1]) / 2, 0.5 / 2000
    points = middles[:, None] + nodes * half
    values = first.predict(points) - second.predict(points)
    one_sign = (values > 0).all(axis=1) | (values < 0).all(axis=1)
    whole = (values * weights).sum(axis=1) * half
    ahead = whole[one_sign & (whole > 0)].sum()
    behind = -whole[one_sign & (whole < 0)].sum()
    for middle in middles[~one_sign]:
        low, high = middle - half, middle + half
        ahead += quad(lambda v: max(gap(v), 0.0), low, high, epsabs=1e-13, limit=200)[0]
        behind += quad(lambda v: max(-gap(v), 0.0), low, high, epsabs=1e-13, limit=200)[0]
    return float(ahead), float(behind)


def test_hand_computed_lines() -> None:
    """1 - v against the constant 1/2: each leads by 1/8; HMRI = 3/4 and MRSI = 1/4."""
    basis = spline_basis()
    greville = np.array([basis.knots[k + 1 : k + 4].mean() for k in range(basis.size)])
    found = compare(curve_with(1.0 - greville), curve_with(np.full(basis.size, 0.5)))
    assert found.human_lead == pytest.approx(0.125, abs=1e-12)
    assert found.classifier_lead == pytest.approx(0.125, abs=1e-12)
    assert found.hmri == pytest.approx(0.75, abs=1e-12)
    assert found.mrsi == pytest.approx(0.25, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(falling, falling)
def test_the_identity_of_both_indices_holds(first: np.ndarray, second: np.ndarray) -> None:
    found = compare(curve_with(first), curve_with(second))
    assert found.human_area * found.hmri == pytest.approx(found.classifier_area * (1 - found.mrsi), abs=1e-12)
    assert -1e-12 <= found.hmri <= 1 + 1e-12 and -1e-12 <= found.mrsi <= 1 + 1e-12
    back = leads(curve_with(second), curve_with(first))
    assert back == pytest.approx((found.classifier_lead, found.human_lead), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_four_areas_equal_brute_force_on_crossing_curves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (curve_with(np.sort(rng.random(23))[::-1].copy()) for _ in range(2))
    found = compare(first, second)
    ahead, behind = brute_force(first, second)
    assert min(ahead, behind) > 0
    assert found.human_lead == pytest.approx(ahead, abs=1e-9)
    assert found.classifier_lead == pytest.approx(behind, abs=1e-9)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    points = (np.arange(20)[:, None] + (nodes + 1) / 2) / 20
    for curve, area in ((first, found.human_area), (second, found.classifier_area)):
        assert area == pytest.approx(float((curve.predict(points) * weights).sum() / 40), abs=1e-9)


@given(falling)
@settings(max_examples=20, deadline=None)
def test_a_curve_against_itself(coefficients: np.ndarray) -> None:
    curve = curve_with(coefficients)
    found = compare(curve, curve)
    assert (found.hmri, found.mrsi, found.human_lead, found.classifier_lead) == (1.0, 0.0, 0.0, 0.0)


def test_a_curve_that_is_never_worse_leads_alone() -> None:
    high, low = curve_with(np.full(23, 0.9)), curve_with(np.linspace(0.8, 0.1, 23))
    found = compare(high, low)
    assert found.classifier_lead == 0.0 and found.mrsi == 0.0
    assert not np.signbit([found.classifier_lead, found.mrsi]).any(), "printed as -0.000"
    assert found.human_lead == pytest.approx(high.area - low.area, abs=1e-12)
    assert compare(low, high).hmri == pytest.approx(1.0, abs=1e-12)


def test_zero_areas_do_not_divide() -> None:
    nothing, something = curve_with(np.zeros(23)), curve_with(np.full(23, 0.5))
    assert compare(nothing, something).hmri == 1.0
    assert compare(something, nothing).mrsi == 0.0
    # Area and lead are summed in different orders: how the last digit falls depends on the processor.
    assert compare(something, nothing).hmri == pytest.approx(0.0, abs=1e-12)


def test_a_span_restricts_every_area() -> None:
    basis = spline_basis()
    greville = np.array([basis.knots[k + 1 : k + 4].mean() for k in range(basis.size)])
    found = compare(curve_with(1.0 - greville), curve_with(np.full(basis.size, 0.5)), span=(0.2, 0.6))
    assert found.human_lead == pytest.approx(0.045, abs=1e-12)
    assert found.classifier_lead == pytest.approx(0.005, abs=1e-12)
    assert found.human_area == pytest.approx(0.24, abs=1e-12)
    assert found.classifier_area == pytest.approx(0.2, abs=1e-12)


def test_unequal_curves_are_refused() -> None:
    v, y = np.linspace(0, 1, 50), np.linspace(1, 0, 50) > 0.5
    plain = fit_curve(v, y)
    with pytest.raises(GridMismatch):
        compare(plain, fit_curve(v, y, segments=10))
    with pytest.raises(LabelSpaceMismatch, match="1000-way"):
        compare(plain, fit_curve(v, y, label_space=1000))


#: VCR Table 3 (Tables 5 and 6 of its supplement): R, HMRI, MRSI for accuracy, then consistency; before and after
#: retraining, ResNet-50 and SIN; and the human areas that rounding to three decimals allows.
PUBLISHED = {
    "median blur": (
        [(0.532, 0.635, 0.0), (0.694, 0.828, 0.003), (0.522, 0.624, 0.0), (0.650, 0.774, 0.004)],
        [(0.573, 0.673, 0.0), (0.728, 0.854, 0.001), (0.605, 0.710, 0.0), (0.729, 0.852, 0.004)],
        (0.8359, 0.8372),
        (0.8507, 0.8528),
    ),
    "frost": (
        [(0.429, 0.521, 0.011), (0.575, 0.690, 0.025), (0.423, 0.512, 0.015), (0.517, 0.625, 0.016)],
        [(0.473, 0.572, 0.012), (0.678, 0.804, 0.031), (0.513, 0.618, 0.016), (0.647, 0.768, 0.031)],
        (0.8122, 0.8142),
        (0.8156, 0.8179),
    ),
    "glass blur": (
        [(0.468, 0.569, 0.003), (0.647, 0.770, 0.024), (0.334, 0.407, 0.0), (0.572, 0.687, 0.016)],
        [(0.502, 0.603, 0.003), (0.744, 0.866, 0.034), (0.397, 0.478, 0.0), (0.684, 0.809, 0.018)],
        (0.8185, 0.8210),
        (0.8287, 0.8314),
    ),
}


def implied_human_area(classifier_area: float, hmri: float, mrsi: float) -> tuple[float, float]:
    """Smallest and largest human area, ``A_m (1 - MRSI) / HMRI``, of three numbers as printed."""
    half = 0.0005
    smallest = (classifier_area - half) * (1.0 - mrsi - half) / (hmri + half)
    largest = (classifier_area + half) * (1.0 - max(mrsi - half, 0.0)) / (hmri - half)
    return smallest, largest


@pytest.mark.parametrize("corruption", PUBLISHED)
def test_published_rows_share_one_human_area(corruption: str) -> None:
    accuracy, consistency, *expected = PUBLISHED[corruption]
    for rows, wanted in zip((accuracy, consistency), expected, strict=True):
        ranges = [implied_human_area(*row) for row in rows]
        common = max(low for low, _ in ranges), min(high for _, high in ranges)
        assert common[0] < common[1]
        assert common == pytest.approx(wanted, abs=6e-5)


def human_and_classifier(seed: int, shift: float, *, joint: bool = True) -> tuple[CurveFit, CurveFit]:
    people = crowd(seed, people=40, trials_each=40)
    rng = np.random.default_rng(seed + 1000)
    v = people["visual_change"]
    right = rng.random(len(v)) < (1 - shift) * gradual(np.clip(v + shift, 0, 1))
    human = fit_curve(**people, n_bootstrap=120, rng=seed)
    network = fit_curve(v, right, images=people["images"], n_bootstrap=120, rng=seed if joint else seed + 1)
    return human, network


def test_intervals_hold_the_estimates_and_a_worse_network_exceeds_nowhere() -> None:
    found = compare(*human_and_classifier(1, 0.2))
    assert found.hmri_interval is not None and found.human_lead_interval is not None
    assert found.hmri_interval[0] < found.hmri < found.hmri_interval[1]
    assert found.human_lead_interval[0] > 0
    # A worse network's MRSI is above 0 by noise alone: 0 stays in the interval.
    assert found.mrsi_interval is not None and found.mrsi_interval[0] == 0.0
    assert found.classifier_lead_interval is not None and found.classifier_lead_interval[0] == 0.0


def test_a_network_like_people_is_not_told_from_them() -> None:
    """The same people twice, under two seeds: HMRI of 1 and MRSI of 0 lie in their intervals."""
    people = crowd(4, people=40, trials_each=40)
    first, second = (fit_curve(**people, n_bootstrap=60, rng=seed) for seed in (1, 2))
    found = compare(first, second)
    assert found.hmri_interval is not None and found.hmri_interval[1] == 1.0
    assert found.mrsi_interval is not None and found.mrsi_interval[0] == 0.0


def test_a_lead_that_was_not_shown_has_an_interval_that_reaches_to_0() -> None:
    """Of what was shown the caller may know more than the bands: two networks judged together, say."""
    curves = human_and_classifier(2, 0.2)
    by_bands, shown, not_shown = (compare(*curves, shown=one) for one in (None, (False, True), (False, False)))
    assert by_bands == shown
    assert by_bands.human_lead_interval[0] > 0.0 and by_bands.hmri_interval[1] < 1.0
    assert (not_shown.human_lead_interval[0], not_shown.hmri_interval[1]) == (0.0, 1.0)
    assert not_shown.human_lead_interval[1] == by_bands.human_lead_interval[1]


@pytest.mark.verify
def test_interval_of_the_lead_covers_the_truth() -> None:
    from tests.analysis.curves.truths import marginal_area

    truth = marginal_area(sharp, float(np.hypot(2.0, 0.5))) - (gradual(np.linspace(0, 1, 4001)).mean())
    covered = []
    for seed in range(30):
        interval = compare(*human_and_classifier(seed, 0.0)).area_difference_interval
        assert interval is not None
        covered.append(interval[0] <= truth <= interval[1])
    assert np.mean(covered) >= 0.83
