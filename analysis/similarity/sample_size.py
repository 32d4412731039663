"""How many same/different or ABX trials a study needs, by the exact binomial test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InvalidInput

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

_MOST = 1 << 17


def trials_to_detect(
    accuracy: float, *, power: float = 0.9, alpha: float = 0.05, trials_each: int = 1, icc: float = 0.0
) -> int:
    """Trials after which people of this accuracy are found to be better than guessing.

    Parameters
    ----------
    accuracy : float
        True share of right answers, in (1/2, 1].
    power : float
        Wanted probability of p below ``alpha``, in (0, 1).
    alpha : float
        Level of the one-sided exact test.
    trials_each : int
        Trials of a person, at least 1.
    icc : float
        Correlation of two answers of one person, in [0, 1).

    Returns
    -------
    int
        Independent trials from which on the power is reached, times the design effect ``1 + (trials_each - 1) icc``.

    Raises
    ------
    InvalidInput
        If a value is out of range, or more than 65,536 trials were needed.
    """
    if not 0.5 < accuracy <= 1.0:
        raise InvalidInput(f"An accuracy above guessing lies between 1/2 and 1, not at {accuracy}.")

    def reached(n: IntArray) -> FloatArray:
        from scipy.stats import binom

        critical = binom.isf(alpha, n, 0.5) + 1.0
        return np.asarray(binom.sf(critical - 1.0, n, accuracy), dtype=np.float64)

    return _designed(_smallest(reached, power, alpha), trials_each, icc)


def trials_for_equivalence(
    margin: float,
    *,
    accuracy: float = 0.5,
    power: float = 0.9,
    alpha: float = 0.05,
    two_sided: bool = False,
    trials_each: int = 1,
    icc: float = 0.0,
) -> int:
    """Trials after which people who (nearly) guess are shown to be within a margin of guessing.

    Parameters
    ----------
    margin : float
        Accuracy above 1/2 that counts as indistinguishable, in (0, 1/2).
    accuracy : float
        True share of right answers, from 1/2 to below 1/2 + margin.
    power, alpha, trials_each, icc
        As in `trials_to_detect`.
    two_sided : bool
        Whether accuracies below 1/2 - margin have to be excluded as well (two one-sided tests).

    Returns
    -------
    int

    Raises
    ------
    InvalidInput
        If a value is out of range, or more than 65,536 trials were needed.

    Notes
    -----
    Equivalence is shown when the Clopper-Pearson bound at ``1 - alpha`` lies below 1/2 + margin, that is when so few
    right answers have probability below alpha at that accuracy.
    """
    if not 0.0 < margin < 0.5 or not 0.5 <= accuracy < 0.5 + margin:
        raise InvalidInput("The margin lies between 0 and 1/2, the true accuracy from 1/2 to below 1/2 + margin.")

    def reached(n: IntArray) -> FloatArray:
        from scipy.stats import binom

        # The largest count whose lower tail at 1/2 + margin stays below alpha.
        highest = binom.ppf(alpha, n, 0.5 + margin)
        highest = np.where(binom.cdf(highest, n, 0.5 + margin) < alpha, highest, highest - 1.0)
        shown = binom.cdf(highest, n, accuracy)
        if two_sided:
            shown = shown - binom.cdf(n - highest - 1.0, n, accuracy)
        return np.asarray(np.maximum(shown, 0.0), dtype=np.float64)

    return _designed(_smallest(reached, power, alpha), trials_each, icc)


def _smallest(reached: Callable[[IntArray], FloatArray], power: float, alpha: float) -> int:
    """Number of trials from which on the power is reached (exact tests gain it in a saw-tooth)."""
    if not 0.0 < power < 1.0 or not 0.0 < alpha < 1.0:
        raise InvalidInput("Power and level lie strictly between 0 and 1.")
    end = 256
    while end <= _MOST:
        numbers = np.arange(1, end + 1)
        short = numbers[reached(numbers) < power]
        # The teeth are far shorter than half of the way.
        if not len(short) or short[-1] < end // 2:
            return int(short[-1]) + 1 if len(short) else 1
        end *= 2
    raise InvalidInput(f"More than {_MOST // 2:,} trials would be needed.")


def _designed(trials: int, trials_each: int, icc: float) -> int:
    """Trials after the design effect of people who answer several."""
    if trials_each < 1 or not 0.0 <= icc < 1.0:
        raise InvalidInput("A person gives at least 1 trial, and a correlation lies from 0 to below 1.")
    return int(np.ceil(trials * (1.0 + (trials_each - 1) * icc) - 1e-9))
