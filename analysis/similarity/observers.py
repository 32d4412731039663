"""Observer models of same/different and ABX: how often an observer of some sensitivity d' gives which answer."""

from __future__ import annotations

import math

import numpy as np

from analysis.arrays import FloatArray
from analysis.spec.analysis_plan import ObserverModel
from analysis.spec.design import DiscriminationForm

#: Beyond it no answers tell one sensitivity from another.
LARGEST_D_PRIME = 8.0


def share_right(d_prime: float, form: DiscriminationForm, model: ObserverModel) -> float:
    """Share of right answers of an observer without bias, either answer being right in half of the trials.

    Parameters
    ----------
    d_prime : float
        At least 0.
    form : {"same-different", "abx"}
    model : {"differencing", "independent"}

    Returns
    -------
    float
        In [0.5, 1].

    Notes
    -----
    Macmillan and Creelman (2005), chapter 9. Independent observations: same/different ``Phi(d'/2)^2 + Phi(-d'/2)^2``,
    ABX ``Phi(d'/sqrt 2) Phi(d'/2) + Phi(-d'/sqrt 2) Phi(-d'/2)``. Differencing: ABX has ``d'/sqrt 6`` in place of
    ``d'/2`` (Hautus and Meng 2002); same/different says "different" where two pictures differ by more than k, and the
    k that is right most often solves ``cosh(d' k / 2) = exp(d'^2 / 4)``.
    """
    from scipy.special import ndtr

    if form == "abx":
        order = d_prime / math.sqrt(2.0)
        x = d_prime / (math.sqrt(6.0) if model == "differencing" else 2.0)
        return float(ndtr(order) * ndtr(x) + ndtr(-order) * ndtr(-x))
    if model == "independent":
        return float(ndtr(d_prime / 2.0) ** 2 + ndtr(-d_prime / 2.0) ** 2)
    if d_prime < 1e-6:
        return 0.5
    reach, half = d_prime / math.sqrt(2.0), math.sqrt(2.0) / d_prime * math.acosh(math.exp(d_prime**2 / 4.0))
    return float((1.0 + ndtr(reach - half) + ndtr(-reach - half) - 2.0 * ndtr(-half)) / 2.0)


def d_prime_of(accuracy: float, form: DiscriminationForm, model: ObserverModel) -> float:
    """Sensitivity d' of an observer without bias who is right so often: the inverse of `share_right`.

    Parameters
    ----------
    accuracy : float
        In [0, 1]; 1/2 or less gives 0, what is beyond `LARGEST_D_PRIME` infinity.
    form : {"same-different", "abx"}
    model : {"differencing", "independent"}
    """
    from scipy.optimize import brentq

    if accuracy <= 0.5:
        return 0.0
    if accuracy >= share_right(LARGEST_D_PRIME, form, model):
        return math.inf
    return float(brentq(lambda d: share_right(d, form, model) - accuracy, 0.0, LARGEST_D_PRIME, xtol=1e-12))


def hits(
    above: FloatArray, squared: float, form: DiscriminationForm, model: ObserverModel
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Hit rate of observers whose false-alarm rate is ``Phi(-above)``, with its derivatives.

    Parameters
    ----------
    above : ndarray, shape (k,)
        Criteria: 0 is a false-alarm rate of 1/2, larger ones are stricter.
    squared : float
        d' squared, at least 0: the hit rate rises from the false-alarm rate with the square of d'.
    form : {"same-different", "abx"}
    model : {"differencing", "independent"}

    Returns
    -------
    (rate, by_criterion, by_squared) : tuple of ndarray, shape (k,)

    Notes
    -----
    A hit is "different" to a different pair, in ABX "B" where X is B. Differencing, same/different: "different" where
    ``|x1 - x2| > k`` with ``F = 2 Phi(-k / sqrt 2)`` and ``H = Phi((d' - k) / sqrt 2) + Phi((-d' - k) / sqrt 2)``. All
    others have an isosensitivity curve of unit slope, ``z(H) - z(F) = 2 z(share_right)`` (Macmillan and Creelman 2005,
    chapter 9).
    """
    from scipy.special import ndtr, ndtri

    d_prime = math.sqrt(squared)
    if form == "same-different" and model == "differencing":
        reach, half = d_prime / math.sqrt(2.0), -ndtri(ndtr(-above) / 2.0)
        near, far = _density(reach - half), _density(reach + half)
        rate = ndtr(reach - half) + ndtr(-reach - half)
        by_criterion = -(near + far) * _density(above) / (2.0 * _density(half))
        by_squared = (near - far) / (2.0 * math.sqrt(2.0) * d_prime) if d_prime > 1e-4 else half * _density(half) / 2.0
        return rate, by_criterion, by_squared
    apart, slope = _apart(squared, form, model)
    density = _density(apart - above)
    return ndtr(apart - above), -density, density * slope


def _apart(squared: float, form: DiscriminationForm, model: ObserverModel) -> tuple[float, float]:
    """Return z(H) - z(F), and its derivative by the square of d'."""
    from scipy.special import ndtri

    def apart(value: float) -> float:
        return float(2.0 * ndtri(share_right(math.sqrt(value), form, model)))

    step = 1e-4
    low, high = max(squared - step, 0.0), squared + step
    return apart(squared), (apart(high) - apart(low)) / (high - low)


def _density(x: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi))
