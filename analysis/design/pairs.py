"""Pairs of stimuli for "same corruption or not?", matched in visual change."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from analysis.design.allocation import Ledger
from analysis.design.catalogue import StimulusRow

#: The two pictures of a pair lie in one bin of visual change, 1 / BINS wide, or in the nearest one that has a partner.
BINS = 40
#: From here on a corrupted picture differs plainly from a clean one.
PLAIN_VISUAL_CHANGE = 0.5


class Pair(NamedTuple):
    """Two pictures and the right answer."""

    first: StimulusRow
    second: StimulusRow
    correct: str


class PairDealer:
    """Deals pairs from the stimuli of the main pool; a stimulus stands in one pair of the whole study."""

    def __init__(
        self, stimuli: Mapping[str, Sequence[StimulusRow]], pairs: Sequence[tuple[str, str]], rng: np.random.Generator
    ) -> None:
        self.rng = rng
        self.compared = tuple(pairs) or tuple(itertools.combinations(sorted(stimuli), 2))
        #: (corruption, bin) -> stimuli not yet dealt
        self.free: dict[tuple[str, int], list[StimulusRow]] = defaultdict(list)
        for corruption, rows in stimuli.items():
            for row in (rows[int(k)] for k in rng.permutation(len(rows))):
                self.free[corruption, bin_of(row.visual_change)].append(row)
        #: showings in same pairs less showings in different pairs, by original
        self.balance: dict[str, int] = defaultdict(int)
        self._turn = 0

    def deal(self, ledger: Ledger, session: int, trials: int) -> list[Pair] | None:
        """`trials` pairs for one session, half of them same; None when the stimuli are used up."""
        dealt: list[Pair] = []
        for _ in range(trials // 2):
            first, second = self.compared[self._turn % len(self.compared)]
            # Both corruptions of a comparison stand in its same pairs equally often.
            alike = (first, second)[(self._turn // len(self.compared)) % 2]
            self._turn += 1
            for kinds in ((alike, alike), (first, second)):
                pair = self._pair(ledger, session, *kinds)
                if pair is None:
                    return None
                dealt.append(pair)
        return dealt

    def _pair(self, ledger: Ledger, session: int, first: str, second: str) -> Pair | None:
        sign = 1 if first == second else -1
        bins = [b for b in range(BINS) if self._usable(ledger, session, first, b)]
        for b in (bins[int(k)] for k in self.rng.permutation(len(bins))):
            for one in sorted(
                self._usable(ledger, session, first, b), key=lambda row: sign * self.balance[row.original]
            ):
                for near in sorted(range(BINS), key=lambda other: (abs(other - b), other)):
                    if abs(near - b) > 1:
                        break
                    partners = [
                        row for row in self._usable(ledger, session, second, near) if row.original != one.original
                    ]
                    if partners:
                        other = min(partners, key=lambda row: sign * self.balance[row.original])
                        return self._take(ledger, session, one, other, sign)
        return None

    def _take(self, ledger: Ledger, session: int, one: StimulusRow, other: StimulusRow, sign: int) -> Pair:
        for row in (one, other):
            self.free[row.corruption, bin_of(row.visual_change)].remove(row)
            self.balance[row.original] += sign
            ledger.enter(session, row.original)
            ledger.spent.add(row.stimulus)
        if self.rng.random() < 0.5:
            one, other = other, one
        return Pair(one, other, "same" if sign > 0 else "different")

    def _usable(self, ledger: Ledger, session: int, corruption: str, b: int) -> list[StimulusRow]:
        return [
            row for row in self.free.get((corruption, b), ()) if not ledger.shown[session, ledger.index[row.original]]
        ]


def plain_pairs(
    originals: Sequence[str],
    clean: Mapping[str, StimulusRow],
    strong: Mapping[str, Sequence[StimulusRow]],
    rng: np.random.Generator,
) -> list[Pair]:
    """One pair for every two originals: in turn plainly different (clean and strongly corrupted) and identical.

    Parameters
    ----------
    originals : sequence of str
        Two for each pair.
    clean, strong : mappings
        Clean picture, and stimuli from PLAIN_VISUAL_CHANGE on, by original.

    Notes
    -----
    Sentinels enter no curve, so their stimuli may come up again with other people.
    """
    pairs = []
    for number, (one, other) in enumerate(_in_twos(originals)):
        if not strong.get(one):
            one, other = other, one
        choices = strong.get(one, ())
        if number % 2 or not choices:
            pairs.append(Pair(clean[other], clean[other], "same"))
            continue
        shown = [choices[int(rng.integers(len(choices)))], clean[other]]
        if rng.random() < 0.5:
            shown.reverse()
        pairs.append(Pair(shown[0], shown[1], "different"))
    return pairs


def bin_of(visual_change: float) -> int:
    """Bin of width 1 / BINS; 1.0 belongs to the last."""
    return min(BINS - 1, int(visual_change * BINS))


def _in_twos(originals: Sequence[str]) -> Iterable[tuple[str, str]]:
    return zip(originals[::2], originals[1::2], strict=False)
