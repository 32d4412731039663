"""Classifiers over people's own accuracy: whose answers are placed, and beside which pictures they stand."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.findings.leaderboard import difficulty_entries
from analysis.findings.observations import CLEAN, Observations


def answers(observer: list[str], original: list[int], corruption: list[str], correct: list[int]) -> Observations:
    n = len(observer)
    names = np.array([f"original-{one}" for one in original])
    shown = np.array(corruption)
    empty, nothing = np.full(n, ""), np.full(n, np.nan)
    return Observations(
        observer=np.array(observer),
        session=empty,
        original=names,
        stimulus=np.char.add(np.char.add(shown, "/"), names),
        category=empty,
        corruption=shown,
        condition=shown,
        response=np.full(n, "dog"),
        visual_change=np.where(shown == CLEAN, 0.0, 0.55),
        correct=np.array(correct, dtype=float),
        rt_ms=nothing,
        timing_ok=nothing,
        imported=np.zeros(n, dtype=bool),
        input_kind=empty,
    )


def crowd() -> Observations:
    """Eight people and eight originals: all are right under noise, none under blur, and all where nothing was done."""
    rows = [(p, o, c) for p in range(8) for o in range(8) for c in ("noise", "blur", CLEAN)]
    return answers(
        [f"person-{p}" for p, _, _ in rows],
        [o for _, o, _ in rows],
        [c for _, _, c in rows],
        [int(c != "blur") for _, _, c in rows],
    )


def test_a_classifier_stands_beside_people_on_the_pictures_that_both_saw() -> None:
    # Of the blurred pictures it saw six, and was right on three of them.
    network = answers(["net"] * 14, [*range(8), *range(6)], ["noise"] * 8 + ["blur"] * 6, [1] * 8 + [1, 1, 1, 0, 0, 0])
    hard, easy = difficulty_entries(crowd(), network, level=0.95)
    assert (hard.classifier, hard.placed, easy.placed) == ("net", (0.0, 0.2), (0.8, 1.0))
    assert (hard.people, hard.accuracy, hard.n, hard.originals) == (0.0, 0.5, 48, 6)
    assert (easy.people, easy.accuracy, easy.n, easy.participants) == (1.0, 1.0, 64, 8)
    assert hard.difference == pytest.approx(0.5) and hard.interval[0] < 0.5 < hard.interval[1]
    assert hard.shown and easy.shown


def test_without_common_pictures_nothing_is_said() -> None:
    network = answers(["net"] * 2, [100, 101], ["noise"] * 2, [1, 1])
    assert difficulty_entries(crowd(), network, level=0.95) == []
    clean = answers(["person-1"], [1], [CLEAN], [1])
    assert difficulty_entries(clean, network, level=0.95) == []
