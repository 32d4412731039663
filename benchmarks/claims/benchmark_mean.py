"""Means of the table of published experiments: do their intervals contain the truth for new people and new pictures?

python -m benchmarks.claims.benchmark_mean [--processes 1] [--write]

People differ (standard deviation .5 on the logit), pictures differ (2); everybody answers all pictures of one or two
experiments of one condition. A plain t interval of the squared difference of accuracies covered in .83 to .87 of 400
studies where the accuracies are close; that of the corrected one is tried here, too.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from analysis.agreement.pairs import kappa_from_counts
from analysis.claims.agreement import BENCHMARK_MEAN
from analysis.findings.benchmark import corrected_difference, pooled_mean
from analysis.findings.benchmark_parts import Experiment, Measure
from analysis.findings.observations import Observations
from benchmarks.claims._cells import Cell, Limit, Outcome, run
from benchmarks.claims.kappa import CROWD_SD, IMAGE_SD, PERSON_SD, logit_of, normal, rate_of

MODEL = "model"


def answers(observers: list[str], right: NDArray[np.bool_]) -> Observations:
    """Rows of observers, columns of pictures."""
    shape, n = right.shape, right.size
    pictures = np.tile(np.array([f"p{k}" for k in range(shape[1])]), shape[0])
    text = {"session": "", "category": "cat", "corruption": "x", "condition": "0", "input_kind": "", "response": ""}
    columns = {name: np.full(n, value) for name, value in text.items()}
    nothing = np.full(n, np.nan)
    return Observations(
        observer=np.repeat(np.array(observers), shape[1]),
        original=pictures,
        stimulus=pictures,
        visual_change=nothing,
        correct=right.ravel().astype(np.float64),
        rt_ms=nothing,
        timing_ok=nothing,
        imported=np.ones(n, dtype=np.bool_),
        **columns,
    )


@lru_cache
def truth(people: float, model: float, beside: str) -> dict[Measure, float]:
    nodes, weights = normal()
    theirs = rate_of(logit_of(people, CROWD_SD) + IMAGE_SD * nodes[:, None] + PERSON_SD * nodes)
    other = theirs if beside == "people" else rate_of(logit_of(model) + IMAGE_SD * nodes)[:, None]
    p, q = weights @ theirs, weights @ other
    both = np.einsum("i,ij,ik->jk", weights, theirs, other)
    observed = 1.0 - p[:, None] - q + 2.0 * both
    kappa = kappa_from_counts(*np.broadcast_arrays(p[:, None], q, both), 1.0)[2]
    share = np.outer(weights, weights if beside == "people" else np.ones(1))
    accuracy = float(weights @ p) if beside == "people" else float(q[0])
    lead = {} if beside == "people" else {"accuracy_lead": float(weights @ p - q[0])}
    return {
        **lead,
        "accuracy_difference": float((share * (p[:, None] - q) ** 2).sum()),
        "ood_accuracy": accuracy,
        "observed_consistency": float((share * observed).sum()),
        "error_consistency": float((share * kappa).sum()),
    }


def study(
    rng: np.random.Generator, experiments: int, people: int, pictures: int, accuracies: tuple[float, float], beside: str
) -> Outcome:
    found = {}
    for number in range(experiments):
        ease = rng.normal(0.0, IMAGE_SD, pictures)
        ability = rng.normal(0.0, PERSON_SD, people)[:, None]
        theirs = rng.random((people, pictures)) < rate_of(logit_of(accuracies[0], CROWD_SD) + ease + ability)
        model = rng.random((1, pictures)) < rate_of(logit_of(accuracies[1]) + ease)
        names = [f"subject-{one}" for one in range(people)]
        made = Experiment(str(number), answers(names, theirs), answers([MODEL], model))
        found[str(number)] = made.parts_of_people() if beside == "people" else made.parts_of(MODEL)
    told = {}
    for measure, value in truth(*accuracies, beside).items():
        is_squared = measure == "accuracy_difference"
        mean = corrected_difference(found, 0.95) if is_squared else pooled_mean(found, measure, 0.95)
        assert mean is not None
        lower, upper = mean.interval or (mean.value, mean.value)
        told[f"covers {measure}"] = float(lower <= value <= upper)
        told[f"width {measure}"] = upper - lower
        if is_squared:
            told[f"bias {measure}"] = mean.value - value
    return told


MEASURES: tuple[Measure, ...] = ("ood_accuracy", "accuracy_difference", "observed_consistency", "error_consistency")
CELLS = tuple(
    Cell(
        claim=BENCHMARK_MEAN.name,
        name=(
            f"{experiments} x {people} people x {pictures} pictures, accuracies {accuracies[0]:g} and "
            f"{accuracies[1]:g}, {'people among themselves' if beside == 'people' else 'a model'}"
        ),
        study=partial(
            study, experiments=experiments, people=people, pictures=pictures, accuracies=accuracies, beside=beside
        ),
        limits={
            f"covers {measure}": Limit(at_least=BENCHMARK_MEAN.rate)
            for measure in (*MEASURES, *(("accuracy_lead",) if beside == "a model" else ()))
        },
        runs=400,
    )
    for experiments, people, pictures in ((1, 10, 160), (1, 5, 160), (2, 5, 80))
    for accuracies, beside in (
        ((0.87, 0.4), "a model"),
        ((0.87, 0.8), "a model"),
        ((0.87, 0.87), "a model"),
        ((0.87, 0.8), "people"),
    )
    if experiments == 1 or accuracies == (0.87, 0.4)
)

if __name__ == "__main__":
    run("benchmark_mean")
