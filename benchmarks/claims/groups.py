"""Are kinds of networks, families of functions, or orders of networks said to differ where they do not?

    python -m benchmarks.claims.groups [--runs 0] [--cell TEXT] [--kept FILE] [--write]

Kinds: two or three of one to four networks each, whose means are equal although single networks differ, or of which one
is better. Families: two of two functions, on which networks are as far behind people, or further on one. What is hard
for one network is hard for others, or not. Orders: two networks that are equal at the levels, over visual change, or at
both; only where both differ is the order reversed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.arrays import FloatArray
from analysis.claims.groups import DIFFER, MEANS, REVERSED
from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.groups import Groups, group_means
from analysis.differences.reversals import ahead
from benchmarks.claims._cells import Cell, Limit, Outcome, run
from benchmarks.claims._studies import answered

#: Joint draws of a run: fewer than the product's, which costs a little and saves most of the time.
DRAWS = 500
#: Runs of a cell of groups: a study of several networks and functions takes long.
RUNS = 150
#: Half the range by which people, and pictures of an original, are better or worse than others.
PERSON, ORIGINAL = 0.10, 0.15


@dataclass(frozen=True)
class Size:
    """People, and answers of each on a function; as many originals as answers of all, each shown once a function."""

    people: int
    each: int


SMALL, FEW = Size(40, 12), Size(12, 40)


def truth(v: FloatArray) -> FloatArray:
    """Right answers of people over visual change, on average over people and originals."""
    return 0.75 - 0.40 * v


def grouped(
    size: Size, kinds: Sequence[Sequence[float]], families: Sequence[Sequence[float]], *, shared: bool = True
) -> Callable[..., Outcome]:
    """Networks by kind, and functions by family: by how much each lowers networks below people.

    Effects of people and originals are added to the share right, so that means are those of `truth` to the last digit.
    """
    networks = [(f"kind {kind}", lower) for kind, own in enumerate(kinds) for lower in own]
    functions = [(f"family {family}", lower) for family, own in enumerate(families) for lower in own]
    by_network, by_function = (float(np.mean([lower for _, lower in own])) for own in (networks, functions))
    truths = {
        **{f"kind {place}": -float(np.mean(own)) - by_function for place, own in enumerate(kinds)},
        **{f"family {place}": -float(np.mean(own)) - by_network for place, own in enumerate(families)},
    }

    def study(rng: np.random.Generator) -> Outcome:
        people, models = simulated(
            rng, size, [lower for _, lower in networks], [lower for _, lower in functions], shared
        )
        found = group_means(
            people,
            models,
            kinds={f"model {place}": kind for place, (kind, _) in enumerate(networks)},
            families={f"corruption {place}": family for place, (family, _) in enumerate(functions)},
            seed=int(rng.integers(1 << 31)),
            draws=DRAWS,
        )
        return _outcome(found, truths)

    return study


def simulated(
    rng: np.random.Generator, size: Size, networks: Sequence[float], functions: Sequence[float], shared: bool
) -> tuple[dict[str, AnswersToOne], dict[str, dict[str, AnswersToOne]]]:
    """Answers of people and of networks to the same pictures; what is hard for people is hard for networks, or not."""
    count = size.people * size.each
    names = np.char.zfill(np.arange(count).astype(str), 4)
    persons = np.char.zfill(np.arange(size.people).astype(str), 3)
    who = np.repeat(np.arange(size.people), size.each)
    person = rng.uniform(-PERSON, PERSON, size.people)
    original = rng.uniform(-ORIGINAL, ORIGINAL, count)
    people: dict[str, AnswersToOne] = {}
    models: dict[str, dict[str, AnswersToOne]] = {f"model {place}": {} for place in range(len(networks))}
    for place, more in enumerate(functions):
        corruption, v, of = f"corruption {place}", rng.random(count), rng.permutation(count)
        originals = Clusters(names, of)
        chance = truth(v) + original[of] + person[who]
        people[corruption] = AnswersToOne(v, answered(rng, chance), originals, Clusters(persons, who))
        for own, lower in zip(models.values(), networks, strict=True):
            hard = original[of] if shared else rng.uniform(-ORIGINAL, ORIGINAL, count)
            own[corruption] = AnswersToOne(v, answered(rng, truth(v) + hard - lower - more), originals)
    return people, models


def _outcome(found: Groups, truths: dict[str, float]) -> Outcome:
    covers = [one.interval[0] <= truths[one.group] <= one.interval[1] for one in found.means]
    gaps = [truths[one.pair[0]] - truths[one.pair[1]] for one in found.contrasts]
    false = [one.differ and not gap > 1e-9 for one, gap in zip(found.contrasts, gaps, strict=True)]
    said = [one.differ for one, gap in zip(found.contrasts, gaps, strict=True) if abs(gap) > 1e-9]
    outcome: Outcome = {
        "means cover": float(np.mean(covers)),
        "any false": any(false),
        "width": float(np.mean([one.interval[1] - one.interval[0] for one in found.means])),
    }
    if said:
        outcome["difference is said"] = float(np.mean(said))
    return outcome


def reversed_order(at_levels: float, over_change: float, *, originals: int, each: int) -> Callable[..., Outcome]:
    """Two networks: the first is ahead by this at the levels, and by this over visual change."""

    def study(rng: np.random.Generator) -> Outcome:
        hard = rng.normal(0.0, 0.1, originals)
        p = [_p(rng, at_levels, hard, each, 5), _p(rng, -over_change, hard, each, 20)]
        return {"said": max(p) < 0.05}

    return study


def _p(rng: np.random.Generator, gap: float, hard: FloatArray, each: int, cells: int) -> float:
    original = np.repeat(np.arange(len(hard)), each)
    base = np.clip(0.6 + hard[original], 0.05, 0.95)
    first, second = (rng.random(len(base)) < np.clip(base + sign * gap / 2.0, 0.0, 1.0) for sign in (1.0, -1.0))
    cell = rng.integers(0, cells, len(base))
    return ahead(first.astype(float), second.astype(float), cell, original).p


def cells() -> Iterator[Cell]:
    false, covered = {"any false": Limit(at_most=0.05)}, {"means cover": Limit(at_least=0.93)}
    alike, two = [[0.02, 0.0], [0.01, 0.01]], [[0.0, 0.0], [0.0, 0.0]]
    studies = {
        "kinds alike, families alike, 40 people": grouped(SMALL, alike, two),
        "kinds alike, families alike, 12 people": grouped(FEW, alike, two),
        "kinds alike, hard for each of their own": grouped(SMALL, alike, two, shared=False),
        "three kinds of 1, 2 and 4 networks, alike": grouped(SMALL, [[0.0], [0.0] * 2, [0.0] * 4], two),
        "one kind worse by .05": grouped(SMALL, [[0.0, 0.0], [0.05, 0.05]], two),
        "one family worse by .05": grouped(SMALL, alike, [[0.0, 0.0], [0.05, 0.05]]),
    }
    for name, study in studies.items():
        yield Cell(DIFFER.name, name, study, false, runs=RUNS)
    for name in ("kinds alike, families alike, 40 people", "one kind worse by .05"):
        yield Cell(MEANS.name, f"means: {name}", studies[name], covered, runs=RUNS)
    few = grouped(FEW, alike, two)
    yield Cell(MEANS.name, "means: kinds alike, families alike, 12 people", few, covered, runs=RUNS)
    at_most = {"said": Limit(at_most=0.05)}
    for name, gaps in {"equal at both": (0.0, 0.0), "ahead at levels alone": (0.15, 0.0), "ahead at both": (0.1, 0.1),
                       "behind over change alone": (0.0, -0.15)}.items():  # fmt: skip
        yield Cell(REVERSED.name, f"orders: {name}", reversed_order(*gaps, originals=50, each=4), at_most)
        yield Cell(
            REVERSED.name, f"orders: {name}, 12 originals", reversed_order(*gaps, originals=12, each=20), at_most
        )
    yield Cell(REVERSED.name, "orders: reversed by .15", reversed_order(0.15, -0.15, originals=50, each=4), {})


CELLS = tuple(cells())

if __name__ == "__main__":
    run("groups")
