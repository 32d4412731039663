"""Does the product say that a model differs, or matches, when it should not? Twins of people, known gaps, the margin.

    python -m benchmarks.claims.models_beside_people [--runs 0] [--cell TEXT] [--kept FILE] [--write]

A twin answers by the people's own curve, on pictures that are hard for both or on its own. 60 people x 16 answers a
corruption, or 200 x 25; 3 corruptions, 1 or 2 models. Where categories differ, those that are easy for people are hard
for the twin, and easy ones are shown more often: the curves are the same only where categories count equally. Gaps: a
curve whose area is smaller by .05. At the margin: curves shifted, crossing or dipping such that some window mean
differs by exactly .10. Few people: 4 to 19 who differ by 1 on the logit, with two twins; the limit is the rate that
stands beside every such verdict. With 20 and 40 the rate is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.optimize import brentq

from analysis.arrays import FloatArray
from analysis.claims.claim import FALSE_IN_100
from analysis.claims.models import DIFFERENCE, DIFFERS, MATCHES
from analysis.differences.beside import ModelBesidePeople, beside_people
from analysis.differences.family import DRAWS
from analysis.differences.windows import WINDOW
from benchmarks.claims._cells import Cell, Limit, Outcome, run
from benchmarks.claims._studies import CLIFF, SHARP, SMOOTH, Curve, Size, simulated

SMALL, LARGE = Size(60, 16), Size(200, 25)
#: Draws of the null for the largest family, 14 corruptions x 10 models, which takes 2,000 in a study.
FEW_DRAWS = 500
#: Windows over which the largest mean of a difference is sought: finer than those of the analysis.
STARTS = np.linspace(0.0, 1.0 - WINDOW, 341)


def twins(
    size: Size, corruptions: int, models: int, truths: tuple[Curve, ...], *, shared: bool, draws: int = DRAWS
) -> Callable[..., Outcome]:
    """All models are twins: anything that is said to differ is said falsely."""
    people = [truths[number % len(truths)] for number in range(corruptions)]

    def study(rng: np.random.Generator) -> Outcome:
        made = simulated(rng, size, people, [people] * models, shares_pictures=shared)
        seed = int(rng.integers(1 << 31))
        found = list(beside_people(made.people, made.models, attentive=made.attentive, seed=seed, draws=draws).values())
        return {
            "any differs": any(one.differs_on for one in found),
            "interval covers": float(np.mean([covers(one, 0.0) for one in found])),
            "matches on all": float(np.mean([one.matches for one in found])),
            "matches on one": float(np.mean([one.matches for model in found for one in model.corruptions.values()])),
        }

    return study


def covers(found: ModelBesidePeople, truth: float) -> bool:
    low, high = found.interval(0.95)
    return low <= truth <= high


def gap(size: Size, truth: Curve, other: Curve, corruptions: int = 3) -> Callable[..., Outcome]:
    """A twin, and a model whose area is smaller by .05 on every corruption."""

    def study(rng: np.random.Generator) -> Outcome:
        people = [truth] * corruptions
        made = simulated(rng, size, people, [people, [other] * corruptions])
        found = beside_people(made.people, made.models, attentive=made.attentive, seed=int(rng.integers(1 << 31)))
        twin, worse = found["model 0"], found["model 1"]
        below = [bool(one.below) and not one.above for one in worse.corruptions.values()]
        return {
            "gap is said": float(np.mean([one.differs for one in worse.corruptions.values()])),
            "said to be below": float(np.mean(below)),
            "twin differs": bool(twin.differs_on),
            "interval covers": covers(worse, -0.05),
            "gap matches": worse.matches,
        }

    return study


def at_the_margin(size: Size, truth: Curve, other: Curve, rng: np.random.Generator) -> Outcome:
    """One model with a window mean exactly at the margin: to say that it matches is false."""
    made = simulated(rng, size, [truth], [[other]])
    (found,) = beside_people(made.people, made.models, attentive=made.attentive, draws=1).values()
    return {"matches": found.matches}


def of_careless(size: Size, truth: Curve, careless: float) -> Callable[..., Outcome]:
    """A model that answers as badly as a careless crowd: that it matches people would be said of nobody who looked."""

    def lowered(v: FloatArray) -> FloatArray:
        return (1.0 - careless) * truth(v) + careless / 16

    def study(rng: np.random.Generator) -> Outcome:
        made = simulated(rng, size, [truth], [[lowered]], careless=careless)
        (found,) = beside_people(
            made.people, made.models, attentive=made.attentive, seed=int(rng.integers(1 << 31))
        ).values()
        return {"matches": found.matches, "differs": bool(found.differs_on)}

    return study


def largest_mean(first: Curve, second: Curve) -> float:
    """Largest absolute mean of the difference over windows."""
    v = np.linspace(0.0, 1.0, 20_001)
    total = np.concatenate(
        [[0.0], np.cumsum((first(v[1:]) + first(v[:-1]) - second(v[1:]) - second(v[:-1])) / 2e4 / 2)]
    )
    ends = np.interp(STARTS + WINDOW, v, total) - np.interp(STARTS, v, total)
    return float(np.abs(ends).max() / WINDOW)


def scaled_to_margin(truth: Curve, change: Callable[[FloatArray], FloatArray], margin: float = 0.10) -> Curve:
    """The curve plus so much of a change that its largest window mean is the margin."""

    def changed(amount: float) -> Curve:
        return lambda v: np.clip(truth(v) + amount * change(v), 0.001, 0.999)

    amount = float(brentq(lambda size: largest_mean(truth, changed(size)) - margin, 0.0, 3.0))
    return changed(amount)


def bump(middle: float, width: float) -> Callable[[FloatArray], FloatArray]:
    return lambda v: np.exp(-0.5 * ((v - middle) / width) ** 2)


def crossing(middle: float, width: float) -> Callable[[FloatArray], FloatArray]:
    """Above before the middle, below after it, with no difference of area."""
    return lambda v: -(v - middle) / width * np.exp(-0.5 * ((v - middle) / width) ** 2)


#: What stands at the margin: the truth of people, and the change that makes the model.
MARGINS: dict[str, tuple[Curve, Callable[[FloatArray], FloatArray]]] = {
    "smooth, crossing": (SMOOTH, crossing(0.55, 0.15)),
    "smooth, dip": (SMOOTH, lambda v: -bump(0.3, 0.06)(v)),
    "cliff, bump before it": (CLIFF, lambda v: -bump(0.45, 0.07)(v)),
    "sharp, narrow crossing": (SHARP, crossing(0.85, 0.06)),
}


def cells() -> Iterator[Cell]:
    kept = {"any differs": Limit(at_most=0.05), "interval covers": Limit(at_least=0.93)}
    every = (SMOOTH, SHARP, CLIFF)
    for size, name in ((SMALL, "60 x 16"), (LARGE, "200 x 25")):
        for shared in (True, False):
            pictures = "shared pictures" if shared else "own pictures"
            study = twins(size, 3, 2, every, shared=shared)
            yield Cell(
                DIFFERS.name, f"{name}, 3 corruptions, 2 twins, {pictures}", study, kept, 1000 if size is SMALL else 400
            )
        yield Cell(DIFFERS.name, f"{name}, 3 corruptions, 1 twin", twins(size, 3, 1, every, shared=True), kept, 400)
        study = twins(size, 14, 10, every, shared=True, draws=FEW_DRAWS)
        yield Cell(DIFFERS.name, f"{name}, 14 corruptions, 10 twins", study, kept, 200)
    for size, name in ((SMALL, "60 x 16"), (LARGE, "200 x 25")):
        study = twins(replace(size, category_sd=1.5), 3, 1, every, shared=True)
        runs = 2000 if size is SMALL else 400
        yield Cell(DIFFERS.name, f"{name}, 1 twin, other categories easy for it, unequally often", study, kept, runs)
    printed = {"any differs": Limit(at_most=FALSE_IN_100[1] / 100), "interval covers": Limit(at_least=0.93)}
    for people, truths, name in ((4, every, ""), (12, every, ""), (12, (SMOOTH,), ", smooth"), (19, every, "")):
        study = twins(Size(people, 200, image_sd=1.0, person_sd=1.0), 3, 2, truths, shared=True)
        name = f"{people} people x 200 who differ by 1{name}, 3 corruptions, 2 twins"
        yield Cell(DIFFERS.name, name, study, printed, 2000)
    for people in (20, 40):  # without a limit: where the rate falls to what is promised
        study = twins(Size(people, 200, image_sd=1.0, person_sd=1.0), 3, 2, every, shared=True)
        yield Cell(DIFFERS.name, f"{people} people x 200 who differ by 1, 3 corruptions, 2 twins", study, {}, 1000)
    for truth, name in ((SMOOTH, "smooth"), (SHARP, "sharp")):
        limits = {"twin differs": Limit(at_most=0.05), "interval covers": Limit(at_least=0.93)}
        study = gap(LARGE, truth, truth.lowered(0.05))
        said = {"gap is said": Limit(at_least=0.8)}
        yield Cell(DIFFERENCE.name, f"200 x 25, {name}, area smaller by .05", study, limits | said, 400)
        yield Cell(
            DIFFERENCE.name,
            f"60 x 16, {name}, area smaller by .05",
            gap(SMALL, truth, truth.lowered(0.05)),
            limits,
            400,
        )
    for name, (truth, change) in MARGINS.items():
        study = partial(at_the_margin, LARGE, truth, scaled_to_margin(truth, change))
        yield Cell(MATCHES.name, f"200 x 25, {name}", study, {"matches": Limit(at_most=0.05)}, 2000)
    for share in (0.2, 0.3):
        study = of_careless(LARGE, SMOOTH, share)
        limits = {"matches": Limit(at_most=0.05), "differs": Limit(at_most=0.05)}
        yield Cell(MATCHES.name, f"200 x 25, {share:.0%} of the answers careless", study, limits, 400)


CELLS = tuple(cells())

if __name__ == "__main__":
    run("models_beside_people")
