"""From originals and stimuli to a whole study plan, and whether so many originals suffice for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from analysis.design.catalogue import Catalogue, StimulusRow
from analysis.design.main_pool import (
    Dealt,
    by_corruption,
    choose_common,
    common_count,
    deal_main,
    fit_to_stimuli,
    stream,
)
from analysis.design.options import check_options, has_own_options, notes_on_options, with_options
from analysis.design.ordering import (
    Entry,
    Stretch,
    choice,
    cut,
    equal_blocks,
    insert_inside,
    numbered,
    shuffled,
    spread,
    spread_blocked,
)
from analysis.design.originals_needed import Demand, demand_of, fewer_comparisons
from analysis.design.pairs import Pair, PlainDealer, plain_functions, plain_stimuli
from analysis.design.plan import SessionPlan, StudyPlan, dealt_to
from analysis.design.pools import draw_pools
from analysis.design.sentinels import (
    Rota,
    brought_pools,
    deal_consistency,
    deal_persons,
    families_asked,
    needed_of_family,
    originals_of_set,
    pool_of_family,
)
from analysis.design.summary import notes_on, summarise
from analysis.design.validation import plan_validation, validation_demand
from analysis.errors import DesignRefused
from analysis.labels.space import LabelSpace
from analysis.study.design import DesignConfig, DiscriminationDesign
from analysis.study.persons import PERSON


@dataclass(frozen=True, kw_only=True)
class Sufficiency:
    """Whether a set of pictures is enough for a design, and what would work where it is not.

    Attributes
    ----------
    demand : Demand or None
        Of one participant's sessions, after cuts; None where no session fits.
    cuts : tuple of str
        One sentence for everything that the planner would cut.
    refusal : str
        Why no session fits; empty where one does.
    smaller_comparisons : int
        Where a session of comparisons does not fit: the largest even number of comparisons that does, 0 if none.
    """

    demand: Demand | None
    cuts: tuple[str, ...] = ()
    refusal: str = ""
    smaller_comparisons: int = 0

    @property
    def is_enough(self) -> bool:
        """Whether the design fits as it is."""
        return self.demand is not None and not self.cuts


def sufficiency_of(config: DesignConfig, *, originals: int) -> Sufficiency:
    """Decide whether ``originals`` pictures suffice for a design.

    Parameters
    ----------
    config : DesignConfig
    originals : int
        At least 0.
    """
    try:
        if config.validation is not None:
            packets = max(1, config.sessions // config.validation.answers_per_picture)
            return Sufficiency(
                demand=validation_demand(config, config.validation, originals=originals, packets=packets)
            )
        demand, said = demand_of(config, originals=originals)
    except DesignRefused as error:
        fewer = fewer_comparisons(config, originals=originals)
        return Sufficiency(demand=None, refusal=str(error), smaller_comparisons=fewer)
    return Sufficiency(demand=demand, cuts=tuple(said))


#: Domains of the random streams, so that a change in one part leaves the others as they were.
_POOLS, _MAIN, _SENTINELS, _ORDER, _MASKS, _COMMON, _PERSONS, _PERSON_PLACES, _OPTIONS = range(9)


def plan_study(
    originals: Mapping[str, str],
    stimuli: Iterable[Mapping[str, Any]],
    config: DesignConfig,
    seed: int,
    *,
    gold_candidates: Collection[str] | None = None,
    plain: Collection[str] = (),
    person_families: Collection[str] = (),
    space: LabelSpace | None = None,
) -> StudyPlan:
    """Plan every session of a study.

    Parameters
    ----------
    originals : mapping
        Category by original.
    stimuli : iterable of mappings
        Rows with the columns stimulus, original, category, corruption, visual_change; one clean stimulus an original.
        Where trials have options of their own, also accepted and competing (`Catalogue.from_rows`).
    config : DesignConfig
    seed : int
        Same arguments, same plan.
    gold_candidates : collection of str, optional
        Originals that were checked to be easy.
    plain : collection of str
        Functions whose stimuli are held for practice and plain comparisons, and stand in no other trial.
    person_families : collection of str
        Families of sentinels of persons among the stimuli; they stand in no other trial.
    space : LabelSpace, optional
        Labels of the pictures; by default the product's.

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
    Within a session no original comes up twice, except second showings of consistency pictures. Over the study a
    corrupted main stimulus is answered by `answers_per_stimulus` people, by default one: one answer a picture buys more
    information than repeats (Δv varies between pictures far more than answers to one). The stimuli of the `overlap` are
    answered by everybody.
    """
    catalogue = Catalogue.from_rows(originals, stimuli, plain=plain, person_families=person_families, space=space)
    config, said = _without_groups(config, catalogue.space)
    check_options(config, catalogue)
    corruptions = catalogue.corruptions
    _check_names(config, catalogue, gold_candidates)
    if config.validation is not None:
        return plan_validation(catalogue, config, config.validation, seed, gold_candidates=gold_candidates)
    if not corruptions:
        raise DesignRefused("The stimulus set holds clean pictures only: generate corrupted stimuli first.")
    families = families_asked(config, catalogue)
    of_set, each = originals_of_set(families, catalogue), needed_of_family(config, len(families))
    demand, notes = demand_of(config, originals=len(catalogue.category_of), person_originals=each * len(of_set))
    pools, more = draw_pools(
        catalogue.category_of,
        demand,
        stream(seed, _POOLS),
        gold_candidates=gold_candidates,
        person_families={pool_of_family(family): held for family, held in of_set.items()},
        space=catalogue.space,
    )
    pools |= brought_pools(families, catalogue, each)
    notes += [*said, *notes_on_options(config, catalogue.space), *more]
    common_for = partial(_common, config, catalogue, pools["main"], seed)
    demand, sessions, more = fit_to_stimuli(config, demand, catalogue, pools["main"], common_for(demand.main))
    notes += more
    streams = partial(stream, seed, _MAIN)
    dealt = deal_main(config, demand, catalogue, pools["main"], sessions, streams, common_for)
    notes += dealt.notes
    persons = deal_persons(
        families, pools, sessions=len(dealt.main), per_session=config.person_trials, rng=stream(seed, _PERSONS)
    )
    plans = _compose(config, dealt, persons, catalogue, pools, seed)
    plans = with_options(plans, config, catalogue, stream(seed, _OPTIONS))
    plan = StudyPlan(config=config, seed=seed, pools=pools, sessions=plans, notes=(), summary={})
    summary = summarise(plan, catalogue)
    notes += notes_on(summary, config, dealt.demand)
    return dataclasses.replace(plan, notes=tuple(notes), summary=summary)


def _common(config: DesignConfig, catalogue: Catalogue, pool: Sequence[str], seed: int, main: int) -> list[StimulusRow]:
    """The stimuli that everybody sees among `main` trials a session."""
    count = common_count(config.overlap, main)
    chosen = choose_common(by_corruption(catalogue, pool), count, stream(seed, _COMMON))
    if chosen is None:
        raise DesignRefused(
            f"The main pictures have not {count} originals with stimuli that everybody could see: ask for a smaller "
            "overlap, or generate more stimuli.",
            place="design.overlap",
        )
    return chosen


def _check_names(config: DesignConfig, catalogue: Catalogue, gold_candidates: Collection[str] | None) -> None:
    unknown = sorted(set(gold_candidates or ()) - set(catalogue.category_of))
    if unknown:
        raise DesignRefused(
            f"The gold original {unknown[0]!r} is not in the picture set: correct or remove it.", place="gold_originals"
        )
    for pair in config.discrimination.pairs if config.discrimination else ():
        for corruption in pair:
            if corruption not in catalogue.corruptions:
                raise DesignRefused(
                    f"discrimination.pairs names {corruption!r}, but the stimuli have only: "
                    f"{', '.join(catalogue.corruptions)}.",
                    place="design.discrimination.pairs",
                )
    if config.discrimination and len(catalogue.corruptions) < 2:
        raise DesignRefused("A discrimination block needs stimuli of at least two corruptions.")


def _without_groups(config: DesignConfig, space: LabelSpace) -> tuple[DesignConfig, list[str]]:
    """Where no answer comes from another group, or few trials offer one: no negative sentinels, and a note."""
    if config.validation is not None:
        return config, []
    if space.groups():
        if not has_own_options(config, space) or config.foils == "other-group" or config.negative_trials is not None:
            return config, []
        note = f"No negative sentinels: few trials with {config.alternatives} alternatives offer another group."
        return config.but(negative_trials=0), [note]
    if config.negative_trials:
        raise DesignRefused(
            f"The labels {space.name} have no groups, so that no answer comes from another group: set "
            "design.negative_trials to 0, or give the labels a partition and name it in `negatives`.",
            place="design.negative_trials",
        )
    return config.but(negative_trials=0), [f"No negative sentinels: the labels {space.name} have no groups."]


def _compose(
    config: DesignConfig,
    dealt: Dealt,
    persons: Sequence[Sequence[StimulusRow]],
    catalogue: Catalogue,
    pools: Mapping[str, tuple[str, ...]],
    seed: int,
) -> tuple[SessionPlan, ...]:
    demand, main, clean, pairs = dealt.demand, dealt.main, dealt.clean, dealt.pairs
    rng = stream(seed, _SENTINELS)
    category_of = catalogue.category_of
    rotas = {
        role: Rota(pool=pools[role], category_of=category_of, rng=rng, space=catalogue.space)
        for role in ("practice", "qualification", "gold")
    }
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
    block = config.discrimination if demand.pairs else None
    dealers = _plain_dealers(block, demand, catalogue, pools, rng) if block else {}
    plans = []
    for slot in range(len(main)):
        order = stream(seed, _ORDER, slot)
        stretches: list[Stretch] = []
        practice = rotas["practice"].pick(demand.practice, without=set())
        stretches += dealt_to(demand.practice_parts, [choice("practice", catalogue.clean[o]) for o in practice])
        qualifying: set[str] = set()
        for _ in range(demand.qualification_tries if demand.qualification else 0):
            fresh = rotas["qualification"].pick(demand.qualification, without=qualifying)
            qualifying |= set(fresh)
            entries = [choice("qualification", catalogue.clean[o]) for o in fresh]
            stretches.append(("qualification", shuffled(entries, order)))
        easy = rotas["gold"]
        negative = easy.pick_alternating(demand.negative, without=set())
        gold = easy.pick(demand.gold, without=set(negative))
        if demand.main:
            groups = [
                [choice("clean", row) for row in clean[slot]],
                [choice("gold", catalogue.clean[o]) for o in gold],
                [choice("negative", catalogue.clean[o]) for o in negative],
            ]
            asked = [choice(PERSON, row) for row in persons[slot]]
            places = stream(seed, _PERSON_PLACES, slot)
            stretches += _main_blocks(config, main[slot], groups, repeated[slot], asked, order, places)
        if block is not None:
            warm_up = _plain(dealers, "practice", demand.practice_pairs, practice)
            parts = dealt_to(demand.practice_pair_parts, _pair_entries(warm_up, "practice", block.task))
            stretches += [(kind, shuffled(entries, order)) for kind, entries in parts]
            plain = _plain(dealers, "gold", demand.plain_pairs, {*negative, *gold})
            sentinels = _pair_entries(plain, "negative", block.task)
            answers = sorted({pair.correct for pair in pairs[slot]}, reverse=True)
            groups = [
                _pair_entries([pair for pair in pairs[slot] if pair.correct == answer], "main", block.task)
                for answer in answers
            ]
            sequence = spread([*groups, sentinels], [], order)
            stretches += cut("main", sequence, equal_blocks(len(sequence), config.block_trials))
        plans.append(numbered(slot, stretches, stream(seed, _MASKS, slot)))
    return tuple(plans)


def _plain_dealers(
    block: DiscriminationDesign,
    demand: Demand,
    catalogue: Catalogue,
    pools: Mapping[str, tuple[str, ...]],
    rng: np.random.Generator,
) -> dict[str, PlainDealer]:
    """One for practice and one for plain pairs; none where neither is asked for."""
    if not demand.practice_pairs + demand.plain_pairs:
        return {}
    functions = plain_functions(catalogue, block)
    rows = plain_stimuli(catalogue, functions)
    return {
        role: PlainDealer(functions=functions, stimuli=rows, pool=pools[role], role=role, form=block.form, rng=rng)
        for role in ("practice", "gold")
    }


def _plain(dealers: Mapping[str, PlainDealer], role: str, count: int, shown: Collection[str]) -> list[Pair]:
    return dealers[role].deal(count, without=shown) if count else []


def _main_blocks(
    config: DesignConfig,
    main: Sequence[StimulusRow],
    groups: list[list[Entry]],
    repeated: Sequence[StimulusRow],
    persons: Sequence[Entry],
    order: np.random.Generator,
    places: np.random.Generator,
) -> list[Stretch]:
    by_corruption: dict[str, list[Entry]] = {}
    for row in main:
        by_corruption.setdefault(row.corruption, []).append(choice("main", row))
    corruptions = [by_corruption[name] for name in sorted(by_corruption)]
    if config.corruption_order == "blocked":
        sequence, lengths = spread_blocked(corruptions, groups, repeated, order)
        sequence, gaps = insert_inside(sequence, persons, places)
        ends = np.cumsum(lengths)
        for gap in gaps:
            lengths[int(np.searchsorted(ends, gap, side="right"))] += 1
    else:
        sequence, _ = insert_inside(spread([*corruptions, *groups], repeated, order), persons, places)
        lengths = equal_blocks(len(sequence), config.block_trials)
    return cut("main", sequence, lengths)


def _pair_entries(pairs: Iterable[Pair], role: str, task: str) -> list[Entry]:
    return [Entry(task, role, pair.first, pair.second, pair.correct, third=pair.third) for pair in pairs]
