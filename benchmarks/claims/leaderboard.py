"""Do the intervals of a model's mean HMRI and MRSI over corruptions cover, also where the truth lies on the edge?

    python -m benchmarks.claims.leaderboard [--runs 0] [--cell TEXT] [--kept FILE] [--write]

Three corruptions, people and one model on the same stimuli: a twin of people (HMRI 1, MRSI 0), and a model above them
on a single corruption. The estimand is HMRI and MRSI of the true curves.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from analysis.claims.models import MEAN_INDICES
from analysis.curves.curve import CurveFit
from analysis.curves.fit import fit_curve
from analysis.differences.answers import AnswersToOne
from analysis.differences.beside import beside_people
from analysis.findings.leaderboard import Shown, mean_intervals
from analysis.metrics import compare
from benchmarks.claims._cells import Cell, Limit, Outcome, run
from benchmarks.claims._studies import SHARP, SMOOTH, Curve, Size, simulated

SIZES = {"60 x 16": Size(60, 16), "200 x 25": Size(200, 25)}
REFITS = 200
V = (np.arange(20_000) + 0.5) / 20_000


def indices(people: tuple[Curve, ...], model: tuple[Curve, ...]) -> tuple[float, float]:
    """Mean HMRI and MRSI of the true curves."""
    hmri, mrsi = [], []
    for human, network in zip(people, model, strict=True):
        first, second = human(V), network(V)
        lower = np.minimum(first, second).mean()
        hmri.append(lower / first.mean())
        mrsi.append(1.0 - lower / second.mean())
    return float(np.mean(hmri)), float(np.mean(mrsi))


def fitted(answers: AnswersToOne, seed: int) -> CurveFit:
    people = None if answers.people is None else answers.people.names[answers.people.codes]
    return fit_curve(
        answers.place,
        answers.outcome,
        participants=people,
        images=answers.originals.names[answers.originals.codes],
        n_bootstrap=REFITS,
        rng=seed,
    )


def leader(size: Size, people: tuple[Curve, ...], model: tuple[Curve, ...]) -> Callable[..., Outcome]:
    truth = indices(people, model)

    def study(rng: np.random.Generator) -> Outcome:
        made, seed = simulated(rng, size, people, [model]), int(rng.integers(1 << 31))
        found = beside_people(made.people, made.models, attentive=made.attentive, seed=seed)["model 0"]
        humans = [fitted(one, seed) for one in made.people.values()]
        networks = [fitted(one, seed) for one in made.models["model 0"].values()]
        shown = [Shown(bool(one.above), bool(one.below)) for one in found.corruptions.values()]
        intervals = mean_intervals(humans, networks, shown)
        assert intervals is not None
        told = [compare(human, network) for human, network in zip(humans, networks, strict=True)]
        estimates = float(np.mean([one.hmri for one in told])), float(np.mean([one.mrsi for one in told]))
        outcome = {}
        for name, right, estimate, (low, high) in zip(("HMRI", "MRSI"), truth, estimates, intervals, strict=False):
            outcome[f"{name} covers"] = low <= right <= high
            outcome[f"{name} bias"] = estimate - right
            outcome[f"{name} width"] = high - low
        return outcome

    return study


#: True curves of people on three corruptions, and those of the model.
PEOPLE = (SMOOTH, SHARP, SMOOTH)
MODELS: dict[str, tuple[Curve, ...]] = {
    "twin": PEOPLE,
    "above on one, twin on two": (SMOOTH.lowered(-0.08), SHARP, SMOOTH),
}


def cells() -> Iterator[Cell]:
    limits = {"HMRI covers": Limit(at_least=0.93), "MRSI covers": Limit(at_least=0.93)}
    for (size_name, size), (kind, model) in itertools.product(SIZES.items(), MODELS.items()):
        yield Cell(MEAN_INDICES.name, f"{size_name}, {kind}", leader(size, PEOPLE, model), limits, 400)


CELLS = tuple(cells())

if __name__ == "__main__":
    run("leaderboard")
