"""Are crowds of several recruiters pooled and told apart as the product says? Equal crowds, the margin, planned sizes.

    python -m benchmarks.claims.recruiters [--runs 0] [--cell TEXT] [--kept FILE] [--write]

Crowds of different people answer stimuli of the same originals. Equal crowds: to call them different is false. Areas
apart by .03: to call them alike is false, and with the people that the Design page plans for it they are called
different. Pooled: weights 1 to 1, people 3 to 1, areas far apart. Repeats: some of the people are the same ones twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from analysis.claims.claim import FALSE_RECRUITERS_IN_100
from analysis.claims.recruiters import ALIKE, DIFFERENCE, DIFFERENT, PLANNED, POOLED, REPEATED, TRUE_GAP
from analysis.clusters import clustered
from analysis.curves.fit import fit_curve
from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.beside import attentive_share
from analysis.differences.family import DRAWS
from analysis.differences.recruiters import CrowdsBeside, compare_recruiters, repeated
from analysis.power.crowd import Crowd, marginal_logit
from analysis.power.recruiters import plan_recruiters
from analysis.power.study import PlannedStudy
from analysis.recruiters import Recruiters
from benchmarks.claims._cells import Cell, Limit, Outcome, run
from benchmarks.claims._studies import CLEAN, CLEAN_EACH, SMOOTH, Curve, answered, expit


@dataclass(frozen=True)
class Size:
    """People of each recruiter, answers of each person on a corruption, corruptions, originals."""

    people: tuple[int, ...]
    each: int = 25
    corruptions: int = 1
    originals: int = 2000
    image_sd: float = 2.0
    person_sd: float = 0.5
    careless: float = 0.0
    #: so many people of the second recruiter are people of the first
    repeats: int = 0


@dataclass(frozen=True, eq=False)
class Collected:
    """Answers by recruiter and corruption, the share of each that came from looking, and who is whose second time."""

    answers: dict[str, dict[str, AnswersToOne]]
    attentive: dict[str, float]
    second_times: tuple[str, ...] = ()


def collected(rng: np.random.Generator, size: Size, curves: Sequence[Curve]) -> Collected:
    """One study: a true curve for each recruiter, the same on every corruption."""
    original_sd = size.image_sd * np.sqrt(0.5)
    original = rng.normal(0.0, original_sd, size.originals)
    ability = [rng.normal(0.0, size.person_sd, count) for count in size.people]
    if size.repeats:
        ability[1][: size.repeats] = ability[0][: size.repeats]
    names = np.char.zfill(np.arange(size.originals).astype(str), 6)
    found, looked = Collected({}, {}, tuple(f"1 {k:06}" for k in range(size.repeats))), {}
    for crowd, (curve, count) in enumerate(zip(curves, size.people, strict=True)):
        who = np.repeat(np.arange(count), size.each)
        people = Clusters(np.char.add(f"{crowd} ", np.char.zfill(np.arange(count).astype(str), 6)), who)
        found.answers[str(crowd)] = {}
        for corruption in range(size.corruptions):
            v, of = rng.random(len(who)), rng.integers(0, size.originals, len(who))
            logit = marginal_logit(curve(v), float(np.hypot(size.image_sd, size.person_sd)))
            logit += original[of] + rng.normal(0.0, original_sd, len(who)) + ability[crowd][who]
            found.answers[str(crowd)][str(corruption)] = AnswersToOne(
                v, answered(rng, expit(logit), size.careless), Clusters.of(names[of]), people
            )
        seen = np.repeat(np.arange(count), CLEAN_EACH)
        chance = expit(marginal_logit(np.full(len(seen), CLEAN), size.person_sd) + ability[crowd][seen])
        clean = AnswersToOne.of(np.zeros(len(seen)), answered(rng, chance, size.careless), np.arange(len(seen)), seen)
        looked[str(crowd)] = attentive_share(clean)
    return Collected(found.answers, looked, found.second_times)


def compared(rng: np.random.Generator, size: Size, curves: Sequence[Curve], draws: int = DRAWS) -> list[CrowdsBeside]:
    made = collected(rng, size, curves)
    seed = int(rng.integers(1 << 31))
    return list(compare_recruiters(made.answers, attentive=made.attentive, seed=seed, draws=draws).values())


def equal(size: Size, rng: np.random.Generator) -> Outcome:
    found = compared(rng, size, [SMOOTH] * len(size.people))
    return {
        "any different": any(one.is_different for one in found),
        "alike": float(np.mean([one.is_alike for one in found])),
        "interval covers": float(np.mean([covers(one, 0.0) for one in found])),
        "error": found[0].standard_error,
        "difference": found[0].difference,
    }


def apart(size: Size, rng: np.random.Generator) -> Outcome:
    """The second crowd's area is smaller by the margin."""
    (found,) = compared(rng, size, [SMOOTH, SMOOTH.lowered(TRUE_GAP)])
    return {
        "alike": found.is_alike,
        "different": found.is_different,
        **({} if size.careless else {"interval covers": covers(found, TRUE_GAP)}),
    }


def covers(found: CrowdsBeside, truth: float) -> bool:
    return found.interval[0] <= truth <= found.interval[1]


@cache
def planned_people(each: int, corruptions: int, person_sd: float) -> int:
    """People of each of two recruiters, as the Design page plans them."""
    crowd = Crowd(200, each, originals=2000, participant_sd=person_sd)
    study = PlannedStudy(crowd, functions=corruptions, curve=SMOOTH, recruiters=(100, 100))
    return plan_recruiters(study).people


def at_planned_size(each: int, corruptions: int, person_sd: float) -> Callable[..., Outcome]:
    def study(rng: np.random.Generator) -> Outcome:
        people = planned_people(each, corruptions, person_sd)
        size = Size((people, people), each, corruptions, person_sd=person_sd)
        (found,) = compared(rng, size, [SMOOTH, SMOOTH.lowered(TRUE_GAP)])
        return {"different": found.is_different, "alike": found.is_alike, "people of each": people}

    return study


def pooled(size: Size, gap: float, rng: np.random.Generator) -> Outcome:
    """Recruiters that count equally and sent people 3 to 1; the interval of the area under the pooled curve."""
    curves = [SMOOTH, SMOOTH.lowered(gap)]
    made = collected(rng, size, curves)
    parts = [own["0"] for own in made.answers.values()]
    people = np.concatenate([own.people.names[own.people.codes] for own in parts if own.people is not None])
    of = Recruiters.of({name: name[0] for name in people.tolist()}, {"0": 0.5, "1": 0.5})
    names, codes, counts = np.unique(people, return_inverse=True, return_counts=True)
    columns = {
        "visual_change": np.concatenate([own.place for own in parts]),
        "correct": np.concatenate([own.outcome for own in parts]),
        "participants": people,
        "images": np.concatenate([own.originals.names[own.originals.codes] for own in parts]),
    }
    fit = fit_curve(**columns, weights=(of.counts_of(names) / counts)[codes] * np.mean(counts), n_bootstrap=2)
    truth = float(np.mean([curve.area for curve in curves]))
    assert fit.area_interval is not None
    lower, upper = fit.area_interval
    return {"covers": lower <= truth <= upper, "bias": fit.area - truth, "width": upper - lower}


def with_repeats(size: Size, rng: np.random.Generator) -> Outcome:
    """Some people came through both recruiters: do the bounds hold of what their second sessions do?"""
    made = collected(rng, size, [SMOOTH, SMOOTH])
    first, second = (own["0"] for own in made.answers.values())
    assert first.people is not None and second.people is not None
    names = np.concatenate([one.names[one.codes] for one in (first.people, second.people)])
    of = Recruiters.of({name: name[0] for name in names.tolist()}, {"0": 0.5, "1": 0.5})
    place, outcome = (np.concatenate([getattr(one, name) for one in (first, second)]) for name in ("place", "outcome"))
    originals = np.concatenate([one.originals.names[one.originals.codes] for one in (first, second)])
    every = AnswersToOne.of(place, outcome, originals, names, recruiters=of)
    found = repeated(every, size.repeats / sum(size.people))
    assert found is not None
    known = np.isin(names, made.second_times)
    without = every.select(~known)
    merged = np.where(known, np.char.add("0", np.char.lstrip(names, "1")), names)
    as_one = AnswersToOne.of(place, outcome, originals, merged, recruiters=None)
    return {
        "shift is bounded": abs(mean_of(without) - mean_of(every)) <= found.shift,
        "shift": abs(mean_of(without) - mean_of(every)),
        "bound of the shift": found.shift,
        "width is bounded": width_of(as_one) <= found.width_at_most,
        "width / bound": width_of(as_one) / found.width_at_most,
    }


#: The whole axis as forty cells.
EDGES = np.linspace(0.0, 1.0, 41)


def mean_of(answers: AnswersToOne) -> float:
    return float(np.mean(answers.by_cell(EDGES).means))


def width_of(answers: AnswersToOne) -> float:
    """Of the 95 % interval of the mean."""
    cells, row = answers.by_cell(EDGES), np.full((1, 40), 1 / 40)
    sums = [one.sums @ row.T for one in (cells.people, cells.originals) if one is not None]
    return float(2.0 * clustered(sums, row**2 @ cells.singles).reach(0.95)[0])


def cells() -> Iterator[Cell]:
    false, covered = {"any different": Limit(at_most=0.05)}, {"interval covers": Limit(at_least=0.90)}
    sizes = {
        "150 and 75 people x 25": Size((150, 75)),
        "400 and 400 people x 25": Size((400, 400)),
        "12 and 12 people x 100": Size((12, 12), 100),
        "100, 60 and 40 people x 15, 3 corruptions": Size((100, 60, 40), 15, 3),
    }
    for name, size in sizes.items():
        yield Cell(DIFFERENT.name, f"equal crowds, {name}", partial(equal, size), false | covered, RUNS)
    few = "equal crowds, {} and {} people x 100 who differ by 1"
    printed = {"any different": Limit(at_most=FALSE_RECRUITERS_IN_100 / 100)}
    # Of four people each the interval covers less often: the claim of the difference says so.
    for people, limits in (((4, 4), printed), ((12, 19), printed | covered)):
        study = partial(equal, Size(people, 100, person_sd=1.0))
        yield Cell(DIFFERENT.name, few.format(*people), study, limits, FEW_RUNS)
    never = {"alike": Limit(at_most=0.05)}
    for name, size in {
        "400 and 400 people x 25": Size((400, 400)),
        "900 and 300 people x 25": Size((900, 300)),
    }.items():
        yield Cell(ALIKE.name, f"areas apart by .03, {name}", partial(apart, size), never | covered, RUNS)
    careless = Size((600, 600), careless=0.12)
    yield Cell(ALIKE.name, "areas apart by .03, 12 % careless", partial(apart, careless), never, RUNS)
    yield Cell(
        DIFFERENCE.name, "areas apart by .03, 60 and 60 people x 25", partial(apart, Size((60, 60))), covered, RUNS
    )
    found = {"different": Limit(at_least=0.90), "alike": Limit(at_most=0.05)}
    for name, arguments in {
        "25 answers on each of 2 corruptions": (25, 2, 0.5),
        "10 answers on each of 3 corruptions": (10, 3, 0.5),
        "25 answers on each of 2 corruptions, people differ by 1": (25, 2, 1.0),
    }.items():
        yield Cell(PLANNED.name, f"areas apart by .03, as planned: {name}", at_planned_size(*arguments), found, RUNS)
    kept = {"covers": Limit(at_least=0.93), "bias": Limit(at_most=0.005, at_least=-0.005)}
    for gap in (0.03, 0.10):
        yield Cell(
            POOLED.name,
            f"90 and 30 people x 25, areas apart by {gap:g}",
            partial(pooled, Size((90, 30)), gap),
            kept,
            RUNS,
        )
    bounds = {"shift is bounded": Limit(at_least=0.95), "width is bounded": Limit(at_least=0.95)}
    for repeats in (4, 10):
        size = Size((120, 80), repeats=repeats)
        yield Cell(REPEATED.name, f"{repeats} of 200 people came twice", partial(with_repeats, size), bounds, RUNS)


RUNS = 400
#: Of cells of few people, whose rate is printed.
FEW_RUNS = 2000
CELLS = tuple(cells())

if __name__ == "__main__":
    run("recruiters")
