"""Do HMRI and MRSI of a real twin of people lie within the range that is stated as their ceiling?

    python -m benchmarks.claims.ceiling [--runs 0] [--cell TEXT] [--kept FILE] [--write]

Two corruptions, people and a twin that answers by the people's true curves, on pictures that are hard for both. The
ceiling is simulated from people's answers alone; a range of 90 % should hold the twin in 85 to 95 % of the studies.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from analysis.claims.models import CEILING
from analysis.curves.curve import CurveFit
from analysis.curves.fit import fit_curve
from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.twin import CurveAnswers, simulated_twins
from analysis.metrics import compare
from benchmarks.claims._cells import Cell, Limit, Outcome, run
from benchmarks.claims._studies import SHARP, SMOOTH, Size, simulated

SIZE = Size(60, 16)
#: Half of those of an analysis, which makes the ends of the range a little less certain.
DRAWS = 100
PEOPLE = (SMOOTH, SHARP)


def fitted(answers: AnswersToOne) -> CurveFit:
    people = None if answers.people is None else answers.people.names[answers.people.codes]
    originals = answers.originals.names[answers.originals.codes]
    return fit_curve(answers.place, answers.outcome, participants=people, images=originals)


def behind(answers: AnswersToOne, fit: CurveFit, corruption: str) -> CurveAnswers:
    """As an analysis reads them; a stimulus is an original under one corruption."""
    assert answers.people is not None
    stimuli = Clusters(np.char.add(f"{corruption}: ", answers.originals.names), answers.originals.codes)
    clean = np.zeros(len(answers), dtype=np.bool_)
    return CurveAnswers(fit, answers.place, answers.outcome, answers.people, stimuli, answers.originals, clean)


def twin(size: Size, answers_per_stimulus: int, rng: np.random.Generator) -> Outcome:
    made = simulated(rng, size, PEOPLE, [PEOPLE], answers_per_stimulus=answers_per_stimulus)
    humans = {name: fitted(one) for name, one in made.people.items()}
    found = simulated_twins(
        {name: behind(one, humans[name], name) for name, one in made.people.items()},
        seed=int(rng.integers(1 << 31)),
        draws=DRAWS,
    )
    told = {name: compare(humans[name], fitted(one)) for name, one in made.models["model 0"].items()}
    real = {name: np.array([one.hmri, one.mrsi]) for name, one in told.items()}
    mean = np.mean(list(real.values()), axis=0)
    inside = np.mean([within(found.indices[name], real[name]) for name in real], axis=0)
    of_mean, median = within(found.mean(list(real)), mean), np.median(found.mean(list(real)), axis=0)
    return {
        "HMRI inside": inside[0],
        "MRSI inside": inside[1],
        "mean HMRI inside": of_mean[0],
        "mean MRSI inside": of_mean[1],
        "real minus median, HMRI": mean[0] - median[0],
        "shared": found.shared.pictures,
    }


def within(drawn: np.ndarray, real: np.ndarray) -> np.ndarray:
    low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
    return np.asarray((low <= real) & (real <= high))


def cells() -> Iterator[Cell]:
    kept = Limit(at_least=0.85, at_most=0.95)
    limits = {f"{which}{index} inside": kept for which in ("", "mean ") for index in ("HMRI", "MRSI")}
    yield Cell(CEILING.name, "60 x 16, 3 answers a stimulus", partial(twin, SIZE, 3), limits, 400)


CELLS = tuple(cells())

if __name__ == "__main__":
    run("ceiling")
