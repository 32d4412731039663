"""Pictures to compare, matched in visual change: pairs for "same corruption or not?", triplets for ABX."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from analysis.design.allocation import Ledger
from analysis.design.catalogue import StimulusRow
from analysis.design.ordering import shuffled
from analysis.spec.design import DiscriminationForm

#: The pictures of a trial lie in one bin of visual change, 1 / BINS wide, or in neighbouring ones.
BINS = 40


class Pair(NamedTuple):
    """Two pictures and the right answer; in ABX the picture X is the third."""

    first: StimulusRow
    second: StimulusRow
    correct: str
    third: StimulusRow | None = None


class PairDealer:
    """Deals comparisons from the stimuli of the main pool; a stimulus stands in one of the whole study."""

    def __init__(
        self,
        stimuli: Mapping[str, Sequence[StimulusRow]],
        pairs: Sequence[tuple[str, str]],
        rng: np.random.Generator,
        *,
        form: DiscriminationForm = "same-different",
    ) -> None:
        self.rng = rng
        self.form = form
        self.compared = tuple(pairs) or tuple(itertools.combinations(sorted(stimuli), 2))
        #: (corruption, bin) -> stimuli not yet dealt
        self.free: dict[tuple[str, int], list[StimulusRow]] = defaultdict(list)
        for corruption, rows in stimuli.items():
            for row in shuffled(rows, rng):
                self.free[corruption, bin_of(row.visual_change)].append(row)
        #: showings where the one answer is right less showings where the other is, by original
        self.balance: dict[str, int] = defaultdict(int)
        self._turn = 0

    def deal(self, ledger: Ledger, session: int, trials: int) -> list[Pair] | None:
        """`trials` comparisons for one session, either answer right in half; None when the stimuli are used up."""
        dealt: list[Pair] = []
        for _ in range(trials // 2):
            first, second = self.compared[self._turn % len(self.compared)]
            # Both corruptions of a comparison take either part equally often.
            one, other = (first, second) if (self._turn // len(self.compared)) % 2 == 0 else (second, first)
            self._turn += 1
            two = (
                self._abx(ledger, session, one, other)
                if self.form == "abx"
                else (self._same_different(ledger, session, one, first, second))
            )
            if two is None:
                return None
            dealt += two
        return dealt

    def _same_different(
        self, ledger: Ledger, session: int, alike: str, first: str, second: str
    ) -> tuple[Pair, Pair] | None:
        pairs = []
        for kinds, correct, sign in (((alike, alike), "same", 1), ((first, second), "different", -1)):
            rows = self._matched(ledger, session, kinds, sign)
            if rows is None:
                return None
            if self.rng.random() < 0.5:
                rows.reverse()
            pairs.append(Pair(rows[0], rows[1], correct))
        return pairs[0], pairs[1]

    def _abx(self, ledger: Ledger, session: int, one: str, other: str) -> tuple[Pair, Pair] | None:
        """Two trials with one order of A and B: X goes with A in the first and with B in the second."""
        pairs = []
        for kinds, correct, sign in (((one, other, one), "a", 1), ((one, other, other), "b", -1)):
            rows = self._matched(ledger, session, kinds, sign)
            if rows is None:
                return None
            pairs.append(Pair(rows[0], rows[1], correct, rows[2]))
        return pairs[0], pairs[1]

    def _matched(self, ledger: Ledger, session: int, kinds: Sequence[str], sign: int) -> list[StimulusRow] | None:
        """Stimuli of these corruptions, of different originals, all in one bin or in two neighbouring ones."""
        bins = [b for b in range(BINS) if self._usable(ledger, session, kinds[0], b)]
        for b in shuffled(bins, self.rng):
            for one in self._by_balance(self._usable(ledger, session, kinds[0], b), sign):
                rows = self._joined(ledger, session, [one], kinds[1:], sign)
                if rows is not None:
                    self._take(ledger, session, rows, sign)
                    return rows
        return None

    def _joined(
        self, ledger: Ledger, session: int, rows: list[StimulusRow], kinds: Sequence[str], sign: int
    ) -> list[StimulusRow] | None:
        """`rows` and partners of the other corruptions."""
        if not kinds:
            return rows
        held = [bin_of(row.visual_change) for row in rows]
        shown = {row.original for row in rows}
        for near in sorted(range(BINS), key=lambda other: (abs(other - held[0]), other)):
            if abs(near - held[0]) > 1:
                break
            if max(abs(near - other) for other in held) > 1:
                continue
            partners = [row for row in self._usable(ledger, session, kinds[0], near) if row.original not in shown]
            for partner in self._by_balance(partners, sign):
                found = self._joined(ledger, session, [*rows, partner], kinds[1:], sign)
                if found is not None:
                    return found
        return None

    def _by_balance(self, rows: Iterable[StimulusRow], sign: int) -> list[StimulusRow]:
        """Those first whose original has stood in fewest trials with this right answer."""
        return sorted(rows, key=lambda row: sign * self.balance[row.original])

    def _take(self, ledger: Ledger, session: int, rows: Iterable[StimulusRow], sign: int) -> None:
        for row in rows:
            self.free[row.corruption, bin_of(row.visual_change)].remove(row)
            self.balance[row.original] += sign
            ledger.enter(session, row.original)
            ledger.spent.add(row.stimulus)

    def _usable(self, ledger: Ledger, session: int, corruption: str, b: int) -> list[StimulusRow]:
        return [
            row for row in self.free.get((corruption, b), ()) if not ledger.shown[session, ledger.index[row.original]]
        ]


def bin_of(visual_change: float) -> int:
    """Bin of width 1 / BINS; 1.0 belongs to the last."""
    return min(BINS - 1, int(visual_change * BINS))
