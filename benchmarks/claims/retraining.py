"""Does the interval of what retraining brought cover, for the two sets of weights that there are?

    python -m benchmarks.claims.retraining [--runs 0] [--cell TEXT] [--kept FILE] [--write]

People and one network before and after on the same stimuli of one corruption; the two networks have true curves of
their own, and find the same pictures hard. The estimand is after minus before of area, HMRI and MRSI of these curves:
new pictures and new people, never another training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from analysis.claims.robustness import RETRAINING
from analysis.retraining.comparison import difference_interval
from benchmarks.claims._cells import Cell, Limit, Outcome, run
from benchmarks.claims._studies import SMOOTH, Curve, Size, simulated
from benchmarks.claims.leaderboard import V, fitted, indices

SIZE = Size(60, 16)
LEVEL = 0.95
QUANTITIES = ("area", "HMRI", "MRSI")


def retrained(people: Curve, before: Curve, after: Curve, *, shares_pictures: bool = True) -> Callable[..., Outcome]:
    values = [(float(curve(V).mean()), *indices((people,), (curve,))) for curve in (before, after)]
    truth = np.subtract(values[1], values[0])

    def study(rng: np.random.Generator) -> Outcome:
        made = simulated(rng, SIZE, [people], [[before], [after]], shares_pictures=shares_pictures)
        seed = int(rng.integers(1 << 31))
        (human,) = (fitted(one, seed) for one in made.people.values())
        first, second = (fitted(one, seed) for own in made.models.values() for one in own.values())
        low, high = difference_interval(human, first, second, LEVEL)
        told = zip(QUANTITIES, low, high, truth, strict=True)
        outcome: dict[str, float] = {}
        for name, lower, upper, right in told:
            # What is exactly 0 at an end is 0 but for rounding.
            outcome[f"{name} covers"] = lower - 1e-9 <= right <= upper + 1e-9
            outcome[f"{name} width"] = upper - lower
        return outcome

    return study


#: People, the network before, and after.
TRAININGS: dict[str, tuple[Curve, Curve, Curve]] = {
    "without effect, like people": (SMOOTH, SMOOTH, SMOOTH),
    "without effect, below people": (SMOOTH, SMOOTH.lowered(0.08), SMOOTH.lowered(0.08)),
    "becomes like people": (SMOOTH, SMOOTH.lowered(0.08), SMOOTH),
    "overtakes people": (SMOOTH, SMOOTH.lowered(0.05), SMOOTH.lowered(-0.05)),
}


def cells() -> Iterator[Cell]:
    limits = {f"{name} covers": Limit(at_least=0.93) for name in QUANTITIES}
    for name, curves in TRAININGS.items():
        yield Cell(RETRAINING.name, name, retrained(*curves), limits, RUNS)


#: Runs a cell: each fits three curves with their refits.
RUNS = 400
CELLS = tuple(cells())

if __name__ == "__main__":
    run("retraining")
