from __future__ import annotations

import numpy as np
import pytest

from humanexp.simulation.observers import DEMO_CURVES, ObserverModel, TrueCurve, random_stream
from humanexp.simulation.personas import Honest

CURVE = TrueCurve(top=0.95, floor=0.07, middle=0.8, width=0.06)


def test_the_marginal_curve_is_close_to_the_intended_one() -> None:
    observers = ObserverModel(curves={"noise": CURVE}, image_sd=2.0, participant_sd=0.5)
    points = np.linspace(0, 1, 21)
    assert np.abs(observers.marginal("noise", points) - CURVE.intended(points)).max() < 0.02


def test_without_effects_the_marginal_curve_is_the_intended_one() -> None:
    observers = ObserverModel(curves={"noise": CURVE}, image_sd=0, participant_sd=0)
    points = np.linspace(0, 1, 21)
    np.testing.assert_allclose(observers.marginal("noise", points), CURVE.intended(points), atol=1e-12)
    # The area of a falling logistic has a closed form.
    logistic = CURVE.width * np.log(
        (1 + np.exp((1 - CURVE.middle) / CURVE.width)) / (1 + np.exp(-CURVE.middle / CURVE.width))
    )
    honest = Honest(name="plain", observers=observers, seed=0)
    assert honest.area("noise") == pytest.approx(CURVE.top - (CURVE.top - CURVE.floor) * logistic, abs=1e-9)


@pytest.mark.verify
def test_the_marginal_is_what_many_pictures_and_people_average_to() -> None:
    observers = ObserverModel(curves=DEMO_CURVES, seed=1)
    shares = [
        observers.probability_correct(
            "gaussian_blur", 0.6, original=f"o{number % 400}", participant=f"p{number // 400}"
        )
        for number in range(40_000)
    ]
    # 400 pictures with sd 2 on the logit: the mean's own error is about 0.35 / sqrt(400)
    assert np.mean(shares) == pytest.approx(float(observers.marginal("gaussian_blur", np.array(0.6))), abs=0.05)


def test_clean_pictures_stand_at_the_start_of_every_curve() -> None:
    observers = ObserverModel(curves=DEMO_CURVES)
    assert observers.marginal("none", np.array(0.0)) == observers.marginal("gaussian_noise", np.array(0.0))


def test_streams_depend_on_their_key_alone() -> None:
    first = random_stream(1, "p", 2).random(3)
    random_stream(1, "q", 2).random(3)
    np.testing.assert_array_equal(first, random_stream(1, "p", 2).random(3))
    assert not np.array_equal(first, random_stream(2, "p", 2).random(3))
