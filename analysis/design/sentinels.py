"""Golds, negatives, consistency pairs and sentinels of persons in every session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.design.catalogue import Catalogue, StimulusRow
from analysis.design.ordering import shuffled
from analysis.errors import DesignRefused
from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace
from analysis.study.design import DesignConfig
from analysis.study.persons import PERSON


@dataclass(kw_only=True)
class Rota:
    """Picks originals of a pool in turn, so that all are used equally often.

    Parameters
    ----------
    pool : sequence of str
    category_of : mapping
    rng : numpy.random.Generator
    space : LabelSpace
        Labels of the pictures, for picks by group.
    """

    pool: Sequence[str]
    category_of: Mapping[str, str]
    rng: np.random.Generator
    space: LabelSpace = field(default_factory=default_labels)
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
                and (group is None or self.space.group(self.category_of[original]) == group)
            ]
            if not free:
                break
            best = min(free, key=lambda o: (categories[self.category_of[o]], self.uses[o], tie[o]))
            picked.append(best)
            categories[self.category_of[best]] += 1
            self.uses[best] += 1
        return picked

    def pick_alternating(self, count: int, *, without: set[str]) -> list[str]:
        """Groups of the partition in turn, the first at random; filled up from the others where one runs out."""
        groups: list[str | None] = [*self.space.groups()] or [None]
        first, n = int(self.rng.random() * len(groups)), len(groups)
        shares = [
            self.pick((count + n - 1 - turn) // n, without=without, group=groups[(first + turn) % n])
            for turn in range(n)
        ]
        picked = [original for row in zip(*shares, strict=False) for original in row]
        picked += [original for share in shares for original in share if original not in picked]
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


def pool_of_family(family: str) -> str:
    """Name of the pool of a family's originals, after the role."""
    return f"{PERSON} {family}"


def families_asked(config: DesignConfig, catalogue: Catalogue) -> dict[str, list[StimulusRow]]:
    """Pictures of each family that the design shows, in the order of the families' names; empty without sentinels.

    Raises
    ------
    DesignRefused
        If the stimulus set has none, or lacks a family.
    """
    if config.persons is None or not config.person_trials:
        return {}
    there: dict[str, list[StimulusRow]] = {}
    for row in catalogue.person_sentinels:
        there.setdefault(row.corruption, []).append(row)
    if not there:
        raise DesignRefused(
            f"design.persons.per_session is {config.person_trials}, but the stimulus set has no sentinels of persons: "
            "make a set with them, or set it to 0.",
            place="design.persons.per_session",
        )
    missing = [family for family in config.persons.families if family not in there]
    if missing:
        raise DesignRefused(
            f"design.persons.families names {missing[0]!r}, but the stimulus set has only: {', '.join(sorted(there))}.",
            place="design.persons.families",
        )
    return {family: there[family] for family in sorted(config.persons.families or there)}


def needed_of_family(config: DesignConfig, families: int) -> int:
    """Pictures of one family that a person sees at most, over all their sessions."""
    return -(-config.person_trials // families) * config.sessions_per_participant if families else 0


def originals_of_set(families: Mapping[str, Sequence[StimulusRow]], catalogue: Catalogue) -> dict[str, list[str]]:
    """Of each family that is made from the set's own pictures: the originals that have such a picture."""
    own = {
        family: [row.original for row in rows if row.original in catalogue.category_of]
        for family, rows in families.items()
    }
    return {family: originals for family, originals in own.items() if originals}


def brought_pools(
    families: Mapping[str, Sequence[StimulusRow]], catalogue: Catalogue, needed: int
) -> dict[str, tuple[str, ...]]:
    """Pools of the families whose pictures a lab brings: all of them.

    Raises
    ------
    DesignRefused
        If a person would see one of them twice.
    """
    own = originals_of_set(families, catalogue)
    pools = {
        pool_of_family(family): tuple(sorted(row.original for row in rows))
        for family, rows in families.items()
        if family not in own
    }
    for pool, originals in pools.items():
        if len(originals) < needed:
            raise too_few(pool, len(originals), needed)
    return pools


def too_few(pool: str, found: int, needed: int) -> DesignRefused:
    """A person would see a picture twice."""
    family = pool.removeprefix(f"{PERSON} ")
    return DesignRefused(
        f"A person needs {needed} sentinel pictures of the family {family} over all their sessions, and there are "
        f"only {found}: lower design.persons.per_session, allow fewer sessions a participant, or add pictures.",
        place="design.persons.per_session",
    )


def deal_persons(
    families: Mapping[str, Sequence[StimulusRow]],
    pools: Mapping[str, Sequence[str]],
    *,
    sessions: int,
    per_session: int,
    rng: np.random.Generator,
) -> list[list[StimulusRow]]:
    """Sentinels of every session: families in turn, and all pictures of a family equally often.

    Parameters
    ----------
    families : mapping of str to sequence of StimulusRow
    pools : mapping
        Of the plan; a family's pictures are those of its pool.
    sessions, per_session : int
    rng : numpy.random.Generator

    Returns
    -------
    list of list of StimulusRow
        By session, in random order; no original twice.
    """
    if not families:
        return [[] for _ in range(sessions)]
    pictures = {
        family: [row for row in rows if row.original in set(pools[pool_of_family(family)])]
        for family, rows in families.items()
    }
    names, uses = list(pictures), Counter[str]()
    dealt = []
    for session in range(sessions):
        first = session * per_session
        turns = Counter(names[(first + place) % len(names)] for place in range(per_session))
        chosen: list[StimulusRow] = []
        for family, count in turns.items():
            chosen += _least_used(pictures[family], count, uses, chosen, rng)
        dealt.append(shuffled(chosen, rng))
    return dealt


def _least_used(
    rows: Sequence[StimulusRow],
    count: int,
    uses: Counter[str],
    before: Sequence[StimulusRow],
    rng: np.random.Generator,
) -> list[StimulusRow]:
    """The least used pictures; of these, categories that the session does not have yet."""
    categories = Counter(row.category for row in before)
    tie = dict(zip((row.stimulus for row in rows), rng.random(len(rows)), strict=True))
    chosen: list[StimulusRow] = []
    for _ in range(count):
        free = [row for row in rows if row not in chosen]
        best = min(free, key=lambda row: (uses[row.stimulus], categories[row.category], tie[row.stimulus]))
        chosen.append(best)
        uses[best.stimulus] += 1
        categories[best.category] += 1
    return chosen
