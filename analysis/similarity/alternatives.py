"""What a share of right answers among M alternatives says of whoever chose: above chance, and as d'."""

from __future__ import annotations

import math

import numpy as np

from analysis.errors import InvalidInput
from analysis.similarity.sensitivity import LARGEST_D_PRIME

#: Nodes of the trapezoid rule, which converges exponentially for integrands that fall off like a normal density.
_NODES = np.linspace(-9.0, 9.0, 361)


def above_chance(share: float, chance: float) -> float:
    """Share of trials on which the right answer was known, if whoever does not know it guesses.

    Parameters
    ----------
    share : float
        Of right answers, in [0, 1].
    chance : float
        Of a right guess, in [0, 1).

    Returns
    -------
    float
        ``(share - chance) / (1 - chance)``, at most 1; below 0 where answers are right less often than guesses, as
        where missing answers count as wrong.

    Notes
    -----
    All or none: no partial knowledge. For display alone; no verdict rests on it.
    """
    if not (0.0 <= share <= 1.0 and 0.0 <= chance < 1.0):
        raise InvalidInput("A share lies in [0, 1], and chance at 0 or above and below 1.")
    return (share - chance) / (1.0 - chance)


def share_among(d_prime: float, alternatives: int) -> float:
    """Share of right answers of an observer without bias who chooses the largest of M equal observations, one shifted.

    Parameters
    ----------
    d_prime : float
        Within +-`LARGEST_D_PRIME`.
    alternatives : int
        M, at least 2.

    Returns
    -------
    float
        ``integral of phi(x - d') Phi(x)^(M - 1) dx``, to 1e-12; 1 / M at 0.

    Notes
    -----
    Green and Swets (1966); tabulated by Hacker and Ratcliff (1979). ``Phi(d' / sqrt 2)`` for two alternatives.
    """
    from scipy.special import ndtr

    if alternatives < 2:
        raise InvalidInput(f"There is a choice among 2 alternatives or more, not {alternatives}.")
    density = np.exp(-(_NODES**2) / 2.0) / math.sqrt(2.0 * math.pi)
    return float(density @ ndtr(_NODES + d_prime) ** (alternatives - 1) * (_NODES[1] - _NODES[0]))


def d_prime_among(share: float, alternatives: int) -> float:
    """Sensitivity d' of an observer without bias who is right so often among M alternatives: `share_among` undone.

    Parameters
    ----------
    share : float
        In [0, 1]; below 1 / M gives less than 0.
    alternatives : int
        M, at least 2.

    Returns
    -------
    float
        ``sqrt(2) z(share)`` for two alternatives; minus or plus infinity beyond `LARGEST_D_PRIME`.

    Notes
    -----
    For display alone: labels are taken as equally easy to confuse, which those of pictures are not.
    """
    from scipy.optimize import brentq

    if not 0.0 <= share <= 1.0:
        raise InvalidInput(f"A share lies in [0, 1], not at {share}.")
    ends = [share_among(end, alternatives) for end in (-LARGEST_D_PRIME, LARGEST_D_PRIME)]
    if not ends[0] < share < ends[1]:
        return math.copysign(math.inf, share - 1.0 / alternatives)
    found = brentq(lambda d: share_among(d, alternatives) - share, -LARGEST_D_PRIME, LARGEST_D_PRIME, xtol=1e-12)
    return float(found)
