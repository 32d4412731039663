"""How much of visual change do the samplings of a stimulus set cover, by corruption function?

    python -m benchmarks.samplings [--count 300] [--originals 16]

Every function is planned as `generate_stimuli` plans it, once with each sampling that takes a count, over photographs
with their categories in proportion. Printed are the bins of visual change, of 40, that hold an even share of the
stimuli, in whole stimuli, as the page of a set counts them; behind the slash those that hold any; and the share of
stimuli above 0.8.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.corruptions import CORRUPTIONS
from analysis.corruptions.registry import Picture, apply_corruption
from analysis.generation.originals import prepare_original
from analysis.generation.plan import Sampling, StimulusPlan, order_originals, plan_stimuli
from analysis.visual_change.coverage import measure_coverage, wanted_per_bin
from analysis.visual_change.targeting import PilotMap, fit_pilot_map, reach_target
from analysis.visual_change.vif import VifReference
from benchmarks._command import run
from benchmarks._pictures import originals as find_originals

SIZE_PX, SEED = 224, 0
SAMPLINGS: tuple[Sampling, ...] = ("even", "uniform", "uniform-parameter")
HIGH = 0.8


def main(*, count: int = 300, originals: int = 16) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found, told = find_originals(Path(folder))
        chosen = order_originals(found, SEED)[:originals]
        pictures = {one.key: prepare_original(Path(one.path), SIZE_PX) for one in chosen}
    references = {key: VifReference(picture) for key, picture in pictures.items()}
    print(f"{len(chosen)} of {told}, {count} stimuli a function, bins with at least {wanted_per_bin(count)} / with any")
    print("| function |" + "".join(f" {one} |" for one in SAMPLINGS))
    print("| --- |" + " --- |" * len(SAMPLINGS))
    for name in CORRUPTIONS:
        pilot = fit_pilot_map(name, [pictures[one.key] for one in chosen], seed=SEED)
        cells = []
        for sampling in SAMPLINGS:
            plan = plan_stimuli(chosen, {name: pilot}, count=count, seed=SEED, size_px=SIZE_PX, sampling=sampling)
            cells.append(_cell(changes_of(plan, pictures, references, pilot)))
        print(f"| {name} |" + "".join(f" {cell} |" for cell in cells), flush=True)


def changes_of(
    plan: StimulusPlan, pictures: dict[str, Picture], references: dict[str, VifReference], pilot: PilotMap
) -> NDArray[np.float64]:
    """Visual change of every corrupted stimulus of a plan, shape (count,)."""
    corruption = CORRUPTIONS[pilot.corruption]
    changes = []
    for one in plan:
        picture, reference = pictures[one.original.key], references[one.original.key]
        for request in one.requests[1:]:
            if request.target is not None:
                reached = reach_target(picture, reference, corruption, request.target, request.seed, pilot)
                changes.append(reached.visual_change)
            elif request.parameter is not None:
                made = apply_corruption(corruption, picture, request.parameter, request.seed)
                changes.append(reference.visual_change(made))
    return np.array(changes)


def _cell(changes: NDArray[np.float64]) -> str:
    coverage = measure_coverage(changes, minimum=wanted_per_bin(len(changes)))
    return f"{coverage.covered} / {coverage.occupied}, {100 * np.mean(changes > HIGH):.0f} %"


if __name__ == "__main__":
    run(main)
