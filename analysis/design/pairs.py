"""Pictures to compare, matched in visual change, and comparisons whose answer is plain.

As in a main trial, every picture is of an original of its own and all are matched in visual change; "same" is one
function twice, "different" is two functions. The two functions differ plainly whatever the pictures show, and stand
outside the comparisons of the study, so that nobody is trained on what is measured.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from analysis.corruptions import CORRUPTIONS
from analysis.design.allocation import Ledger
from analysis.design.catalogue import Catalogue, StimulusRow
from analysis.design.ordering import shuffled
from analysis.errors import DesignRefused
from analysis.study.design import DiscriminationDesign, DiscriminationForm

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


_NOISE = ("impulse_noise", "shot_noise", "uniform_noise", "gaussian_noise")
_LIGHT = ("brightness", "frost")
_BLUR = ("defocus_blur", "motion_blur", "gaussian_blur", "glass_blur", "box_blur")
#: Functions that differ plainly at equal visual change, in order of preference. Of pictures of two originals a linear
#: rule on five statistics of the corrupted picture alone names the function right in 97 to 100 % (32 photographs,
#: visual change 0.6; `python -m benchmarks.plain_pairs`).
PLAIN_FUNCTIONS: tuple[tuple[str, str], ...] = (
    *((noise, other) for noise in _NOISE for other in (*_LIGHT, *_BLUR)),
    *((light, blur) for light in _LIGHT for blur in _BLUR),
)
#: Visual change at which stimuli of plain functions are made.
PLAIN_VISUAL_CHANGE = 0.6
#: Where a set has none, its other stimuli serve in this range: changed strongly enough, and still seen as a picture.
PLAIN_RANGE = (0.4, 0.8)
#: Pictures of one comparison differ by no more than those of two neighbouring bins.
MATCHED_WITHIN = 2 / BINS
#: Orders in which the originals of a session are tried, before there are too few of them.
_TRIES = 20


def choose_plain(there: Collection[str], *, compared: Collection[str]) -> tuple[str, str] | None:
    """Two of `there` that differ plainly, neither of them compared; of the families least compared.

    Returns
    -------
    (str, str) or None
        None where the table of plain functions has no such two.
    """
    families = {CORRUPTIONS[name].family for name in compared if name in CORRUPTIONS}
    free = [pair for pair in PLAIN_FUNCTIONS if set(pair) <= set(there) and not set(pair) & set(compared)]
    # The table is in order of preference, and min takes the first of equals.
    return min(free, key=lambda pair: sum(CORRUPTIONS[name].family in families for name in pair), default=None)


def plain_functions(catalogue: Catalogue, design: DiscriminationDesign) -> tuple[str, str]:
    """The two functions of a study's practice and plain comparisons.

    Raises
    ------
    DesignRefused
        Saying how many stimuli are missing, and how they are made.
    """
    compared = {name for pair in design.pairs for name in pair} or set(catalogue.corruptions)
    there = set(catalogue.plain) or set(catalogue.corruptions)
    chosen = choose_plain(there, compared=compared)
    if chosen is None and len(catalogue.plain) == 2 and not set(catalogue.plain) & compared:
        first, second = sorted(catalogue.plain)
        chosen = first, second
    if chosen is None:
        made = choose_plain(CORRUPTIONS, compared=compared)
        raise DesignRefused(
            "Practice and plain pairs show two functions that nobody compares and that differ plainly, and the "
            f"stimuli have none beside {', '.join(sorted(compared))}. They take "
            f"{2 * len(catalogue.category_of)} stimuli, one an original of each function: make the set again with "
            "them (generate_stimuli --plain, or the box in the form)"
            + (f", which adds {made[0]} and {made[1]}" if made else "")
            + "; or name fewer comparisons in discrimination.pairs, so that two functions of the set stay free; or ask "
            "for no practice and no plain pairs."
        )
    return chosen


@dataclass(kw_only=True)
class PlainDealer:
    """Deals plain comparisons from one pool of originals, all originals equally often.

    Parameters
    ----------
    functions : (str, str)
    stimuli : sequence of StimulusRow
        Those of the two functions, of any originals.
    pool : sequence of str
        Originals that may be shown.
    role : str
        Name of the pool, for the refusal.
    form : {"same-different", "abx"}
    rng : numpy.random.Generator

    Notes
    -----
    These trials enter no result, so their stimuli may come up again with other people.
    """

    functions: tuple[str, str]
    stimuli: Sequence[StimulusRow]
    pool: Sequence[str]
    role: str
    form: str
    rng: np.random.Generator
    uses: Counter[str] = field(default_factory=Counter)
    _rows: dict[str, list[StimulusRow]] = field(init=False)
    _turn: int = 0

    def __post_init__(self) -> None:
        inside = set(self.pool)
        self._rows = {
            name: [row for row in self.stimuli if row.corruption == name and row.original in inside]
            for name in self.functions
        }

    def deal(self, count: int, *, without: Collection[str]) -> list[Pair]:
        """`count` comparisons for one session, in turn with either right answer, none of an original in `without`.

        Raises
        ------
        DesignRefused
            If the pool has not enough matched stimuli.
        """
        most: list[Pair] = []
        for _ in range(_TRIES):
            dealt = self._dealt(count, set(without))
            if len(dealt) == count:
                self.uses.update(row.original for pair in dealt for row in _shown(pair))
                self._turn += 1
                return dealt
            most = max(most, dealt, key=len)
        pictures = 3 if self.form == "abx" else 2
        raise DesignRefused(
            f"{count} plain comparisons a session take {count * pictures} {self.role} originals with stimuli of "
            f"{self.functions[0]} and {self.functions[1]} at equal visual change (within {MATCHED_WITHIN:.2f}, between "
            f"{PLAIN_RANGE[0]} and {PLAIN_RANGE[1]}), and there are enough for {len(most)}: add pictures, make the "
            "stimuli with generate_stimuli --plain, or ask for fewer."
        )

    def _dealt(self, count: int, used: set[str]) -> list[Pair]:
        """As many of `count` comparisons as one order of the originals gives."""
        dealt: list[Pair] = []
        for number in range(count):
            kinds, correct = self._asked(number)
            rows = self._matched(kinds, used)
            if rows is None:
                break
            used |= {row.original for row in rows}
            dealt.append(Pair(rows[0], rows[1], correct, *rows[2:]))
        return dealt

    def _asked(self, number: int) -> tuple[tuple[str, ...], str]:
        """Functions in the order of their showing, and the right answer."""
        one, other = self.functions if self.rng.random() < 0.5 else self.functions[::-1]
        if self.form == "abx":
            return ((one, other, other), "b") if number % 2 else ((one, other, one), "a")
        if number % 2:
            alike = self.functions[(number // 2 + self._turn) % 2]
            return (alike, alike), "same"
        return (one, other), "different"

    def _matched(self, kinds: Sequence[str], used: set[str]) -> list[StimulusRow] | None:
        """Stimuli of these functions, of different originals that are used least, matched in visual change."""
        tie = {original: float(key) for original, key in zip(self.pool, self.rng.random(len(self.pool)), strict=True)}
        by_use: Mapping[str, list[StimulusRow]] = {
            name: sorted(
                (row for row in self._rows[name] if row.original not in used),
                key=lambda row: (self.uses[row.original], tie[row.original], row.stimulus),
            )
            for name in set(kinds)
        }
        return _joined([], kinds, by_use)


def _joined(
    rows: list[StimulusRow], kinds: Sequence[str], by_use: Mapping[str, Sequence[StimulusRow]]
) -> list[StimulusRow] | None:
    """`rows` and a partner for each of the other functions, all within `MATCHED_WITHIN` of each other."""
    if not kinds:
        return rows
    changes = [row.visual_change for row in rows]
    for row in by_use[kinds[0]]:
        spread = max([*changes, row.visual_change]) - min([*changes, row.visual_change])
        if spread > MATCHED_WITHIN or any(row.original == shown.original for shown in rows):
            continue
        found = _joined([*rows, row], kinds[1:], by_use)
        if found is not None:
            return found
    return None


def _shown(pair: Pair) -> list[StimulusRow]:
    return [row for row in (pair.first, pair.second, pair.third) if row is not None]


def plain_stimuli(catalogue: Catalogue, functions: tuple[str, str]) -> list[StimulusRow]:
    """Stimuli of the two functions in the range where they differ plainly."""
    low, high = PLAIN_RANGE
    return [
        row
        for row in (*catalogue.held_plain, *catalogue.corrupted)
        if row.corruption in functions and low <= row.visual_change <= high
    ]
