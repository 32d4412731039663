"""Bins of visual change as ranges of an index: exactly the bins that `analysis.visual_change` counts."""

from __future__ import annotations

import math
from functools import cache

#: Bins of equal width over [0, 1], and those of the paper.
OURS, PAPER = 40, 39


@cache
def edges_of(bins: int) -> tuple[float, ...]:
    """The smallest number of each bin j = floor(v * bins), then 1, which the last bin holds too."""
    return (*(_first_of(place, bins) for place in range(bins)), 1.0)


@cache
def common_edges() -> tuple[float, ...]:
    """Edges of both divisions: one pass over them counts for both."""
    return tuple(sorted({*edges_of(OURS), *edges_of(PAPER)}))


def regrouped(counts: list[int], bins: int) -> list[int]:
    """Counts between `common_edges` added up to those of one division."""
    totals = [0] * bins
    starts = common_edges()
    for start, count in zip(starts[:-1], counts, strict=True):
        totals[min(int(start * bins), bins - 1)] += count
    return totals


def _first_of(place: int, bins: int) -> float:
    """Multiplying rounds, so a number just below place / bins may already belong to the bin, and its quotient not."""
    edge = place / bins
    while int(edge * bins) < place:
        edge = math.nextafter(edge, 1.0)
    while place and int(math.nextafter(edge, 0.0) * bins) >= place:
        edge = math.nextafter(edge, 0.0)
    return edge
