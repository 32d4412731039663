"""Curves of three networks that know photographs, over every corruption function, in one pass over the pictures.

    REFERENCE_DATA=/path/to/data python -m benchmarks.real_networks [--count 48] [--networks lite:0,lite:1,lite:2]
                                                                    [--device cpu] [--precision float32] [--json FILE]

Needs `requirements/networks.txt` and the photographs of REFERENCE_DATA (`docs/reference-data.md`). It makes `count`
stimuli of each function, evenly over the visual change that the function reaches, lets the networks answer them, and
prints the accuracy on clean photographs, in seven bins of visual change, and the area under each fitted curve. Wanted:
at least 0.95 right on clean photographs among the 16 categories, and every curve falls.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd

from analysis.classifiers.networks import Precision, require_gradients
from analysis.classifiers.one_pass import predict_shards
from analysis.classifiers.shards import SHARD_STIMULI, Asked, PredictionShard, ShownStimulus, hold
from analysis.compute import available_cores, executor
from analysis.corruptions import CORRUPTIONS
from analysis.curves.fit import fit_curve
from analysis.generation.plan import pilot_originals, plan_stimuli
from analysis.generation.shards import PilotShard, cut_into_shards, fit_pilot_shard, generate_shard
from analysis.original import Original
from benchmarks._command import run
from benchmarks._pictures import originals as find_originals

SIZE_PX, SEED, N_BINS = 224, 0, 7
CLEAN_WANTED = 0.95


def stimuli_of(originals: list[Original], count: int, folder: Path) -> list[ShownStimulus]:
    chosen = tuple(pilot_originals(originals, SEED))
    with executor("processes") as pool:
        shards = [PilotShard(name, chosen, SIZE_PX, SEED) for name in CORRUPTIONS]
        pilots = dict(zip(CORRUPTIONS, pool.map(fit_pilot_shard, shards), strict=True))
        plan = plan_stimuli(originals, pilots, corruptions=list(CORRUPTIONS), count=count, seed=SEED, size_px=SIZE_PX)
        cut = cut_into_shards(plan, pilots, size_px=SIZE_PX, folder=folder)
        rows = [row for outcome in pool.map(generate_shard, list(cut)) for row in outcome.rows]
    return [
        ShownStimulus(
            row["stimulus"], row["original"], row["category"], row["corruption"], float(row["visual_change"]),
            str(folder / row["file"]), row["sha256"],
        )
        for row in sorted(rows, key=lambda row: str(row["stimulus"]))
    ]  # fmt: skip


def predicted(specs: list[str], stimuli: list[ShownStimulus], folder: Path, **how: Any) -> pd.DataFrame:
    asked = [Asked(spec, **how) for spec in specs]
    loaded = {replace(one, digest=(network := require_gradients(one.load())).digest): network for one in asked}
    hold(loaded)
    groups = (
        tuple(
            PredictionShard(one, one.spec, tuple(stimuli[start : start + SHARD_STIMULI]), str(folder)) for one in loaded
        )
        for start in range(0, len(stimuli), SHARD_STIMULI)
    )
    done = [shard.path for group in predict_shards(groups, threads=available_cores()) for shard in group]
    return pd.concat([pd.read_parquet(path) for path in done], ignore_index=True)


def line_of(rows: pd.DataFrame, clean: float) -> dict[str, Any]:
    """Accuracy by bins of equal width over the changes that the function reaches, and the area under the fit."""
    v, right = rows["visual_change"].to_numpy(), rows["correct"].to_numpy()
    places = np.clip(((v - v.min()) / max(np.ptp(v), 1e-9) * N_BINS).astype(int), 0, N_BINS - 1)
    bins = [
        float(right[places == place].mean()) if (places == place).any() else float("nan") for place in range(N_BINS)
    ]
    fit = fit_curve(v, right)
    return {"accuracy": float(right.mean()), "bins": bins, "area": float(fit.area), "falls": bins[-1] < clean}


def main(
    *,
    count: Annotated[int, "stimuli of each function"] = 48,
    networks: str = "lite:0,lite:1,lite:2",
    device: str = "cpu",
    precision: Precision = "float32",
    json_file: Path | None = None,
) -> bool:
    specs = networks.split(",")
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        originals, what = find_originals(folder / "drawn")
        started = time.perf_counter()
        stimuli = stimuli_of(originals, count, folder)
        made = time.perf_counter()
        table = predicted(specs, stimuli, folder, device=device, precision=precision)
        print(f"{what}: {len(stimuli)} stimuli made in {made - started:.0f} s, ", end="")
        print(f"answered by {len(specs)} networks in {time.perf_counter() - made:.0f} s")
    for spec, answers in table.groupby("classifier", observed=True):
        clean = float(answers.loc[answers["corruption"] == "none", "correct"].mean())
        print(f"\n{spec}: {clean:.3f} right on clean photographs, 16 categories")
        lines = {name: line_of(answers[answers["corruption"] == name], clean) for name in CORRUPTIONS}
        for function, line in lines.items():
            shares = " ".join(f"{share:.2f}" for share in line["bins"])
            print(f"  {function:20} {shares}  mean {line['accuracy']:.3f}  area {line['area']:.3f}")
        found[str(spec)] = {"clean": clean, "curves": lines}
    if json_file is not None:
        json_file.write_text(json.dumps(found, indent=1))
    return all(
        one["clean"] >= CLEAN_WANTED and all(line["falls"] for line in one["curves"].values()) for one in found.values()
    )


if __name__ == "__main__":
    run(main)
