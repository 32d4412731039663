"""How evenly the stimuli of a function cover the range of visual change, and two sets side by side.

VCR (Shen et al.), experiment 1: five fixed levels of ImageNet-C leave large parts of the range empty, which continuous
corruptions cover. Sets are compared by counts in narrow bins, so that sets of any size can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


PAPER_BINS = BINS - 1
#: Bins in which stimuli are counted; whole numbers of them make up our bins as well as the paper's.
NARROW_BINS = BINS * PAPER_BINS


@dataclass(frozen=True)
class ChangeCounts:
    """Stimuli in `NARROW_BINS` bins of visual change.

    Parameters
    ----------
    counts : ndarray of int, shape (NARROW_BINS,)
    """

    counts: NDArray[np.int64]

    @classmethod
    def from_bins(cls, counted: Mapping[int, int]) -> ChangeCounts:
        """Counts by number of the bin, floor(v * NARROW_BINS); v = 1 is counted in the last one.

        Raises
        ------
        InvalidInput
            If a number lies outside the range.
        """
        counts = np.zeros(NARROW_BINS, dtype=np.int64)
        for place, count in counted.items():
            if not 0 <= place <= NARROW_BINS:
                raise InvalidInput(f"Bins of visual change have the numbers 0 to {NARROW_BINS - 1}, not {place}.")
            counts[min(place, NARROW_BINS - 1)] += count
        return cls(counts)

    @classmethod
    def sum_of(cls, parts: Sequence[ChangeCounts]) -> ChangeCounts:
        """Counts of several groups of stimuli together."""
        return cls(
            np.sum([part.counts for part in parts], axis=0, dtype=np.int64) if parts else cls.from_bins({}).counts
        )

    @property
    def n(self) -> int:
        """Stimuli in all."""
        return int(self.counts.sum())

    def in_bins(self, bins: int) -> tuple[int, ...]:
        """Stimuli in 40 or 39 bins of equal width."""
        return tuple(self.counts.reshape(bins, -1).sum(axis=1).tolist())

    def covered(self, bins: int = BINS, minimum: float = MINIMUM_PER_BIN) -> int:
        """Bins with at least `minimum` stimuli."""
        return sum(count >= minimum for count in self.in_bins(bins))

    def quantile(self, share: float) -> float:
        """Visual change below which a share of the stimuli lies; NaN without stimuli.

        Within a narrow bin stimuli count as evenly spread, so this is off by 0.0006 at most.
        """
        if not self.n:
            return float("nan")
        reached = np.cumsum(self.counts)
        rank = share * self.n
        place = int(np.searchsorted(reached, rank, side="left"))
        # The lowest rank belongs to the first stimulus, not to the empty bins below it.
        place = max(place, int(np.argmax(self.counts > 0)))
        below = int(reached[place] - self.counts[place])
        return (place + (rank - below) / int(self.counts[place])) / NARROW_BINS


@dataclass(frozen=True)
class LevelSpread:
    """Where the stimuli of one level lie: median, middle half, and middle nine tenths."""

    level: int
    n: int
    median: float
    quartiles: tuple[float, float]
    nine_tenths: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "level": self.level,
            "n": self.n,
            "median": self.median,
            "quartiles": list(self.quartiles),
            "nine_tenths": list(self.nine_tenths),
        }


@dataclass(frozen=True)
class FunctionSide:
    """One function in one of the two sets.

    Parameters
    ----------
    changes : ChangeCounts
    levels : tuple of LevelSpread
        Empty for a set without levels.
    minimum : int
        Stimuli that make a bin covered.
    """

    changes: ChangeCounts
    levels: tuple[LevelSpread, ...]
    minimum: int

    @property
    def n(self) -> int:
        return self.changes.n

    @property
    def counts(self) -> tuple[int, ...]:
        """Stimuli in each of our 40 bins."""
        return self.changes.in_bins(BINS)

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of the stimuli in each bin."""
        return tuple(count / self.n if self.n else 0.0 for count in self.counts)

    @property
    def covered(self) -> int:
        return self.changes.covered(BINS, self.minimum)

    @property
    def paper_covered(self) -> int:
        return self.changes.covered(PAPER_BINS, self.minimum)

    @property
    def covered_share(self) -> float:
        return self.covered / BINS

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "n": self.n,
            "ours": {"bins": BINS, "covered": self.covered, "covered_share": self.covered_share},
            "paper": {
                "bins": PAPER_BINS,
                "covered": self.paper_covered,
                "covered_share": self.paper_covered / PAPER_BINS,
            },
            "counts": list(self.counts),
            "levels": [level.to_dict() for level in self.levels],
        }


@dataclass(frozen=True)
class FunctionComparison:
    """One function in both sets."""

    name: str
    a: FunctionSide
    b: FunctionSide

    @property
    def covered_at_equal_number(self) -> tuple[int, int]:
        """Covered bins of both if the smaller set had as many stimuli as the larger, spread as its own are."""
        most = max(self.a.n, self.b.n)
        a, b = (side.changes.covered(BINS, side.minimum * side.n / most) if side.n else 0 for side in (self.a, self.b))
        return a, b

    @property
    def covered_by(self) -> tuple[int, int, int]:
        """Bins covered by the first set alone, by both, and by the second alone."""
        in_a = [count >= self.a.minimum for count in self.a.counts]
        in_b = [count >= self.b.minimum for count in self.b.counts]
        both = sum(x and y for x, y in zip(in_a, in_b, strict=True))
        return sum(in_a) - both, both, sum(in_b) - both


@dataclass(frozen=True)
class SetComparison:
    """Two sets: their shared functions in order of names, and the functions that only one of them has."""

    functions: tuple[FunctionComparison, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        functions = []
        for one in self.functions:
            alone_a, both, alone_b = one.covered_by
            equal_a, equal_b = one.covered_at_equal_number
            functions.append(
                {
                    "corruption": one.name,
                    "a": {**one.a.to_dict(), "covered_at_equal_number": equal_a},
                    "b": {**one.b.to_dict(), "covered_at_equal_number": equal_b},
                    "covered_by_a_alone": alone_a,
                    "covered_by_both": both,
                    "covered_by_b_alone": alone_b,
                }
            )
        return {"functions": functions, "only_a": list(self.only_a), "only_b": list(self.only_b)}


#: Counts by number of narrow bin, by level (None for a set without levels), by function.
CountedSet = Mapping[str, Mapping[int | None, Mapping[int, int]]]


def compare_sets(a: CountedSet, b: CountedSet, *, minimum: int = MINIMUM_PER_BIN) -> SetComparison:
    """Compare two sets over their shared functions.

    Parameters
    ----------
    a, b : mapping
        ``{function: {level or None: {number of the narrow bin: stimuli}}}``, bin = floor(v * NARROW_BINS).
    minimum : int
        Stimuli that make a bin covered.
    """
    return SetComparison(
        functions=tuple(
            FunctionComparison(name, _side(a[name], minimum), _side(b[name], minimum))
            for name in sorted(set(a) & set(b))
        ),
        only_a=tuple(sorted(set(a) - set(b))),
        only_b=tuple(sorted(set(b) - set(a))),
    )


def level_spreads(by_level: Mapping[int | None, Mapping[int, int]]) -> tuple[LevelSpread, ...]:
    """Median and spread of every level, the lowest level first; nothing for a set without levels."""
    spreads = []
    for level in sorted(level for level in by_level if level is not None):
        changes = ChangeCounts.from_bins(by_level[level])
        spreads.append(
            LevelSpread(
                level=level,
                n=changes.n,
                median=changes.quantile(0.5),
                quartiles=(changes.quantile(0.25), changes.quantile(0.75)),
                nine_tenths=(changes.quantile(0.05), changes.quantile(0.95)),
            )
        )
    return tuple(spreads)


def _side(by_level: Mapping[int | None, Mapping[int, int]], minimum: int) -> FunctionSide:
    changes = ChangeCounts.sum_of([ChangeCounts.from_bins(counted) for counted in by_level.values()])
    return FunctionSide(changes, level_spreads(by_level), minimum)
