"""Shape bias of people together: does its interval contain the truth where people and pictures differ?

python -m benchmarks.claims.shape_bias [--processes 1] [--write]

The log odds of naming the shape differ between people and between pictures; people also differ in how often they name
either. Everybody sees the same pictures, or pictures of their own.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit

from analysis.agreement.shape_bias import shape_bias
from analysis.claims.agreement import SHAPE_BIAS
from benchmarks.claims._cells import Cell, Limit, Outcome, run

#: Log odds of naming either, and how they differ between people.
DECIDED, DECIDED_SD = 1.5, 0.5
CONDITIONS = ((5, 160, True), (10, 160, True), (10, 32, False), (30, 16, False), (100, 16, True))
PEOPLE = ((0.5, 0.0, 0.0), (0.5, 1.0, 1.0), (3.0, 0.0, 1.0), (3.0, 1.0, 1.0), (-1.0, 1.5, 0.5))


def true_bias(log_odds: float, person_sd: float, picture_sd: float) -> float:
    """Share of shape among answers that name either, over all people and pictures."""
    nodes, weights = hermegauss(60)
    # Who has stronger log odds of shape names either more often.
    person, picture = np.meshgrid(nodes, nodes)
    weight = np.outer(weights, weights)
    named = expit(DECIDED + DECIDED_SD * person) * weight
    shape = expit(log_odds + person_sd * person + picture_sd * picture)
    return float((named * shape).sum() / named.sum())


def study(
    rng: np.random.Generator, people: int, pictures: int, shared: bool, truth: tuple[float, float, float]
) -> Outcome:
    log_odds, person_sd, picture_sd = truth
    trait = rng.standard_normal(people)[:, None]
    seen = np.arange(people * pictures).reshape(people, pictures) % (pictures if shared else people * pictures)
    ease = rng.standard_normal(int(seen.max()) + 1)[seen]
    names_shape = rng.random(seen.shape) < expit(log_odds + person_sd * trait + picture_sd * ease)
    decides = rng.random(seen.shape) < expit(DECIDED + DECIDED_SD * trait)
    responses = np.where(decides, np.where(names_shape, "cat", "dog"), "car").ravel()
    who = np.repeat(np.arange(people), pictures)
    found = shape_bias(
        responses, np.full(who.shape, "cat"), np.full(who.shape, "dog"), people=who, pictures=seen.ravel()
    )
    return {
        "covers": float(found.interval[0] <= true_bias(*truth) <= found.interval[1]),
        "width": found.interval[1] - found.interval[0],
    }


CELLS = tuple(
    Cell(
        claim=SHAPE_BIAS.name,
        name=(
            f"{people} people, {pictures} pictures {'shared' if shared else 'each'}, log odds {truth[0]:g}, "
            f"sd of people {truth[1]:g}, of pictures {truth[2]:g}"
        ),
        study=partial(study, people=people, pictures=pictures, shared=shared, truth=truth),
        limits={"covers": Limit(at_least=SHAPE_BIAS.rate)},
    )
    for people, pictures, shared in CONDITIONS
    for truth in PEOPLE
)

if __name__ == "__main__":
    run("shape_bias")
