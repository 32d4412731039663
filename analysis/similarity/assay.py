"""Could this crowd have shown a difference? What plain pairs of the same sessions say of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analysis.arrays import BoolArray, IntArray
from analysis.clusters import exact_bound


@dataclass(frozen=True)
class Assay:
    """Plain pairs of the sessions that count.

    Parameters
    ----------
    trials, correct : int
    p : float
        One-sided, against a d' of the plain pairs that is at most the margin.
    careless : float
        Estimated share of answers that fall on either side at random, in [0, 1]: twice the share of plain differences
        that were missed.
    careless_at_most : float
        One-sided upper bound of it.
    shown : bool
        Whether the crowd tells plain pairs apart by more than the margin.
    """

    trials: int
    correct: int
    p: float
    careless: float
    careless_at_most: float
    shown: bool


def assay_of(
    right: BoolArray,
    *,
    telling: BoolArray,
    session: IntArray,
    person: IntArray,
    counts: BoolArray,
    p_above_margin: Callable[[], float],
    alpha: float,
) -> Assay | None:
    """Judge the plain pairs.

    Parameters
    ----------
    right : ndarray of bool, shape (n,)
        Answers to plain pairs of all sessions; a missed one is not right.
    telling : ndarray of bool, shape (n,)
        Is it a plain difference? To a same pair a wrong answer may come from a liberal criterion.
    session, person : ndarray of int, shape (n,)
    counts : ndarray of bool, shape (n,)
        Does the session count?
    p_above_margin : callable
        Gives the p-value of the plain pairs that count against a d' of at most the margin.
    alpha : float
        Level of both one-sided statements.

    Returns
    -------
    Assay or None
        None without a plain pair that counts.

    Notes
    -----
    A careless answer is right in half of the cases, so twice the share of missed plain differences bounds them from
    above: people with care miss some as well. Where sessions were excluded for wrong plain answers, those that count
    miss fewer than they would again. With independent answers ``P(t wrong, W <= r) = odds * P(t right, W <= r - 1)``
    for each trial t, where W counts the wrong plain answers of a session and r is the most that passed, so the missed
    differences of all sessions that count are set against the found ones of those with fewer than r wrong.
    """
    if not counts.any():
        return None
    wrong = np.bincount(session, weights=~right)
    most = float(wrong[session[counts]].max())
    is_cut = bool((wrong[session[~counts]] > most).any())
    missed = counts & telling & ~right
    found = counts & telling & right & ((wrong[session] < most) | (not is_cut))
    used = missed | found
    share = float(missed.sum() / used.sum()) if used.any() else 1.0
    effect, ratio = design_effect(missed[used], person[used], alpha) if used.any() else (1.0, 1.0)
    effective = used.sum() / (effect * ratio)
    upper = exact_bound(share * effective, effective, alpha)[1] if used.any() else 1.0
    p = p_above_margin()
    return Assay(
        trials=int(counts.sum()),
        correct=int((right & counts).sum()),
        p=p,
        careless=min(2.0 * share, 1.0),
        careless_at_most=min(2.0 * upper, 1.0),
        shown=p < alpha,
    )


def design_effect(right: BoolArray, person: IntArray, tail: float) -> tuple[float, float]:
    """Variance of a share over that of independent answers, and what few people add to it; both at least 1.

    Parameters
    ----------
    right : ndarray of bool, shape (n,), n > 0
    person : ndarray of int, shape (n,)
    tail : float
        Of the bound that is to be taken: quantiles of t differ from those of n independent answers.

    Returns
    -------
    (effect, ratio) : tuple of float
        An effective number of answers is ``n / (effect * ratio)`` (Korn and Graubard 1998, Survey Methodology 24,
        193-201). Both are 1 with one person, whose answers count as independent.
    """
    from scipy.special import stdtrit

    _, code = np.unique(person, return_inverse=True)
    people, n, share = int(code.max()) + 1, len(right), float(right.mean())
    if people < 2:
        return 1.0, 1.0
    ratio = max(1.0, float(stdtrit(people - 1, tail) / stdtrit(max(n - 1, 1), tail)) ** 2)
    if share in (0.0, 1.0):
        return 1.0, ratio
    residuals = np.bincount(code, weights=right - share)
    variance = people / (people - 1.0) * float((residuals**2).sum()) / n**2
    return max(1.0, variance / (share * (1.0 - share) / n)), ratio
