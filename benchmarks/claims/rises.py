"""How often is a falling curve said to rise, and how often is a rise found?

    python -m benchmarks.claims.rises [--runs 400] [--cell flat] [--kept FILE] [--write]

Each run makes one study and asks all its curves together. "false" is the share of studies in which at least one curve
that falls was said to rise, "rise" the share in which the one that rises was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from analysis.differences.answers import AnswersToOne
from analysis.differences.rises import rises
from analysis.power.crowd import Crowd, Curve, LogisticDrop, simulate_answers
from benchmarks.claims._cells import Cell, Limit, run
from benchmarks.claims.area import GRADUAL, dip, step

CLAIM = "no-rise"
FALSE = Limit(at_most=0.05)


def recovers(v: np.ndarray) -> np.ndarray:
    """A curve that falls to .45 at .6, and rises to .65 behind."""
    low = np.clip((v - 0.2) / 0.4, 0.0, 1.0)
    return np.asarray(0.9 - 0.45 * low + 0.2 * np.clip((v - 0.6) / 0.2, 0.0, 1.0))


def hollow(v: np.ndarray) -> np.ndarray:
    """A level curve that is .15 lower over a window, and falls in the end."""
    return np.asarray(GRADUAL(v / 1.4) - 0.15 * ((v > 0.3) & (v < 0.45)))


def flat(height: float) -> Curve:
    return lambda v: np.full(len(v), height)


def of_model(rng: np.random.Generator, curve: Curve, pictures: int) -> AnswersToOne:
    """One answer to each picture."""
    v = rng.random(pictures)
    return AnswersToOne.of(v, (rng.random(pictures) < curve(v)).astype(float), np.arange(pictures))


def study(
    rng: np.random.Generator,
    *,
    curve: Curve,
    crowd: Crowd | None = None,
    pictures: int = 0,
    curves: int = 1,
    rising: bool = False,
) -> dict[str, float]:
    """Curves of people, or of a model, that are all alike."""
    if crowd is None:
        asked = {number: of_model(rng, curve, pictures) for number in range(curves)}
    else:
        asked = {number: one.to_one() for number, one in enumerate(simulate_answers([curve] * curves, crowd, rng))}
    found = rises(asked, seed=int(rng.integers(1 << 31)))
    if not rising:
        return {"false": float(bool(found))}
    told = {"rise": float(bool(found))}
    return told if not found else {**told, "size": found[0].rise, "p": found[0].p}


def mixed(rng: np.random.Generator, *, crowd: Crowd) -> dict[str, float]:
    """Three curves that fall beside one that dips."""
    answers = simulate_answers([GRADUAL, step(0.5), hollow, flat(0.6)], crowd, rng)
    found = rises({number: one.to_one() for number, one in enumerate(answers)}, seed=int(rng.integers(1 << 31)))
    return {"false": float(bool(set(found) - {2})), "rise": float(2 in found)}


def cell(name: str, limits: Mapping[str, Limit], make: Callable[..., dict[str, float]] = study, **how: object) -> Cell:
    return Cell(CLAIM, name, partial(make, **how), limits, runs=RUNS)


RUNS = 2000
NULL = {"false": FALSE}
MANY = Crowd(40, 60)

CELLS: tuple[Cell, ...] = (
    cell("falls smoothly, 40 people x 60", NULL, curve=GRADUAL, crowd=MANY),
    cell("falls off a cliff, 40 people x 60", NULL, curve=LogisticDrop(0.93, 1 / 16, 0.6, 0.01), crowd=MANY),
    cell("flat at .6, 40 people x 60", NULL, curve=flat(0.6), crowd=MANY),
    cell("flat at the floor of 1/16, 40 people x 60", NULL, curve=flat(1 / 16), crowd=MANY),
    cell("flat at .99, 40 people x 60", NULL, curve=flat(0.99), crowd=MANY),
    cell("flat at .6, 6 people x 100", NULL, curve=flat(0.6), crowd=Crowd(6, 100)),
    cell("flat at .99, 6 people x 100", NULL, curve=flat(0.99), crowd=Crowd(6, 100)),
    cell("flat at .6, 500 people x 9, five answers a picture", NULL, curve=flat(0.6), crowd=Crowd(500, 9, 5)),
    cell("flat at .6, a model with one answer to each of 600 pictures", NULL, curve=flat(0.6), pictures=600),
    cell("flat at 1/16, a model with one answer to each of 600 pictures", NULL, curve=flat(1 / 16), pictures=600),
    cell("flat at .6, 12 curves of models with 600 pictures", NULL, curve=flat(0.6), pictures=600, curves=12),
    cell("flat at .99, 12 curves of models with 600 pictures", NULL, curve=flat(0.99), pictures=600, curves=12),
    cell("three that fall beside a dip of .15, 100 people x 100", NULL, mixed, crowd=Crowd(100, 100)),
    cell("dip and recovery as in the area's cell, 40 people x 60", {}, curve=dip, crowd=MANY, rising=True),
    cell("dip and recovery as in the area's cell, 100 people x 100", {}, curve=dip, crowd=Crowd(100, 100), rising=True),
    cell("a dip of .15 as wide as a window, 40 people x 60", {}, curve=hollow, crowd=MANY, rising=True),
    cell("a dip of .15 as wide as a window, 100 people x 100", {}, curve=hollow, crowd=Crowd(100, 100), rising=True),
    cell("recovers by .2 above .6, 40 people x 60", {}, curve=recovers, crowd=MANY, rising=True),
    cell("recovers by .2 above .6, a model with 600 pictures", {}, curve=recovers, pictures=600, rising=True),
    cell("recovers by .2 above .6, a model with 3,000 pictures", {}, curve=recovers, pictures=3000, rising=True),
)

if __name__ == "__main__":
    run("rises")
