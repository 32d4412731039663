"""From stretches of entries to the numbered trials of a session."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.design.ordering import Stretch
from analysis.design.plan import PlannedTrial, SessionPlan


def numbered(slot: int, stretches: Sequence[Stretch], masks: np.random.Generator) -> SessionPlan:
    """Trials in the order of the stretches, one block a stretch; empty stretches are left out.

    Parameters
    ----------
    slot : int
    stretches : sequence of (kind, entries)
    masks : numpy.random.Generator
        Draws the seeds of the noise masks, apart from everything else.
    """
    trials: list[PlannedTrial] = []
    filled = [stretch for stretch in stretches if stretch[1]]
    for block, (kind, entries) in enumerate(filled):
        for entry in entries:
            trials.append(
                PlannedTrial(
                    position=len(trials),
                    block=block,
                    kind=kind,
                    task=entry.task,
                    role=entry.role,
                    stimulus=entry.stimulus.stimulus,
                    second_stimulus=entry.second.stimulus if entry.second else None,
                    correct_response=entry.correct,
                    mask_seed=int(masks.integers(2**31)),
                    wanted=entry.wanted,
                    third_stimulus=entry.third.stimulus if entry.third else None,
                )
            )
    return SessionPlan(slot=slot, trials=tuple(trials))
