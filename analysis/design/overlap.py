"""The corrupted pictures that everybody sees, so that any two people, and people and networks, share trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from analysis.design.allocation import quotas
from analysis.design.catalogue import StimulusRow
from analysis.design.ordering import shuffled


def stream(seed: int, *domain: int) -> np.random.Generator:
    """Random stream of one part of a plan, so that a change in one part leaves the others as they were."""
    return np.random.default_rng([seed % 2**63, *domain])


def common_count(overlap: float, main: int) -> int:
    """Main trials of a session that everybody shares: the share `overlap` of them, to the nearest whole trial."""
    return int(overlap * main + 0.5)


def choose_common(
    stimuli: Mapping[str, Sequence[StimulusRow]], count: int, rng: np.random.Generator
) -> list[StimulusRow] | None:
    """One stimulus from each stratum of visual change of every corruption.

    Parameters
    ----------
    stimuli : mapping of str to sequence of StimulusRow
        Stimuli of the main pool, by corruption.
    count : int
        Over all corruptions, which get as equal numbers as can be.
    rng : numpy.random.Generator

    Returns
    -------
    list of StimulusRow, or None
        All of different originals, the categories even; None where the stimuli have not so many originals.

    Notes
    -----
    The strata of a corruption are cut as those of the other main trials: as many as there are trials, with equal
    numbers of stimuli.
    """
    corruptions = sorted(stimuli)
    numbers = quotas(1, count, len(corruptions))[0]
    places = [(corruption, k, int(n)) for corruption, n in zip(corruptions, numbers, strict=True) for k in range(n)]
    chosen: list[StimulusRow] = []
    used: set[str] = set()
    categories: Counter[str] = Counter()
    for corruption, stratum, n in shuffled(places, rng):
        rows = sorted(stimuli[corruption], key=lambda row: (row.visual_change, row.stimulus))
        inside = rows[stratum * len(rows) // n : (stratum + 1) * len(rows) // n]
        free = [row for row in inside if row.original not in used]
        if not free:
            centre = (stratum + 0.5) / n * len(rows)
            near = sorted(range(len(rows)), key=lambda place: abs(place + 0.5 - centre))
            free = [rows[place] for place in near if rows[place].original not in used][:1]
        if not free:
            return None
        tie = rng.random(len(free))
        row = free[min(range(len(free)), key=lambda place: (categories[free[place].category], tie[place]))]
        chosen.append(row)
        used.add(row.original)
        categories[row.category] += 1
    return sorted(chosen)
