"""Golds, negatives, consistency pairs and practice of every session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.categories import superordinate
from analysis.design.catalogue import StimulusRow
from analysis.design.ordering import shuffled


@dataclass(kw_only=True)
class Rota:
    """Picks originals of a pool in turn, so that all are used equally often.

    Parameters
    ----------
    pool : sequence of str
    category_of : mapping
    rng : numpy.random.Generator
    """

    pool: Sequence[str]
    category_of: Mapping[str, str]
    rng: np.random.Generator
    uses: Counter[str] = field(default_factory=Counter)

    def pick(self, count: int, *, without: set[str], group: str | None = None) -> list[str]:
        """`count` originals (fewer if there are not enough), of different categories while that is possible."""
        picked: list[str] = []
        categories: Counter[str] = Counter()
        tie = dict(zip(self.pool, self.rng.random(len(self.pool)), strict=True))
        for _ in range(count):
            free = [
                original
                for original in self.pool
                if original not in without
                and original not in picked
                and (group is None or superordinate(self.category_of[original]) == group)
            ]
            if not free:
                break
            best = min(free, key=lambda o: (categories[self.category_of[o]], self.uses[o], tie[o]))
            picked.append(best)
            categories[self.category_of[best]] += 1
            self.uses[best] += 1
        return picked

    def pick_alternating(self, count: int, *, without: set[str]) -> list[str]:
        """Animals and artefacts in turn, the first group at random; filled up from the other where one runs out."""
        groups = ["animal", "artefact"] if self.rng.random() < 0.5 else ["artefact", "animal"]
        halves = [self.pick((count + 1 - turn) // 2, without=without, group=groups[turn]) for turn in range(2)]
        picked = [original for pair in zip(*halves, strict=False) for original in pair]
        picked += [original for half in halves for original in half if original not in picked]
        return picked + self.pick(count - len(picked), without=without | set(picked))


def deal_consistency(
    pool: Sequence[str],
    category_of: Mapping[str, str],
    clean: Mapping[str, StimulusRow],
    light: Sequence[StimulusRow],
    *,
    sessions: int,
    pairs: int,
    answers_per_stimulus: int,
    rng: np.random.Generator,
) -> list[list[StimulusRow]]:
    """The pictures that every session shows twice.

    Parameters
    ----------
    pool : sequence of str
        Consistency originals.
    light : sequence of StimulusRow
        Their lightly corrupted stimuli. Each is used as often as one picture may be answered, spread over the sessions;
        the clean picture stands in where none is left.
    """
    rota = Rota(pool=pool, category_of=category_of, rng=rng)
    originals = [rota.pick(pairs, without=set()) for _ in range(sessions)]
    result: list[list[StimulusRow]] = [[clean[original] for original in row] for row in originals]
    places: dict[str, list[tuple[int, int]]] = {}
    for session, shown in enumerate(originals):
        for number, original in enumerate(shown):
            places.setdefault(original, []).append((session, number))
    for original in pool:
        stimuli = [row for row in light if row.original == original for _ in range(answers_per_stimulus)]
        spots = shuffled(places.get(original, []), rng)
        for (session, number), row in zip(spots, shuffled(stimuli, rng), strict=False):
            result[session][number] = row
    return result
