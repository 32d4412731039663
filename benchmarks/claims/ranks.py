"""Do the sets of ranks hold the true ranks of all models at once, also where models are tied?

    python -m benchmarks.claims.ranks [--runs 0] [--cell TEXT] [--kept FILE] [--write]

Models answer the same pictures, most of which are hard for all of them alike; an original gives 4 to 20 pictures, whose
answers move together. Tied models have one true curve: each of their sets must hold all of their places, and all sets
together must be right. Where categories count equally, the common ones are easier for every other model, and harder for
those between: without the weights these models would not be tied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.arrays import FloatArray
from analysis.claims.models import RANKS
from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.ranks import rank_sets
from analysis.power.crowd import LogisticDrop, marginal_logit
from benchmarks.claims._cells import Cell, Limit, Outcome, run
from benchmarks.claims._studies import CATEGORIES, CLIFF, SHARP, SMOOTH, Curve, answered, categories_of, ease_of, expit

#: three corruptions, on which models are tied together
TRUTHS = (SMOOTH, SHARP, CLIFF)
#: right in all but about one of fifty answers
EASY = LogisticDrop(0.99, 0.90, 0.9, 0.05)


def tilted(v: FloatArray) -> FloatArray:
    return SMOOTH(v) + 0.06 * np.sin(2.0 * np.pi * v)


@dataclass(frozen=True)
class Pictures:
    """Originals, how many pictures each has on a corruption, and what makes a picture hard, on the logit."""

    originals: int
    each: int
    #: hard for all models alike, by original and by picture
    shared_sd: float = 1.4
    #: hard for one model, by original
    own_sd: float = 0.0
    #: share of the answers in which models differ at all: the others are those of the first model
    differing: float = 1.0
    #: whether some originals have many times as many pictures as others
    unequal: bool = False
    #: between categories, which then count equally; what is easier for one model is harder for the next
    category_sd: float = 0.0

    @property
    def sd(self) -> float:
        return float(np.hypot(np.hypot(self.shared_sd, self.own_sd), self.category_sd))

    def of_original(self, rng: np.random.Generator) -> np.ndarray:
        """The original of each picture of a corruption."""
        count = self.originals * self.each
        if not self.unequal:
            return np.repeat(np.arange(self.originals), self.each)
        weights = np.exp(rng.normal(0.0, 1.0, self.originals))
        return np.concatenate(
            [np.arange(self.originals), rng.choice(self.originals, count - self.originals, p=weights / weights.sum())]
        )


#: Joint draws of a run: fewer than the product's, which costs a little of coverage and saves most of the time.
DRAWS = 500
#: Places of the tables of logits: ten in the width of the sharpest bend.
GRID = np.linspace(0.0, 1.0, 1001)


def logits(pictures: Pictures, models: Sequence[Sequence[Curve]]) -> list[list[FloatArray]]:
    """The logits that give each curve its rates over all pictures, at `GRID`."""
    known = {curve: marginal_logit(curve(GRID), pictures.sd) for curves in models for curve in dict.fromkeys(curves)}
    return [[known[curve] for curve in curves] for curves in models]


def simulated(
    rng: np.random.Generator, pictures: Pictures, models: Sequence[Sequence[FloatArray]]
) -> tuple[dict[str, AnswersToOne], dict[str, dict[str, AnswersToOne]]]:
    """Where people answered, and the answers of models; `models` holds the logits of each by corruption."""
    count = pictures.originals * pictures.each
    names = np.char.zfill(np.arange(pictures.originals).astype(str), 4)
    by_original = rng.normal(0.0, pictures.shared_sd / np.sqrt(2), pictures.originals)
    own = rng.normal(0.0, pictures.own_sd, (len(models), pictures.originals))
    category = categories_of(rng, pictures.originals) if pictures.category_sd else None
    people: dict[str, AnswersToOne] = {}
    answers: dict[str, dict[str, AnswersToOne]] = {f"model {number}": {} for number in range(len(models))}
    for corruption in range(len(models[0])):
        name = f"corruption {corruption}"
        # spread evenly, so that all of the axis is measured
        place = (rng.permutation(count) + rng.random(count)) / count
        of = pictures.of_original(rng)
        effect = by_original[of] + rng.normal(0.0, pictures.shared_sd / np.sqrt(2), count)
        originals = Clusters(names, of)
        categories = None if category is None else Clusters(CATEGORIES, category[of])
        nobody = Clusters(names[:1], np.zeros(count, np.int64))
        people[name] = AnswersToOne(place, np.zeros(count), originals, nobody, categories)
        same: FloatArray | None = None
        for number, (model, levels) in enumerate(zip(answers, models, strict=True)):
            logit = np.interp(place, GRID, levels[corruption]) + effect + own[number, of]
            if category is not None:
                logit += (-1) ** number * ease_of(pictures.category_sd)[category[of]]
            right = answered(rng, expit(logit))
            if same is None:
                same = right
            elif pictures.differing < 1.0:
                right = np.where(rng.random(count) < pictures.differing, right, same)
            answers[model][name] = AnswersToOne(place, right, originals, categories=categories)
    return people, answers


def ranked(pictures: Pictures, models: Sequence[Sequence[Curve]], order: Sequence[float]) -> Callable[..., Outcome]:
    """Rank models whose true means have this order (higher is better, equal is tied)."""
    heights = np.asarray(order)
    best = 1 + (heights[None, :] > heights[:, None]).sum(axis=1)
    worst = len(heights) - (heights[None, :] < heights[:, None]).sum(axis=1)
    top = set(np.flatnonzero(best == 1).tolist())
    levels = logits(pictures, models)

    def study(rng: np.random.Generator) -> Outcome:
        people, answers = simulated(rng, pictures, levels)
        found = list(rank_sets(people, answers, seed=int(rng.integers(1 << 31)), draws=DRAWS).values())
        if not found:  # a category is missing over a part of the axis: no order is said
            return {"ranked": False}
        low, high = np.array(found).T
        outcome = {
            "ranked": True,
            "all sets hold the ranks": bool(np.all((low <= best) & (high >= worst))),
            "no order is said": bool(np.all((low == 1) & (high == len(heights)))),
            "mean width": float((high - low + 1).mean()),
        }
        if len(top) == 1:
            (first,) = top
            outcome["the best one is rank 1"] = bool(high[first] == 1)
        return outcome

    return study


def tied(pictures: Pictures, count: int, truths: Sequence[Curve] = (SMOOTH,)) -> Callable[..., Outcome]:
    return ranked(pictures, [truths] * count, [0.0] * count)


def with_one_better(pictures: Pictures, count: int, by: float) -> Callable[..., Outcome]:
    return ranked(pictures, [[SMOOTH], *[[SMOOTH.lowered(by)]] * (count - 1)], [1.0, *[0.0] * (count - 1)])


def in_steps(pictures: Pictures, count: int, step: float) -> Callable[..., Outcome]:
    models = [[SMOOTH.lowered(step * number)] for number in range(count)]
    return ranked(pictures, models, [-float(number) for number in range(count)])


def crossing(pictures: Pictures, count: int) -> Callable[..., Outcome]:
    """Every other model is better on small changes and worse on large ones, at the same area."""
    models = [[tilted if number % 2 else SMOOTH] for number in range(count)]
    return ranked(pictures, models, [0.0] * count)


#: 400 answers of a model on a corruption
USUAL = Pictures(100, 4)


def cells() -> Iterator[Cell]:
    right = {"all sets hold the ranks": Limit(at_least=0.93)}
    few, fewest = Pictures(60, 6), Pictures(16, 20)
    of_their_own = {"own_sd": 1.0, "shared_sd": 1.0}
    studies = {
        "3 tied, 100 originals": tied(USUAL, 3),
        "3 tied, 16 originals": tied(fewest, 3),
        "3 tied on 3 corruptions, 60 originals": tied(few, 3, TRUTHS),
        "10 tied, 100 originals": tied(USUAL, 10),
        "10 tied, 60 originals": tied(few, 10),
        "10 tied, 16 originals": tied(fewest, 10),
        "21 tied, 100 originals": tied(USUAL, 21),
        "21 tied, 16 originals": tied(fewest, 21),
        "10 tied, 60 originals, hard for each model of their own": tied(Pictures(60, 6, **of_their_own), 10),
        "10 tied, 16 originals, hard for each model of their own": tied(Pictures(16, 20, **of_their_own), 10),
        "10 tied, 60 originals, some with many pictures": tied(Pictures(60, 6, unequal=True, **of_their_own), 10),
        "10 tied, 100 originals, alike in 98 of 100 answers": tied(Pictures(100, 4, differing=0.02), 10),
        "10 tied, 16 originals, alike in 95 of 100 answers": tied(Pictures(16, 20, differing=0.05), 10),
        "10 tied, 60 originals, nearly always right": tied(few, 10, [EASY]),
        "10 tied in area, curves cross, 100 originals": crossing(USUAL, 10),
        "3 tied where 16 categories count equally, 100 originals": tied(replace(USUAL, category_sd=0.7), 3),
        "10 tied where 16 categories count equally, 200 originals": tied(Pictures(200, 20, category_sd=0.7), 10),
        "10 in steps of .005, 100 originals": in_steps(USUAL, 10, 0.005),
        "10 in steps of .03, 100 originals": in_steps(USUAL, 10, 0.03),
        "10, one better by .05, 100 originals": with_one_better(USUAL, 10, 0.05),
        "10, one better by .10, 100 originals": with_one_better(USUAL, 10, 0.10),
    }
    for name, study in studies.items():
        yield Cell(RANKS.name, name, study, right)


CELLS = tuple(cells())

if __name__ == "__main__":
    run("ranks")
