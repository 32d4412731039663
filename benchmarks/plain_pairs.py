"""Which corruption functions differ plainly at equal visual change, whatever the pictures show?

    python -m benchmarks.plain_pairs FOLDER [--change 0.6] [--originals 48]

Every function is set on pictures of FOLDER to the same visual change. Five numbers are taken from each corrupted
picture alone (detail of lightness and of colour, mean lightness, contrast, saturation), and a linear rule, fitted
without the original in question, names which of two functions a picture has. The share of right names is printed for
all pairs, with the pairs that `analysis.design.pairs` calls plain marked.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from analysis.corruptions import CORRUPTIONS
from analysis.design.pairs import PLAIN_FUNCTIONS
from analysis.generation.originals import prepare_original
from analysis.visual_change.targeting import fit_pilot_map, reach_target
from analysis.visual_change.vif import VifReference
from benchmarks._command import run

SIZE_PX = 224


def main(folder: Path, *, change: float = 0.6, originals: int = 48) -> None:
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg", ".png"))
    chosen = [files[int(k)] for k in np.random.default_rng(0).permutation(len(files))[:originals]]
    named = statistics_of(chosen, change)
    print(f"{len(chosen)} originals, visual change {change}: share named right, by pair")
    found = {pair: named_right(named[pair[0]], named[pair[1]]) for pair in itertools.combinations(named, 2)}
    for (one, other), share in sorted(found.items(), key=lambda item: -item[1]):
        print(f"{share:.3f}  {'plain' if is_listed(one, other) else '     '}  {one} / {other}")


def is_listed(one: str, other: str) -> bool:
    return any({one, other} == set(pair) for pair in PLAIN_FUNCTIONS)


def statistics_of(files: list[Path], change: float) -> dict[str, NDArray[np.float64]]:
    """Statistics of every original under every function, shape (originals, 5)."""
    pictures = [prepare_original(path, SIZE_PX) for path in files]
    references = [VifReference(picture) for picture in pictures]
    named = {}
    for name, corruption in CORRUPTIONS.items():
        pilot = fit_pilot_map(name, pictures[:12], seed=1)
        rows = []
        for number, (picture, reference) in enumerate(zip(pictures, references, strict=True)):
            rows.append(looks(reach_target(picture, reference, corruption, change, 100 + number, pilot).picture))
        named[name] = np.array(rows)
    return named


def looks(picture: NDArray[np.uint8]) -> list[float]:
    """What strikes the eye, from the corrupted picture alone."""
    lab = cv2.cvtColor(picture, cv2.COLOR_RGB2LAB).astype(np.float64)
    light, colour = lab[:, :, 0], lab[:, :, 1:] - 128.0
    detail = float(np.abs(cv2.Laplacian(light, cv2.CV_64F)).mean())
    colour_detail = float(np.abs(cv2.Laplacian(colour, cv2.CV_64F)).mean())
    saturation = float(np.hypot(colour[:, :, 0], colour[:, :, 1]).mean())
    return [np.log(detail + 0.1), np.log(colour_detail + 0.1), light.mean(), light.std(), saturation]


def named_right(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Share that Fisher's linear rule names right, the original of each picture left out."""
    right = 0
    for out in range(len(one)):
        first, second = np.delete(one, out, 0), np.delete(other, out, 0)
        spread = np.cov(first.T) + np.cov(second.T) + 1e-6 * np.eye(one.shape[1])
        rule = np.linalg.solve(spread, first.mean(0) - second.mean(0))
        middle = rule @ (first.mean(0) + second.mean(0)) / 2
        right += int(rule @ one[out] > middle) + int(rule @ other[out] < middle)
    return right / (2 * len(one))


if __name__ == "__main__":
    run(main)
