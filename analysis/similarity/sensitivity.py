"""d' of observers of same/different and ABX, and of a crowd whose criteria differ from person to person."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.arrays import BoolArray, FloatArray, IntArray
from analysis.clusters import Clustered, clustered, summed
from analysis.study.analysis_plan import ObserverModel
from analysis.study.design import DiscriminationForm

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


#: Range of the mean criterion, and of the logarithm of its spread over people.
_MEAN = (-5.0, 5.0)
_LOG_SPREAD = (math.log(0.02), math.log(3.0))
#: Criteria are summed up over so many spreads on either side of their mean.
_REACH = 5.0
_START = (1.0, 0.5, math.log(0.5))


@dataclass(frozen=True, eq=False)
class Crowd:
    """Answers of a crowd, and the model that reads them.

    Parameters
    ----------
    said, signal : ndarray of bool, shape (n,)
        Was the answer "different" (in ABX "B"), and is it the right one?
    person : ndarray of int, shape (n,)
        In [0, number of people).
    picture : ndarray of int, shape (n,), or None
        What was shown, where several people saw the same.
    form : {"same-different", "abx"}
    model : {"differencing", "independent"}
    careless : float
        Share of answers, in [0, 1), that fall on either side at random.
    often : ndarray, shape (number of people,), or None
        How often each person stands in the crowd: of crowds that are expected, not seen.

    Notes
    -----
    Person i says "different" to a same pair with probability ``Phi(-a_i)`` and to a different one with that of `hits`,
    and ``a_i`` is normal over people; d' is one for all. The marginal likelihood is maximised with the logarithm of
    the spread added, which keeps the spread from 0 (Chung, Rabe-Hesketh, Dorie, Gelman and Liu 2013, Psychometrika 78,
    685-709): criteria taken for equal would make d' too small. One person has one criterion.
    """

    said: BoolArray
    signal: BoolArray
    person: IntArray
    picture: IntArray | None
    form: DiscriminationForm
    model: ObserverModel
    careless: float = 0.0
    often: FloatArray | None = None

    @cached_property
    def _counts(self) -> FloatArray:
        """Answers by person: "different" and "same" to same pairs, then to different ones, shape (people, 4)."""
        people = int(self.person.max()) + 1
        return np.bincount(4 * self.person + self._cell, minlength=4 * people).reshape(people, 4).astype(np.float64)

    @property
    def _cell(self) -> IntArray:
        return np.asarray(2 * self.signal + ~self.said, dtype=np.int64)

    @cached_property
    def _nodes(self) -> tuple[FloatArray, FloatArray]:
        """Criteria in spreads from their mean, and the logarithm of their weight."""
        if len(self._counts) == 1:
            return np.zeros(1), np.zeros(1)
        count = max(31, int(6.0 * math.sqrt(self._counts.sum(axis=1).max()))) | 1
        at = np.linspace(-_REACH, _REACH, count)
        weight = np.exp(-0.5 * at**2)
        return at, np.log(weight / weight.sum())

    def _answers(self, squared: float, mean: float, log_spread: float) -> tuple[FloatArray, FloatArray]:
        """Logarithm of an answer's probability, by kind and node, and its derivatives by the three parameters."""
        from scipy.special import ndtr

        spread = math.exp(log_spread)
        above = mean + spread * self._nodes[0]
        hit, hit_by_criterion, hit_by_squared = hits(above, squared, self.form, self.model)
        care, chance = 1.0 - self.careless, self.careless / 2.0
        p, slopes = np.empty((4, len(above))), np.zeros((3, 4, len(above)))
        p[0], p[2] = chance + care * ndtr(-above), chance + care * hit
        np.clip(p, 1e-12, 1.0 - 1e-12, out=p)
        p[1], p[3] = 1.0 - p[0], 1.0 - p[2]
        slopes[0, 2], slopes[1, 2] = care * hit_by_squared, care * hit_by_criterion
        slopes[1, 0] = -care * np.exp(-0.5 * above**2) / math.sqrt(2.0 * math.pi)
        slopes[:, 1::2] = -slopes[:, ::2]
        slopes /= p
        slopes[2] = (above - mean) * slopes[1]
        return np.log(p), slopes

    def _posterior(self, log_p: FloatArray) -> tuple[float, FloatArray]:
        """Log likelihood, and what each person's answers say of the criterion, as often, shape (people, nodes)."""
        joint = self._counts @ log_p + self._nodes[1]
        top = joint.max(axis=1)
        weight = np.exp(joint - top[:, None])
        total = weight.sum(axis=1)
        posterior = weight / total[:, None]
        if self.often is None:
            return float((top + np.log(total)).sum()), posterior
        return float(self.often @ (top + np.log(total))), self.often[:, None] * posterior

    def _target(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """What is minimised, and its gradient by d' squared, mean and log spread."""
        log_p, slopes = self._answers(*parameters)
        value, posterior = self._posterior(log_p)
        gradient = (slopes * (self._counts.T @ posterior)).sum(axis=(1, 2))
        if len(self._counts) > 1:
            value += parameters[2]
            gradient[2] += 1.0
        return -value, -gradient

    def _free(self) -> int:
        return 3 if len(self._counts) > 1 else 2

    @cached_property
    def _fitted(self) -> tuple[float, FloatArray]:
        """Least target and where it is."""
        return self._least(lambda free: free, ((0.0, LARGEST_D_PRIME**2),), _START)

    def _least(
        self,
        whole: Callable[[FloatArray], FloatArray],
        ahead: tuple[tuple[float, float], ...],
        start: tuple[float, ...],
    ) -> tuple[float, FloatArray]:
        from scipy.optimize import minimize

        fixed = 1 - len(ahead)

        def target(free: FloatArray) -> tuple[float, FloatArray]:
            parameters = np.array(_START)
            parameters[: fixed + len(free)] = whole(free)
            value, gradient = self._target(parameters)
            return value, gradient[fixed : fixed + len(free)]

        bounds = (*ahead, _MEAN, _LOG_SPREAD)[: self._free() - fixed]
        found = minimize(
            target, np.array(start[: len(bounds)]), jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-8}
        )
        parameters = np.array(_START)
        parameters[: fixed + len(bounds)] = whole(found.x)
        return float(found.fun), parameters

    @property
    def d_prime(self) -> float:
        """The most likely d'; infinite from `LARGEST_D_PRIME` on."""
        found = math.sqrt(self._fitted[1][0])
        return found if found < LARGEST_D_PRIME - 1e-3 else math.inf

    @cached_property
    def _scores(self) -> tuple[FloatArray, FloatArray, float]:
        """Scores of d' squared, freed of the other parameters: of the answers by person and kind, of people, as often,
        and the variance that the model expects of their sum.
        """
        parameters = self._fitted[1]
        free = self._free()
        log_p, slopes = self._answers(*parameters)
        cells = np.einsum("pj,qcj->pcq", self._posterior(log_p)[1], slopes)
        own = np.einsum("pc,pcq->pq", self._counts, cells)
        information = self._information(parameters)[:free, :free]
        project = np.zeros(3)
        project[0] = 1.0
        project[1:free] = -np.linalg.lstsq(information[1:, 1:], information[1:, 0], rcond=None)[0]
        return cells @ project, own @ project, float(information[0, :] @ project[:free])

    @cached_property
    def _spread(self) -> tuple[float, float]:
        """Variance of the score of d' over that of the model, at least 1, and degrees of freedom."""
        cells, own, expected = self._scores
        answers = cells[self.person, self._cell]
        sums = [own[:, None] if len(own) > 1 else answers[:, None]]
        if self.picture is not None:
            sums.append(summed(answers[:, None], self.picture, int(self.picture.max()) + 1))
        found: Clustered = clustered(sums, (answers**2).sum(keepdims=True))
        effect = float(found.variance[0]) / expected if expected > 0.0 else 1.0
        return max(1.0, effect), float(found.degrees_of_freedom[0])

    @property
    def expected_spread(self) -> tuple[float, float]:
        """Of a crowd that is expected: variance of the score over that of the model, and kurtosis of people's."""
        _, own, expected = self._scores
        often = np.ones(len(own)) if self.often is None else self.often
        variance = float((own**2 / often).sum())
        fourth = float((own**4 / often**3).sum())
        return variance / expected, float(often.sum()) * fourth / variance**2

    def _information(self, parameters: FloatArray) -> FloatArray:
        """Observed information by differences of the gradient, shape (3, 3)."""
        step = 1e-4
        rows = []
        for k in range(3):
            low, high = parameters.copy(), parameters.copy()
            low[k], high[k] = (max(low[k] - step, 0.0) if k == 0 else low[k] - step), high[k] + step
            rows.append((self._target(high)[1] - self._target(low)[1]) / (high[k] - low[k]))
        both = np.stack(rows)
        return np.asarray((both + both.T) / 2.0)

    def distance(self, d_prime: float) -> float:
        """Signed root of the likelihood ratio against this d', positive where the answers speak for a larger one."""
        least, parameters = self._fitted
        own = self._least(lambda free: np.array([d_prime**2, *free]), (), tuple(parameters[1:]))[0]
        return math.copysign(math.sqrt(max(2.0 * (own - least), 0.0)), parameters[0] - d_prime**2)

    def ratio(self, d_prime: float) -> float:
        """The distance, freed of what clusters add: like a t."""
        return self.distance(d_prime) / math.sqrt(self._spread[0])

    def p_above(self, d_prime: float) -> float:
        """One-sided p-value against a d' of at most this."""
        from scipy.special import stdtr

        return float(stdtr(self._spread[1], -self.ratio(d_prime)))

    def p_below(self, d_prime: float) -> float:
        """One-sided p-value against a d' of at least this."""
        from scipy.special import stdtr

        return float(stdtr(self._spread[1], self.ratio(d_prime)))

    def upper(self, tail: float) -> float:
        """The d' above which the p-value of a d' at least that large is below the tail; infinite where none is."""
        if math.isinf(self.d_prime) or self.p_below(LARGEST_D_PRIME) >= tail:
            return math.inf
        return self._crossing(lambda d: self.p_below(d) - tail, self.d_prime, LARGEST_D_PRIME)

    def lower(self, tail: float) -> float:
        """The d' below which the p-value of a d' at most that large is below the tail; 0 where none is."""
        if self.p_above(0.0) >= tail:
            return 0.0
        return self._crossing(lambda d: self.p_above(d) - tail, 0.0, min(self.d_prime, LARGEST_D_PRIME))

    @staticmethod
    def _crossing(function: Callable[[float], float], low: float, high: float) -> float:
        from scipy.optimize import brentq

        if function(low) * function(high) > 0.0:
            return low
        return float(brentq(function, low, high, xtol=1e-3))
