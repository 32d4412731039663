"""Prediction through an adapter against a bare torch loop with the same batch size, in one run.

    python -m benchmarks.prediction [--network mobilenetv3_small_050] [--pictures 256] [--rounds 5] [--device cpu]
                                 [--threads 1]

Both loops get the same decoded pictures in the size of the network's input, and return probabilities as an array. The
bare loop is what a researcher would write: a batch to the device, scaled and normalised, through the network, softmax.
Rounds alternate, and the median of the rounds counts. Budget: the adapter takes at most 1.10 times as long.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Annotated

import numpy as np
import torch

from analysis.classifiers import load_classifier, require_gradients
from analysis.classifiers.networks import BATCH
from benchmarks._command import run

BUDGET = 1.10


def bare_loop(network: torch.nn.Module, mean: tuple[float, ...], std: tuple[float, ...], device: str) -> Callable:
    means, stds = (torch.tensor(three, device=device).view(1, 3, 1, 1) for three in (mean, std))

    def predict(pictures: np.ndarray) -> np.ndarray:
        parts = []
        with torch.inference_mode(), torch.autocast("cuda", torch.float16, enabled=device.startswith("cuda")):
            for start in range(0, len(pictures), BATCH):
                batch = torch.from_numpy(pictures[start : start + BATCH]).to(device)
                batch = (batch.permute(0, 3, 1, 2).float() / 255 - means) / stds
                parts.append(torch.softmax(network(batch).float(), dim=1).cpu().numpy())
        return np.concatenate(parts)

    return predict


def seconds(call: Callable, pictures: np.ndarray) -> float:
    started = time.perf_counter()
    call(pictures)
    return time.perf_counter() - started


def main(
    *,
    network: Annotated[str, "of timm, with random weights"] = "mobilenetv3_small_050",
    pictures: int = 256,
    rounds: int = 5,
    device: str = "cpu",
    threads: int = 1,
) -> bool:
    torch.set_num_threads(threads)
    adapter = require_gradients(load_classifier(f"timm:{network}@random", device=device))
    size = adapter.inputs.input_px
    drawn = np.random.default_rng(1).integers(0, 256, (pictures, size, size, 3), dtype=np.uint8)
    bare = bare_loop(adapter.forward, adapter.inputs.mean, adapter.inputs.std, device)
    difference = float(np.abs(bare(drawn[:BATCH]) - adapter.predict(drawn[:BATCH])).max())
    taken: dict[str, list[float]] = {"bare loop": [], "adapter": []}
    for _ in range(rounds):
        taken["bare loop"].append(seconds(bare, drawn))
        taken["adapter"].append(seconds(adapter.predict, drawn))
    medians = {name: statistics.median(times) for name, times in taken.items()}
    print(f"timm:{network}, {pictures} pictures of {size} px, batches of {BATCH}, {device}")
    for name, median in medians.items():
        print(f"  {name:10}{median:8.3f} s  {pictures / median:8.0f} pictures/s")
    ratio = medians["adapter"] / medians["bare loop"]
    print(f"  ratio {ratio:.3f} (at most {BUDGET}), largest difference of a probability {difference:.1e}")
    return ratio <= BUDGET and difference < 1e-4


if __name__ == "__main__":
    run(main)
