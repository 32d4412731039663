"""Can people tell two corruptions apart? The test of same/different and of ABX answers against guessing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import InvalidInput, TooFewResponses
from analysis.proportions import exact_bound
from analysis.similarity.verdicts import Verdict, verdict_of
from analysis.spec.analysis_plan import DISCRIMINATION_MARGIN
from analysis.spec.design import DiscriminationForm

#: Beyond it no accuracy below 1 is told from 1 in double precision.
_LARGEST_D_PRIME = 16.0


@dataclass(frozen=True)
class DiscriminationTest:
    """Outcome of same/different or ABX trials on one pair of corruptions.

    Parameters
    ----------
    form : {"same-different", "abx"}
    trials, correct : int
    accuracy : float
    interval : tuple of float
        Two-sided exact interval of the accuracy.
    upper_bound : float
        One-sided 95 % upper bound; below 1/2 + margin the pair counts as indistinguishable.
    p : float
        Probability of so many right answers by guessing.
    margin, margin_d_prime : float
        The margin as accuracy above 1/2 and as d'.
    equivalent, different : bool
        What was shown; both may be.
    verdict : {"equivalent", "different", "undecided"}
    design_effect : float
        Variance of the accuracy over that of independent trials, at least 1; 1 without participants.
    d_prime : float
        Sensitivity of an unbiased observer of this accuracy who judges every picture on its own, at least 0.
    d_prime_upper : float
        d' at the upper bound: what cannot be excluded.
    hit_rate, false_alarm_rate, criterion : float or None
        "Different" answers to different and to same pairs, and the bias towards "same" (0 = none); in ABX "B" answers
        where X is B and where it is A, and the bias towards "A". None without ``same``.
    """

    form: DiscriminationForm
    trials: int
    correct: int
    accuracy: float
    interval: tuple[float, float]
    upper_bound: float
    p: float
    margin: float
    margin_d_prime: float
    equivalent: bool
    different: bool
    verdict: Verdict
    design_effect: float
    d_prime: float
    d_prime_upper: float
    hit_rate: float | None
    false_alarm_rate: float | None
    criterion: float | None


def discrimination_test(
    correct: ArrayLike,
    *,
    form: DiscriminationForm = "same-different",
    same: ArrayLike | None = None,
    participants: Sequence[object] | NDArray[np.generic] | None = None,
    margin: float = DISCRIMINATION_MARGIN,
    level: float = 0.95,
    alpha: float = 0.05,
) -> DiscriminationTest:
    """Test same/different or ABX answers against guessing (1/2).

    Parameters
    ----------
    correct : array-like of bool, shape (n,)
        Was the answer right?
    form : {"same-different", "abx"}
        What was asked; the accuracy and its test are the same for both, d' is not.
    same : array-like of bool, shape (n,), optional
        Was "same" the right answer; in ABX, was "A"?
    participants : sequence, shape (n,), optional
        Ids; answers of one person count as a cluster.
    margin : float
        Accuracy above 1/2 that counts as indistinguishable, in (0, 1/2).
    level : float
        Level of the interval.
    alpha : float
        Level of both tests.

    Returns
    -------
    DiscriminationTest

    Raises
    ------
    InvalidInput
        If the columns do not fit together or a value is out of range.
    TooFewResponses
        If there is no trial.

    Notes
    -----
    Clopper and Pearson (1934); with participants on the effective number of trials (Korn and Graubard 1998, Survey
    Methodology 24, 193-201). d' is that of independent observations, see `d_prime_of`; with ``same``, p is that of the
    observer freed of bias, with rates kept off 0 and 1 by half an answer.
    """
    if form not in get_args(DiscriminationForm):
        raise InvalidInput(f"form must be one of {', '.join(get_args(DiscriminationForm))}, not {form!r}.")
    right = _column(correct, "correct")
    if not len(right):
        raise TooFewResponses("There is no trial in which corruptions are compared.")
    if not 0.0 < margin < 0.5 or not 0.0 < level < 1.0 or not 0.0 < alpha < 1.0:
        raise InvalidInput("The margin lies between 0 and 1/2, levels between 0 and 1.")
    n, k = len(right), int(right.sum())
    effect = _design_effect(right, participants)
    tail = (1.0 - level) / 2.0
    lower, upper = exact_bound(k / effect, n / effect, tail)
    bound = exact_bound(k / effect, n / effect, alpha)[1]
    p = _guessing_tail(k / effect, n / effect)
    equivalent, different = bound < 0.5 + margin, p < alpha
    hits = alarms = criterion = None
    unbiased = k / n
    if same is not None:
        alike = _column(same, "same")
        if alike.shape != right.shape:
            raise InvalidInput(f"There are {n} answers but {len(alike)} entries in same.")
        if alike.any() and not alike.all():
            hits, alarms, criterion, unbiased = _without_bias(right, alike)
    return DiscriminationTest(
        form=form,
        trials=n,
        correct=k,
        accuracy=k / n,
        interval=(lower, upper),
        upper_bound=bound,
        p=p,
        margin=margin,
        margin_d_prime=d_prime_of(0.5 + margin, form),
        equivalent=equivalent,
        different=different,
        verdict=verdict_of(equivalent=equivalent, different=different),
        design_effect=effect,
        d_prime=d_prime_of(unbiased, form),
        d_prime_upper=d_prime_of(bound, form),
        hit_rate=hits,
        false_alarm_rate=alarms,
        criterion=criterion,
    )


def d_prime_of(accuracy: float, form: DiscriminationForm = "same-different") -> float:
    """Sensitivity d' of an unbiased observer of this accuracy who judges every picture on its own.

    Parameters
    ----------
    accuracy : float
        In [0, 1]; 1/2 or less gives 0, 1 gives infinity.
    form : {"same-different", "abx"}

    Notes
    -----
    Independent observations (Macmillan and Creelman 2005, chapter 9): same/different inverts
    ``p = Phi(d'/2)^2 + Phi(-d'/2)^2``, ABX ``p = Phi(d'/sqrt 2) Phi(d'/2) + Phi(-d'/sqrt 2) Phi(-d'/2)``. An observer
    who compares differences instead needs a larger d' for the same accuracy.
    """
    from scipy.special import ndtr, ndtri

    if form == "abx":
        from scipy.optimize import brentq

        if accuracy <= 0.5:
            return 0.0
        if accuracy >= _abx_accuracy(_LARGEST_D_PRIME, ndtr):
            return float("inf")
        return float(brentq(lambda d: _abx_accuracy(d, ndtr) - accuracy, 0.0, _LARGEST_D_PRIME, xtol=1e-12))
    return float(2.0 * ndtri(0.5 * (1.0 + np.sqrt(max(2.0 * accuracy - 1.0, 0.0)))))


def _abx_accuracy(d_prime: float, ndtr: Callable[[float], float]) -> float:
    """Right answers: which of A and B is which, and what X is, both right or both wrong."""
    order, x = d_prime / np.sqrt(2.0), d_prime / 2.0
    return float(ndtr(order) * ndtr(x) + ndtr(-order) * ndtr(-x))


def _guessing_tail(successes: float, trials: float) -> float:
    """P(X >= successes) for X ~ Binomial(trials, 1/2), continued to fractional counts."""
    from scipy.special import betainc

    return 1.0 if successes <= 0.0 else float(betainc(successes, trials - successes + 1.0, 0.5))


def _design_effect(right: NDArray[np.bool_], participants: Sequence[object] | NDArray[np.generic] | None) -> float:
    """Variance of the share between participants over the binomial one, at least 1."""
    if participants is None:
        return 1.0
    ids = np.asarray(participants)
    if ids.shape != right.shape:
        raise InvalidInput(f"There are {len(right)} answers but participants has shape {ids.shape}.")
    _, code = np.unique(ids.astype(str), return_inverse=True)
    people, n, share = int(code.max()) + 1, len(right), float(right.mean())
    if people < 2 or share in (0.0, 1.0):
        return 1.0
    residuals = np.bincount(code, weights=right - share)
    variance = people / (people - 1.0) * float((residuals**2).sum()) / n**2
    return max(1.0, variance / (share * (1.0 - share) / n))


def _without_bias(right: NDArray[np.bool_], same: NDArray[np.bool_]) -> tuple[float, float, float, float]:
    """Hit rate, false-alarm rate, criterion, and the accuracy of an observer of the same sensitivity without bias."""
    from scipy.special import ndtr, ndtri

    said_different = right ^ same
    hits, alarms = float(said_different[~same].mean()), float(said_different[same].mean())
    z_hit, z_alarm = (float(ndtri((said_different[rows].sum() + 0.5) / (rows.sum() + 1.0))) for rows in (~same, same))
    return hits, alarms, -(z_hit + z_alarm) / 2.0, float(ndtr((z_hit - z_alarm) / 2.0))


def _column(values: ArrayLike, name: str) -> NDArray[np.bool_]:
    array = np.asarray(values)
    if array.ndim != 1 or not np.isin(array, (0, 1)).all():
        raise InvalidInput(f"{name} is one column of true and false.")
    return array.astype(bool)
