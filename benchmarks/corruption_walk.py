"""Where the walk of `corruption:` ends against an exhaustive search: `python -m benchmarks.corruption_walk`.

Photographs of REFERENCE_DATA, and every corruption function. The exhaustive search looks at 201 strengths of the
domain, evenly spaced. The walk takes 10 steps of a tenth; so does the one of earlier versions, which stepped to the
better neighbour. Losses are in nats; a gap is how far the walk ends below the exhaustive search.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Annotated

import cv2
import numpy as np
import torch

from analysis.classifiers import load_classifier
from analysis.corruptions import CORRUPTIONS, corrupt, find_corruption
from analysis.counterfactuals.corrupting import CorruptionGenerator
from analysis.counterfactuals.model_under_test import Target, category_numbers
from analysis.generation.originals import prepare_original
from benchmarks._command import run

STRENGTHS = np.linspace(0.0, 1.0, 201)
BUDGET = 10
#: Places of the walk's tenths among the strengths.
TENTH = 20
#: Largest mean gap.
LIMIT = 0.01


def photographs(count: int, size_px: int) -> tuple[np.ndarray, list[str]]:
    """As many photographs of `photos16`, over all categories."""
    paths = sorted((Path(os.environ["REFERENCE_DATA"]) / "photos16").glob("*/*.jpg"))
    chosen = [paths[place] for place in np.linspace(0, len(paths) - 1, min(count, len(paths))).astype(int)]
    pictures = [prepare_original(path, 224) for path in chosen]
    if size_px != 224:
        pictures = [cv2.resize(one, (size_px, size_px), interpolation=cv2.INTER_AREA) for one in pictures]
    return np.stack(pictures), [path.parent.name for path in chosen]


def losses_of(function: str, pictures: np.ndarray, labels: list[str], target: Target) -> np.ndarray:
    """Loss of every picture at every strength, shape (n, strengths)."""
    corruption, numbers = find_corruption(function), category_numbers(labels)
    columns = []
    for strength in STRENGTHS:
        parameter = corruption.parameter_at(float(strength))
        shown = np.stack([corrupt(one, function, parameter, seed) for seed, one in enumerate(pictures)])
        columns.append(target.look(shown, numbers).losses)
    return np.stack(columns, axis=1)


def former_end(losses: np.ndarray) -> float:
    """Loss at the end of the earlier walk, of one picture: to the better neighbour, of equal ones the stronger."""
    place = 0
    for _ in range(BUDGET):
        neighbours = [one for one in (place + TENTH, place - TENTH) if 0 <= one < len(losses)]
        place = max(neighbours, key=lambda one: losses[one])
    return float(losses[place])


def measured(function: str, pictures: np.ndarray, labels: list[str], target: Target) -> dict[str, float]:
    greatest = (losses := losses_of(function, pictures, labels, target)).max(axis=1)
    generator, numbers = CorruptionGenerator(function), category_numbers(labels)
    state = generator.start(pictures, np.arange(len(pictures), dtype=np.int64))
    for _ in range(BUDGET):
        state = generator.step(state, numbers, target)
    gaps = greatest - target.look(generator.paint(state).pictures, numbers).losses
    former = greatest - [former_end(one) for one in losses]
    return {
        "mean_gap": round(float(gaps.mean()), 4),
        "largest_gap": round(float(gaps.max()), 4),
        "former_mean_gap": round(float(former.mean()), 4),
        "former_largest_gap": round(float(former.max()), 4),
    }


def main(
    *,
    pictures: Annotated[int, "photographs (default 118, all)"] = 118,
    size: Annotated[int, "side in px (default 64)"] = 64,
    classifier: Annotated[str, "adapter string"] = "export:fixtures/classifiers/clean.pt2",
    out: Path | None = None,
) -> bool:
    torch.set_num_threads(1)
    if not (Path(os.environ.get("REFERENCE_DATA", "")) / "photos16").is_dir():
        print("REFERENCE_DATA names no folder with photographs (photos16): nothing is measured.")
        return True
    shown, labels = photographs(pictures, size)
    target = Target(load_classifier(classifier))
    told: dict[str, object] = {"photographs": len(shown), "size_px": size, "classifier": classifier}
    started, worst = time.perf_counter(), 0.0
    for function in sorted(CORRUPTIONS):
        found = measured(function, shown, labels, target)
        told[function], worst = found, max(worst, found["mean_gap"])
        print(json.dumps({function: found}), flush=True)
    print(f"greatest mean gap {worst} nats ({time.perf_counter() - started:.0f} s)")
    if out:
        out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return worst <= LIMIT


if __name__ == "__main__":
    run(main)
