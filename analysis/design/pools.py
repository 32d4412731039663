"""Disjoint pools of originals by role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np

from analysis.design.originals_needed import Demand
from analysis.design.sentinels import too_few
from analysis.errors import DesignRefused
from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace

#: Pools beside the main one are drawn up to twice as large as needed while they stay under this share of all originals.
SHARE_OUTSIDE_MAIN = 0.15


def draw_pools(
    category_of: Mapping[str, str],
    demand: Demand,
    rng: np.random.Generator,
    *,
    gold_candidates: Collection[str] | None = None,
    spare: Collection[str] = (),
    person_families: Mapping[str, Collection[str]] = MappingProxyType({}),
    space: LabelSpace | None = None,
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Deal the originals into pools; what no other pool needs is main.

    Parameters
    ----------
    category_of : mapping
        Category by original.
    demand : Demand
        Already cut to the number of originals.
    rng : numpy.random.Generator
    gold_candidates : collection of str, optional
        Originals that were checked to be easy; golds and negatives come from them alone, drawn at random, and
        qualification pictures as far as they reach. Pictures that enter curves never do: they would be too easy.
    spare : collection of str
        Originals that the main pool has no use for. They are taken first, and pools grow beyond need from them alone.
    person_families : mapping of str to collection of str
        Originals of which there is a sentinel of persons, by pool; each of these pools is as large as the others.
    space : LabelSpace, optional
        Labels of the pictures; by default the product's.

    Returns
    -------
    dict of str to tuple of str, list of str
        Pools by role, each sorted, and notes.

    Raises
    ------
    DesignRefused
        If the pools cannot be filled without emptying a category's main pool.

    Notes
    -----
    Originals are taken from the categories that have most left, and never a category's last one: a set with a single
    knife shows that knife in the main trials.
    """
    space = space or default_labels()
    remaining: dict[str, list[str]] = {}
    for original in rng.permutation(sorted(category_of)):
        remaining.setdefault(category_of[str(original)], []).append(str(original))
    sizes = _sizes(demand, len(category_of))
    pools: dict[str, tuple[str, ...]] = {}
    notes: list[str] = []
    # Golds first: they are the only ones that may be restricted to candidates.
    for role in ("gold", "practice", "qualification", "consistency"):
        allowed = set(gold_candidates) if role == "gold" and gold_candidates is not None else None
        needed, wanted = sizes[role]
        preferred = set(gold_candidates or ()) if role == "qualification" else set()
        least = least_of_groups(space, demand.negative) if role == "gold" else {}
        drawn = _draw(remaining, wanted, allowed, least=least, preferred=preferred, spare=spare, needed=needed)
        if len(drawn) < needed:
            found = f" ({_by_category(category_of, allowed)})" if allowed else ""
            raise DesignRefused(
                f"The {role} pool needs {needed} originals, and only {len(drawn)} "
                + (f"of the gold candidates{found} " if allowed is not None else "")
                + "can be given without emptying a category: add pictures, "
                + ("choose the candidates by other classifiers, " if allowed is not None else "")
                + f"or ask for fewer {role} trials."
            )
        if allowed is not None and demand.gold_originals:
            notes += _on_candidates(category_of, allowed, drawn=len(drawn), wanted=wanted)
        pools[role] = tuple(sorted(drawn))
    persons = _draw_persons(remaining, person_families, sizes["person"])
    pools["main"] = tuple(sorted(original for left in remaining.values() for original in left))
    if demand.gold and gold_candidates is None:
        notes.append(
            "Gold pictures were drawn at random: nobody has checked that they are easy. Let classifiers look at the "
            "pictures (select_gold), or give gold_originals in the study file."
        )
    counts = Counter(category_of[original] for original in pools["main"])
    single = sorted(category for category, count in counts.items() if count == 1)
    if single:
        notes.append(
            f"{', '.join(single)}: one main original each, so these categories come up at most once a session."
        )
    ordered = {role: pools[role] for role in ("practice", "qualification", "gold", "consistency", "main")}
    return ordered | persons, notes


def _draw_persons(
    remaining: dict[str, list[str]], families: Mapping[str, Collection[str]], size: tuple[int, int]
) -> dict[str, tuple[str, ...]]:
    """One pool for each family; the family with the fewest pictures chooses first."""
    drawn: dict[str, tuple[str, ...]] = {}
    for pool in sorted(families, key=lambda name: (len(families[name]), name)):
        needed, wanted = (count // len(families) for count in size)
        found = _draw(remaining, wanted, set(families[pool]))
        if len(found) < needed:
            raise too_few(pool, len(found), needed)
        drawn[pool] = tuple(sorted(found))
    return dict(sorted(drawn.items()))


def _by_category(category_of: Mapping[str, str], originals: Collection[str]) -> str:
    counts = Counter(category_of[original] for original in originals)
    return ", ".join(f"{category} {counts[category]}" for category in sorted(set(category_of.values())))


def _on_candidates(
    category_of: Mapping[str, str], candidates: Collection[str], *, drawn: int, wanted: int
) -> list[str]:
    """What the choice of golds costs: categories without any, and a pool smaller than it would be."""
    notes = []
    without = sorted(set(category_of.values()) - {category_of[original] for original in candidates})
    if without:
        notes.append(f"No picture of {', '.join(without)} is a gold candidate, so golds never show these categories.")
    if drawn < wanted:
        notes.append(
            f"The gold pool holds {drawn} originals instead of {wanted}, for there are no more candidates "
            f"({_by_category(category_of, candidates)})."
        )
    return notes


def _sizes(demand: Demand, originals: int) -> dict[str, tuple[int, int]]:
    """(needed, wanted) by role."""
    needed = {
        "practice": demand.practice_originals,
        "qualification": demand.qualification_originals,
        "gold": demand.gold_originals,
        "consistency": demand.consistency_originals,
        "person": demand.person_originals,
    }
    spare = max(0, min(int(SHARE_OUTSIDE_MAIN * originals), originals - demand.main_originals) - sum(needed.values()))
    # Larger pools mean that people who compare notes have seen other sentinels, and that a bad gold can be withdrawn.
    extra_gold = min(spare, needed["gold"])
    extra_consistency = min(spare - extra_gold, 3 * needed["consistency"])
    extra_person = min(spare - extra_gold - extra_consistency, needed["person"])
    extra = {"gold": extra_gold, "consistency": extra_consistency, "person": extra_person}
    return {role: (count, count + extra.get(role, 0)) for role, count in needed.items()}


def least_of_groups(space: LabelSpace, negatives: int) -> dict[tuple[str, ...], int]:
    """Golds of each group that negatives need; the largest group, written last, has enough by itself."""
    groups = list(space.groups().values())
    return {ids: negatives // len(groups) for ids in groups[:-1]}


def _draw(
    remaining: dict[str, list[str]],
    count: int,
    allowed: Collection[str] | None,
    *,
    least: Mapping[tuple[str, ...], int] = MappingProxyType({}),
    preferred: Collection[str] = (),
    spare: Collection[str] = (),
    needed: int = 0,
) -> list[str]:
    drawn: list[str] = []
    taken: Counter[str] = Counter()
    while len(drawn) < count:
        open_categories = [
            category
            for category, left in remaining.items()
            if (len(left) > 1 or (left and left[0] in spare))
            and (allowed is None or any(original in allowed for original in left))
        ]
        if spare:
            with_spare = [
                category
                for category in open_categories
                if any(o in spare and (allowed is None or o in allowed) for o in remaining[category])
            ]
            if len(drawn) >= needed and not with_spare:
                break
            open_categories = with_spare or open_categories
        # Negatives take the groups in turn, so the first picks see to it that there are enough of each.
        lacking = next((of for of, count in least.items() if sum(taken[one] for one in of) < count), None)
        if lacking is not None:
            open_categories = [one for one in open_categories if one in lacking] or open_categories
        if not open_categories:
            break
        # Ties go to the first, and the order of the categories is random.
        category = max(open_categories, key=lambda c: len(remaining[c]) / (1 + 2 * taken[c]))
        left = remaining[category]
        usable = [o for o in reversed(left) if allowed is None or o in allowed]
        usable = [o for o in usable if o in spare] or usable
        original = next((o for o in usable if o in preferred), usable[0])
        left.remove(original)
        drawn.append(original)
        taken[category] += 1
    return drawn
