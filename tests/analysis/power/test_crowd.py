from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from analysis.errors import InvalidInput
from analysis.power.crowd import Crowd, LogisticDrop, marginal_logit, simulate_answers


def test_area_of_the_true_curve_is_exact() -> None:
    curve = LogisticDrop(0.93, 1 / 16, 0.9, 0.03)
    assert curve.area == pytest.approx(
        quad(lambda v: float(curve(v)), 0, 1, points=[0.8, 0.9], epsabs=1e-12)[0], abs=1e-9
    )
    assert curve.lowered(0.033).area == pytest.approx(curve.area - 0.033, abs=1e-9)
    with pytest.raises(InvalidInput, match="bend"):
        curve.lowered(0.9)
    for bad in ({"upper": 0.05}, {"width": 0.0}, {"lower": -0.1}):
        with pytest.raises(InvalidInput):
            LogisticDrop(**bad)


def test_effects_average_to_the_curve() -> None:
    """Monte Carlo over normal effects: the mean rate is the one asked for."""
    rng = np.random.default_rng(0)
    for rate in (0.07, 0.5, 0.92):
        middle = marginal_logit(np.array([rate]), 2.0)[0]
        assert np.mean(1 / (1 + np.exp(-(middle + rng.normal(0, 2, 400_000))))) == pytest.approx(rate, abs=2e-3)
    assert marginal_logit(np.array([0.5]), 0.0) == pytest.approx([0.0])


def test_answers_follow_the_curve_and_the_design() -> None:
    crowd = Crowd(40, 100, answers_per_stimulus=4, originals=200)
    curve = LogisticDrop(0.9, 0.1, 0.5, 0.1)
    one, two, clean = simulate_answers([curve, curve], crowd, np.random.default_rng(1), shared_people=True, clean=300)
    assert len(one.correct) == 4000 and len(np.unique(one.participants)) == 40
    assert len(np.unique(one.visual_change)) == 1000 and len(np.unique(one.images)) == 200
    assert set(one.participants) == set(two.participants) and not set(one.images) & set(two.images)
    _, shown = np.unique(one.visual_change, return_counts=True)
    assert set(shown.tolist()) == {4}
    assert len(clean.correct) == 300 and not clean.visual_change.any() and clean.correct.mean() > 0.8
    right = one.correct.mean()
    assert right == pytest.approx(curve.area, abs=0.04)


def test_answers_to_one_image_resemble_each_other() -> None:
    """Intra-class correlation of published laboratory data: about 0.43."""
    crowd = Crowd(200, 100, answers_per_stimulus=5)
    flat = LogisticDrop(0.6, 0.4, 0.5, 50.0)
    (answers,) = simulate_answers([flat], crowd, np.random.default_rng(2))
    _, image = np.unique(answers.images, return_inverse=True)
    sums = np.bincount(image, answers.correct)
    agreeing = (sums * (sums - 1) + (5 - sums) * (4 - sums)).sum() / (len(sums) * 20)
    p = answers.correct.mean()
    correlation = (agreeing - (p**2 + (1 - p) ** 2)) / (2 * p * (1 - p))
    assert 0.35 < correlation < 0.5


@pytest.mark.parametrize(
    "bad", [{"people": 0}, {"trials_each": 0}, {"originals": 1}, {"image_sd": -1.0}, {"original_share": 1.5}]
)
def test_impossible_crowds_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        Crowd(**{"people": 5, "trials_each": 5, **bad})  # type: ignore[arg-type]
