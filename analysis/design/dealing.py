"""Several recruiters draw sessions from one plan: each is dealt a share that is like the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from analysis.arrays import FloatArray, IntArray
from analysis.design.plan import SessionPlan
from analysis.design.summary import STRATA

#: Roles of trials whose answers are analysed.
_COUNTED = frozenset({"main", "clean", "consistency_first"})
#: Corruption, visual change and category of a stimulus.
Shown = tuple[str, float, str]


def cells_of(sessions: Iterable[SessionPlan], shown: Mapping[str, Shown]) -> FloatArray:
    """How many trials of each session lie in each cell of the plan.

    Parameters
    ----------
    sessions : iterable of SessionPlan
    shown : mapping of stimulus to (corruption, visual change, category)

    Returns
    -------
    ndarray, shape (sessions, cells)
        A cell is a tenth of visual change of a corruption (of a pair of them, where pictures are compared), or a
        category: every trial lies in one of either kind.
    """
    counts = [_counts(session, shown) for session in sessions]
    columns = {cell: number for number, cell in enumerate(sorted({cell for own in counts for cell in own}))}
    found = np.zeros((len(counts), len(columns)))
    for row, own in enumerate(counts):
        for cell, count in own.items():
            found[row, columns[cell]] = count
    return found


def _counts(session: SessionPlan, shown: Mapping[str, Shown]) -> Counter[tuple[str, ...]]:
    counts: Counter[tuple[str, ...]] = Counter()
    for trial in session.trials:
        if trial.role not in _COUNTED:
            continue
        first, *others = (shown[name] for name in trial.stimuli)
        corruption, visual_change, category = first
        tenth = min(STRATA - 1, int(visual_change * STRATA))
        counts[trial.task, " / ".join(sorted({corruption, *(one[0] for one in others)})), str(tenth)] += 1
        counts["category", category] += 1
    return counts


def by_balance(cells: FloatArray, held: Sequence[int], free: Sequence[int]) -> list[int]:
    """Free sessions in the order in which they would best make what a recruiter holds like the whole plan.

    Parameters
    ----------
    cells : ndarray, shape (sessions, cells)
        As `cells_of` counts them.
    held : sequence of int
        Sessions that people of this recruiter hold.
    free : sequence of int

    Returns
    -------
    list of int
        Equally good ones in the order given.

    Notes
    -----
    The distance is Pearson's: squared differences between what is held with the session and as large a share of the
    plan, over that share, summed over cells.
    """
    expected = cells.mean(axis=0)
    share = (len(held) + 1) * expected
    apart = cells[list(held)].sum(axis=0) + cells[list(free)] - share
    used = expected > 0.0
    distance = (apart[:, used] ** 2 / share[used]).sum(axis=1)
    order: IntArray = np.argsort(np.round(distance, 9), kind="stable")
    return [free[number] for number in order.tolist()]
