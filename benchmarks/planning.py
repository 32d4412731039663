"""How long does a plan of a whole study take, against dealing its trials out without any rule?

    python -m benchmarks.planning [--sessions 60] [--stimuli 960] [--repeats 3]

The baseline deals as many shuffled stimuli to as many sessions: no originals kept apart, no balance of strengths,
no sentinels. Medians; a plan is wanted within 2 s at the sizes above.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Annotated

import numpy as np

from analysis.design import DesignConfig, plan_study
from benchmarks._command import run
from tests.analysis.design.pictures import picture_set


def main(*, sessions: int = 60, stimuli: Annotated[int, "of each corruption"] = 960, repeats: int = 3) -> None:
    originals, pictures = picture_set([30] * 16, stimuli)
    config = DesignConfig(sessions=sessions)
    planned = plan_study(originals, pictures, config, 0)
    trials = len(planned.sessions[0].trials)

    def deal() -> list[list[str]]:
        keys = [str(row["stimulus"]) for row in pictures]
        order = np.random.default_rng(0).permutation(len(keys))
        drawn = np.resize(order, sessions * trials).reshape(sessions, trials)
        return [[keys[k] for k in session] for session in drawn]

    plan_s = median_s(lambda: plan_study(originals, pictures, config, 0), repeats)
    deal_s = median_s(deal, repeats)
    print(f"{len(planned.sessions)} sessions of {trials} trials, {len(pictures)} stimuli, {len(originals)} originals")
    print(
        f"plan {plan_s:.2f} s, {1e3 * plan_s / len(planned.sessions):.0f} ms a session; {plan_s / deal_s:.0f} x dealing"
    )


def median_s(work: Callable[[], object], repeats: int) -> float:
    def once() -> float:
        began_at = time.perf_counter()
        work()
        return time.perf_counter() - began_at

    return statistics.median(once() for _ in range(repeats))


if __name__ == "__main__":
    run(main)
