"""From originals and stimuli to a whole study plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from analysis.design.allocation import Ledger, deal_clean, deal_corrupted
from analysis.design.catalogue import Catalogue, StimulusRow
from analysis.design.config import DesignConfig
from analysis.design.demand import Demand, demand_of
from analysis.design.ordering import Entry, choice, equal_blocks, spread, spread_blocked
from analysis.design.pairs import PLAIN_VISUAL_CHANGE, Pair, PairDealer, plain_pairs
from analysis.design.plan import BlockKind, PlannedTrial, SessionPlan, StudyPlan
from analysis.design.pools import draw_pools
from analysis.design.sentinels import Rota, deal_consistency
from analysis.design.summary import notes_on, summarise
from analysis.errors import DesignRefused

#: Domains of the random streams, so that a change in one part leaves the others as they were.
_POOLS, _MAIN, _SENTINELS, _ORDER, _MASKS = range(5)


def plan_study(
    originals: Mapping[str, str],
    stimuli: Iterable[Mapping[str, Any]],
    config: DesignConfig,
    seed: int,
    *,
    gold_candidates: Collection[str] | None = None,
) -> StudyPlan:
    """Plan every session of a study.

    Parameters
    ----------
    originals : mapping
        Category by original.
    stimuli : iterable of mappings
        Rows with the columns stimulus, original, category, corruption, visual_change; one clean stimulus an original.
    config : DesignConfig
    seed : int
        Same arguments, same plan.
    gold_candidates : collection of str, optional
        Originals that were checked to be easy.

    Returns
    -------
    StudyPlan
        Shorter or with fewer sessions than asked where pictures are few; its notes say so.

    Raises
    ------
    DesignRefused
        Saying what is missing.

    Notes
    -----
    Within a session no original comes up twice, except second showings of consistency pictures and identical plain
    pairs. Over the study a corrupted main stimulus is answered by `answers_per_stimulus` people, by default one: one
    answer a picture buys more information than repeats (Δv varies between pictures far more than answers to one).
    """
    catalogue = Catalogue.from_rows(originals, stimuli)
    corruptions = catalogue.corruptions
    if not corruptions:
        raise DesignRefused("The stimulus set holds clean pictures only: generate corrupted stimuli first.")
    _check_names(config, catalogue, gold_candidates)
    demand, notes = demand_of(config, originals=len(catalogue.category_of))
    pools, more = draw_pools(catalogue.category_of, demand, _stream(seed, _POOLS), gold_candidates=gold_candidates)
    notes += more
    demand, sessions, more = _fit_to_stimuli(config, demand, catalogue, pools["main"])
    notes += more
    demand, main, clean, pairs = _deal_main(config, demand, catalogue, pools["main"], sessions, seed, notes)
    plans = _compose(config, demand, catalogue, pools, main, clean, pairs, seed)
    plan = StudyPlan(config=config, seed=seed, pools=pools, sessions=plans, notes=(), summary={})
    summary = summarise(plan, catalogue)
    notes += notes_on(summary, config, demand)
    return dataclasses.replace(plan, notes=tuple(notes), summary=summary)


def _stream(seed: int, *domain: int) -> np.random.Generator:
    return np.random.default_rng([seed % 2**63, *domain])


def _check_names(config: DesignConfig, catalogue: Catalogue, gold_candidates: Collection[str] | None) -> None:
    unknown = sorted(set(gold_candidates or ()) - set(catalogue.category_of))
    if unknown:
        raise DesignRefused(f"The gold original {unknown[0]!r} is not in the picture set: correct or remove it.")
    for pair in config.discrimination.pairs if config.discrimination else ():
        for corruption in pair:
            if corruption not in catalogue.corruptions:
                raise DesignRefused(
                    f"discrimination.pairs names {corruption!r}, but the stimuli have only: "
                    f"{', '.join(catalogue.corruptions)}."
                )
    if config.discrimination and len(catalogue.corruptions) < 2:
        raise DesignRefused("A discrimination block needs stimuli of at least two corruptions.")


def _fit_to_stimuli(
    config: DesignConfig, demand: Demand, catalogue: Catalogue, pool: Sequence[str]
) -> tuple[Demand, int, list[str]]:
    """Sessions that the stimuli of the main pool suffice for."""
    available = {corruption: len(rows) for corruption, rows in _by_corruption(catalogue, pool).items()}
    scarcest = min(available, key=lambda corruption: (available[corruption], corruption))
    per_session = demand.main / len(available) / config.answers_per_stimulus + _pair_share(config, demand, catalogue)
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
        more_clean = demand_of(dataclasses.replace(config, sessions=possible), originals=len(catalogue.category_of))[0]
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
    return demand.pairs * share * 1.1  # a tenth stays unmatched at the ends of the range


def _by_corruption(catalogue: Catalogue, pool: Sequence[str]) -> dict[str, list[StimulusRow]]:
    inside = set(pool)
    result: dict[str, list[StimulusRow]] = {corruption: [] for corruption in catalogue.corruptions}
    for row in catalogue.corrupted:
        if row.original in inside:
            result[row.corruption].append(row)
    return result


def _deal_main(
    config: DesignConfig,
    demand: Demand,
    catalogue: Catalogue,
    pool: Sequence[str],
    sessions: int,
    seed: int,
    notes: list[str],
) -> tuple[Demand, list[list[StimulusRow]], list[list[StimulusRow]], list[list[Pair]]]:
    """Deal the main pool; where the constraints leave no way, with fewer trials a session, then with fewer sessions."""
    asked, attempt = (demand, sessions), 0
    while True:
        rng = _stream(seed, _MAIN, attempt)
        ledger = Ledger(originals=tuple(pool), category_of=catalogue.category_of, sessions=sessions)
        dealt = _attempt(config, demand, catalogue, ledger, rng)
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
                f"{len(pool)} main originals with {sum(map(len, _by_corruption(catalogue, pool).values()))} stimuli do "
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
    return demand, *dealt


def _attempt(
    config: DesignConfig, demand: Demand, catalogue: Catalogue, ledger: Ledger, rng: np.random.Generator
) -> tuple[list[list[StimulusRow]], list[list[StimulusRow]], list[list[Pair]]] | None:
    stimuli = _by_corruption(catalogue, ledger.originals)
    pairs: list[list[Pair]] = [[] for _ in range(ledger.sessions)]
    if demand.pairs and config.discrimination:
        dealer = PairDealer(stimuli, config.discrimination.pairs, rng)
        for session in range(ledger.sessions):
            dealt = dealer.deal(ledger, session, demand.pairs)
            if dealt is None:
                return None
            pairs[session] = dealt
        stimuli = {c: [row for row in rows if row.stimulus not in ledger.spent] for c, rows in stimuli.items()}
    if not demand.main:
        return [[] for _ in pairs], [[] for _ in pairs], pairs
    main = deal_corrupted(ledger, stimuli, demand.main, config.answers_per_stimulus, rng)
    if main is None:
        return None
    return main, deal_clean(ledger, catalogue.clean, demand.clean, config.clean_per_original, rng), pairs


def _compose(
    config: DesignConfig,
    demand: Demand,
    catalogue: Catalogue,
    pools: Mapping[str, tuple[str, ...]],
    main: list[list[StimulusRow]],
    clean: list[list[StimulusRow]],
    pairs: list[list[Pair]],
    seed: int,
) -> tuple[SessionPlan, ...]:
    rng = _stream(seed, _SENTINELS)
    category_of = catalogue.category_of
    rotas = {role: Rota(pool=pools[role], category_of=category_of, rng=rng) for role in pools if role != "main"}
    repeated = deal_consistency(
        pools["consistency"],
        category_of,
        catalogue.clean,
        [row for row in catalogue.corrupted if row.visual_change <= config.light_visual_change],
        sessions=len(main),
        pairs=demand.consistency,
        answers_per_stimulus=config.answers_per_stimulus,
        rng=rng,
    )
    strong: dict[str, list[StimulusRow]] = {}
    for row in catalogue.corrupted:
        if row.visual_change >= PLAIN_VISUAL_CHANGE:
            strong.setdefault(row.original, []).append(row)
    plans = []
    for slot in range(len(main)):
        order = _stream(seed, _ORDER, slot)
        stretches: list[tuple[BlockKind, list[Entry]]] = []
        practice = rotas["practice"].pick(demand.practice, without=set())
        if practice:
            stretches.append(("practice", [choice("practice", catalogue.clean[o]) for o in practice]))
        qualification = rotas["qualification"].pick(demand.qualification, without=set())
        if qualification:
            entries = [choice("qualification", catalogue.clean[o]) for o in qualification]
            stretches.append(("qualification", _shuffled(entries, order)))
        easy = rotas["gold"]
        negative = easy.pick_alternating(demand.negative, without=set())
        gold = easy.pick(demand.gold, without=set(negative))
        plain = easy.pick(2 * demand.plain_pairs, without={*negative, *gold})
        if demand.main:
            groups = [
                [choice("clean", row) for row in clean[slot]],
                [choice("gold", catalogue.clean[o]) for o in gold],
                [choice("negative", catalogue.clean[o]) for o in negative],
            ]
            stretches += _main_blocks(config, main[slot], groups, repeated[slot], order)
        if demand.pairs:
            warm_up = rotas["practice"].pick(2 * demand.practice_pairs, without=set(practice))
            stretches.append(
                ("practice", _pair_entries(plain_pairs(warm_up, catalogue.clean, strong, order), "practice"))
            )
            sentinels = _pair_entries(plain_pairs(plain, catalogue.clean, strong, order), "negative")
            same = _pair_entries([pair for pair in pairs[slot] if pair.correct == "same"], "main")
            different = _pair_entries([pair for pair in pairs[slot] if pair.correct == "different"], "main")
            sequence = spread([same, different, sentinels], [], order)
            stretches += _cut("main", sequence, equal_blocks(len(sequence), config.block_trials))
        plans.append(_number(slot, stretches, _stream(seed, _MASKS, slot)))
    return tuple(plans)


def _main_blocks(
    config: DesignConfig,
    main: Sequence[StimulusRow],
    groups: list[list[Entry]],
    repeated: Sequence[StimulusRow],
    order: np.random.Generator,
) -> list[tuple[BlockKind, list[Entry]]]:
    by_corruption: dict[str, list[Entry]] = {}
    for row in main:
        by_corruption.setdefault(row.corruption, []).append(choice("main", row))
    corruptions = [by_corruption[name] for name in sorted(by_corruption)]
    if config.corruption_order == "blocked":
        sequence, lengths = spread_blocked(corruptions, groups, repeated, order)
    else:
        sequence = spread([*corruptions, *groups], repeated, order)
        lengths = equal_blocks(len(sequence), config.block_trials)
    return _cut("main", sequence, lengths)


def _pair_entries(pairs: Iterable[Pair], role: str) -> list[Entry]:
    return [Entry("discrimination", role, pair.first, pair.second, pair.correct) for pair in pairs]


def _shuffled(entries: Sequence[Entry], rng: np.random.Generator) -> list[Entry]:
    return [entries[int(k)] for k in rng.permutation(len(entries))]


def _cut(kind: BlockKind, sequence: Sequence[Entry], lengths: Sequence[int]) -> list[tuple[BlockKind, list[Entry]]]:
    stretches, start = [], 0
    for length in lengths:
        stretches.append((kind, list(sequence[start : start + length])))
        start += length
    return stretches


def _number(
    slot: int, stretches: Sequence[tuple[BlockKind, Sequence[Entry]]], masks: np.random.Generator
) -> SessionPlan:
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
                )
            )
    return SessionPlan(slot=slot, trials=tuple(trials))
