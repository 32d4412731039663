"""Kappa of a pair of observers, and pooled over crowds: does its interval contain the truth, and when is it shown?

python -m benchmarks.claims.kappa [--processes 1] [--write]

Pictures are drawn from four shares (both right, one observer, the other, neither) that give the accuracies and the
kappa of the cell's name. Tables in which kappa is undefined are not told. Cells of 12 pictures are never shown; their
interval stands in the JSON all the same, and is held to the same limit.

Where several pictures are of one original, answers of both observers rest on the difficulty of original and picture
(together a standard deviation of 2 on the logit): half of its variance is the original's, or all of it. With 25
pictures of each of 30 originals and all of it the interval covers in .90 to .95: the claim says so, and no cell holds
it. Pooled: people (standard deviation .5) beside one another and beside a model, in three strata of difficulty, each
picture answered by three people of 60.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from analysis.agreement.pairs import ErrorConsistency, consistency_from_counts, error_consistency, kappa_from_counts
from analysis.agreement.pooled import pooled_consistency
from analysis.claims.agreement import ENOUGH_PICTURES, KAPPA_OF_A_PAIR, POOLED_KAPPA
from analysis.power.crowd import marginal_logit
from benchmarks.claims._cells import Cell, Limit, Outcome, run

SIZES = (12, 30, 160)
ACCURACIES = ((0.5, 0.5), (0.8, 0.8), (0.9, 0.9), (0.95, 0.95), (0.97, 0.97), (0.5, 0.8), (0.65, 0.9))
ACCURACIES += ((0.8, 0.95), (0.5, 0.97), (0.9, 0.97))
KAPPAS = (0.0, 0.3, 0.6)
IMAGE_SD, PERSON_SD = 2.0, 0.5
CROWD_SD = float(np.hypot(IMAGE_SD, PERSON_SD))
#: Accuracies of people and of the model in the strata, and people who answer a picture.
PEOPLE, MODEL, ANSWERS_EACH = (0.9, 0.75, 0.5), (0.95, 0.6, 0.3), 3


def shares_of(first: float, second: float, kappa: float) -> NDArray[np.float64]:
    """Shares of pictures on which both are right, the first alone, the second alone, and neither."""
    together = kappa * (first * (1.0 - second) + second * (1.0 - first)) / 2.0
    one, other = first * (1.0 - second) - together, second * (1.0 - first) - together
    return np.array([first * second + together, one, other, (1.0 - first) * (1.0 - second) + together])


def told(found: ErrorConsistency, kappa: float) -> Outcome:
    if found.interval is None:
        return {"defined": 0.0}
    return {
        "defined": 1.0,
        "shown": float(found.shown),
        "covers": float(found.interval[0] <= kappa <= found.interval[1]),
        "width": found.interval[1] - found.interval[0],
    }


def study(rng: np.random.Generator, n: int, shares: NDArray[np.float64], kappa: float) -> Outcome:
    both, first, second, _ = rng.multinomial(n, shares)
    return told(consistency_from_counts(both + first, both + second, both, n), kappa)


def rate_of(logit: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(-logit)))


@lru_cache
def normal() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of the standard normal distribution."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(101)
    return nodes, weights / weights.sum()


@lru_cache
def logit_of(accuracy: float, sd: float = IMAGE_SD) -> float:
    """Logit of a picture of usual difficulty at which an observer has this accuracy over all pictures."""
    return float(marginal_logit(np.array([accuracy]), sd)[0])


@lru_cache
def kappa_of_pictures(first: float, second: float) -> float:
    """Kappa of observers of these accuracies whom nothing but the pictures' difficulty makes alike."""
    nodes, weights = normal()
    a, b = (rate_of(logit_of(one) + IMAGE_SD * nodes) for one in (first, second))
    return float(kappa_from_counts(weights @ a, weights @ b, weights @ (a * b), 1.0)[2])


def difficulty(
    rng: np.random.Generator, originals: int, each: int, share: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Original of every picture, and its difficulty on the logit; `share` of the variance is the original's."""
    original = np.repeat(np.arange(originals), each)
    own = rng.normal(0.0, IMAGE_SD * np.sqrt(1.0 - share), len(original))
    return original, rng.normal(0.0, IMAGE_SD * np.sqrt(share), originals)[original] + own


def shared_study(
    rng: np.random.Generator, originals: int, each: int, first: float, second: float, share: float
) -> Outcome:
    original, effect = difficulty(rng, originals, each, share)
    a, b = (rng.random(len(effect)) < rate_of(logit_of(one) + effect) for one in (first, second))
    return told(error_consistency(a, b, originals=original), kappa_of_pictures(first, second))


@lru_cache
def pooled_truth(beside: str) -> float:
    """Kappa of two random people, or of one and the model, over all pictures of the strata."""
    nodes, weights = normal()
    observed, expected = [], []
    for stratum in range(len(PEOPLE)):
        logits = logit_of(PEOPLE[stratum], CROWD_SD) + IMAGE_SD * nodes
        people = rate_of(logits[:, None] + PERSON_SD * nodes) @ weights
        other = people if beside == "people" else rate_of(logit_of(MODEL[stratum]) + IMAGE_SD * nodes)
        p, q = weights @ people, weights @ other
        observed.append(weights @ (people * other + (1.0 - people) * (1.0 - other)))
        expected.append(p * q + (1.0 - p) * (1.0 - q))
    return float((np.mean(observed) - np.mean(expected)) / (1.0 - np.mean(expected)))


def pooled_study(rng: np.random.Generator, originals: int, each: int, share: float, beside: str) -> Outcome:
    original, effect = difficulty(rng, originals, each, share)
    stratum = rng.integers(len(PEOPLE), size=len(effect))
    ability = rng.normal(0.0, PERSON_SD, 60)
    who = ability[np.argsort(rng.random((len(effect), len(ability))), axis=1)[:, :ANSWERS_EACH]]
    logits = np.array([logit_of(one, CROWD_SD) for one in PEOPLE])[stratum] + effect
    right = (rng.random(who.shape) < rate_of(logits[:, None] + who)).sum(axis=1)
    columns = [right, np.full(len(effect), ANSWERS_EACH)]
    if beside == "a model":
        model = np.array([logit_of(one) for one in MODEL])[stratum] + effect
        columns += [rng.random(len(effect)) < rate_of(model), np.ones(len(effect), dtype=np.int64)]
    found = pooled_consistency(*columns, strata=stratum, clusters=original)
    assert found.interval is not None
    lower, upper = found.interval
    return {"covers": float(lower <= pooled_truth(beside) <= upper), "width": upper - lower}


def cell_of(n: int, first: float, second: float, kappa: float) -> Cell:
    shown = Limit(at_least=1.0) if n >= ENOUGH_PICTURES else Limit(at_most=0.0)
    return Cell(
        claim=KAPPA_OF_A_PAIR.name,
        name=f"{n} pictures, accuracies {first:g} and {second:g}, kappa {kappa:g}",
        study=partial(study, n=n, shares=shares_of(first, second, kappa), kappa=kappa),
        limits={"covers": Limit(at_least=KAPPA_OF_A_PAIR.rate), "shown": shown},
    )


def shared_cell_of(originals: int, each: int, first: float, second: float, share: float) -> Cell:
    return Cell(
        claim=KAPPA_OF_A_PAIR.name,
        name=f"{each} pictures of each of {originals} originals, {first:g} and {second:g}, originals' share {share:g}",
        study=partial(shared_study, originals=originals, each=each, first=first, second=second, share=share),
        limits={"covers": Limit(at_least=KAPPA_OF_A_PAIR.rate), "shown": Limit(at_least=1.0)},
    )


def pooled_cell_of(originals: int, each: int, share: float, beside: str) -> Cell:
    return Cell(
        claim=POOLED_KAPPA.name,
        name=f"people and {beside}, {each} pictures of each of {originals} originals, originals' share {share:g}",
        study=partial(pooled_study, originals=originals, each=each, share=share, beside=beside),
        limits={"covers": Limit(at_least=POOLED_KAPPA.rate)},
    )


CELLS = tuple(
    cell_of(n, first, second, kappa)
    for n in SIZES
    for first, second in ACCURACIES
    for kappa in KAPPAS
    if (shares_of(first, second, kappa) >= 0.0).all()
)
CELLS += tuple(
    shared_cell_of(originals, each, first, second, share)
    for originals, each in ((30, 2), (30, 5), (160, 5), (30, 25))
    for first, second in ((0.5, 0.5), (0.65, 0.9), (0.95, 0.95))
    for share in (0.5, 1.0)
    if (each, share) != (25, 1.0)
)
CELLS += tuple(
    pooled_cell_of(originals, each, share, beside)
    for originals, each in ((30, 5), (160, 2), (160, 5))
    for share in (0.5, 1.0)
    for beside in ("people", "a model")
)

if __name__ == "__main__":
    run("kappa")
