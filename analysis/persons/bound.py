"""How far machines among people can have moved an area, given how many were flagged and how many are caught."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.errors import InvalidInput

#: Chance that more machines are among people than is said, and that the area lies beyond the end that is used: half of
#: .05 each.
TAIL = 0.025
#: Least shares of machines that the sentinels catch, for which a bound is stated.
CATCHES = (0.9, 0.6, 0.3, 0.0)


@dataclass(frozen=True)
class Bias:
    """What machines add to an area: area of everybody minus area of people, at least and at most."""

    lower: float
    upper: float


def machines_at_most(flagged: int, people: int, catch: float, *, unscored: int = 0, tail: float = TAIL) -> int | None:
    """Largest number of machines among people that is compatible with the flags.

    Parameters
    ----------
    flagged : int
        How many people are flagged; every one may be a machine.
    people : int
        How many were scored.
    catch : float
        Each machine is flagged with at least this chance, independently of the others.
    unscored : int
        People without sentinels, all of whom may be machines.
    tail : float
        Chance that there are more.

    Returns
    -------
    int or None
        None at a catch of 0: nothing bounds what is never caught.

    Raises
    ------
    InvalidInput
        If more people are flagged than were scored, or a chance is outside [0, 1].

    Notes
    -----
    The largest M with P(Binomial(M, catch) <= flagged) > tail. Honest people who are flagged make it larger.
    """
    from scipy.special import betainc

    if not 0 <= flagged <= people or not 0.0 <= catch <= 1.0 or not 0.0 < tail < 1.0:
        raise InvalidInput("The flagged are some of the people, and chances are between 0 and 1.")
    if catch == 0.0:
        return None
    more = np.arange(flagged + 1, people + 1)
    # P(Binomial(M, c) <= F) = I_(1 - c)(M - F, F + 1)
    possible = more[betainc(more - flagged, flagged + 1, 1.0 - catch) > tail] if len(more) else more
    return int(possible.max() if len(possible) else flagged) + unscored


def bias_of_area(area: tuple[float, float], share: float, worst: tuple[float, float]) -> Bias | None:
    """Bounds of the bias of an area over answers of people and machines.

    Parameters
    ----------
    area : (float, float)
        Interval of the area of everybody.
    share : float
        At most this share of what counts is machines'.
    worst : (float, float)
        Lowest and highest area of a machine.

    Returns
    -------
    Bias or None
        None where everybody may be a machine.

    Notes
    -----
    ``A = (1 - s) P + s M`` gives ``A - P = s / (1 - s) (M - A)``, which grows with the share and with the machines'
    area M. At the ends of the interval of A, because A is estimated.
    """
    if share >= 1.0:
        return None
    odds = share / (1.0 - share)
    return Bias(min(odds * (worst[0] - area[1]), 0.0), max(odds * (worst[1] - area[0]), 0.0))
