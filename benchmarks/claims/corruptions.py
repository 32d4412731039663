"""Does the product say that two corruptions are alike, or different, when it should not? Equal curves, the margin.

    python -m benchmarks.claims.corruptions [--runs 0] [--cell TEXT] [--kept FILE] [--write]

Equal curves: 200 people x 25 answers a corruption, the same people and originals on both or others, and few people:
to call them different is false. At the margin: curves shifted, crossing, dipping or of shapes of their own, such that
some window mean differs by exactly .10, or the areas by exactly .03: to call them equivalent is false, as it is where
a part of the answers is careless. Categories that count equally: the common ones are easier under one corruption, and
harder under the other, so that only the weights make them alike. Families: 14 functions of one crowd, ten of one curve
and four lower by .02 to .06.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from analysis.arrays import FloatArray
from analysis.claims.corruptions import DIFFERENCE, DIFFERENT, EQUIVALENT
from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.beside import attentive_share
from analysis.differences.family import DRAWS
from analysis.power.crowd import marginal_logit
from analysis.similarity.curves import CurveSimilarity, compare_all
from benchmarks.claims._cells import Cell, Limit, Outcome, run
from benchmarks.claims._studies import (
    CATEGORIES,
    CLEAN,
    CLEAN_EACH,
    CLIFF,
    SHARP,
    SMOOTH,
    Curve,
    answered,
    categories_of,
    ease_of,
    expit,
)
from benchmarks.claims.models_beside_people import bump, crossing, scaled_to_margin


@dataclass(frozen=True)
class Crowd:
    """Who answers which pictures of every corruption."""

    people: int
    each: int
    #: whether people, and originals, stand in every corruption
    joint: bool = True
    originals: int | None = None
    image_sd: float = 2.0
    person_sd: float = 0.5
    #: by corruption and person, beside what a person is on all
    own_sd: float = 0.0
    careless: float = 0.0
    #: between categories, which then count equally; what is easier under one function is harder under the next
    category_sd: float = 0.0


def answers_of(rng: np.random.Generator, crowd: Crowd, curves: list[Curve]) -> tuple[list[AnswersToOne], float]:
    """People's answers to each corruption, and the share of them that surely came from looking."""
    count = crowd.people * crowd.each
    who = np.repeat(np.arange(crowd.people), crowd.each)
    pictures = count if crowd.originals is None else crowd.originals
    category = categories_of(rng, pictures) if crowd.category_sd else None
    found, person, original = [], np.empty(0), np.empty(0)
    for number, truth in enumerate(curves):
        if not number or not crowd.joint:
            person = rng.normal(0.0, crowd.person_sd, crowd.people)
            original = rng.normal(0.0, crowd.image_sd * np.sqrt(0.5), pictures)
        v, of = rng.random(count), rng.permutation(count) % pictures
        sd = np.sqrt(crowd.image_sd**2 + crowd.person_sd**2 + crowd.own_sd**2 + crowd.category_sd**2)
        logit = marginal_logit(truth(v), float(sd)) + person[who] + original[of]
        logit += rng.normal(0.0, crowd.image_sd * np.sqrt(0.5), count)
        logit += rng.normal(0.0, crowd.own_sd, crowd.people)[who]
        categories = None
        if category is not None:
            logit += (-1) ** number * ease_of(crowd.category_sd)[category[of]]
            categories = Clusters(CATEGORIES, category[of])
        outcome = answered(rng, expit(logit), crowd.careless)
        start = "" if crowd.joint else f"{number} "
        originals, people = clusters(start, of, pictures), clusters(start, who, crowd.people)
        found.append(AnswersToOne(v, outcome, originals, people, categories))
    seen = np.repeat(np.arange(crowd.people), CLEAN_EACH)
    chance = expit(marginal_logit(np.full(len(seen), CLEAN), crowd.person_sd) + person[seen])
    clean = AnswersToOne(
        np.zeros(len(seen)),
        answered(rng, chance, crowd.careless),
        clusters("", np.arange(len(seen)), len(seen)),
        clusters("", seen, crowd.people),
    )
    return found, attentive_share(clean)


def clusters(start: str, codes: np.ndarray, count: int) -> Clusters:
    """Names in the order of their numbers."""
    return Clusters(np.char.add(start, np.char.zfill(np.arange(count).astype(str), 6)), codes)


def compared(rng: np.random.Generator, crowd: Crowd, curves: list[Curve], draws: int = DRAWS) -> list[CurveSimilarity]:
    answers, looked = answers_of(rng, crowd, curves)
    named = {f"{number:02}": own for number, own in enumerate(answers)}
    seed = int(rng.integers(1 << 31))
    return list(compare_all(named, attentive=dict.fromkeys(named, looked), seed=seed, draws=draws).values())


def equal(crowd: Crowd, truth: Curve, rng: np.random.Generator) -> Outcome:
    (found,) = compared(rng, crowd, [truth, truth])
    return {
        "different": found.different,
        "equivalent": found.equivalent,
        "equivalent in area": found.area_equivalent,
        "interval covers": found.interval[0] <= 0.0 <= found.interval[1],
    }


def apart(crowd: Crowd, first: Curve, second: Curve, gap: float, rng: np.random.Generator) -> Outcome:
    """Not equal: to call them equivalent is false where a margin is reached."""
    (found,) = compared(rng, crowd, [first, second], draws=1)  # equivalence needs none
    return {
        "equivalent": found.equivalent,
        "interval covers": found.interval[0] <= gap <= found.interval[1],
    }


def never_equivalent(crowd: Crowd, first: Curve, second: Curve) -> Callable[..., Outcome]:
    """Of a crowd that answers carelessly in part: what its answers differ by is less than what it would see."""
    study = partial(apart, crowd, first, second, 0.0)
    return lambda rng: {"equivalent": study(rng)["equivalent"]}


#: How much lower than the first ten the other functions of a family lie.
LOWER = (0.02, 0.03, 0.045, 0.06)


def family(crowd: Crowd, truth: Curve) -> Callable[..., Outcome]:
    """Fourteen functions, ten of them equal."""
    curves: list[Curve] = [truth] * 10 + [truth.lowered(by) for by in LOWER]  # type: ignore[attr-defined]
    lower = np.array([0.0] * 10 + list(LOWER))
    gaps = [abs(lower[i] - lower[j]) for i in range(14) for j in range(i + 1, 14)]

    def study(rng: np.random.Generator) -> Outcome:
        found = compared(rng, crowd, curves)
        rows = list(zip(found, gaps, strict=True))
        return {
            "any equal pair different": any(one.different for one, gap in rows if gap == 0.0),
            "gap of .03 different": float(np.mean([one.different for one, gap in rows if gap == 0.03])),
            "gap of .06 different": float(np.mean([one.different for one, gap in rows if gap == 0.06])),
            "equal pairs equivalent": float(np.mean([one.equivalent for one, gap in rows if gap == 0.0])),
            "gap of .03 or more equivalent": float(np.mean([one.equivalent for one, gap in rows if gap >= 0.03])),
        }

    return study


def slope(v: FloatArray) -> FloatArray:
    """Rises along the axis: higher at the right end, lower at the left one."""
    return v - 0.5


def shifted(truth: Curve) -> Callable[[FloatArray], FloatArray]:
    """The part of a cliff that a small shift moves."""
    return lambda v: truth(v + 0.02) - truth(v)


#: A truth, and the change that brings a window mean to the margin.
MARGINS: dict[str, tuple[Curve, Callable[[FloatArray], FloatArray]]] = {
    "smooth, crossing": (SMOOTH, crossing(0.55, 0.15)),
    "smooth, dip": (SMOOTH, lambda v: -bump(0.3, 0.06)(v)),
    "smooth, wave": (SMOOTH, lambda v: -np.sin(2 * np.pi * v / 0.3) * bump(0.4, 0.2)(v)),
    "smooth, tilt": (SMOOTH, slope),
    "cliff, bump before it": (CLIFF, lambda v: -bump(0.45, 0.07)(v)),
    "sharp, narrow crossing": (SHARP, crossing(0.85, 0.06)),
    "sharp, early dip": (SHARP, lambda v: -bump(0.1, 0.05)(v)),
}
EQUALS = {"smooth": (SMOOTH, 0.70), "sharp": (SHARP, 0.50), "cliff": (CLIFF, 0.50)}


def cliff_shifted_to_margin() -> tuple[Curve, float]:
    """The cliff moved by .10 x .15 in visual change, less what its foot takes: a window mean of the margin."""
    from scipy.optimize import brentq

    from benchmarks.claims.models_beside_people import largest_mean

    by = float(brentq(lambda shift: largest_mean(CLIFF, lambda v: CLIFF(v + shift)) - 0.10, 0.0, 0.1))
    return (lambda v: CLIFF(v + by)), CLIFF.area - replace(CLIFF, bend=CLIFF.bend - by).area


def cells() -> Iterator[Cell]:
    covers, never = {"interval covers": Limit(at_least=0.90)}, {"different": Limit(at_most=0.05)}
    large = Crowd(200, 25)
    for joint, crowd in (("one crowd", large), ("crowds of their own", replace(large, joint=False))):
        for name, (truth, least) in EQUALS.items():
            limits = covers | never | {"equivalent": Limit(at_least=least)}
            yield Cell(EQUIVALENT.name, f"200 x 25, {name}, equal, {joint}", partial(equal, crowd, truth), limits, RUNS)
    weighted = replace(large, category_sd=0.7)
    study = partial(equal, weighted, SMOOTH)
    name = "200 x 25, smooth, equal where categories count equally"
    yield Cell(EQUIVALENT.name, name, study, covers | never, RUNS)
    few = {
        "10 people x 250, by corruption .7": Crowd(10, 250, own_sd=0.7),
        "crowds of 10 x 250": Crowd(10, 250, joint=False),
        "12 people x 200, 200 originals": Crowd(12, 200, originals=200),
        "8 people x 250": Crowd(8, 250),
        "crowds of 12 x 200, sd 1": Crowd(12, 200, joint=False, person_sd=1.0),
        "crowds of 19 x 200, sd 1": Crowd(19, 200, joint=False, person_sd=1.0),
        "20 people x 250, sd .7": Crowd(20, 250, joint=False, person_sd=0.7),
        "60 people x 16": Crowd(60, 16),
    }
    for name, crowd in few.items():
        yield Cell(DIFFERENT.name, f"{name}, smooth, equal", partial(equal, crowd, SMOOTH), covers | never, RUNS)
    for joint, crowd in (("one crowd", large), ("crowds of their own", replace(large, joint=False))):
        for name, (truth, change) in MARGINS.items():
            other = scaled_to_margin(truth, change)
            gap = float(np.mean(truth(GRID) - other(GRID)))
            limits = covers | {"equivalent": Limit(at_most=0.05)}
            yield Cell(
                EQUIVALENT.name,
                f"{name} at the margin, {joint}",
                partial(apart, crowd, truth, other, gap),
                limits,
                RUNS,
            )
        moved, gap = cliff_shifted_to_margin()
        limits = covers | {"equivalent": Limit(at_most=0.05)}
        yield Cell(
            EQUIVALENT.name,
            f"cliff shifted to the margin, {joint}",
            partial(apart, crowd, CLIFF, moved, gap),
            limits,
            RUNS,
        )
    lower = SMOOTH.lowered(0.03)
    limits = covers | {"equivalent": Limit(at_most=0.05)}
    yield Cell(DIFFERENCE.name, "areas apart by the margin", partial(apart, large, SMOOTH, lower, 0.03), limits, RUNS)
    false = {"equivalent": Limit(at_most=0.05)}
    for share in (0.1, 0.2, 0.3):
        crowd = replace(large, careless=share)
        for name in ("smooth, dip", "sharp, narrow crossing"):
            truth, change = MARGINS[name]
            study = never_equivalent(crowd, truth, scaled_to_margin(truth, change))
            yield Cell(EQUIVALENT.name, f"{name} at the margin, {share:.0%} careless", study, false, RUNS)
        study = never_equivalent(crowd, SMOOTH, lower)
        yield Cell(EQUIVALENT.name, f"areas apart by the margin, {share:.0%} careless", study, false, RUNS)
    said = {"any equal pair different": Limit(at_most=0.05)}
    yield Cell(DIFFERENT.name, "14 functions, 550 x 9, one crowd", family(Crowd(550, 9), SHARP), said, FAMILY_RUNS)


#: Where the mean of a true difference is taken.
GRID = (np.arange(20_000) + 0.5) / 20_000
#: Runs a cell, and of whole families.
RUNS, FAMILY_RUNS = 2000, 200
CELLS = tuple(cells())

if __name__ == "__main__":
    run("corruptions")
