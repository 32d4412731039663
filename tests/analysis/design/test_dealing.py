"""Recruiters draw from one plan: whatever the order of arrivals, each holds a share like the whole."""

from __future__ import annotations

import numpy as np

from analysis.arrays import FloatArray
from analysis.design.planner import plan_study
from analysis.design.sessions import by_balance, cells_of
from analysis.study.design import DesignConfig
from tests.analysis.design.pictures import picture_set
from tests.labels import of_the_sixteen

SESSIONS = 60


def cells_of_a_plan() -> FloatArray:
    originals, rows = picture_set([14] * 16, 700)
    plan = plan_study(originals, rows, DesignConfig(sessions=SESSIONS, main_trials=22), 3)
    shown = {row["stimulus"]: (row["corruption"], row["visual_change"], row["category"]) for row in rows}
    assert len(plan.sessions) == SESSIONS
    return cells_of(plan.sessions, shown)


def distance(cells: FloatArray, held: list[int]) -> float:
    """Pearson's statistic of what is held against as large a share of the plan, by cell."""
    share = len(held) * cells.mean(axis=0)
    return float(((cells[held].sum(axis=0) - share) ** 2 / share).sum() / cells.shape[1])


@of_the_sixteen
def test_cells_count_every_analysed_trial_once_by_place_and_once_by_category() -> None:
    cells = cells_of_a_plan()
    assert cells.shape == (SESSIONS, 3 * 10 + 1 + 16)  # three functions in tenths, clean pictures, categories
    assert (cells.sum(axis=1) == cells.sum(axis=1)[0]).all() and (cells.sum(axis=1) % 2 == 0).all()


def test_the_slot_that_mends_the_balance_comes_first_by_hand() -> None:
    """Slots of two kinds: who holds one of the first is dealt the second; nothing held, the lowest of the best."""
    cells = np.array([[4.0, 0.0], [4.0, 0.0], [0.0, 4.0], [0.0, 4.0], [2.0, 2.0]])
    assert by_balance(cells, [], [0, 1, 2, 3, 4]) == [4, 0, 1, 2, 3]
    assert by_balance(cells, [0], [1, 2, 3]) == [2, 3, 1]
    assert by_balance(cells, [2], [0, 3, 4]) == [0, 4, 3]


def test_shares_are_balanced_under_interleaved_arrivals_and_dropouts() -> None:
    cells = cells_of_a_plan()
    rng = np.random.default_rng(11)
    held: dict[str, list[int]] = {"a": [], "b": [], "c": []}
    for step in range(200):
        taken = {slot for own in held.values() for slot in own}
        free = [slot for slot in range(SESSIONS) if slot not in taken]
        own = held[str(rng.choice(list(held), p=[0.5, 0.3, 0.2]))]
        if own and (len(free) < 12 or rng.random() < 0.2):
            own.pop(int(rng.integers(len(own))))
        else:
            own.append(by_balance(cells, own, free)[0])
        if step > 60:
            assert all(distance(cells, one) < 0.5 for one in held.values() if len(one) > 5)
    drawn = [rng.permutation(SESSIONS)[: len(own)].tolist() for own in held.values()]
    for own, random in zip(held.values(), drawn, strict=True):
        assert distance(cells, own) < 0.5 * distance(cells, random)
