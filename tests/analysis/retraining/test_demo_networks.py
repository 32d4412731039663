"""The demo's network that knows clean pictures alone: what the published recipe makes of it, against known people."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import TorchNetwork, require_gradients
from analysis.classifiers.port import classify
from analysis.classifiers.shards import ShownStimulus, prediction_rows
from analysis.corruptions import corrupt
from analysis.examples.pictures import TRAINING_SEEDS, draw
from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace
from analysis.retraining.comparison import before_and_after
from analysis.retraining.held_out import check_disjoint
from analysis.retraining.training import Recipe, fine_tune
from analysis.tables.stimuli import PREDICTIONS
from analysis.tables.trials import TRIALS
from analysis.visual_change.vif import VifReference
from humanexp.simulation.observers import DEMO_CURVES, ObserverModel

CORRUPTION = "gaussian_noise"
STRENGTHS = (0.05, 1.6)
N_PEOPLE = 20


@dataclass
class Made:
    """Pictures in memory, with what people and networks need to know of them."""

    stimuli: list[ShownStimulus]
    pictures: np.ndarray

    @property
    def space(self) -> LabelSpace:
        return default_labels()

    def __len__(self) -> int:
        return len(self.stimuli)

    def batch(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        categories = [default_labels().ids.index(self.stimuli[number].category) for number in numbers]
        return self.pictures[numbers], np.array(categories, dtype=np.int64)


def made(seeds: range, copies: int) -> Made:
    """Drawings, and of each some copies from hardly changed to unrecognisable; originals are named by their content."""
    rng = np.random.default_rng(seeds.start)
    stimuli, pictures = [], []
    for seed in seeds:
        for category in default_labels().ids:
            original = draw(category, seed)
            reference = VifReference(original)
            for copy in range(copies + 1):
                strength = float(np.exp(rng.uniform(*np.log(STRENGTHS))))
                picture = corrupt(original, CORRUPTION, strength, int(rng.integers(2**31))) if copy else original
                v = float(np.clip(1 - reference.vif(picture), 0, 1)) if copy else 0.0
                key = f"{category}-{seed}-{copy}"
                name = CORRUPTION if copy else "none"
                stimuli.append(ShownStimulus(key, f"{category}-{seed}", category, name, v, "", ""))
                pictures.append(picture)
    return Made(stimuli, np.stack(pictures))


def predicted(network: TorchNetwork, tests: Made) -> pd.DataFrame:
    names = [one.stimulus for one in tests.stimuli]
    return PREDICTIONS.frame(prediction_rows("net", tests.stimuli, classify(network, names, lambda: tests.pictures)))


def people_on(tests: Made) -> pd.DataFrame:
    """Every stimulus is answered by one of some people whose true curve is known."""
    observers = ObserverModel(curves=DEMO_CURVES, seed=5)
    rng = np.random.default_rng(5)
    rows: list[dict[str, Any]] = []
    for position, one in enumerate(tests.stimuli):
        person = f"P{rng.integers(N_PEOPLE)}"
        chance = observers.probability_correct(CORRUPTION, one.visual_change, original=one.original, participant=person)
        is_right = bool(rng.random() < chance)
        rows.append(
            {
                "study": "demo", "participant": person, "session": person, "position": position, "block": 0,
                "task": "categorisation", "role": "clean" if one.corruption == "none" else "main",
                "original": one.original, "stimulus": one.stimulus, "category": one.category,
                "corruption": one.corruption, "visual_change": one.visual_change,
                "response": one.category if is_right else "na", "correct": is_right, "accepted": True,
                "simulated": True,
            }
        )  # fmt: skip
    return TRIALS.frame(rows)


@pytest.mark.slow
def test_retraining_raises_hmri_on_the_corruption_trained_on() -> None:
    first = TRAINING_SEEDS.start + 400
    training, tests = made(range(first, first + 12), 3), made(range(first + 20, first + 32), 3)
    check_disjoint((one.original for one in training.stimuli), (one.original for one in tests.stimuli))
    before = require_gradients(load_classifier("export:fixtures/classifiers/clean.pt2"))
    retrained = fine_tune(before, training, Recipe())
    report = before_and_after(
        predicted(before, tests),
        predicted(retrained.network, tests),
        people_on(tests),
        training={one.original for one in training.stimuli},
        trained_on=[CORRUPTION],
    )
    row = next(entry for entry in report["rows"] if entry["property"] == "accuracy")
    for name in ("area", "hmri", "mrsi"):
        low, high = row["interval"][name]
        change = f"{row['before'][name]:.3f} -> {row['after'][name]:.3f}, difference within [{low:+.3f}, {high:+.3f}]"
        sys.stdout.write(f"{name}: {change}\n")  # shown by -s
    sys.stdout.write(f"clean: {report['clean']}; training took {retrained.seconds:.0f} s\n")
    assert row["interval"]["hmri"][0] > 0
    assert row["interval"]["area"][0] > 0
    assert report["clean"]["after"] > 0.8
