"""Three words for a pair of corruptions, and the correction for asking about many pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.claims.corruptions import Verdict
from analysis.errors import InvalidInput


def verdict_of(*, equivalent: bool, different: bool) -> Verdict:
    """Shown to be equivalent wins over shown to differ (the difference is then within the margin); else undecided."""
    if equivalent:
        return "equivalent"
    return "different" if different else "undecided"


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that rejecting below a level keeps the chance of any false rejection at that level.

    Parameters
    ----------
    p_values : sequence of float
        In [0, 1], one a test.

    Returns
    -------
    list of float
        Adjusted values in the order given.

    Raises
    ------
    InvalidInput
        If a value is no probability.

    Notes
    -----
    Holm (1979), Scand. J. Statist. 6, 65-70.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not np.all((p >= 0.0) & (p <= 1.0)):
        raise InvalidInput("P-values lie in [0, 1].")
    from statsmodels.stats.multitest import multipletests

    return [float(value) for value in multipletests(p, method="holm")[1]]
