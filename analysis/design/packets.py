"""Which pictures are judged together: packets that share no original, so that one person may do any of them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from analysis.design.catalogue import StimulusRow
from analysis.design.ordering import shuffled

#: Bins of visual change over which the pictures of a category are spread.
_BINS = 10


def choose_pictures(
    candidates: Sequence[StimulusRow], count: int, packets: int, rng: np.random.Generator
) -> list[StimulusRow]:
    """`count` pictures (fewer if there are not enough): categories even, then corruptions and visual change.

    Parameters
    ----------
    candidates : sequence of StimulusRow
    count : int
    packets : int
        Most pictures of one original: no packet holds two of them.
    rng : numpy.random.Generator
    """
    left: dict[str, dict[tuple[str, int], list[StimulusRow]]] = defaultdict(lambda: defaultdict(list))
    for row in shuffled(candidates, rng):
        left[row.category][_cell(row)].append(row)
    chosen: list[StimulusRow] = []
    categories: Counter[str] = Counter()
    cells: Counter[tuple[str, int]] = Counter()
    within: Counter[tuple[str, tuple[str, int]]] = Counter()
    originals: Counter[str] = Counter()
    while left and len(chosen) < count:
        category = min(left, key=lambda name: categories[name])
        open_cells = left[category]
        cell = min(open_cells, key=lambda name: (within[category, name], cells[name]))
        row = min(open_cells[cell], key=lambda one: originals[one.original])
        open_cells[cell].remove(row)
        if not open_cells[cell]:
            del open_cells[cell]
        if not open_cells:
            del left[category]
        if originals[row.original] >= packets:
            continue
        chosen.append(row)
        categories[category] += 1
        cells[cell] += 1
        within[category, cell] += 1
        originals[row.original] += 1
    return chosen


def deal_packets(pictures: Sequence[StimulusRow], largest: int, rng: np.random.Generator) -> list[list[StimulusRow]]:
    """As few packets of at most `largest` pictures as possible, equal in size to within one picture.

    No packet holds two pictures of one original, and the pictures of a category and of a visual change are spread over
    the packets.

    Parameters
    ----------
    pictures : sequence of StimulusRow
        No original more often than there are packets.
    largest : int
    rng : numpy.random.Generator

    Notes
    -----
    Originals with most pictures are dealt first, each to the packets with most room: by the theorem of Gale and Ryser
    this never gets stuck.
    """
    count = math.ceil(len(pictures) / largest)
    room = [len(pictures) // count + (number < len(pictures) % count) for number in range(count)]
    packets: list[list[StimulusRow]] = [[] for _ in range(count)]
    by_original: dict[str, list[StimulusRow]] = defaultdict(list)
    for row in shuffled(pictures, rng):
        by_original[row.original].append(row)
    # Neighbours in category and visual change follow one another and so go to different packets.
    order = sorted(by_original.values(), key=lambda rows: (-len(rows), rows[0].category, min(map(_cell, rows))))
    held: Counter[tuple[int, str]] = Counter()
    for rows in order:
        tie = rng.random(count)
        category = rows[0].category
        takers = sorted(range(count), key=lambda k: (-room[k], held[k, category], tie[k]))
        for packet, row in zip(takers, rows, strict=False):
            packets[packet].append(row)
            room[packet] -= 1
            held[packet, category] += 1
    return packets


def _cell(row: StimulusRow) -> tuple[str, int]:
    return row.corruption, min(_BINS - 1, int(row.visual_change * _BINS))
