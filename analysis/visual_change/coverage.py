"""How evenly the stimuli of a function cover the range of visual change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from analysis.errors import InvalidInput

#: Bins of equal width over [0, 1].
BINS = 40
#: A bin with fewer stimuli is not covered.
MINIMUM_PER_BIN = 20

#: Share of the paper's bins that the sets of VCR (Shen et al.) cover, 50,000 stimuli a function; supplement, Table 2.
PUBLISHED_SHARES: Mapping[str, float] = {
    "brightness": 1.000,
    "gaussian_blur": 0.974,
    "defocus_blur": 0.923,
    "shot_noise": 0.590,
    "frost": 1.000,
    "gaussian_noise": 0.872,
    "impulse_noise": 0.641,
    "motion_blur": 0.974,
    "glass_blur": 0.949,
}


@dataclass(frozen=True)
class Coverage:
    """Stimuli in each bin of visual change.

    Parameters
    ----------
    counts : tuple of int, shape (n_bins,)
    minimum : int
        Stimuli that make a bin covered.
    edges : tuple of float, shape (n_bins + 1,)
        Lower and upper ends of the bins.
    """

    counts: tuple[int, ...]
    minimum: int
    edges: tuple[float, ...]

    @property
    def covered(self) -> int:
        """Number of bins with at least `minimum` stimuli."""
        return sum(count >= self.minimum for count in self.counts)

    @property
    def occupied(self) -> int:
        """Number of bins with any stimulus."""
        return sum(count > 0 for count in self.counts)

    @property
    def covered_share(self) -> float:
        """Share of covered bins, in [0, 1]."""
        return self.covered / len(self.counts)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "bins": len(self.counts),
            "minimum": self.minimum,
            "covered": self.covered,
            "occupied": self.occupied,
            "covered_share": self.covered_share,
            "counts": list(self.counts),
        }


def measure_coverage(visual_change: ArrayLike, *, bins: int = BINS, minimum: int = MINIMUM_PER_BIN) -> Coverage:
    """Coverage over bins of equal width; the last one holds 1 too.

    Parameters
    ----------
    visual_change : array_like of float, shape (n,)
        In [0, 1].

    Raises
    ------
    InvalidInput
        If a value lies outside [0, 1].
    """
    changes = _checked(visual_change)
    index = np.minimum((changes * bins).astype(int), bins - 1)
    return _coverage(index, bins, minimum, np.linspace(0.0, 1.0, bins + 1))


def measure_paper_coverage(visual_change: ArrayLike, *, m: int = BINS, minimum: int = MINIMUM_PER_BIN) -> Coverage:
    """Coverage over the bins of VCR (Shen et al.), j = floor(v (M - 1)): with M = 40, 39 bins below v = 1.

    Parameters
    ----------
    visual_change : array_like of float, shape (n,)
        In [0, 1].
    m : int
        The paper's M.

    Notes
    -----
    VCR, supplement, coverage table: all its shares are multiples of 1/39.
    """
    changes = _checked(visual_change)
    # v = 1 would stand alone in a 40th bin; it is counted in the 39th.
    index = np.minimum((changes * (m - 1)).astype(int), m - 2)
    return _coverage(index, m - 1, minimum, np.linspace(0.0, 1.0, m))


def coverage_report(
    changes_by_corruption: Mapping[str, Sequence[float]], *, minimum: int = MINIMUM_PER_BIN
) -> dict[str, dict[str, Any]]:
    """Both coverages of every function: ``{name: {"n", "ours", "paper"}}``."""
    return {
        name: {
            "n": len(changes),
            "ours": measure_coverage(changes, minimum=minimum).to_dict(),
            "paper": measure_paper_coverage(changes, minimum=minimum).to_dict(),
        }
        for name, changes in changes_by_corruption.items()
    }


def stimuli_that_cover(bins: int = BINS, minimum: int = MINIMUM_PER_BIN) -> int:
    """Fewest stimuli with which every bin can be covered."""
    return bins * minimum


def wanted_per_bin(n: int, *, bins: int = BINS, minimum: int = MINIMUM_PER_BIN) -> int:
    """What can be asked of each bin of so many stimuli: the minimum, or of fewer than that takes an even share.

    In whole stimuli and at least 1.
    """
    return minimum if n >= stimuli_that_cover(bins, minimum) else max(n // bins, 1)


def coverage_words(report: Mapping[str, Any]) -> str:
    """How many bins a function covers, asked of as many stimuli as it has.

    Parameters
    ----------
    report : mapping
        Of one function, from `coverage_report`.

    Returns
    -------
    str
        Bins that hold the minimum; of fewer stimuli than that takes, bins that hold an even share of them, in whole
        stimuli and at least 1.
    """
    ours, paper = report["ours"], report["paper"]
    enough = stimuli_that_cover(ours["bins"], ours["minimum"])
    if report["n"] >= enough:
        return (
            f"{ours['covered']} of {ours['bins']} bins with at least {ours['minimum']} (paper's bins: "
            f"{paper['covered']} of {paper['bins']})"
        )
    share = wanted_per_bin(report["n"], bins=ours["bins"], minimum=ours["minimum"])
    return (
        f"{sum(count >= share for count in ours['counts'])} of {ours['bins']} bins with at least {share}, their even "
        f"share ({ours['minimum']} in each bin would take {enough:,} stimuli)"
    )


def _checked(visual_change: ArrayLike) -> np.ndarray[Any, np.dtype[np.float64]]:
    changes = np.asarray(visual_change, dtype=np.float64).ravel()
    if not np.all((changes >= 0) & (changes <= 1)):
        raise InvalidInput("Visual change lies in [0, 1].")
    return changes


def _coverage(index: np.ndarray[Any, np.dtype[np.int_]], bins: int, minimum: int, edges: Any) -> Coverage:
    counts = np.bincount(index, minlength=bins)
    return Coverage(counts=tuple(counts.tolist()), minimum=minimum, edges=tuple(edges.tolist()))
