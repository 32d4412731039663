"""What is said of kappa beyond its interval: copied shares, dependence, models beside the same people, soft agreement.

python -m benchmarks.claims.consistency [--processes 1] [--write]

Copied: observers of the computational model of Klein et al. (2025). One is right on `better` of the pictures; the other
copies on a share of them, and is right on `alone` of the rest. Dependent: the same without copying; to pictures of one
original both answer alike, each by itself.

Models: four people of whom pictures are hard for all (a standard deviation of 2 on the logit), and models that copy one
of them on .3 of the pictures and are right on .6 of the rest, each by itself: their kappas with these people are equal.

Soft agreement: pictures whose shares of answers are drawn from a Dirichlet distribution over 16 labels (.15 each). One
model has these shares, another mixes them with guessing by .3; the truth of the latter is that of 200,000 pictures.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from analysis.agreement.pairs import error_consistency
from analysis.agreement.soft import soft_agreement
from analysis.arrays import FloatArray
from analysis.claims.agreement import COPIED_SHARE, KAPPA_DIFFERENCE, KAPPA_OF_CHANCE, SOFT_AGREEMENT
from analysis.findings.consistency import consistency_differences
from analysis.findings.fits import FitSettings
from analysis.findings.observations import Observations
from benchmarks.claims._cells import Cell, Limit, Outcome, run
from benchmarks.claims.benchmark_mean import answers
from benchmarks.claims.kappa import difficulty, logit_of, rate_of

LABELS, CONCENTRATION, MIXED = 16, 0.15, 0.3
SETTINGS = FitSettings(seed=0, n_bootstrap=0)


def copied(rng: np.random.Generator, n: int, better: float, share: float, alone: float) -> Outcome:
    first = rng.random(n) < better
    found = error_consistency(first, np.where(rng.random(n) < share, first, rng.random(n) < alone))
    if found.copied_interval is None:
        return {"defined": 0.0}
    lower, upper = found.copied_interval
    return {"defined": 1.0, "covers": float(lower <= share <= upper), "width": upper - lower}


def independent(rng: np.random.Generator, originals: int, each: int, first: float, second: float) -> Outcome:
    original = np.repeat(np.arange(originals), each)
    a, b = (rng.random(originals)[original] < one for one in (first, second))
    return {"dependent": float(error_consistency(a, b, originals=original).p < 0.05)}


def models(rng: np.random.Generator, originals: int, each: int, count: int) -> Outcome:
    original, effect = difficulty(rng, originals, each, 0.5)
    people = rng.random((4, len(effect))) < rate_of(logit_of(0.8) + effect)
    copies = rng.random((count, len(effect))) < 0.3
    own = np.where(copies, people[0], rng.random((count, len(effect))) < 0.6)
    shown = [
        _of_originals(answers([f"{kind}-{k}" for k in range(len(right))], right), original)
        for kind, right in (("person", people), ("model", own))
    ]
    entries, ranks = consistency_differences(shown[0], shown[1], {}, SETTINGS)
    found = {
        "any differ": float(any(one.differ for one in entries)),
        "any places closed": float(any(one.worst - one.best < count - 1 for one in ranks.values())),
    }
    # Of more models the order decides which difference comes first.
    covers = float(entries[0].interval[0] <= 0.0 <= entries[0].interval[1])
    return found | ({"covers": covers} if count == 2 else {})


def _of_originals(rows: Observations, original: np.ndarray) -> Observations:
    names = np.array([f"o{k}" for k in original.tolist()])
    # Published pictures are told apart by their originals: here several are of one.
    named = {name: getattr(rows, name) for name in rows.__dataclass_fields__}
    changed = {
        "original": np.tile(names, len(rows) // len(names)),
        "imported": np.zeros(len(rows), dtype=np.bool_),
        "visual_change": np.full(len(rows), 0.5),
    }
    return Observations(**{**named, **changed})


def population(rng: np.random.Generator, pictures: int) -> FloatArray:
    return np.asarray(rng.dirichlet(np.full(LABELS, CONCENTRATION), size=pictures))


def counted(rng: np.random.Generator, shares: FloatArray, people: int) -> FloatArray:
    return np.asarray(rng.multinomial(people, shares), dtype=np.float64)


def mixed(shares: FloatArray) -> FloatArray:
    return (1.0 - MIXED) * shares + MIXED / LABELS


@lru_cache
def soft_truth(people: int) -> tuple[float, float]:
    """Of people predicted by the rest, and of the mixed model beyond them."""
    rng = np.random.default_rng(people)
    shares = population(rng, 200_000)
    found = soft_agreement(counted(rng, shares, people), mixed(shares))
    assert found.beyond_people is not None
    return found.cross_entropy - found.beyond_people, found.beyond_people


def soft(rng: np.random.Generator, pictures: int, people: int) -> Outcome:
    shares = population(rng, pictures)
    counts = counted(rng, shares, people)
    of_people, equal, other = (soft_agreement(counts, one) for one in (None, shares, mixed(shares)))
    truth, beyond = soft_truth(people)
    assert equal.beyond_interval is not None and other.beyond_interval is not None
    return {
        "covers people": float(of_people.interval[0] <= truth <= of_people.interval[1]),
        "covers beyond": float(other.beyond_interval[0] <= beyond <= other.beyond_interval[1]),
        "population worse": float(equal.beyond_interval[0] > 0.0),
        "beyond, population": equal.beyond_people or 0.0,
    }


CELLS = (
    *(
        Cell(
            claim=COPIED_SHARE.name,
            name=f"{n} pictures, right on {better:g}, copied {share:g}, else right on {alone:g}",
            study=partial(copied, n=n, better=better, share=share, alone=alone),
            limits={"covers": Limit(at_least=COPIED_SHARE.rate)},
        )
        for n in (30, 160)
        for better, share, alone in (
            (0.8, 0.0, 0.6),
            (0.8, 0.4, 0.5),
            (0.9, 0.3, 0.9),
            (0.95, 0.5, 0.6),
            (0.6, 0.8, 0.5),
        )
    ),
    *(
        Cell(
            claim=KAPPA_OF_CHANCE.name,
            name=f"{each} pictures of each of {originals} originals, independent, accuracies {first:g} and {second:g}",
            study=partial(independent, originals=originals, each=each, first=first, second=second),
            limits={"dependent": Limit(at_most=KAPPA_OF_CHANCE.rate)},
        )
        for originals, each, first, second in (
            (30, 1, 0.8, 0.8),
            (160, 1, 0.5, 0.5),
            (160, 1, 0.95, 0.9),
            (40, 5, 0.7, 0.6),
            (160, 2, 0.8, 0.8),
        )
    ),
    *(
        Cell(
            claim=KAPPA_DIFFERENCE.name,
            name=f"{count} models alike beside people, {each} pictures of each of {originals} originals",
            study=partial(models, originals=originals, each=each, count=count),
            limits={"any differ": Limit(at_most=KAPPA_DIFFERENCE.rate)},
            runs=1000,
        )
        for originals, each, count in ((40, 1, 2), (160, 1, 2), (160, 1, 5), (60, 4, 5))
    ),
    *(
        Cell(
            claim=SOFT_AGREEMENT.name,
            name=f"{pictures} pictures, {people} people",
            study=partial(soft, pictures=pictures, people=people),
            limits={
                "covers people": Limit(at_least=SOFT_AGREEMENT.rate),
                "covers beyond": Limit(at_least=SOFT_AGREEMENT.rate),
                "population worse": Limit(at_most=0.025),
            },
        )
        for pictures, people in ((30, 4), (60, 10), (160, 4), (160, 30))
    ),
)

if __name__ == "__main__":
    run("consistency")
