"""What guards, batch and training mode do to a retrained network: `python -m benchmarks.retraining`.

Drawn pictures at 64 px, uniform noise, the demo's network that knows clean pictures; `mode` takes photographs of
REFERENCE_DATA and a network with batch normalisation (`lite:0`) instead. The test has other originals.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import cv2
import numpy as np
import torch

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import TorchNetwork, require_gradients
from analysis.corruptions import corrupt, find_corruption
from analysis.counterfactuals.port import Target
from analysis.examples.pictures import draw
from analysis.generation.originals import prepare_original
from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace
from analysis.retraining.held_out import hold_out
from analysis.retraining.training import Recipe, fine_tune
from benchmarks._command import run

NETWORK = "export:fixtures/classifiers/clean.pt2"
SIZE_PX = 64
COPIES = 3
#: Originals trained on, those held out included.
SIZES = (16, 48, 144)


@dataclass
class Pictures:
    """Originals, and of each some corrupted copies."""

    pictures: np.ndarray
    categories: np.ndarray
    original_names: list[str]

    @property
    def space(self) -> LabelSpace:
        return default_labels()

    def __len__(self) -> int:
        return len(self.pictures)

    def batch(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.pictures[numbers], self.categories[numbers]

    def split(self, share: float, seed: int) -> tuple[Pictures, Pictures]:
        named = zip(self.original_names, self.categories, strict=True)
        chosen = hold_out(
            {name: (default_labels().ids[number], name) for name, number in named}, share=share, seed=seed
        )
        is_held_out = np.array([name in chosen for name in self.original_names])
        return self.some(~is_held_out), self.some(is_held_out)

    def some(self, chosen: np.ndarray) -> Pictures:
        names = [name for name, is_chosen in zip(self.original_names, chosen, strict=True) if is_chosen]
        return Pictures(self.pictures[chosen], self.categories[chosen], names)


def made(originals: list[tuple[str, str, np.ndarray]], function: str, seed: int, *, hopeless: bool = False) -> Pictures:
    """Clean pictures and copies at strengths spread over the domain, or all at its strong end."""
    rng, corruption = np.random.default_rng(seed), find_corruption(function)
    pictures, categories, names = [], [], []
    for name, category, picture in originals:
        copies = [
            corrupt(
                picture, function, corruption.parameter_at(1.0 if hopeless else rng.random()), int(rng.integers(2**31))
            )
            for _ in range(COPIES)
        ]
        pictures += [picture, *copies]
        categories += [default_labels().ids.index(category)] * (COPIES + 1)
        names += [name] * (COPIES + 1)
    return Pictures(np.stack(pictures), np.array(categories, np.int64), names)


def drawings(count: int, first: int) -> list[tuple[str, str, np.ndarray]]:
    named = [(seed, category) for seed in range(first, first + -(-count // 16)) for category in default_labels().ids][
        :count
    ]
    return [
        (
            f"{category}-{seed}",
            category,
            cv2.resize(draw(category, seed), (SIZE_PX, SIZE_PX), interpolation=cv2.INTER_AREA),
        )
        for seed, category in named
    ]


def right(network: TorchNetwork, pictures: Pictures) -> float:
    """Share right."""
    return float(np.mean(Target(network).look(pictures.pictures, pictures.categories).responses
                         == np.array(default_labels().ids)[pictures.categories]))  # fmt: skip


def guard(seeds: int) -> dict[str, object]:
    """Share right on the test before and after, with and without a held-out part, by number of originals.

    Both on stimuli that can be learned, and on hopeless ones (all at the strong end), from which there is nothing to
    gain.
    """
    network = require_gradients(load_classifier(NETWORK))
    test = made(drawings(160, 5000), "uniform_noise", 9)
    before = right(network, test)
    told: dict[str, object] = {"before": round(before, 3)}
    for hopeless in (False, True):
        for size in SIZES:
            changes: dict[str, list[float]] = {"none_held_out": [], "held_out": []}
            unchanged = 0
            for seed in range(seeds):
                whole = made(drawings(size, 6000 + 100 * seed), "uniform_noise", seed, hopeless=hopeless)
                changes["none_held_out"].append(
                    right(fine_tune(network, whole, Recipe(seed=seed)).network, test) - before
                )
                part, held_out = whole.split(0.2, seed)
                guarded = fine_tune(network, part, Recipe(seed=seed), held_out=held_out)
                changes["held_out"].append(right(guarded.network, test) - before)
                unchanged += guarded.kept == 0
            told[f"{'hopeless' if hopeless else 'learnable'}, {size} originals"] = {
                "unchanged": unchanged,
                **{
                    name: {
                        "mean": round(float(np.mean(found)), 4), "least": round(min(found), 4),
                        "worse": int(sum(value < 0 for value in found)),
                    }
                    for name, found in changes.items()
                },
            }  # fmt: skip
    return told


def recipe(seeds: int) -> dict[str, object]:
    """Batches of 2, as in the authors' program, against 32; and longer, with its schedule, in a plain loop."""
    network = require_gradients(load_classifier(NETWORK))
    test = made(drawings(160, 5000), "uniform_noise", 9)
    before = right(network, test)
    ways: dict[str, Callable[[Pictures, int], TorchNetwork]] = {
        "batch 32, 5 epochs": lambda whole, seed: fine_tune(network, whole, Recipe(seed=seed)).network,
        "batch 2, 5 epochs": lambda whole, seed: fine_tune(network, whole, Recipe(seed=seed, batch=2)).network,
        "batch 2, 20 epochs, StepLR": lambda whole, seed: plain_loop(network, whole, seed, batch=2, epochs=20),
        "batch 32, 20 epochs, StepLR": lambda whole, seed: plain_loop(network, whole, seed, batch=32, epochs=20),
    }
    told: dict[str, object] = {"before": round(before, 3)}
    for name, way in ways.items():
        found = [
            right(way(made(drawings(144, 6000 + 100 * seed), "uniform_noise", seed), seed), test) - before
            for seed in range(seeds)
        ]
        told[name] = {"mean": round(float(np.mean(found)), 4), "each": [round(value, 4) for value in found]}
    return told


def plain_loop(
    network: TorchNetwork, examples: Pictures, seed: int, *, batch: int, epochs: int, is_training: bool = False
) -> TorchNetwork:
    """The authors' loop in plain torch: StepLR by 7 epochs and 0.1, in training mode where it is asked for."""
    import copy

    module: Any = copy.deepcopy(network.forward)
    module.requires_grad_(True)
    if is_training:
        module.train()
    learner = replace(network, forward=module)
    optimiser = torch.optim.SGD(module.parameters(), lr=0.001, momentum=0.9)
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, step_size=7, gamma=0.1)
    torch.manual_seed(seed)
    for epoch in range(epochs):
        order = np.random.default_rng([seed, epoch]).permutation(len(examples))
        for start in range(0, len(order), batch):
            shown, categories = examples.batch(order[start : start + batch])
            inputs = torch.from_numpy(shown).permute(0, 3, 1, 2).float().div_(255)
            loss = torch.nn.functional.cross_entropy(
                learner.label_logits(inputs, default_labels()), torch.from_numpy(categories)
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        schedule.step()
    if is_training:
        module.eval()
    module.requires_grad_(False)
    return learner


def mode(_seeds: int) -> dict[str, object]:
    """Batch normalisation with the statistics of each batch, as in the authors' program, against fixed ones."""
    folder = Path(os.environ.get("REFERENCE_DATA", "")) / "photos16"
    if "REFERENCE_DATA" not in os.environ or not folder.is_dir():
        return {"left_out": "REFERENCE_DATA names no folder with photographs (photos16)"}
    network = require_gradients(load_classifier("lite:0"))
    paths = sorted(folder.glob("*/*.jpg"))
    originals = [(path.stem, path.parent.name, prepare_original(path, 224)) for path in paths]
    training, test = made(originals[::2], "box_blur", 1), made(originals[1::2], "box_blur", 2)
    ways: dict[str, Callable[[], TorchNetwork]] = {
        "fixed statistics": lambda: fine_tune(network, training, Recipe(epochs=2)).network,
        "statistics of the batch": lambda: plain_loop(network, training, 0, batch=32, epochs=2, is_training=True),
    }
    return {
        "originals": len(originals[::2]), "before": round(right(network, test), 3),
        **{name: round(right(way(), test), 3) for name, way in ways.items()},
    }  # fmt: skip


PARTS: dict[str, Callable[[int], object]] = {"guard": guard, "recipe": recipe, "mode": mode}


def main(
    *, parts: Annotated[str, "separated by commas"] = ",".join(PARTS), seeds: int = 5, out: Path | None = None
) -> None:
    torch.set_num_threads(1)
    told = {}
    for part in parts.split(","):
        started = time.perf_counter()
        told[part] = PARTS[part](seeds)
        print(json.dumps({part: told[part]}, indent=1), f"({time.perf_counter() - started:.0f} s)", flush=True)
    if out:
        out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    run(main)
