"""Who sees which main picture: corrupted stimuli dealt to sessions, then clean showings of the same originals.

Every corruption's stimuli are sorted by visual change and cut into as many strata as a session has trials of it; each
session takes one stimulus from each stratum, so that every person sees the whole range. Within a stratum a linear
assignment decides which session gets which stimulus: no original twice in a session, categories and originals even.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from analysis.design.catalogue import StimulusRow

#: Cost that no allowed assignment reaches.
_FORBIDDEN = 1e6


@dataclass(kw_only=True)
class Ledger:
    """What has been dealt so far.

    Parameters
    ----------
    originals : tuple of str
        The main pool.
    category_of : mapping
        Category by original.
    sessions : int
    """

    originals: tuple[str, ...]
    category_of: Mapping[str, str]
    sessions: int
    index: dict[str, int] = field(init=False)
    category_index: NDArray[np.int64] = field(init=False)
    #: (session, original): shown already
    shown: NDArray[np.bool_] = field(init=False)
    #: (session, category): showings
    categories: NDArray[np.int64] = field(init=False)
    #: (original): corrupted showings over the study
    uses: NDArray[np.int64] = field(init=False)
    #: names of stimuli that are dealt as often as they may be
    spent: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.index = {original: number for number, original in enumerate(self.originals)}
        names = sorted({self.category_of[original] for original in self.originals})
        self.category_index = np.array([names.index(self.category_of[o]) for o in self.originals], dtype=np.int64)
        self.shown = np.zeros((self.sessions, len(self.originals)), dtype=bool)
        self.categories = np.zeros((self.sessions, len(names)), dtype=np.int64)
        self.uses = np.zeros(len(self.originals), dtype=np.int64)

    def enter_all(self, rows: Iterable[StimulusRow]) -> None:
        """Stimuli that every session shows."""
        for row in rows:
            for session in range(self.sessions):
                self.enter(session, row.original)
            self.uses[self.index[row.original]] += self.sessions
            self.spent.add(row.stimulus)

    def enter(self, session: int, original: str) -> None:
        number = self.index[original]
        self.shown[session, number] = True
        self.categories[session, self.category_index[number]] += 1


def quotas(sessions: int, trials: int, corruptions: int) -> NDArray[np.int64]:
    """Trials of every corruption in every session, as equal as can be; the remainder rotates.

    Returns
    -------
    ndarray of int, shape (sessions, corruptions)
        Rows sum to `trials`.
    """
    base, rest = divmod(trials, corruptions)
    result = np.full((sessions, corruptions), base, dtype=np.int64)
    for session in range(sessions):
        for turn in range(rest):
            result[session, (session * rest + turn) % corruptions] += 1
    return result


def deal_corrupted(
    ledger: Ledger,
    stimuli: Mapping[str, Sequence[StimulusRow]],
    quota: NDArray[np.int64],
    answers_per_stimulus: int,
    rng: np.random.Generator,
) -> list[list[StimulusRow]] | None:
    """Main trials of every session.

    Parameters
    ----------
    ledger : Ledger
        Updated in place.
    stimuli : mapping of str to sequence of StimulusRow
        Undealt stimuli of the main pool, by corruption.
    quota : ndarray of int, shape (sessions, corruptions)
        Trials of every corruption, in the order of their names.
    answers_per_stimulus : int
    rng : numpy.random.Generator

    Returns
    -------
    list of list of StimulusRow, or None
        By session. None if some session cannot be filled without showing an original twice.
    """
    corruptions = sorted(stimuli)
    dealt: list[list[StimulusRow]] = [[] for _ in range(ledger.sessions)]
    left = {
        corruption: sorted(
            (row for row in stimuli[corruption] for _ in range(answers_per_stimulus)), key=lambda row: row.visual_change
        )
        for corruption in corruptions
    }
    holes: list[tuple[int, str, float]] = []
    strata = _strata(quota, rng)
    for stratum in range(int(quota.max(initial=0))):
        for column, corruption in enumerate(corruptions):
            takers = np.flatnonzero(strata[:, column, stratum])
            if not len(takers):
                continue
            rows, n = left[corruption], int(quota[:, column].max())
            low, high = stratum * len(rows) // n, (stratum + 1) * len(rows) // n
            chosen = _assign(ledger, takers, rows[low:high], rng)
            for session, row in chosen.items():
                _enter(ledger, dealt, session, row)
            centre = float(np.mean([row.visual_change for row in rows[low:high]])) if high > low else 0.5
            holes += [(int(session), corruption, centre) for session in takers if int(session) not in chosen]
    taken: dict[str, int] = {}
    for row in (row for session in dealt for row in session):
        taken[row.stimulus] = taken.get(row.stimulus, 0) + 1
    for session, corruption, centre in holes:
        spare = [
            row
            for row in stimuli[corruption]
            if taken.get(row.stimulus, 0) < answers_per_stimulus
            and not ledger.shown[session, ledger.index[row.original]]
        ]
        if not spare:
            return None
        row = min(spare, key=lambda row: (abs(row.visual_change - centre), row.stimulus))
        taken[row.stimulus] = taken.get(row.stimulus, 0) + 1
        _enter(ledger, dealt, session, row)
    ledger.spent |= {name for name, count in taken.items() if count >= answers_per_stimulus}
    return dealt


def deal_clean(
    ledger: Ledger,
    clean: Mapping[str, StimulusRow],
    trials: int,
    clean_per_original: int,
    rng: np.random.Generator,
) -> list[list[StimulusRow]]:
    """Clean showings of main originals, to people who do not see that original otherwise.

    Returns
    -------
    list of list of StimulusRow
        By session; fewer than `trials` where every original is shown as often as it may be.
    """
    shown_clean = np.zeros(len(ledger.originals), dtype=np.int64)
    result: list[list[StimulusRow]] = [[] for _ in range(ledger.sessions)]
    for _ in range(trials):
        for session in rng.permutation(ledger.sessions):
            cost = (
                1000.0 * shown_clean
                + 10.0 * ledger.categories[session, ledger.category_index]
                - np.minimum(ledger.uses, 5)  # an original that was answered corrupted needs its clean answers most
                + rng.random(len(ledger.originals))
            )
            cost[ledger.shown[session] | (shown_clean >= clean_per_original)] = np.inf
            number = int(cost.argmin()) if len(cost) else 0
            if not len(cost) or np.isinf(cost[number]):
                continue
            original = ledger.originals[number]
            shown_clean[number] += 1
            ledger.enter(int(session), original)
            result[session].append(clean[original])
    return result


def _enter(ledger: Ledger, dealt: list[list[StimulusRow]], session: int, row: StimulusRow) -> None:
    ledger.enter(session, row.original)
    ledger.uses[ledger.index[row.original]] += 1
    dealt[session].append(row)


def _strata(quota: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which strata a session takes from each corruption: its quota, skipping others at random."""
    sessions, corruptions = quota.shape
    n = quota.max(axis=0, initial=0)
    result = np.zeros((sessions, corruptions, int(n.max(initial=0))), dtype=bool)
    for column in range(corruptions):
        # Sessions that skip one skip different ones.
        skipped = rng.permutation(sessions)
        for session in range(sessions):
            result[session, column, : n[column]] = True
            for turn in range(int(n[column] - quota[session, column])):
                result[session, column, (skipped[session] + turn) % n[column]] = False
    return result


def _assign(
    ledger: Ledger, takers: NDArray[np.int64], rows: Sequence[StimulusRow], rng: np.random.Generator
) -> dict[int, StimulusRow]:
    from scipy.optimize import linear_sum_assignment

    if not rows:
        return {}
    numbers = np.array([ledger.index[row.original] for row in rows])
    cost = (
        2.0 * ledger.categories[np.ix_(takers, ledger.category_index[numbers])]
        + 0.5 * ledger.uses[numbers]
        + rng.random((len(takers), len(rows)))
    )
    cost[ledger.shown[np.ix_(takers, numbers)]] = _FORBIDDEN
    chosen = {}
    for taker, column in zip(*linear_sum_assignment(cost), strict=True):
        if cost[taker, column] < _FORBIDDEN:
            chosen[int(takers[taker])] = rows[int(column)]
    return chosen
