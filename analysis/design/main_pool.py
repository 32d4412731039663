"""The main pool: how many sessions it suffices for, who sees which of its pictures, and which everybody sees."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.design.allocation import Ledger, deal_clean, deal_corrupted, quotas
from analysis.design.catalogue import Catalogue, StimulusRow
from analysis.design.ordering import shuffled
from analysis.design.originals_needed import Demand, demand_of
from analysis.design.pairs import Pair, PairDealer
from analysis.errors import DesignRefused
from analysis.study.design import DesignConfig


@dataclass(frozen=True, kw_only=True)
class Dealt:
    """The main pool by session, and what had to be cut on the way.

    Parameters
    ----------
    demand : Demand
        With the main trials that could be dealt.
    main, clean : list of list of StimulusRow
        By session.
    pairs : list of list of Pair
        By session.
    notes : list of str
    """

    demand: Demand
    main: list[list[StimulusRow]]
    clean: list[list[StimulusRow]]
    pairs: list[list[Pair]]
    notes: list[str]


def fit_to_stimuli(
    config: DesignConfig, demand: Demand, catalogue: Catalogue, pool: Sequence[str], common: Sequence[StimulusRow]
) -> tuple[Demand, int, list[str]]:
    """Sessions that the stimuli of the main pool suffice for, beside those that everybody sees."""
    held = {row.original for row in common}
    left = [original for original in pool if original not in held]
    available = {corruption: len(rows) for corruption, rows in by_corruption(catalogue, left).items()}
    scarcest = min(available, key=lambda corruption: (available[corruption], corruption))
    own = demand.main - len(common)
    per_session = own / len(available) / config.answers_per_stimulus + _pair_share(config, demand, catalogue)
    possible = int(available[scarcest] / per_session) if per_session else config.sessions
    if possible < 1:
        raise DesignRefused(
            f"The main pictures have {available[scarcest]} stimuli of {scarcest}, and one session needs about "
            f"{int(per_session) + 1}: generate more stimuli."
        )
    if possible >= config.sessions:
        return demand, config.sessions, []
    note = (
        f"{possible} sessions instead of {config.sessions}: the main pictures have {available[scarcest]} stimuli of "
        f"{scarcest}, and every corrupted answer takes a new one. Generate more stimuli for more sessions."
    )
    if config.clean_trials is None and demand.main:
        fewer, originals = config.but(sessions=possible), len(catalogue.category_of)
        more_clean = demand_of(fewer, originals=originals, person_originals=demand.person_originals)[0]
        grown = dataclasses.replace(demand, clean=more_clean.clean)
        if more_clean.main == demand.main and grown.main_originals <= len(pool):
            demand = grown
    return demand, possible, [note]


def _pair_share(config: DesignConfig, demand: Demand, catalogue: Catalogue) -> float:
    """Stimuli that the pairs of one session take from the corruption they take most of."""
    if not config.discrimination:
        return 0.0
    compared = config.discrimination.pairs
    partners = (
        {c: sum(c in pair for pair in compared) / len(compared) for c in catalogue.corruptions} if compared else {}
    )
    share = max(partners.values()) if partners else 2 / len(catalogue.corruptions)
    each = demand.pair_pictures / 2  # a trial takes this many of each of its two corruptions, on average
    return demand.pairs * each * share * 1.1  # a tenth stays unmatched at the ends of the range


def by_corruption(catalogue: Catalogue, pool: Sequence[str]) -> dict[str, list[StimulusRow]]:
    """Corrupted stimuli of these originals."""
    inside = set(pool)
    result: dict[str, list[StimulusRow]] = {corruption: [] for corruption in catalogue.corruptions}
    for row in catalogue.corrupted:
        if row.original in inside:
            result[row.corruption].append(row)
    return result


def deal_main(
    config: DesignConfig,
    demand: Demand,
    catalogue: Catalogue,
    pool: Sequence[str],
    sessions: int,
    stream: Callable[[int], np.random.Generator],
    common_for: Callable[[int], list[StimulusRow]],
) -> Dealt:
    """Deal the main pool; where the constraints leave no way, with fewer trials a session, then with fewer sessions.

    `common_for` gives the stimuli that everybody sees, for a number of main trials.
    """
    asked, attempt = (demand, sessions), 0
    notes: list[str] = []
    while True:
        rng = stream(attempt)
        ledger = Ledger(originals=tuple(pool), category_of=catalogue.category_of, sessions=sessions)
        dealt = _attempt(config, demand, catalogue, ledger, rng, common_for(demand.main))
        if dealt is not None:
            break
        attempt += 1
        if attempt % 3 and demand.main - 1 >= config.minimum_main_trials:
            demand = dataclasses.replace(demand, main=demand.main - max(1, demand.main // 20))
            demand = dataclasses.replace(demand, main=max(demand.main, config.minimum_main_trials))
        elif sessions > 1:
            sessions -= max(1, sessions // 10)
        else:
            raise DesignRefused(
                f"{len(pool)} main originals with {sum(map(len, by_corruption(catalogue, pool).values()))} stimuli do "
                "not fill one session in which no original comes up twice: add pictures or generate more stimuli."
            )
    if demand.main < asked[0].main:
        notes.append(
            f"{demand.main} main trials a session instead of {asked[0].main}: more cannot be dealt without showing "
            "somebody an original twice."
        )
    if sessions < asked[1]:
        notes.append(
            f"{sessions} sessions instead of {asked[1]}: more cannot be dealt without showing somebody an original "
            "twice or a stimulus once more."
        )
    main, clean, pairs = dealt
    return Dealt(demand=demand, main=main, clean=clean, pairs=pairs, notes=notes)


def _attempt(
    config: DesignConfig,
    demand: Demand,
    catalogue: Catalogue,
    ledger: Ledger,
    rng: np.random.Generator,
    common: Sequence[StimulusRow],
) -> tuple[list[list[StimulusRow]], list[list[StimulusRow]], list[list[Pair]]] | None:
    ledger.enter_all(common)
    held = {row.original for row in common}
    stimuli = by_corruption(catalogue, [original for original in ledger.originals if original not in held])
    pairs: list[list[Pair]] = [[] for _ in range(ledger.sessions)]
    if demand.pairs and config.discrimination:
        dealer = PairDealer(stimuli, config.discrimination.pairs, rng, form=config.discrimination.form)
        for session in range(ledger.sessions):
            dealt = dealer.deal(ledger, session, demand.pairs)
            if dealt is None:
                return None
            pairs[session] = dealt
        stimuli = {c: [row for row in rows if row.stimulus not in ledger.spent] for c, rows in stimuli.items()}
    if not demand.main:
        return [[] for _ in pairs], [[] for _ in pairs], pairs
    quota = _own_quotas(ledger.sessions, demand.main, sorted(stimuli), common)
    own = deal_corrupted(ledger, stimuli, quota, config.answers_per_stimulus, rng)
    if own is None:
        return None
    main = [[*common, *rows] for rows in own]
    # As many clean showings as golds, even where an original is then shown clean more often than asked.
    most = max(config.clean_per_original, math.ceil(demand.gold * ledger.sessions / max(1, len(ledger.originals))) + 1)
    return main, deal_clean(ledger, catalogue.clean, demand.clean, most, rng), pairs


def _own_quotas(
    sessions: int, main: int, corruptions: Sequence[str], common: Sequence[StimulusRow]
) -> NDArray[np.int64]:
    """Trials of every corruption beside the common ones, so that all together are as equal as can be."""
    shared = np.array([sum(row.corruption == name for row in common) for name in corruptions], dtype=np.int64)
    own = quotas(sessions, main, len(corruptions)) - shared
    return quotas(sessions, main - len(common), len(corruptions)) if (own < 0).any() else own


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
