"""What the product claims: statements, with the rate at which each may be wrong, and the words that every page uses.

Whatever is published beside a number stands here once. The figures behind it are computed elsewhere, in jobs; here is
nothing but declarations and sentences, so a page can import it at no cost. `docs/claims.md` shows what the simulations
of `benchmarks/claims/` measured of each.
"""

from __future__ import annotations

from analysis.claims import (
    agreement,
    corruptions,
    curves,
    difficulty,
    groups,
    models,
    own_performance,
    persons,
    recruiters,
    robustness,
    telling_apart,
)
from analysis.claims.claim import Claim

__all__ = ["CLAIMS", "Claim"]

CLAIMS: tuple[Claim, ...] = (
    *curves.CLAIMS,
    *models.CLAIMS,
    *corruptions.CLAIMS,
    *agreement.CLAIMS,
    *difficulty.CLAIMS,
    *groups.CLAIMS,
    *robustness.CLAIMS,
    *recruiters.CLAIMS,
    *telling_apart.CLAIMS,
    *own_performance.CLAIMS,
    *persons.CLAIMS,
)
