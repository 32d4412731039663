"""Whole passes over picture files against bare loops that have the decoded pictures at hand, in one run.

    python -m benchmarks.prediction [--networks tf_efficientnet_lite0,tf_efficientnet_lite1,tf_efficientnet_lite2]
                                    [--pictures 96] [--files 96] [--rounds 3] [--device cpu] [--precisions float32]
                                    [--threads 1]

A pass reads files, checks their digests, decodes them, asks the networks, decides, and writes the shards. A bare loop
is what a researcher would write for decoded pictures: a batch to the device, resized where the network's input has
another size, scaled and normalised, through the network, softmax, in the same precision and memory layout as the pass.
On a processor it is the fastest of several sizes of batch; on CUDA it takes as many pictures at once as the pass. One
pass for three networks is compared with three bare loops. Rounds alternate, and the median of the rounds counts.
Budgets: on a processor a pass takes at most 1.10 times as long, and on CUDA it reaches 0.8 of the rate. The script
draws its own pictures and needs no Django: torch, torchvision, timm, pandas, pyarrow and OpenCV. A network may be an
adapter string, too: `--networks onnx:FILE.onnx` compares with a loop over a session of ONNX Runtime.
"""

from __future__ import annotations

import hashlib
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import cv2
import numpy as np
import pandas as pd
import torch

from analysis import freed_memory
from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import BATCH, TorchNetwork, arithmetic, require_gradients
from analysis.classifiers.one_pass import predict_shards
from analysis.classifiers.onnx_network import OnnxNetwork
from analysis.classifiers.shards import SHARD_STIMULI, Asked, PredictionShard, ShownStimulus, hold, read_ahead
from analysis.compute import available_cores
from benchmarks._command import run

SIZE_PX = 224
#: Of the bare loops' rate, by device.
BUDGETS = {"cpu": 1 / 1.10, "cuda": 0.8}
#: Pictures at once, of which the fastest bare loop counts on a processor.
BATCHES = (1, 4, 16, 64)
#: Of each size, of which the shorter one counts.
TRIES = 2
TRIO = "tf_efficientnet_lite0,tf_efficientnet_lite1,tf_efficientnet_lite2"


def drawn_files(folder: Path, number: int) -> list[tuple[str, str]]:
    """Paths and digests of pictures that take about as many bytes as a photograph of this size."""

    def draw(seed: int) -> tuple[str, str]:
        rng = np.random.default_rng(seed)
        coarse = rng.integers(0, 256, (14, 14, 3)).astype(np.float32)
        picture = cv2.resize(coarse, (SIZE_PX, SIZE_PX), interpolation=cv2.INTER_CUBIC)
        picture += rng.normal(0, 3, picture.shape).astype(np.float32)
        content = cv2.imencode(".png", np.clip(picture, 0, 255).astype(np.uint8))[1].tobytes()
        path = folder / f"{seed}.png"
        path.write_bytes(content)
        return str(path), hashlib.sha256(content).hexdigest()

    with ThreadPoolExecutor(available_cores()) as pool:
        return list(pool.map(draw, range(number)))


def stimuli_of(files: Sequence[tuple[str, str]], number: int) -> list[ShownStimulus]:
    chosen = [files[row % len(files)] for row in range(number)]
    return [ShownStimulus(f"s{row:07}", f"o{row}", "cat", "none", 0.0, *one) for row, one in enumerate(chosen)]


def bare_loop(
    network: TorchNetwork | OnnxNetwork, pictures: np.ndarray, repeats: int, batch: int
) -> Callable[[], np.ndarray]:
    whole = [pictures[start : start + batch] for start in range(0, len(pictures), batch)] * repeats
    if isinstance(network, OnnxNetwork):
        return _loop_of_onnx(network, whole)
    means, stds = (
        torch.tensor(three, device=network.device).view(1, 3, 1, 1)
        for three in (network.inputs.mean, network.inputs.std)
    )
    size = network.inputs.input_px
    layout = torch.channels_last if network.device.startswith("cuda") else torch.preserve_format

    def predict() -> np.ndarray:
        parts = []
        with torch.inference_mode(), arithmetic(network.device, network.precision):
            for part in whole:
                given = torch.from_numpy(part).to(network.device).permute(0, 3, 1, 2).float() / 255
                if given.shape[-1] != size:
                    given = torch.nn.functional.interpolate(given, (size, size), mode="bicubic").clamp(0, 1)
                answers = network.forward(((given - means) / stds).to(memory_format=layout))
                parts.append(torch.softmax(answers.float(), dim=1).cpu().numpy())
        return np.concatenate(parts)

    return predict


def _loop_of_onnx(network: OnnxNetwork, whole: Sequence[np.ndarray]) -> Callable[[], np.ndarray]:
    means, stds = (np.array(three, np.float32) for three in (network.inputs.mean, network.inputs.std))
    size = (network.inputs.input_px,) * 2
    name = network.session.get_inputs()[0].name

    def resized(picture: np.ndarray) -> np.ndarray:
        return picture if picture.shape[:2] == size else cv2.resize(picture, size, interpolation=cv2.INTER_CUBIC)

    def predict() -> np.ndarray:
        parts = []
        for part in whole:
            given = (np.stack([resized(one) for one in part]).astype(np.float32) / 255 - means) / stds
            logits = network.session.run(None, {name: np.ascontiguousarray(given.transpose(0, 3, 1, 2))})[0]
            raised = np.exp(logits - logits.max(axis=1, keepdims=True))
            parts.append(raised / raised.sum(axis=1, keepdims=True))
        return np.concatenate(parts)

    return predict


@dataclass(frozen=True)
class Bench:
    """What one precision is measured with."""

    networks: dict[Asked, TorchNetwork | OnnxNetwork]
    stimuli: list[ShownStimulus]
    folder: Path
    readers: int

    def pass_over(self, asked: Sequence[Asked], name: str, number: int | None = None) -> list[Path]:
        """Files of one pass, a list a network after another."""
        folder = self.folder / name
        folder.mkdir()
        chosen = self.stimuli[:number]
        groups = (
            tuple(PredictionShard(one, "n", tuple(chosen[start : start + SHARD_STIMULI]), str(folder)) for one in asked)
            for start in range(0, len(chosen), SHARD_STIMULI)
        )
        with freed_memory.kept():  # as the product does
            done = list(predict_shards(groups, threads=self.readers))
        return [group[place].path for place in range(len(asked)) for group in done]


def seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def answers(paths: Sequence[Path]) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)


def measured(bench: Bench, decoded: np.ndarray, rounds: int, budget: float) -> bool:
    """Print a line for the first network and one for all of them; whether both keep the budget."""
    all_asked = list(bench.networks)
    loops = {}
    for asked, network in bench.networks.items():
        size, on_cpu = network.inputs.input_px, asked.device == "cpu"
        network.predict(decoded if on_cpu else np.resize(decoded, (SHARD_STIMULI, *decoded.shape[1:])))
        repeats = len(bench.stimuli) // len(decoded)
        sizes = BATCHES if on_cpu else (max(getattr(network, "batches", {}).values(), default=BATCH),)
        made = {batch: bare_loop(network, decoded, repeats, batch) for batch in sizes}
        tried = {batch: min(seconds(loop) for _ in range(TRIES)) for batch, loop in made.items()}
        loops[asked] = made[min(tried, key=lambda one: tried[one])]
        told = ", ".join(f"{one}: {len(bench.stimuli) / taken:.1f}/s" for one, taken in tried.items())
        print(f"  {asked.spec}: {size} px; bare loop by pictures at once: {told}")
    kept = True
    for number in sorted({1, len(all_asked)}):
        kept &= compared(bench, all_asked[:number], loops, rounds, budget)
    own = [answers(bench.pass_over([one], f"own-{place}")) for place, one in enumerate(all_asked)]
    together = answers(bench.pass_over(all_asked, "together"))
    same = together.equals(pd.concat(own, ignore_index=True))
    print(f"  answers of one pass {'equal' if same else 'DIFFER FROM'} those of each network's own pass, to the bit")
    return kept and (same or all_asked[0].device != "cpu")


def compared(bench: Bench, wanted: Sequence[Asked], loops: dict[Asked, Callable], rounds: int, budget: float) -> bool:
    bare: list[float] = []
    passes: list[float] = []
    for number in range(rounds):
        bare.append(sum(seconds(loops[asked]) for asked in wanted))
        name = f"{len(wanted)}-{number}"
        passes.append(seconds(lambda name=name: bench.pass_over(wanted, name)))
    rates = [len(wanted) * len(bench.stimuli) / statistics.median(times) for times in (bare, passes)]
    ratio = rates[1] / rates[0]
    print(
        f"  {len(wanted)} network(s): bare loop {rates[0]:8.0f} predictions/s, pass {rates[1]:8.0f}/s, "
        f"ratio {ratio:.3f} (at least {budget:.3f})"
    )
    return ratio >= budget


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(
    *,
    networks: Annotated[str, "of timm, with random weights, or adapter strings, separated by commas"] = TRIO,
    pictures: Annotated[int, "stimuli"] = 96,
    files: Annotated[int, "different files among them"] = 96,
    rounds: int = 3,
    device: str = "cpu",
    precisions: Annotated[str, "float32, tf32, float16, bfloat16, separated by commas"] = "float32",
    threads: Annotated[int, "of the networks on a processor"] = 1,
    readers: Annotated[int, "threads that read pictures; 0: as many as the product takes"] = 0,
) -> bool:
    torch.set_num_threads(threads)
    files = min(files, pictures)
    pictures -= pictures % files
    is_cpu = device == "cpu"
    readers = readers or (min(4, available_cores()) if is_cpu else available_cores())
    where = device if is_cpu else torch.cuda.get_device_name(torch.device(device))
    print(f"torch {torch.__version__}, {where}, {available_cores()} cores, {pictures} stimuli of {files} files")
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        drawn = drawn_files(Path(folder), files)
        stimuli = stimuli_of(drawn, pictures)
        size_kb = sum(Path(path).stat().st_size for path, _ in drawn) / len(drawn) / 1000
        batches = [stimuli[start : start + BATCH] for start in range(0, pictures, BATCH)]
        taken = seconds(lambda: [None for _ in read_ahead(batches, threads=readers, is_pinned=not is_cpu)])
        print(f"reading alone: {pictures / taken:.0f} files/s with {readers} threads, {size_kb:.0f} KB a file")
        decoded = np.stack([cv2.imread(path, cv2.IMREAD_COLOR_RGB) for path, _ in drawn])
        for precision in precisions.split(","):
            loaded = {}
            for name in networks.split(","):
                spec = name if ":" in name else f"timm:{name}@random"
                network = load_classifier(spec, device=device, precision=precision)  # type: ignore[arg-type]
                asked = Asked(spec, device=device, digest=network.digest, precision=precision)  # type: ignore[arg-type]
                loaded[asked] = network if isinstance(network, OnnxNetwork) else require_gradients(network)
            hold(loaded)
            work = Path(folder, precision)
            work.mkdir()
            print(f"{precision}:")
            bench = Bench(loaded, stimuli, work, readers)
            kept &= measured(bench, decoded, rounds, BUDGETS["cpu" if is_cpu else "cuda"])
        first = list(loaded)[:1]
        bench.pass_over(first, "few", max(SHARD_STIMULI, pictures // 8))
        before = peak_mb()
        bench.pass_over(first, "many")
        print(f"peak memory {before:.0f} MB, {peak_mb() - before:+.1f} MB after {pictures} stimuli more")
    return kept


if __name__ == "__main__":
    run(main)
