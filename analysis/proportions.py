"""Exact limits of a binomial proportion."""

from __future__ import annotations


def exact_bound(successes: float, trials: float, tail: float) -> tuple[float, float]:
    """Lower and upper limit of a proportion, each with a chance of at most ``tail`` to lie on the wrong side.

    Parameters
    ----------
    successes, trials : float
        0 <= successes <= trials. Counts may be fractional: an effective number of trials is one.
    tail : float
        In (0, 1): 0.025 on each side is an interval at level 0.95.

    Returns
    -------
    tuple of float
        In [0, 1]; (0, 1) without trials.

    Notes
    -----
    Clopper and Pearson (1934).
    """
    from scipy.special import betaincinv

    failures = trials - successes
    lower = 0.0 if successes <= 0.0 else float(betaincinv(successes, failures + 1.0, tail))
    upper = 1.0 if failures <= 0.0 else float(betaincinv(successes + 1.0, failures, 1.0 - tail))
    return lower, upper
