"""d' among M alternatives and shares above chance: by hand, against other ways to compute them, and at chance."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from analysis.errors import InvalidInput
from analysis.similarity.alternatives import above_chance, d_prime_among, share_among
from tests.analysis.findings.examples import curve


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.76, 0.9, 0.999])
def test_of_two_alternatives_it_is_the_closed_form(share: float) -> None:
    assert d_prime_among(share, 2) == pytest.approx(math.sqrt(2.0) * NormalDist().inv_cdf(share), abs=1e-9)


@pytest.mark.parametrize("d_prime", [-1.0, 0.0, 0.5, 1.0, 2.5, 5.0])
def test_of_three_it_is_a_bivariate_normal_probability(d_prime: float) -> None:
    """The shifted one exceeds both others: two differences with correlation 1/2, below d' / sqrt 2 each."""
    both = multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]]).cdf([d_prime / math.sqrt(2.0)] * 2)
    assert share_among(d_prime, 3) == pytest.approx(both, abs=1e-7)


@pytest.mark.parametrize("alternatives", [2, 3, 4, 8, 16, 113, 1000])
@pytest.mark.parametrize("d_prime", [0.0, 0.84, 3.0])
def test_the_integral_is_that_of_another_rule(d_prime: float, alternatives: int) -> None:
    exact, _ = quad(lambda x: norm.pdf(x - d_prime) * norm.cdf(x) ** (alternatives - 1), -10, 14, epsabs=1e-12)
    assert share_among(d_prime, alternatives) == pytest.approx(exact, abs=1e-10)
    assert d_prime_among(exact, alternatives) == pytest.approx(d_prime, abs=1e-6)


def test_simulated_observers_are_recovered() -> None:
    rng = np.random.default_rng(1)
    seen = rng.normal(size=(200_000, 16))
    seen[:, 0] += 1.5
    share = float((seen.argmax(axis=1) == 0).mean())
    assert d_prime_among(share, 16) == pytest.approx(1.5, abs=0.02)


@pytest.mark.parametrize("alternatives", [2, 3, 16, 1000])
def test_guessing_is_nothing_and_never_or_always_right_has_no_end(alternatives: int) -> None:
    assert d_prime_among(1 / alternatives, alternatives) == pytest.approx(0.0, abs=1e-6)
    assert above_chance(1 / alternatives, 1 / alternatives) == 0.0
    assert d_prime_among(1.0, alternatives) == math.inf and d_prime_among(0.0, alternatives) == -math.inf


def test_above_chance_by_hand() -> None:
    assert above_chance(0.75, 0.5) == 0.5 and above_chance(1.0, 1 / 16) == 1.0
    assert above_chance(0.0, 0.5) == -1.0, "missing answers make people worse than guesses"


def test_what_is_no_share_is_refused() -> None:
    for share, chance in ((1.1, 0.5), (0.5, 1.0), (-0.1, 0.5)):
        with pytest.raises(InvalidInput):
            above_chance(share, chance)
    with pytest.raises(InvalidInput, match="2 alternatives or more"):
        d_prime_among(0.5, 1)
    with pytest.raises(InvalidInput, match="not at 1.5"):
        d_prime_among(1.5, 2)


def test_a_curve_shows_both_and_stores_neither() -> None:
    band = {"v": [0.0, 1.0], "estimate": [0.75, 0.5], "level": 0.95}
    of_two = curve(own_chance=0.5, band=band)
    assert of_two.above_chance == (0.5, 0.0)
    assert of_two.d_prime == pytest.approx((0.9539, 0.0), abs=5e-5)
    assert curve(own_chance=0.3, band=band).d_prime is None
    assert not {"d_prime", "above_chance"} & set(of_two.to_json())
