"""How often does a person's own interval contain their chance of a right answer, and how often is a guesser praised?

    python -m benchmarks.claims.own_performance [--runs 2000] [--cell guesser] [--kept FILE] [--write]

Each run is one person. "covers" is the share of their windows whose interval contains the mean chance of a right answer
over the pictures of the window, "praised" the share of persons of whom nothing is said about guessing.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from analysis.own_performance import own_performance
from analysis.power.crowd import Curve
from benchmarks.claims._cells import Cell, Limit, run
from benchmarks.claims.area import GRADUAL, step

CHANCE = 1 / 16
COVERS = Limit(at_least=0.95)
PRAISED = Limit(at_most=0.05)


def person(rng: np.random.Generator, *, curve: Curve, pictures: int, spread: float = 0.0) -> dict[str, float]:
    """Somebody to whom pictures of the same change are unequally hard, by `spread` on the logit scale."""
    v = rng.random(pictures)
    height = np.clip(curve(v), 1e-9, 1 - 1e-9)
    chances = 1 / (1 + np.exp(-np.log(height / (1 - height)) - spread * rng.normal(size=pictures)))
    found = own_performance(list(v), [bool(one) for one in rng.random(pictures) < chances], chance=CHANCE)
    assert found is not None
    told = {"praised": float(not found.is_like_guessing)}
    if not found.windows:
        return told
    last = found.windows[-1].end
    inside = [chances[(v >= one.start) & ((v < one.end) | (one.end == last))].mean() for one in found.windows]
    covered = [one.lower <= truth <= one.upper for one, truth in zip(found.windows, inside, strict=True)]
    return {
        **told,
        "covers": float(np.mean(covered)),
        "width": float(np.mean([w.upper - w.lower for w in found.windows])),
    }


def flat(height: float) -> Curve:
    return lambda v: np.full(len(v), height)


def cell(name: str, claim: str, limits: dict[str, Limit], **how: object) -> Cell:
    return Cell(claim, name, partial(person, **how), limits, runs=2000)


CELLS = (
    cell("typical, 60 pictures", "own-share", {"covers": COVERS}, curve=GRADUAL, pictures=60),
    cell("typical, 200 pictures", "own-share", {"covers": COVERS}, curve=GRADUAL, pictures=200),
    cell("unequally hard, 200 pictures", "own-share", {"covers": COVERS}, curve=GRADUAL, pictures=200, spread=2.0),
    cell("a cliff, 200 pictures", "own-share", {"covers": COVERS}, curve=step(0.5), pictures=200),
    cell(
        "guesser, 60 pictures",
        "own-better-than-guessing",
        {"praised": PRAISED, "covers": COVERS},
        curve=flat(CHANCE),
        pictures=60,
    ),
    cell(
        "guesser, 300 pictures",
        "own-better-than-guessing",
        {"praised": PRAISED, "covers": COVERS},
        curve=flat(CHANCE),
        pictures=300,
    ),
)

if __name__ == "__main__":
    run("own_performance")
