"""Do stimuli fill the range of visual change that their originals can reach? Real plan, real targeting, every function.

    python -m benchmarks.range_coverage [--count 2000] [--functions gaussian_noise,frost]

What can be reached is found independently: every original at 64 strengths from end to end, with random fields of its
own. Wanted: at least 20 stimuli in every bin, of 40 and of the paper's 39, that half of the originals can reach, and no
more targets out of reach than the share that is allowed (the failures of plain root finding on 20 other photographs).
Pilot and survey count towards the evaluations. COMPUTE says where it runs.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from analysis.compute import executor, run_in_order_of_completion
from analysis.corruptions import CORRUPTIONS, corrupt
from analysis.generation import (
    Original,
    OriginalPlan,
    PilotShard,
    fit_pilot_shard,
    pilot_originals,
    plan_stimuli,
    prepare_reference,
)
from analysis.generation.reach_survey import cut_survey, survey_shard, with_survey
from analysis.visual_change import PilotMap, measure_coverage, measure_paper_coverage, reach_target
from analysis.visual_change.coverage import PUBLISHED_SHARES
from benchmarks._command import run
from benchmarks._pictures import originals as find_originals

SEED, SIZE_PX, LEVELS, MINIMUM = 1, 224, 64, 20
#: Share of targets that plain root finding misses.
ALLOWED = {
    "gaussian_noise": 0.03, "shot_noise": 0.16, "impulse_noise": 0.03, "uniform_noise": 0.04, "gaussian_blur": 0.03,
    "defocus_blur": 0.08, "box_blur": 0.03, "median_blur": 0.06, "motion_blur": 0.06, "glass_blur": 0.05,
    "brightness": 0.12, "frost": 0.02, "hue_saturation_value": 0.24, "color_jitter": 0.44,
}  # fmt: skip


@dataclass(frozen=True)
class Task:
    """One original under one function: its stimuli, and the scan."""

    plan: OriginalPlan
    name: str
    pilot: PilotMap


@dataclass(frozen=True)
class Found:
    """What was made and scanned of a task."""

    name: str
    original: str
    targets: list[float]
    changes: list[float]
    evaluations: list[int]
    reached: list[bool]
    scan: tuple[float, float]


def work(task: Task) -> Found:
    """Make every stimulus of a task, and scan independently."""
    picture, reference = prepare_reference(task.plan.original, SIZE_PX)
    corruption = CORRUPTIONS[task.name]
    made = [
        (request.target, reach_target(picture, reference, corruption, request.target, request.seed, task.pilot))
        for request in task.plan.requests
        if request.corruption == task.name and request.target is not None
    ]
    digest = hashlib.blake2b(f"scan/{task.name}/{task.plan.original.sha256}".encode(), digest_size=6).digest()
    scan = [
        reference.visual_change(
            corrupt(picture, task.name, corruption.parameter_at(level / (LEVELS - 1)), int.from_bytes(digest, "big"))
        )
        for level in range(LEVELS)
    ]
    return Found(
        name=task.name,
        original=task.plan.original.key,
        targets=[target for target, _ in made],
        changes=[reached.visual_change for _, reached in made],
        evaluations=[reached.evaluations for _, reached in made],
        reached=[reached.is_reached for _, reached in made],
        scan=(min(scan), max(scan)),
    )


def reachable_by_half(scans: np.ndarray, bins: int) -> np.ndarray:
    """Whether at least half of the originals, each with its smallest and largest visual change, can reach each bin."""
    low = np.minimum((scans[:, 0] * bins).astype(int), bins - 1)
    high = np.minimum((scans[:, 1] * bins).astype(int), bins - 1)
    place = np.arange(bins)
    return ((low[:, None] <= place) & (place <= high[:, None])).mean(axis=0) >= 0.5


def measure_pilots(pool: Executor, originals: list[Original], names: list[str], count: int) -> dict[str, PilotMap]:
    """Pilot maps with the survey, as a job measures them."""
    chosen = tuple(pilot_originals(originals, SEED))
    pilots = {pilot.corruption: pilot for pilot in pool.map(
        fit_pilot_shard, [PilotShard(name, chosen, SIZE_PX, SEED) for name in names]
    )}  # fmt: skip
    survey = cut_survey(originals, pilots, count=count, seed=SEED, size_px=SIZE_PX)
    return with_survey(pilots, run_in_order_of_completion(pool, survey_shard, survey))


def report(name: str, found: list[Found], pilot: PilotMap, count: int, n_originals: int) -> bool:
    """Print a function's row; whether it is as wanted."""
    changes = np.concatenate([one.changes for one in found])
    scans = np.array([one.scan for one in found])
    lacking, texts = [], []
    for bins, coverage in ((40, measure_coverage(changes)), (39, measure_paper_coverage(changes))):
        wanted = reachable_by_half(scans, bins)
        short = [j for j in np.flatnonzero(wanted) if coverage.counts[j] < MINIMUM]
        if short:
            lacking.append(f"short of {bins}: " + ", ".join(f"{j / bins:.3f} ({coverage.counts[j]})" for j in short))
        texts.append(f"{coverage.covered:2d}/{wanted.sum():2d}/{bins}" + (f" {len(short)} short" if short else ""))
    unreachable = 1 - np.concatenate([one.reached for one in found]).mean()
    evaluations = np.concatenate([one.evaluations for one in found]).mean()
    extra = (12 * min(20, n_originals) + len(pilot.survey)) / count
    uses = np.array([len(one.changes) for one in found])
    top = [
        np.sum(np.array(one.targets) > np.quantile(np.concatenate([o.targets for o in found]), 0.9)) for one in found
    ]
    published = f"{PUBLISHED_SHARES[name]:.3f}" if name in PUBLISHED_SHARES else "    -"
    good = not lacking and unreachable <= ALLOWED.get(name, 0.05)
    print(
        f"{name:21s} {texts[0]:>12s} {texts[1]:>12s}  {measure_paper_coverage(changes).covered_share:.3f} {published}  "
        f"{100 * unreachable:5.1f} {100 * ALLOWED.get(name, 0.05):4.0f}  {evaluations:5.2f} +{extra:.2f}  "
        f"{pilot.reach:.3f}  {uses.min()}-{uses.max()} {min(top)}-{max(top)}  {'met' if good else 'MISSED'}"
    )
    if lacking:
        print(f"    {'; '.join(lacking)}")
    return good


def main(
    *,
    count: Annotated[int, "stimuli a function"] = 2000,
    functions: Annotated[str, "names, separated by commas"] = ",".join(CORRUPTIONS),
) -> bool:
    names = sorted(functions.split(","))
    if count < 40 * MINIMUM:
        print(f"With {count} stimuli not every bin can hold {MINIMUM}: short bins are to be expected.")
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, executor(os.environ.get("COMPUTE", "processes")) as pool:
        originals, told = find_originals(Path(folder))
        pilots = measure_pilots(pool, originals, names, count)
        plan = plan_stimuli(originals, pilots, count=count, seed=SEED, size_px=SIZE_PX)
        print(f"{told}, {count} stimuli a function, {time.perf_counter() - started:.0f} s for pilot and survey")
        found: dict[str, list[Found]] = {name: [] for name in names}
        tasks = (Task(one, name, pilots[name]) for one in plan for name in names)
        for outcome in run_in_order_of_completion(pool, work, tasks):
            found[outcome.name].append(outcome)
    print(
        "covered / reached by half / bins; share of the 39, published; unreachable and allowed %; evaluations a target"
    )
    print("(and those of pilot and survey); reach; stimuli an original, and those among the highest tenth of targets")
    met = [report(name, found[name], pilots[name], count, len(originals)) for name in names]
    print(f"{time.perf_counter() - started:.0f} s")
    return all(met)


if __name__ == "__main__":
    run(main)
