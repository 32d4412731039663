"""Time of a whole analysis: 14 corruptions x 2 properties, people and 10 classifiers, all bands and comparisons.

    python -m benchmarks.findings

Budget: 120 s on two cores, in as many processes as the product takes when nothing is set (one a core). Baseline "bands
alone": the same number of curves and refits by `fit_curve` in one process, timed on one human and one classifier curve
and multiplied.
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
import pandas as pd

from analysis.compute import available_cores, executor
from analysis.curves.fit import fit_curve
from analysis.findings.analysing import analyse
from analysis.labels.files import default_labels
from benchmarks._command import run

CORRUPTIONS, CLASSIFIERS, PEOPLE, TRIALS, ORIGINALS, CLEAN = 14, 10, 550, 5000, 2000, 5000
BUDGET_S = 120.0


def tables(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Answers of 550 people to 14 x 5,000 new stimuli and 5,000 clean pictures; ten networks on the same stimuli."""
    rng = np.random.default_rng(seed)
    parts = []
    for number in range(CORRUPTIONS + 1):
        clean = number == CORRUPTIONS
        n = CLEAN if clean else TRIALS
        original = rng.integers(0, ORIGINALS, n)
        name = "none" if clean else f"corruption_{number:02d}"
        stimulus = [f"o{k}-clean" if clean else f"{name}-{j}" for j, k in enumerate(original)]
        parts.append(
            pd.DataFrame(
                {
                    "participant": [f"P-{k}" for k in rng.integers(0, PEOPLE, n)],
                    "task": "categorisation",
                    "role": "clean" if clean else "main",
                    "original": [f"o{k}" for k in original],
                    "stimulus": stimulus,
                    "category": np.array(default_labels().ids)[original % 16],
                    "corruption": name,
                    "visual_change": 0.0 if clean else rng.random(n),
                    "condition": None,
                    "accepted": True,
                }
            )
        )
    trials = pd.concat(parts, ignore_index=True)
    trials["session"], trials["position"] = trials["participant"], np.arange(len(trials))
    pictures = trials.drop_duplicates("stimulus")
    trials = answered(rng, trials, bend=0.8)
    predictions = [
        answered(rng, pictures.assign(classifier=f"network-{k}", label_space=16), bend=0.4 + 0.04 * k)
        for k in range(CLASSIFIERS)
    ]
    return trials, pd.concat(predictions, ignore_index=True).drop(columns=["participant", "task", "role", "accepted"])


def answered(rng: np.random.Generator, frame: pd.DataFrame, *, bend: float) -> pd.DataFrame:
    """Add answers of an observer whose curve falls at the bend."""
    v = frame["visual_change"].to_numpy()
    right = rng.random(len(v)) < 1 / 16 + (0.93 - 1 / 16) / (1 + np.exp((v - bend) / 0.06))
    guess = np.array(default_labels().ids)[rng.integers(0, 16, len(v))]
    response = np.where(right, frame["category"], guess)
    return frame.assign(response=response, correct=response == frame["category"])


def main() -> bool:
    trials, predictions = tables(1)
    part = trials[trials["corruption"] == "corruption_00"]
    own: dict[str, Any] = {
        "visual_change": part["visual_change"],
        "correct": part["correct"],
        "images": part["original"].to_numpy(),
        "n_bootstrap": 1000,
    }
    started = time.perf_counter()
    fit_curve(**own, participants=part["participant"].to_numpy())
    human_s = time.perf_counter() - started
    started = time.perf_counter()
    fit_curve(**own)
    classifier_s = time.perf_counter() - started
    bands_s = 2 * CORRUPTIONS * (human_s + CLASSIFIERS * classifier_s)

    started, before = time.perf_counter(), os.times()
    with executor("processes") as pool:
        found = analyse(trials, predictions, study="benchmark", seed=1, executor=pool)
    whole_s, after = time.perf_counter() - started, os.times()
    cpu_s = sum(after[:4]) - sum(before[:4])
    print(f"{len(trials)} answers, {len(predictions)} predictions; {available_cores()} cores")
    print(f"bands alone (baseline)  {bands_s:6.1f} s   one process")
    print(f"whole analysis          {whole_s:6.1f} s   {whole_s / bands_s:.1f} x the bands; budget {BUDGET_S:.0f} s")
    print(f"processor time of all   {cpu_s:6.1f} s")
    print(
        f"{len(found.curves)} curves, {len(found.comparisons)} comparisons, "
        f"{len(found.similarity) + len(found.classifier_similarity)} similarities"
    )
    return whole_s <= BUDGET_S


if __name__ == "__main__":
    run(main)
