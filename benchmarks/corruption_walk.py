"""Where the walk of `corruption:` ends against an exhaustive search: `python -m benchmarks.corruption_walk`.

Photographs of REFERENCE_DATA. Each network is searched with the next one of the list as its oracle, the last with the
first. The exhaustive search looks at 201 evenly spaced strengths of the domain, up to the first that the oracle
refuses; the walk is the product's own `search` with a budget of 10. Losses are in nats, over the pictures that the
oracle accepts at first; a gap is how far the walk ends below the exhaustive search, negative where it ends above: it
looks at every second of these strengths, and can pass one that the oracle refuses.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import cv2
import numpy as np
import torch

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.port import Classifier
from analysis.corruptions import CORRUPTIONS, corrupt, find_corruption
from analysis.counterfactuals.corrupting import CorruptionGenerator
from analysis.counterfactuals.oracles import ClassifierOracle
from analysis.counterfactuals.port import Target
from analysis.counterfactuals.search import picture_seeds, search
from analysis.generation.originals import prepare_original
from analysis.labels.files import default_labels
from benchmarks._command import run

STRENGTHS = np.linspace(0.0, 1.0, 201)
BUDGET = 10
#: Largest mean gap in nats, and largest difference of OOR.
LIMIT, OOR_LIMIT = 0.01, 0.0


@dataclass
class Remembering:
    """A network that answers once to each picture: the pairs and both searches show it many a second time."""

    network: Any
    answers: dict[bytes, np.ndarray] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.network, name)

    def predict(self, pictures: np.ndarray) -> np.ndarray:
        keys = [hashlib.blake2b(picture.tobytes(), digest_size=16).digest() for picture in pictures]
        new = [place for place, key in enumerate(keys) if key not in self.answers]
        if new:
            answers = self.network.predict(pictures[new])
            self.answers |= {keys[place]: answer for place, answer in zip(new, answers, strict=True)}
        return np.stack([self.answers[key] for key in keys])


def photographs(count: int, size_px: int) -> tuple[np.ndarray, list[str]]:
    """As many photographs of `photos16`, over all categories."""
    paths = sorted((Path(os.environ["REFERENCE_DATA"]) / "photos16").glob("*/*.jpg"))
    chosen = [paths[place] for place in np.linspace(0, len(paths) - 1, min(count, len(paths))).astype(int)]
    pictures = [prepare_original(path, 224) for path in chosen]
    if size_px != 224:
        pictures = [cv2.resize(one, (size_px, size_px), interpolation=cv2.INTER_AREA) for one in pictures]
    return np.stack(pictures), [path.parent.name for path in chosen]


def exhaustive(
    function: str, pictures: np.ndarray, labels: list[str], target: Target, oracle: ClassifierOracle
) -> tuple[np.ndarray, np.ndarray]:
    """Greatest loss of every picture up to the first refusal (nan: refused at first), and whether it is right there."""
    corruption, numbers, named = find_corruption(function), default_labels().places_of(labels), np.array(labels)
    seeds = picture_seeds(0, range(len(labels)))
    losses, is_right = np.full(len(labels), np.nan), np.zeros(len(labels), bool)
    going = np.arange(len(labels))
    for strength in STRENGTHS:
        parameter = corruption.parameter_at(float(strength))
        shown = np.stack([corrupt(pictures[one], function, parameter, seeds[one]) for one in going])
        accepted = oracle.judge(shown, named[going].tolist()).accepted
        going, shown = going[accepted], shown[accepted]
        if not len(going):
            break
        seen = target.look(shown, numbers[going])
        is_greater = ~(seen.losses < losses[going])
        losses[going[is_greater]] = seen.losses[is_greater]
        is_right[going[is_greater]] = (seen.responses == named[going])[is_greater]
    return losses, is_right


def measured(
    function: str, pictures: np.ndarray, labels: list[str], tested: Classifier, judge: Classifier
) -> dict[str, float]:
    oracle, target = ClassifierOracle(judge), Target(tested)
    greatest, is_right = exhaustive(function, pictures, labels, target, oracle)
    found = search(
        pictures, labels, classifier=tested, generator=CorruptionGenerator(function), oracle=oracle, budget=BUDGET
    )
    valid = [place for place, one in enumerate(found) if one.valid and np.isfinite(greatest[place])]
    walked = np.array([found[place].losses[-1] for place in valid])
    gaps = greatest[valid] - walked
    clean = np.mean([found[place].clean_correct for place in valid])
    return {
        "valid": len(valid),
        "loss": round(float(walked.mean()), 4),
        "exhaustive_loss": round(float(greatest[valid].mean()), 4),
        "mean_gap": round(float(gaps.mean()), 4),
        "largest_gap": round(float(gaps.max()), 4),
        "oor": round(float(np.mean([found[place].counterfactual_correct for place in valid]) / clean), 4),
        "exhaustive_oor": round(float(is_right[valid].mean() / clean), 4),
    }


def main(
    *,
    pictures: Annotated[int, "photographs (default 60)"] = 60,
    size: Annotated[int, "side in px (default 64)"] = 64,
    networks: Annotated[str, "adapter strings, with blanks between them"] = (
        "export:fixtures/classifiers/clean.pt2 export:fixtures/classifiers/robust.pt2"
    ),
    functions: Annotated[str, "corruption functions, with blanks between them; none: all"] = "",
    out: Path | None = None,
) -> bool:
    torch.set_num_threads(1)
    if not (Path(os.environ.get("REFERENCE_DATA", "")) / "photos16").is_dir():
        print("REFERENCE_DATA names no folder with photographs (photos16): nothing is measured.")
        return True
    shown, labels = photographs(pictures, size)
    loaded: list[Any] = [Remembering(load_classifier(spec)) for spec in networks.split()]
    told: dict[str, Any] = {"photographs": len(shown), "size_px": size, "networks": networks.split()}
    started, worst, furthest = time.perf_counter(), 0.0, 0.0
    for function in functions.split() or sorted(CORRUPTIONS):
        for place, tested in enumerate(loaded):
            found = measured(function, shown, labels, tested, loaded[(place + 1) % len(loaded)])
            told[f"{function} {place}"] = found
            worst, furthest = max(worst, found["mean_gap"]), max(furthest, found["oor"] - found["exhaustive_oor"])
            print(json.dumps({f"{function} {place}": found}), flush=True)
        for network in loaded:
            network.answers.clear()
    seconds = time.perf_counter() - started
    print(f"greatest mean gap {worst} nats, OOR at most {furthest:.4f} too high ({seconds:.0f} s)")
    if out:
        out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return worst <= LIMIT and furthest <= OOR_LIMIT


if __name__ == "__main__":
    run(main)
