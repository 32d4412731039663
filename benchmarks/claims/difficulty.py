"""Models over people's own accuracy: does the interval of the difference contain the truth, and does a twin of people
lie on the diagonal?

python -m benchmarks.claims.difficulty [--processes 1] [--write]

Three corruptions with a fall at other places of Δv. A twin has people's accuracy at every Δv, with picture difficulties
of its own or with people's; other models are right more or less often by a shift on the logit. The truth of a range is
the mean difference of the marginal accuracies at the Δv of the answers that were placed there. "naive": what the
estimate would miss the truth by in the hardest range, were answers placed by the very answers that are compared there.
"bias_hardest": what it misses it by; a mean over as many answers as happen to be placed is not quite unbiased.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import expit

from analysis.agreement.difficulty import at_difficulties, ease_for_others
from analysis.arrays import FloatArray
from analysis.claims.difficulty import AT_DIFFICULTY, REGIMES
from benchmarks.claims._cells import Cell, Limit, Outcome, run

#: Where people's accuracy falls, how steeply, and the accuracy of guessing.
FALLS, SLOPE, CHANCE = (0.4, 0.6, 0.8), 9.0, 1 / 16
PICTURE_SD, PERSON_SD = 2.0, 0.5
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(30)
GRID = np.linspace(-12.0, 12.0, 481)
MARGINAL = CHANCE + (1.0 - CHANCE) * (
    expit(GRID[:, None] + np.hypot(PICTURE_SD, PERSON_SD) * NODES) @ WEIGHTS / WEIGHTS.sum()
)


def marginal(logit: FloatArray) -> FloatArray:
    """Accuracy over new people and new pictures."""
    return np.interp(logit, GRID, MARGINAL)


def study(rng: np.random.Generator, people: int, answers: int, originals: int, shared: bool, shift: float) -> Outcome:
    n = people * answers * len(FALLS)
    who = np.repeat(np.arange(people), answers * len(FALLS))
    corruption = np.tile(np.repeat(np.arange(len(FALLS)), answers), people)
    # A picture: one original under one corruption at one of 40 strengths.
    level = rng.integers(0, 40, n)
    original = rng.integers(0, originals, n)
    picture = (corruption * 40 + level) * originals + original
    logit = SLOPE * (np.array(FALLS)[corruption] - (level + 0.5) / 40)

    def answered(own: FloatArray, extra: FloatArray) -> FloatArray:
        return (rng.random(n) < CHANCE + (1.0 - CHANCE) * expit(own + extra)).astype(np.float64)

    def difficulties() -> FloatArray:
        of_original, of_picture = rng.standard_normal(originals), rng.standard_normal(len(FALLS) * 40 * originals)
        return PICTURE_SD * (of_original[original] + of_picture[picture]) / np.sqrt(2.0)

    theirs = difficulties()
    right = answered(logit, theirs + PERSON_SD * rng.standard_normal(people)[who])
    # One answer of the model to a picture, whoever saw it.
    first = np.unique(picture, return_index=True, return_inverse=True)
    noise = PERSON_SD * rng.standard_normal(n)
    single = answered(logit + shift, (theirs if shared else difficulties()) + noise)
    model = single[first[1]][first[2]]
    truth = marginal(logit + shift) - marginal(logit)
    collection = corruption * 10 + level // 4
    ease = ease_for_others(right, who, original, collection)
    shown = [one for one in at_difficulties(ease, right, model, who, original) if one.shown]
    regime = np.floor(np.nan_to_num(ease, nan=-1.0) * REGIMES + 1e-9).clip(-1, REGIMES - 1)
    covers, misses = [], []
    for one in shown:
        true = float(truth[regime == round(one.placed[0] * REGIMES)].mean())
        covers.append(float(one.interval[0] <= true <= one.interval[1]))
        misses.append(one.difference - true)
    outcome = {
        "covers": float(np.mean(covers)) if shown else np.nan,
        "covers_hardest": covers[0] if shown else np.nan,
        "covers_easiest": covers[-1] if shown else np.nan,
        "bias_hardest": misses[0] if shown else np.nan,
        "bias_easiest": misses[-1] if shown else np.nan,
        "ranges": float(len(shown)),
        "width": float(np.mean([one.interval[1] - one.interval[0] for one in shown])) if shown else np.nan,
    }
    own = np.bincount(collection, weights=right, minlength=30) / np.maximum(np.bincount(collection, minlength=30), 1)
    hardest = own[collection] < 1 / REGIMES
    outcome["naive"] = float((model - right)[hardest].mean() - truth[hardest].mean()) if hardest.any() else np.nan
    return outcome


OWN, SHARED = ("a twin with difficulties of its own", False, 0.0), ("a twin with people's difficulties", True, 0.0)
BETTER, WORSE = ("a better model", False, 1.5), ("a worse model with people's difficulties", True, -1.5)
STUDIES = (
    *(((60, 16, 48), kind) for kind in (OWN, SHARED, BETTER, WORSE)),
    ((200, 25, 200), OWN),
    *(((12, 60, 48), kind) for kind in (OWN, SHARED)),
    *(((8, 40, 48), kind) for kind in (OWN, SHARED)),
)

CELLS = tuple(
    Cell(
        claim=AT_DIFFICULTY.name,
        name=f"{people} people, {answers} answers a corruption, {originals} originals, {kind}",
        study=partial(study, people=people, answers=answers, originals=originals, shared=shared, shift=shift),
        limits={
            quantity: Limit(at_least=AT_DIFFICULTY.rate) for quantity in ("covers", "covers_hardest", "covers_easiest")
        },
    )
    for (people, answers, originals), (kind, shared, shift) in STUDIES
)

if __name__ == "__main__":
    run("difficulty")
