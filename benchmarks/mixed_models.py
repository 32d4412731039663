"""Do the mixed models that an export holds give back what was planted?

    python -m benchmarks.mixed_models FOLDER [--people 40] [--trials-each 100] [--originals 160] [--seed 1]
    Rscript humanexp/results/mixed_models/mixed_model.R FOLDER
    python humanexp/results/mixed_models/mixed_model.py FOLDER

Writes FOLDER/trials.csv, as an export holds it, from the very model of these scripts: three corruptions with known
curves, and known sds of people, categories and originals. Prints the truth in the scripts' order.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analysis.labels.files import default_labels
from analysis.tables.trials import TRIALS
from benchmarks._command import run

KNOTS = (0.0, 1 / 3, 2 / 3, 1.0)
#: Log odds beyond guessing at the knots.
CURVES = {
    "gaussian_blur": (3.5, 3.0, 1.0, -3.0),
    "gaussian_noise": (3.5, 3.2, 2.0, -2.0),
    "uniform_noise": (3.5, 3.2, 2.0, -2.0),
}
SDS = {"participant": 0.5, "category": 0.6, "original": 1.2}
GUESS = 1.0 / len(default_labels().ids)


def curve(corruption: str, visual_change: np.ndarray) -> np.ndarray:
    """Log odds beyond guessing of a typical person and picture."""
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(KNOTS, CURVES[corruption], bc_type="natural")(visual_change))


def area(corruption: str) -> float:
    """Mean rate over visual change, people and originals."""
    from scipy.special import expit

    grid = (np.arange(400) + 0.5) / 400
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    sd = float(np.sqrt(sum(one**2 for one in SDS.values())))
    rates = expit(curve(corruption, grid)[:, None] + sd * nodes) @ (weights / weights.sum())
    return GUESS + (1.0 - GUESS) * float(rates.mean())


def write_trials(folder: Path, rng: np.random.Generator, *, people: int, trials_each: int, originals: int) -> None:
    """A trials.csv of accepted sessions, one a person, whose answers follow the model."""
    from scipy.special import expit

    number = people * trials_each
    person = np.repeat(np.arange(people), trials_each)
    original = np.concatenate([rng.permutation(originals)[:trials_each] for _ in range(people)])
    category = original % len(default_labels().ids)
    corruption = np.array(sorted(CURVES))[rng.integers(len(CURVES), size=number)]
    visual_change = np.round(rng.random(number), 6)
    eta = np.empty(number)
    for name in CURVES:
        eta[corruption == name] = curve(name, visual_change[corruption == name])
    for kind, which, count in (
        ("participant", person, people),
        ("category", category, len(default_labels().ids)),
        ("original", original, originals),
    ):
        eta += rng.normal(0.0, SDS[kind], count)[which]
    correct = rng.random(number) < GUESS + (1.0 - GUESS) * expit(eta)
    rows = (
        {
            "study": "simulated",
            "participant": f"p{person[k]:03d}",
            "session": f"s{person[k]:03d}",
            "position": int(k % trials_each),
            "block": 0,
            "task": "categorisation",
            "role": "main",
            "original": f"original-{original[k]:04d}",
            "stimulus": f"stimulus-{k:06d}",
            "category": default_labels().ids[category[k]],
            "corruption": str(corruption[k]),
            "visual_change": float(visual_change[k]),
            "response": default_labels().ids[category[k]] if correct[k] else "na",
            "correct": bool(correct[k]),
            "accepted": True,
            "simulated": True,
        }
        for k in range(number)
    )
    folder.mkdir(parents=True, exist_ok=True)
    TRIALS.write(TRIALS.frame(rows), folder / "trials.csv")


def main(folder: Path, *, people: int = 40, trials_each: int = 100, originals: int = 160, seed: int = 1) -> None:
    write_trials(folder, np.random.default_rng(seed), people=people, trials_each=trials_each, originals=originals)
    print("values at the knots, and area")
    for name, values in sorted(CURVES.items()):
        print(f"{name:16} {values} {area(name):.4f}")
    print("sds", SDS)


if __name__ == "__main__":
    run(main)
