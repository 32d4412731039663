"""Which pictures are judged together: packets that share no original, so that one person may do any of them.

The plan of a validation study: does the picture show its category, and could it be used as one?

Pictures are dealt to packets, and every packet is one session of as many people as a picture needs answers, as one HIT
with ten assignments was in ImageNet-D: every planned count is exact, and who has done one packet may do any other.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from analysis.corruptions.registry import NO_CORRUPTION
from analysis.design.catalogue import Catalogue, StimulusRow
from analysis.design.main_pool import stream
from analysis.design.ordering import Entry, Stretch, cut, equal_blocks, far, numbered, shuffled, spread
from analysis.design.originals_needed import Demand
from analysis.design.plan import Part, SessionPlan, StudyPlan
from analysis.design.pools import draw_pools
from analysis.design.sentinels import Rota
from analysis.design.summary import STRATA, summarise
from analysis.errors import DesignRefused
from analysis.labels.space import LabelSpace
from analysis.study.design import DesignConfig
from analysis.study.validation import IS_NONE, IS_ONE, ValidationDesign

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


#: Fewer pictures than this make no session: a second showing would follow its first.
FEWEST_PICTURES = 4
#: Domains of the random streams; apart from those of other plans only in what is drawn from them.
_POOLS, _PICTURES, _SENTINELS, _ORDER, _MASKS = range(5)


def plan_validation(
    catalogue: Catalogue,
    config: DesignConfig,
    design: ValidationDesign,
    seed: int,
    *,
    gold_candidates: Collection[str] | None = None,
) -> StudyPlan:
    """Plan every session of a validation study.

    Parameters
    ----------
    catalogue : Catalogue
    config : DesignConfig
        `sessions` are the most that are planned; as many pictures are judged as they suffice for.
    design : ValidationDesign
    seed : int
        Same arguments, same plan.
    gold_candidates : collection of str, optional
        Originals that were checked to be easy.

    Returns
    -------
    StudyPlan
        Slot n holds packet n modulo the number of packets.

    Raises
    ------
    DesignRefused
        Saying what is missing.

    Notes
    -----
    ImageNet-D, supplement; SCIENCE: positive sentinels are asked about with their own label, negative ones with one
    that they surely lack (`ValidationDesign.absent`), second showings repeat new pictures of the same session. Which:
    light ones, where the session has enough, because an honest person may change a guess.
    """
    _check_absence(design, catalogue.space)
    packets = config.sessions // design.answers_per_picture
    if not packets:
        raise DesignRefused(
            f"{config.sessions} sessions are too few: a picture takes {design.answers_per_picture} answers, and each "
            f"from another person. Ask for at least {design.answers_per_picture} sessions.",
            place="design.sessions",
        )
    demand = validation_demand(config, design, originals=len(catalogue.category_of), packets=packets)
    # Where corrupted pictures alone are judged, originals without one serve practice and sentinels first.
    judged = {row.original for row in catalogue.corrupted}
    spare = set(catalogue.category_of) - judged if design.shown == "corrupted" else set()
    pools, notes = draw_pools(
        catalogue.category_of,
        demand,
        stream(seed, _POOLS),
        gold_candidates=gold_candidates,
        spare=spare,
        space=catalogue.space,
    )
    rng = stream(seed, _PICTURES)
    candidates = _candidates(catalogue, pools["main"], design)
    pictures = choose_pictures(candidates, packets * design.new_pictures, packets, rng)
    if len(pictures) < FEWEST_PICTURES:
        raise DesignRefused(
            f"{len(pictures)} pictures are left to judge beside practice and sentinels, fewer than {FEWEST_PICTURES}: "
            "add pictures."
        )
    dealt = deal_packets(pictures, design.new_pictures, rng)
    sessions = _compose(config, design, dealt, catalogue, pools, seed)
    notes += _notes(config, design, demand, dealt, catalogue.space, candidates=len(candidates))
    plan = StudyPlan(config=config, seed=seed, pools=pools, sessions=sessions, notes=tuple(notes), summary={})
    return dataclasses.replace(plan, summary=_summary(plan, catalogue, design, dealt))


def validation_demand(config: DesignConfig, design: ValidationDesign, *, originals: int, packets: int) -> Demand:
    """What the pools are drawn for: as many sessions a person as the pictures suffice for, at least one.

    Raises
    ------
    DesignRefused
        If the originals do not suffice for one session.
    """

    def demand_for(sessions: int) -> Demand:
        return Demand(
            practice_parts=(Part("practice", design.practice),),
            qualification=0,
            gold=design.positive,
            negative=design.negative,
            consistency=0,
            main=design.new_pictures,
            clean=0,
            pairs=0,
            plain_pairs=0,
            practice_pair_parts=(),
            sessions_per_participant=sessions,
        )

    for sessions in range(min(config.sessions_per_participant, packets), 1, -1):
        demand = demand_for(sessions)
        if demand.outside_main + sessions * design.new_pictures <= originals:
            return demand
    demand = demand_for(1)
    if demand.outside_main + FEWEST_PICTURES > originals:
        raise DesignRefused(
            f"{originals} originals are too few: the smallest session takes {demand.outside_main + FEWEST_PICTURES} "
            f"({demand.practice_originals} practice, {demand.gold_originals} sentinels, {FEWEST_PICTURES} new). "
            f"Add at least {demand.outside_main + FEWEST_PICTURES - originals} pictures."
        )
    return demand


def _candidates(catalogue: Catalogue, pool: Sequence[str], design: ValidationDesign) -> list[StimulusRow]:
    inside = set(pool)
    clean = [] if design.shown == "corrupted" else [catalogue.clean[original] for original in pool]
    corrupted = [] if design.shown == "clean" else [row for row in catalogue.corrupted if row.original in inside]
    return clean + corrupted


class _WantedRota:
    """Labels that a picture surely lacks, in turn; each is wanted equally often.

    Those of the other groups, or all others where the study states so, but never one that the picture shows as well.
    """

    def __init__(
        self, categories: Collection[str], catalogue: Catalogue, design: ValidationDesign, rng: np.random.Generator
    ) -> None:
        self.categories, self.catalogue, self.design = sorted(categories), catalogue, design
        self.rng = rng
        self.uses: Counter[str] = Counter()

    def lacking_in(self, row: StimulusRow) -> str:
        space = self.catalogue.space
        absent = space.ids if self.design.absent == "other-labels" else space.of_other_groups(row.category)
        of = self.catalogue
        shown = {row.category, *of.right_for(row.original), of.competing_of.get(row.original, "")} - {""}
        foreign = [name for name in absent if name not in shown]
        if not foreign:
            raise DesignRefused(
                f"The picture {row.original} shows {', '.join(sorted(shown))}, so none of the labels is surely absent "
                "from it, and it cannot be negative: name pictures of one label each in gold_originals, or set "
                "negative = 0 and practice = 1 in [design.validation].",
                place="design.validation.negative",
            )
        # Of the labels that the study asks for anyway: one that comes up in sentinels alone would tell of them.
        others = [name for name in self.categories if name in foreign] or foreign
        tie = dict(zip(others, self.rng.random(len(others)), strict=True))
        wanted = min(others, key=lambda name: (self.uses[name], tie[name]))
        self.uses[wanted] += 1
        return wanted


def _check_absence(design: ValidationDesign, space: LabelSpace) -> None:
    """Refuse to ask for labels of which nobody has said that a picture lacks them."""
    if design.asks_for_absent and design.absent == "other-groups" and not space.groups():
        raise DesignRefused(
            f"The labels {space.name} have no groups, so nothing says which of them a picture surely lacks. If a clean "
            'picture of one label never shows another, state absent = "other-labels" in [design.validation]; else mark '
            "groups in the labels (`negatives`), or set negative = 0 and practice = 1.",
            place="design.validation.absent",
        )


def _compose(
    config: DesignConfig,
    design: ValidationDesign,
    packets: Sequence[Sequence[StimulusRow]],
    catalogue: Catalogue,
    pools: Mapping[str, tuple[str, ...]],
    seed: int,
) -> tuple[SessionPlan, ...]:
    rng = stream(seed, _SENTINELS)
    practice, easy = (
        Rota(pool=pools[role], category_of=catalogue.category_of, rng=rng, space=catalogue.space)
        for role in ("practice", "gold")
    )
    wanted = _WantedRota({row.category for packet in packets for row in packet}, catalogue, design, rng)

    def lacking(role: str, original: str) -> Entry:
        row = catalogue.clean[original]
        return Entry("validation", role, row, None, IS_NONE, wanted.lacking_in(row))

    def showing(role: str, original: str) -> Entry:
        row = catalogue.clean[original]
        return Entry("validation", role, row, None, IS_ONE, row.category)

    plans = []
    for slot in range(len(packets) * design.answers_per_picture):
        order = stream(seed, _ORDER, slot)
        packet = packets[slot % len(packets)]
        shown = practice.pick(design.practice, without=set())
        # Both answers are practised: every second picture lacks what is wanted.
        warm_up = [(lacking if number % 2 else showing)("practice", original) for number, original in enumerate(shown)]
        positive = easy.pick(design.positive, without=set())
        negative = easy.pick(design.negative, without=set(positive))
        repeated = _repeated(packet, design.second_showings, config.light_visual_change, order)
        once = [_asked("main", row) for row in packet if row not in repeated]
        sentinels = [showing("gold", original) for original in positive]
        sentinels += [lacking("negative", original) for original in negative]
        sequence = spread([once, shuffled(sentinels, order)], repeated, order, entry_of=_asked, distances=far)
        blocks = cut("main", sequence, equal_blocks(len(sequence), config.block_trials))
        stretches: list[Stretch] = [("practice", shuffled(warm_up, order)), *blocks]
        plans.append(numbered(slot, stretches, stream(seed, _MASKS, slot)))
    return tuple(plans)


def _asked(role: str, row: StimulusRow) -> Entry:
    """A picture asked about with its own category; nobody knows the right answer, which is what is measured."""
    return Entry("validation", role, row, None, "", row.category)


def _repeated(packet: Sequence[StimulusRow], count: int, light: float, rng: np.random.Generator) -> list[StimulusRow]:
    """Pictures that come a second time: light ones at random, then the lightest of the others."""
    count = min(count, len(packet) // 2)
    return sorted(shuffled(packet, rng), key=lambda row: max(row.visual_change - light, 0.0))[:count]


def _notes(
    config: DesignConfig,
    design: ValidationDesign,
    demand: Demand,
    packets: Sequence[Sequence[StimulusRow]],
    space: LabelSpace,
    *,
    candidates: int,
) -> list[str]:
    notes = []
    pictures, answers = sum(map(len, packets)), design.answers_per_picture
    if pictures < candidates:
        needed = -(-candidates // design.new_pictures) * answers
        notes.append(
            f"{pictures} of {candidates} pictures are judged: {config.sessions} sessions suffice for no more at "
            f"{answers} answers each. For all of them ask for {needed} sessions."
        )
    sizes = sorted({len(packet) for packet in packets})
    if sizes != [design.new_pictures]:
        notes.append(
            f"{' or '.join(map(str, sizes))} new pictures a session instead of {design.new_pictures}, so that each of "
            f"the {pictures} pictures gets exactly {answers} answers."
        )
    sessions = len(packets) * answers
    if sessions < config.sessions:
        notes.append(
            f"{sessions} sessions instead of {config.sessions}: more would exceed {answers} answers a picture."
        )
    possible = min(demand.sessions_per_participant, len(packets))
    if possible < config.sessions_per_participant:
        notes.append(
            f"One person can do {possible} {'session' if possible == 1 else 'sessions'} instead of "
            f"{config.sessions_per_participant}: nobody sees a picture in two sessions."
        )
    if design.absent == "other-labels" and design.asks_for_absent:
        notes.append(
            "Negative sentinels ask for any other of the labels: the study states that clean, easy pictures of one "
            "label show none of the others."
        )
        return notes
    groups = {space.group(row.category) for packet in packets for row in packet}
    if design.negative and groups and len(groups) == 1 and groups != {""}:
        notes.append(
            f"All pictures are of one group ({', '.join(groups)}), so the negative sentinels ask for categories that "
            "come up nowhere else."
        )
    return notes


def _summary(
    plan: StudyPlan, catalogue: Catalogue, design: ValidationDesign, packets: Sequence[Sequence[StimulusRow]]
) -> dict[str, Any]:
    summary = summarise(plan, catalogue)
    pictures = [row for packet in packets for row in packet]
    clean = sum(row.corruption == NO_CORRUPTION for row in pictures)
    if clean:
        counts = [clean * design.answers_per_picture, *[0] * (STRATA - 1)]
        summary["strata"] = {NO_CORRUPTION: counts, **summary["strata"]}
    summary["strata"] = {name: counts for name, counts in summary["strata"].items() if any(counts)}
    summary["validation"] = {
        "pictures": len(pictures),
        "clean": clean,
        "packets": len(packets),
        "answers_per_picture": design.answers_per_picture,
        "by_category": dict(sorted(Counter(row.category for row in pictures).items())),
    }
    return summary
