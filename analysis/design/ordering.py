"""The order of trials within a session, and their numbers: no place tells what a trial is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from analysis.design.catalogue import StimulusRow
from analysis.design.plan import BlockKind, PlannedTrial, SessionPlan

T = TypeVar("T")


class Entry(NamedTuple):
    """A trial without a place yet."""

    task: str
    role: str
    stimulus: StimulusRow
    second: StimulusRow | None
    correct: str
    #: validation: the category that the picture is compared with
    wanted: str = ""
    #: ABX: the picture X
    third: StimulusRow | None = None


#: Entries of a session that belong together, and what they are for.
Stretch = tuple[BlockKind, Sequence[Entry]]


def choice(role: str, row: StimulusRow) -> Entry:
    """A categorisation trial."""
    return Entry("categorisation", role, row, None, row.category)


def near(total: int) -> tuple[int, int]:
    """Distances at which the place of a second showing in a session does not tell that it is one.

    Second showings cannot come first: at a mean distance of d trials they stand d / (2 total) later than other trials
    on average. Further apart, a trial in the second half of a session would be a second showing twice as often.
    """
    least = max(2, total // 35)
    return least, max(least, total // 25)


def far(total: int) -> tuple[int, int]:
    """Half the sequence apart: where everybody has time to look, places tell no more than the picture itself."""
    return total // 2, total // 2


def spread(
    groups: Sequence[Sequence[Entry]],
    repeated: Sequence[StimulusRow],
    rng: np.random.Generator,
    *,
    entry_of: Callable[[str, StimulusRow], Entry] = choice,
    distances: Callable[[int], tuple[int, int]] = near,
) -> list[Entry]:
    """One sequence in which every group is spread evenly.

    Parameters
    ----------
    groups : sequence of sequences of Entry
        Each group (a corruption, the golds, ...) has its members at even distances, in random order. Every place of the
        sequence is equally likely for every member.
    repeated : sequence of StimulusRow
        Consistency pictures, shown twice.
    rng : numpy.random.Generator
    entry_of : callable
        (role, stimulus) to the trial of a consistency picture.
    distances : callable
        Length of the sequence to the least and the largest number of trials from a first showing to its second.
    """
    total = sum(map(len, groups)) + 2 * len(repeated)
    least, largest = distances(total)
    keyed: list[tuple[float, Entry]] = []
    for group in groups:
        keyed += zip(_even(len(group), rng), shuffled(group, rng), strict=True)
    ordered = [entry for _, entry in sorted(keyed, key=lambda pair: pair[0])]
    # Where parts of several groups begin together, small groups come a little late. Turned round, no place tells that.
    start = int(rng.integers(len(ordered))) if ordered else 0
    sequence = ordered[start:] + ordered[:start]
    for key, row in zip(_even(len(repeated), rng), repeated, strict=True):
        distance = int(rng.integers(least, largest + 1))
        place = max(0, min(int(key * (total - distance)), len(sequence) + 1 - distance))
        sequence.insert(place, entry_of("consistency_first", row))
        sequence.insert(place + distance, entry_of("consistency_second", row))
    return sequence


def spread_blocked(
    blocks: Sequence[Sequence[Entry]],
    groups: Sequence[Sequence[Entry]],
    repeated: Sequence[StimulusRow],
    rng: np.random.Generator,
) -> tuple[list[Entry], list[int]]:
    """Corruptions one after the other in random order, everything else spread over the whole.

    Returns
    -------
    list of Entry, list of int
        The sequence, and the length of every block.
    """
    order = shuffled(blocks, rng)
    main = [entry for block in order for entry in shuffled(block, rng)]
    marker = Entry("", "", StimulusRow("", "", "", "", 0.0), None, "")
    sequence = spread([[marker] * len(main), *groups], repeated, rng)
    queue = iter(main)
    sequence = [next(queue) if entry is marker else entry for entry in sequence]
    # A block ends with the last trial of its corruption; what follows belongs to the next.
    places = [place for place, entry in enumerate(sequence) if entry.role == "main"]
    ends = [places[int(seen) - 1] + 1 for seen in np.cumsum([len(block) for block in order[:-1]])]
    bounds = [0, *ends, len(sequence)]
    return sequence, [after - before for before, after in zip(bounds, bounds[1:], strict=False)]


def insert_inside(
    sequence: Sequence[Entry], entries: Sequence[Entry], rng: np.random.Generator
) -> tuple[list[Entry], list[int]]:
    """The sequence with further entries, one at random in each of as many equal parts, and never first or last.

    Returns
    -------
    list of Entry, list of int
        The longer sequence, and for every entry the number of those of the shorter one that come before it.
    """
    ends = [1 + (len(sequence) - 1) * part // max(len(entries), 1) for part in range(len(entries) + 1)]
    gaps = [int(rng.integers(low, high)) for low, high in pairwise(ends)]
    longer = list(sequence)
    for gap, entry in sorted(zip(gaps, entries, strict=True), key=lambda pair: -pair[0]):
        longer.insert(gap, entry)
    return longer, gaps


def equal_blocks(trials: int, longest: int) -> list[int]:
    """Lengths of as few blocks as possible, as equal as can be."""
    count = -(-trials // longest)
    return [trials // count + (number < trials % count) for number in range(count)] if trials else []


def shuffled(entries: Sequence[T], rng: np.random.Generator) -> list[T]:
    """The same in random order."""
    return [entries[int(k)] for k in rng.permutation(len(entries))]


def cut(kind: BlockKind, sequence: Sequence[Entry], lengths: Sequence[int]) -> list[Stretch]:
    """Blocks of these lengths, one after the other."""
    ends = np.cumsum([0, *lengths]).tolist()
    return [(kind, sequence[start:end]) for start, end in pairwise(ends)]


def _even(count: int, rng: np.random.Generator) -> list[float]:
    """Rising numbers in [0, 1), one in each of as many equal parts."""
    return [float(key) for key in (np.arange(count) + rng.random(count)) / max(count, 1)]


def numbered(slot: int, stretches: Sequence[Stretch], masks: np.random.Generator) -> SessionPlan:
    """Trials in the order of the stretches, one block a stretch; empty stretches are left out.

    Parameters
    ----------
    slot : int
    stretches : sequence of (kind, entries)
    masks : numpy.random.Generator
        Draws the seeds of the noise masks, apart from everything else.
    """
    trials: list[PlannedTrial] = []
    filled = [stretch for stretch in stretches if stretch[1]]
    for block, (kind, entries) in enumerate(filled):
        for entry in entries:
            trials.append(
                PlannedTrial(
                    position=len(trials),
                    block=block,
                    kind=kind,
                    task=entry.task,
                    role=entry.role,
                    stimulus=entry.stimulus.stimulus,
                    second_stimulus=entry.second.stimulus if entry.second else None,
                    correct_response=entry.correct,
                    mask_seed=int(masks.integers(2**31)),
                    wanted=entry.wanted,
                    third_stimulus=entry.third.stimulus if entry.third else None,
                )
            )
    return SessionPlan(slot=slot, trials=tuple(trials))
