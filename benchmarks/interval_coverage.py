"""Does the interval of the area cover the truth as often as it says? The three designs of the reference simulation.

    python -m benchmarks.interval_coverage [--runs 400] [--processes 2] [--out FILE]

True marginal curve: 0.93 to chance, a logistic drop at 0.90. Pictures differ by sd 2, people by sd 0.5 (0.7 in C) on
the logit. A: 550 people x 9 trials, five answers an image. B: the same on a new image for every answer. C: 20 people
x 250 trials, five answers an image. Wanted: the two-way interval of nominal 83.4 % covers in 75 to 90 % of the runs.
Other schemes stand beside it, and so do the bands and the thresholds. Then HMRI and MRSI of three classifiers on the
people's 2,000 originals: one worse everywhere, one exactly like people (both true MRSI 0), one worse at first and
better at the end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np

from analysis.curves.bands import normal_quantile
from analysis.curves.config import OVERLAP_LEVEL
from analysis.curves.curve import threshold
from analysis.curves.fit import fit_curve
from analysis.metrics import compare
from analysis.power.crowd import Crowd, LogisticDrop, simulate_answers
from benchmarks import _command
from benchmarks._pieces import Piece, run_pieces

TRUTH = LogisticDrop(0.93, 1 / 16, 0.90, 0.03)
DESIGNS = {
    "A": Crowd(550, 9, answers_per_stimulus=5),
    "B": Crowd(550, 9),
    "C": Crowd(20, 250, answers_per_stimulus=5, participant_sd=0.7),
}
SCHEMES = ("two-way", "image", "participant", "naive")
REFITS, LIMITS = 300, (0.75, 0.90)
NETWORKS = {
    "worse": LogisticDrop(0.90, 1 / 16, 0.65, 0.08),
    "equal": TRUTH,
    "crossing": LogisticDrop(0.80, 1 / 16, 0.96, 0.03),
}
JOINT = Crowd(550, 9, originals=2000, participant_sd=0.0)


def crossing(rate: float) -> float:
    """Visual change at which the true curve has fallen to a rate."""
    share = (rate - TRUTH.lower) / (TRUTH.upper - TRUTH.lower)
    return TRUTH.bend - TRUTH.width * float(np.log(share / (1 - share)))


def run(piece: Piece) -> dict[str, Any]:
    """One simulated study: area and its standard error by scheme, and what the two-way band covers."""
    name, seed = piece
    (answers,) = simulate_answers([TRUTH], DESIGNS[name], np.random.default_rng(seed))
    result: dict[str, Any] = {}
    for scheme in SCHEMES:
        curve = fit_curve(**answers.columns(), n_bootstrap=REFITS, rng=seed, scheme=scheme, level=OVERLAP_LEVEL)
        bands = curve.bands
        assert bands is not None
        right = TRUTH(bands.v)
        result[scheme] = {
            "area": curve.area,
            "error": curve.area_standard_error,
            "pointwise": float(np.mean((bands.lower <= right) & (right <= bands.upper))),
            "simultaneous": bool(np.all((bands.simultaneous_lower <= right) & (right <= bands.simultaneous_upper))),
        }
        if scheme == "two-way":
            for rate in (0.75, 0.5):
                found = threshold(curve, rate).interval
                upper = 1.0 if found is None or found[1] is None else found[1]
                result[f"threshold {rate}"] = found is not None and found[0] <= crossing(rate) <= upper
    return result


def true_indices(network: LogisticDrop) -> dict[str, float]:
    """HMRI and MRSI of the true curves."""
    v = (np.arange(100_000) + 0.5) / 100_000
    people, classifier = TRUTH(v), network(v)
    lower = np.minimum(people, classifier).mean()
    return {"hmri": float(lower / people.mean()), "mrsi": float(1.0 - lower / classifier.mean())}


def run_indices(piece: Piece) -> dict[str, Any]:
    """HMRI and MRSI of a simulated classifier with their joint intervals, by level."""
    name, seed = piece
    truths = [TRUTH, NETWORKS[name.removeprefix("indices/")]]
    people, network = simulate_answers(list(truths), JOINT, np.random.default_rng(seed), shared_originals=True)
    result: dict[str, Any] = {}
    for level in (OVERLAP_LEVEL, 0.95):
        options: dict[str, Any] = {"n_bootstrap": REFITS, "rng": seed, "level": level}
        human = fit_curve(**people.columns(), **options)
        columns = {key: column for key, column in network.columns().items() if key != "participants"}
        found = compare(human, fit_curve(**columns, **options))
        result |= {"hmri": found.hmri, "mrsi": found.mrsi}
        result |= {f"hmri {level}": found.hmri_interval, f"mrsi {level}": found.mrsi_interval}
    return result


def report_indices(results: dict[Piece, dict[str, Any]], runs: int) -> None:
    print("classifier  index   truth    bias      sd  83 % covers  95 % covers")
    for name, network in NETWORKS.items():
        for index, truth in true_indices(network).items():
            own = [results[f"indices/{name}", seed] for seed in range(runs)]
            values = np.array([one[index] for one in own])
            covers = [
                float(np.mean([one[f"{index} {level}"][0] <= truth <= one[f"{index} {level}"][1] for one in own]))
                for level in (OVERLAP_LEVEL, 0.95)
            ]
            print(
                f"{name:11} {index:5} {truth:7.4f} {values.mean() - truth:+7.4f} {values.std(ddof=1):7.4f} "
                f"{covers[0]:12.3f} {covers[1]:12.3f}"
            )


def main(
    *,
    runs: int = 100,
    index_runs: Annotated[int, "runs a classifier of HMRI and MRSI"] = 40,
    processes: int = 2,
    out: Annotated[Path | None, "file of finished runs: a later call goes on from it"] = None,
) -> bool:
    pieces = [(name, seed) for seed in range(runs) for name in DESIGNS]
    results = run_pieces(run, pieces, file=out, processes=processes)
    met = True
    print(f"{runs} runs a design, {REFITS} refits a unit; true area {TRUTH.area:.4f}")
    print("design scheme         area: bias      sd  sd boot/true  83 % covers  95 % covers   pointwise  simultaneous")
    for name in DESIGNS:
        own = [results[name, seed] for seed in range(runs)]
        for scheme in SCHEMES:
            areas = np.array([one[scheme]["area"] for one in own])
            errors = np.array([one[scheme]["error"] for one in own])
            off = np.abs(areas - TRUTH.area)
            covers = [float(np.mean(off <= normal_quantile(level) * errors)) for level in (OVERLAP_LEVEL, 0.95)]
            pointwise, simultaneous = (
                float(np.mean([one[scheme][kind] for one in own])) for kind in ("pointwise", "simultaneous")
            )
            print(
                f"{name:6} {scheme:12} {areas.mean() - TRUTH.area:+12.4f} {areas.std(ddof=1):7.4f} "
                f"{np.sqrt(np.mean(errors**2)) / areas.std(ddof=1):13.2f} {covers[0]:12.3f} {covers[1]:12.3f} "
                f"{pointwise:11.3f} {simultaneous:13.3f}"
            )
            met &= scheme != "two-way" or LIMITS[0] <= covers[0] <= LIMITS[1]
        at = ", ".join(f"{rate:.0%}: {np.mean([one[f'threshold {rate}'] for one in own]):.3f}" for rate in (0.75, 0.5))
        print(f"{name:6} two-way, 83 % interval of the visual change at which the curve falls to {at}")
    if index_runs:
        pieces = [(f"indices/{name}", seed) for seed in range(index_runs) for name in NETWORKS]
        indices = run_pieces(run_indices, pieces, file=out, processes=processes)
        report_indices(indices, index_runs)
    return met


if __name__ == "__main__":
    _command.run(main)
