"""Does the interval of the area cover the area? Few people, ends of the scale, gaps and missing ends.

    python -m benchmarks.claims.area [--runs 200] [--cell "8 people"] [--kept FILE] [--write]

Each run makes one study and fits its curve. True curves are means over people and pictures, who differ on the logit.
Where a stretch of the axis holds no answers, the truth is put at the lower and at the upper end of what monotonicity
leaves. "width / oracle" divides by the width of an interval made from the true sampling error (the standard deviation
of the estimate over other runs of the same kind, kept in `ORACLE`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

import numpy as np
from scipy.special import expit, ndtri

from analysis.curves.curve import CurveFit
from analysis.curves.fit import fit_curve
from analysis.power.crowd import Crowd, Curve, LogisticDrop, marginal_logit, simulate_answers
from benchmarks.claims._cells import Cell, Limit, run

CLAIM = "area-interval"
COVERS, COVERS_CLOSELY = Limit(at_least=0.93), Limit(at_least=0.93, at_most=0.98)
NARROW = Limit(at_most=1.25)
#: Standard deviation of the estimated area over 150 runs of other seeds.
ORACLE: Mapping[str, float] = {
    "8 people x 250, sd 1": 0.03805,
    "12 people x 200": 0.03295,
    "12 people, 10 to 800 answers each": 0.03234,
    "8 people x 60, 60 originals": 0.02744,
    "8 people x 250, alike": 0.00785,
    "40 people x 60": 0.01189,
    "40 people, the abler half answers 100 times, the others 20": 0.02059,
    "500 people x 9, five answers a picture": 0.00905,
    "ceiling: .99 everywhere": 0.00200,
    "floor: 1/16 everywhere": 0.00610,
    "lapses of .15": 0.01159,
    "dip and recovery": 0.01053,
}
GRADUAL = LogisticDrop(0.93, 1 / 16, 0.6, 0.1)
#: How much easier each of 16 categories is on the logit: normal quantiles of standard deviation 1.5; and the standard
#: deviation of categories, people and pictures together.
EASE = 1.5 * (_QUANTILES := ndtri((np.arange(16) + 0.5) / 16)) / np.std(_QUANTILES)
CATEGORY_SPREAD = float(np.sqrt(1.5**2 + 1.0 + 1.0))


def area_of(curve: Curve) -> float:
    """True area, by the midpoints of 20,000 intervals."""
    return float(np.mean(curve((np.arange(20_000) + 0.5) / 20_000)))


def judged(fit: CurveFit, truth: float, name: str) -> dict[str, float]:
    """What one study said of its area."""
    assert fit.area_interval is not None
    lower, upper = fit.area_interval
    found = {
        "covers": float(lower <= truth <= upper),
        "bias": fit.area - truth,
        "width": upper - lower,
        "withheld": float(fit.is_withheld),
    }
    if name in ORACLE:
        found["width / oracle"] = (upper - lower) / (2 * 1.96 * ORACLE[name])
    return found


def crowd_study(
    rng: np.random.Generator, *, name: str, curve: Curve, crowd: Crowd, reach: float = 1.0
) -> dict[str, float]:
    """A crowd of equal sizes; with a reach below 1, visual changes are uniform below it."""
    (answers,) = simulate_answers([curve], crowd, rng, place=lambda own, n: reach * own.random(n))
    return judged(fit_curve(**answers.columns(), n_bootstrap=2), area_of(curve), name)


def answered(
    rng: np.random.Generator, curve: Curve, person: np.ndarray, place: np.ndarray, ability: np.ndarray, sd: float
) -> dict[str, np.ndarray]:
    """Answers of people of given abilities to a new picture each; ``sd`` is that of abilities and pictures together."""
    logit = marginal_logit(curve(place), sd) + ability[person] + rng.normal(0.0, 1.0, len(person))
    return {
        "visual_change": place,
        "correct": rng.random(len(person)) < 1.0 / (1.0 + np.exp(-logit)),
        "participants": person,
        "images": np.arange(len(person)),
    }


def unequal_fit(rng: np.random.Generator, curve: Curve, sizes: tuple[int, ...]) -> CurveFit:
    """People who answer unequally often, whatever their ability; each counts once, every picture is new."""
    person = np.repeat(np.arange(len(sizes)), sizes)
    columns = answered(rng, curve, person, rng.random(len(person)), rng.normal(0.0, 1.0, len(sizes)), np.sqrt(2.0))
    return fit_curve(**columns, weights=1.0 / np.array(sizes)[person], n_bootstrap=2)


def unequal_study(rng: np.random.Generator, *, name: str, curve: Curve, sizes: tuple[int, ...]) -> dict[str, float]:
    return judged(unequal_fit(rng, curve, sizes), area_of(curve), name)


def able_study(rng: np.random.Generator, *, name: str, curve: Curve) -> dict[str, float]:
    """40 people of whom the abler half answers 100 times, the others 20 times; each counts once."""
    ability = np.sort(rng.normal(0.0, 1.0, 40))
    sizes = np.where(np.arange(40) < 20, 20, 100)
    person = np.repeat(np.arange(40), sizes)
    columns = answered(rng, curve, person, rng.random(len(person)), ability, np.sqrt(2.0))
    return judged(fit_curve(**columns, weights=1.0 / sizes[person], n_bootstrap=2), area_of(curve), name)


def gap_fit(rng: np.random.Generator, curve: Curve, gap: tuple[float, float], people: int = 40) -> CurveFit:
    """60 answers of each person, none in the gap."""
    person = np.repeat(np.arange(people), 60)
    start, end = gap
    place = rng.random(len(person)) * (1.0 - (end - start))
    place += (place >= start) * (end - start)
    columns = answered(rng, curve, person, place, rng.normal(0.0, 1.0, people), np.sqrt(2.0))
    return fit_curve(**columns, n_bootstrap=2)


def gap_study(
    rng: np.random.Generator, *, name: str, curve: Curve, gap: tuple[float, float], people: int = 40
) -> dict[str, float]:
    return judged(gap_fit(rng, curve, gap, people), area_of(curve), name)


def category_study(rng: np.random.Generator, *, name: str, reach: float = 1.0) -> dict[str, float]:
    """40 people x 60 answers to pictures of 16 categories, the 8 harder of which are shown below the reach alone."""
    person = np.repeat(np.arange(40), 60)
    category, place = rng.integers(0, 16, len(person)), rng.random(len(person))
    category[(place > reach) & (category < 8)] += 8
    logit = marginal_logit(GRADUAL(place), CATEGORY_SPREAD) + EASE[category]
    logit += rng.normal(0.0, 1.0, 40)[person] + rng.normal(0.0, 1.0, len(person))
    fit = fit_curve(
        place,
        rng.random(len(person)) < expit(logit),
        participants=person,
        images=np.arange(len(person)),
        categories=category.astype(np.str_),
        n_bootstrap=2,
    )
    return {**judged(fit, category_area(), name), "gaps of categories": float(len(fit.category_gaps))}


@cache
def category_area() -> float:
    """True area of the mean curve of the 16 categories, each of which counts equally."""
    v = (np.arange(1000) + 0.5) / 1000
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    logit = marginal_logit(GRADUAL(v), CATEGORY_SPREAD)[:, None, None] + EASE[:, None] + np.sqrt(2.0) * nodes
    return float((expit(logit) @ (weights / weights.sum())).mean())


def step(at: float, high: float = 0.9, low: float = 0.15) -> Curve:
    """High before a place, low behind it."""
    return lambda v: np.where(v < at, high, low)


def dip(v: np.ndarray) -> np.ndarray:
    """A curve that falls, recovers, and falls again."""
    return GRADUAL(v) - 0.15 * np.exp(-(((v - 0.3) / 0.05) ** 2))


def lapsed(v: np.ndarray) -> np.ndarray:
    return np.asarray(0.85 * LogisticDrop(0.99, 1 / 16, 0.6, 0.1)(v) + 0.15 / 16)


def cell(name: str, study: Callable[..., dict[str, float]], limits: Mapping[str, Limit], **options: object) -> Cell:
    return Cell(CLAIM, name, partial(study, name=name, **options), limits, runs=RUNS)


#: At least; a Monte Carlo error of .011 for a rate of .95.
RUNS = 2000
FEW = {"covers": COVERS, "width / oracle": NARROW, "withheld": Limit(at_most=0.01)}
MANY = {**FEW, "covers": COVERS_CLOSELY}
GAP = {"covers": COVERS}
ABLE = {"image_sd": 1.0, "participant_sd": 1.0}

CELLS: tuple[Cell, ...] = (
    cell("8 people x 250, sd 1", crowd_study, FEW, curve=GRADUAL, crowd=Crowd(8, 250, **ABLE)),
    cell("12 people x 200", crowd_study, FEW, curve=GRADUAL, crowd=Crowd(12, 200, **ABLE)),
    cell(
        "12 people, 10 to 800 answers each",
        unequal_study,
        FEW,
        curve=GRADUAL,
        sizes=(10, 15, 22, 33, 49, 72, 108, 161, 240, 359, 536, 800),
    ),
    cell("8 people x 60, 60 originals", crowd_study, FEW, curve=GRADUAL, crowd=Crowd(8, 60, originals=60)),
    # People of one ability: their answers' own spread and the pictures' stand for each other, and the larger is taken.
    cell(
        "8 people x 250, alike", crowd_study, {"covers": COVERS}, curve=GRADUAL, crowd=Crowd(8, 250, participant_sd=0.0)
    ),
    cell("40 people x 60", crowd_study, MANY, curve=GRADUAL, crowd=Crowd(40, 60)),
    cell("40 people, the abler half answers 100 times, the others 20", able_study, MANY, curve=GRADUAL),
    cell("500 people x 9, five answers a picture", crowd_study, MANY, curve=GRADUAL, crowd=Crowd(500, 9, 5)),
    cell("ceiling: .99 everywhere", crowd_study, MANY, curve=lambda v: np.full(len(v), 0.99), crowd=Crowd(40, 60)),
    cell("floor: 1/16 everywhere", crowd_study, MANY, curve=lambda v: np.full(len(v), 1 / 16), crowd=Crowd(40, 60)),
    cell("lapses of .15", crowd_study, MANY, curve=lapsed, crowd=Crowd(40, 60)),
    cell("dip and recovery", crowd_study, MANY, curve=dip, crowd=Crowd(40, 60)),
    cell("no answers from .3 to .6, step at .31", gap_study, GAP, curve=step(0.31), gap=(0.3, 0.6)),
    cell("no answers from .3 to .6, step at .59", gap_study, GAP, curve=step(0.59), gap=(0.3, 0.6)),
    cell(
        "no answers from .5 to .6, fall within it",
        gap_study,
        GAP,
        curve=LogisticDrop(bend=0.55, width=0.01),
        gap=(0.5, 0.6),
    ),
    cell("reach .7", crowd_study, GAP, curve=GRADUAL, crowd=Crowd(40, 60), reach=0.7),
    cell(
        "reach .82, cliff at .9",
        crowd_study,
        GAP,
        curve=LogisticDrop(0.93, 0.0, 0.9, 0.01),
        crowd=Crowd(40, 60),
        reach=0.82,
    ),
    cell("reach .82, cliff at .83", crowd_study, GAP, curve=step(0.83, 0.9, 0.0), crowd=Crowd(40, 60), reach=0.82),
    cell("categories differ (sd 1.5), balanced", category_study, {"covers": COVERS_CLOSELY}),
    cell("categories differ (sd 1.5), above .8 from the 8 easier only", category_study, GAP, reach=0.8),
)

if __name__ == "__main__":
    run("area")
