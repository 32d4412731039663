"""Does the named set flip the verdict, and does no smaller one? Small studies, in which every set can be tried.

    python -m benchmarks.claims.fragility [--runs 0] [--cell TEXT] [--kept FILE] [--write]

Eight people with 40 answers each beside one model on one corruption, near the border between differs and undecided, or
with one person unlike the others. The named set is left out and all is judged anew by `beside_people`, with draws of
another seed. Every smaller set of sessions is, too, and where none was named every set up to the size to which the
search calls itself exact: it flips the word if it does so at two Monte Carlo errors of the level to either side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np

from analysis.claims.models import FRAGILITY, overall_word
from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.beside import beside_people
from analysis.differences.compared import Compared, Sources
from analysis.differences.family import DRAWS
from analysis.differences.fragility import fragility
from benchmarks.claims._cells import Cell, Limit, Outcome, run

PEOPLE, EACH = 8, 40
LEVEL = 0.95
NOISE = 2.0 * math.sqrt(LEVEL * (1.0 - LEVEL) / DRAWS)
MARGIN, WINDOW_MARGIN = 0.03, 0.10


def answered(rng: np.random.Generator, rates: np.ndarray, prefix: str, *, is_model: bool = False) -> Sources:
    """Answers evenly over visual change, each person right in a share, to pictures of their own."""
    count = EACH * len(rates)
    place = np.tile((np.arange(EACH) + 0.5) / EACH, len(rates))
    right = (rng.random(count) < np.repeat(rates, EACH)).astype(float)
    who = np.repeat([f"s{number}" for number in range(len(rates))], EACH)
    pictures = np.array([f"{prefix}{number:05}" for number in range(count)])
    answers = AnswersToOne.of(place, right, pictures, None if is_model else who)
    return Sources(answers, Clusters(np.array(["c"]), np.zeros(count, dtype=np.int64)), answers.people)


def word_of(study: Compared, level: float, seed: int) -> str:
    people, models = study.answers()
    (one,) = beside_people(
        people,
        models,
        attentive=study.attentive(),
        margin=MARGIN,
        window_margin=WINDOW_MARGIN,
        level=level,
        seed=seed,
    ).values()
    return overall_word(matches=one.matches, differs=bool(one.differs_on))


def searched(rates: Callable[[np.random.Generator], np.ndarray], model: float, rng: np.random.Generator) -> Outcome:
    made = Compared(
        {"blur": answered(rng, rates(rng), "p")},
        {"m": {"blur": answered(rng, np.full(PEOPLE, model), "m", is_model=True)}},
        answered(rng, np.full(PEOPLE, 0.98), "k"),
    )
    seeds = [int(one) for one in rng.integers(1 << 31, size=2)]
    (found,) = fragility(
        made, margin=MARGIN, window_margin=WINDOW_MARGIN, level=LEVEL, seed=seeds[0], units=("sessions",)
    )["m", "blur"]
    now = word_of(made, LEVEL, seeds[0])
    flips = np.nan
    if found.names:
        flips = float(word_of(made.without("sessions", found.names), LEVEL, seeds[1]) != now)
    smaller = min(found.exact, len(found.names) - 1) if found.names else found.exact
    missed = any(
        all(word_of(made.without("sessions", left), LEVEL + by, seeds[1]) != now for by in (-NOISE, NOISE))
        for size in range(1, smaller + 1)
        for left in combinations(made.units("sessions"), size)
    )
    return {
        "named set flips": flips,
        "a smaller set does, too": float(missed),
        "named": float(bool(found.names)),
        "differs": float(now == "differs"),
    }


def alike(rng: np.random.Generator) -> np.ndarray:
    return np.asarray(np.clip(0.72 + 0.05 * rng.standard_normal(PEOPLE), 0.05, 0.95))


def one_apart(rng: np.random.Generator) -> np.ndarray:
    return np.asarray(np.append(alike(rng)[1:], 0.3))


LIMITS = {"named set flips": Limit(at_least=0.95), "a smaller set does, too": Limit(at_most=0.05)}
#: Runs a cell: each judges up to 36 smaller studies twice.
RUNS = 400
CELLS = (
    Cell(FRAGILITY.name, "people alike, a model below", partial(searched, alike, 0.61), LIMITS, RUNS),
    Cell(FRAGILITY.name, "one person apart, a model below", partial(searched, one_apart, 0.56), LIMITS, RUNS),
)

if __name__ == "__main__":
    run("fragility")
