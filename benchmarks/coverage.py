"""Does the 95 % interval of the human area cover the truth? Planned studies, simulated answers, the real analysis.

    python -m benchmarks.coverage [--seeds 200] [--processes 2]

Each run plans a study, draws effects of originals (sd 2) and participants (sd 0.5) on the logit, lets everybody answer
the planned trials, and analyses the tables. Wanted: coverage of the marginal area between 0.90 and 0.98, and a median
width of at most 1.3 times that of an interval from the true standard deviation.
"""

from __future__ import annotations

import os

# One thread a process: the matrices are small, and processes share the cores already.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from concurrent.futures import ProcessPoolExecutor  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

from analysis.categories import CATEGORIES  # noqa: E402
from analysis.design import DesignConfig, plan_study  # noqa: E402
from analysis.findings import analyse  # noqa: E402

IMAGE_SD, PARTICIPANT_SD = 2.0, 0.5
CHANCE = 1 / 16
WIDTH_LIMIT, COVERAGE_LIMITS = 1.3, (0.90, 0.98)


@dataclass(frozen=True)
class Setting:
    """One size of study."""

    name: str
    originals: int
    config: DesignConfig
    stimuli_per_original: int


SETTINGS = (
    Setting("small: 24 sessions x 40", 320, DesignConfig(sessions=24, main_trials=40), 4),
    Setting("crowd: 120 sessions x 40", 480, DesignConfig(sessions=120, main_trials=40), 11),
    Setting(
        "repeats: 60 sessions x 40, 3 answers a stimulus",
        320,
        DesignConfig(sessions=60, main_trials=40, answers_per_stimulus=3),
        4,
    ),
)


def typical(visual_change: np.ndarray) -> np.ndarray:
    """Chance of a typical person with a typical picture: 0.97 clean, a bend around 0.75, chance at the end."""
    return CHANCE + (0.97 - CHANCE) / (1 + np.exp((visual_change - 0.75) / 0.06))


def marginal_area() -> float:
    """Area of the curve averaged over pictures and people."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(100)
    v = (np.arange(20_000) + 0.5) / 20_000
    p = typical(v)
    logit = np.log(p / (1 - p))
    effects = np.hypot(IMAGE_SD, PARTICIPANT_SD) * nodes
    return float(((1 / (1 + np.exp(-(logit[:, None] + effects))) * weights).sum(axis=1) / weights.sum()).mean())


def answered_study(setting: Setting, seed: int) -> pd.DataFrame:
    """Trials of a planned study in which everybody answers by the model."""
    rng = np.random.default_rng(seed)
    originals = {f"o{k:04d}": CATEGORIES[k % 16] for k in range(setting.originals)}
    stimuli: list[dict[str, Any]] = []
    for original, category in originals.items():
        shared = {"original": original, "category": category}
        stimuli.append({**shared, "stimulus": f"{original}-clean", "corruption": "none", "visual_change": 0.0})
        for j in range(setting.stimuli_per_original):
            v = float(rng.random())
            stimuli.append({**shared, "stimulus": f"{original}-{j}", "corruption": "blur", "visual_change": v})
    plan = plan_study(originals, stimuli, setting.config, seed)
    by_name = {row["stimulus"]: row for row in stimuli}
    picture_effect = dict(zip(originals, rng.normal(0, IMAGE_SD, len(originals)), strict=True))
    rows = []
    for session in plan.sessions:
        person_effect = rng.normal(0, PARTICIPANT_SD)
        for trial in session.trials:
            picture = by_name[trial.stimulus]
            p = typical(np.array(picture["visual_change"]))
            logit = np.log(p / (1 - p)) + picture_effect[picture["original"]] + person_effect
            right = bool(rng.random() < 1 / (1 + np.exp(-logit)))
            rows.append(
                {
                    **picture,
                    "participant": f"P-{session.slot}",
                    "session": f"S-{session.slot}",
                    "position": trial.position,
                    "task": trial.task,
                    "role": trial.role,
                    "condition": None,
                    "response": picture["category"] if right else "na",
                    "correct": right,
                    "accepted": True,
                }
            )
    return pd.DataFrame(rows)


def run(arguments: tuple[int, int]) -> tuple[float, float, float, int]:
    """Area, interval and answers of one simulated study."""
    number, seed = arguments
    found = analyse(answered_study(SETTINGS[number], seed), study="coverage", seed=seed, n_bootstrap=300)
    entry = next(curve for curve in found.curves if curve.property == "accuracy")
    return entry.area, *entry.interval, entry.n


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", help="part of a setting's name")
    chosen = parser.parse_args()
    truth, met = marginal_area(), True
    print(f"marginal truth {truth:.4f}, {chosen.seeds} runs a setting")
    with ProcessPoolExecutor(chosen.processes) as pool:
        for number, setting in enumerate(SETTINGS):
            if chosen.only and chosen.only not in setting.name:
                continue
            started = time.perf_counter()
            results = np.array(list(pool.map(run, [(number, seed) for seed in range(chosen.seeds)])))
            area, lower, upper, answers = results.T
            coverage = float(np.mean((lower <= truth) & (truth <= upper)))
            ratio = float(np.median(upper - lower) / (3.92 * area.std(ddof=1)))
            good = COVERAGE_LIMITS[0] <= coverage <= COVERAGE_LIMITS[1] and ratio <= WIDTH_LIMIT
            met &= good
            verdict, seconds = "met" if good else "MISSED", time.perf_counter() - started
            print(
                f"{setting.name}: {np.median(answers):.0f} answers, coverage {coverage:.3f}, "
                f"{verdict} ({seconds:.0f} s)"
            )
            print(f"  width {ratio:.2f} x that of the true sd {area.std(ddof=1):.4f}, bias {area.mean() - truth:+.4f}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
