"""Plans read the groups of the labels: negatives by the marked partition, or none where there is none."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from analysis.design.catalogue import shuffled_grid
from analysis.design.planner import plan_study
from analysis.errors import DesignRefused
from analysis.labels.files import parse_labels, shipped
from analysis.labels.space import LabelSpace
from analysis.study.design import DesignConfig

THREE = parse_labels(
    'negatives = "kind"\n[partitions.kind]\nred = ["a", "b"]\ngreen = ["c", "d"]\nblue = ["e", "f"]\n'
    + "".join(f"[labels.{one}]\n" for one in "abcdef")
)


def material(space: LabelSpace, each: int = 24) -> tuple[dict[str, str], list[dict[str, Any]]]:
    originals = {f"{label}-{number:03}": label for label in space.ids for number in range(each)}
    rows = []
    for original, category in originals.items():
        changes = [("none", 0.0), *(("blur", 0.1 + 0.08 * step) for step in range(10))]
        rows += [
            {
                "stimulus": f"{original}-{corruption}-{step}",
                "original": original,
                "category": category,
                "corruption": corruption,
                "visual_change": change,
            }
            for step, (corruption, change) in enumerate(changes)
        ]
    return originals, rows


def negatives(space: LabelSpace, **asked: int) -> tuple[list[list[str]], list[str]]:
    plan = plan_study(*material(space), DesignConfig(sessions=6, **asked), 3, space=space)
    groups = [
        [space.group(trial.correct_response) for trial in session.trials if trial.role == "negative"]
        for session in plan.sessions
    ]
    return groups, list(plan.notes)


def test_three_groups_are_taken_in_turn() -> None:
    groups, _ = negatives(THREE, negative_trials=6)
    assert [Counter(session) for session in groups] == [{"red": 2, "green": 2, "blue": 2}] * 6


def test_two_groups_are_taken_in_turn_as_ever() -> None:
    groups, notes = negatives(shipped("cifar10"), negative_trials=6)
    assert [Counter(session) for session in groups] == [{"animal": 3, "vehicle": 3}] * 6
    assert not [note for note in notes if "No negative sentinels" in note]


def test_without_groups_there_are_no_negatives_and_a_note_says_so() -> None:
    groups, notes = negatives(shipped("mnist"))
    assert groups == [[]] * 6
    assert "No negative sentinels: the labels mnist have no groups." in notes


def test_negatives_without_groups_are_refused_with_the_way_out() -> None:
    with pytest.raises(DesignRefused, match="set design.negative_trials to 0, or give the labels a partition"):
        negatives(shipped("mnist"), negative_trials=6)


def test_the_grid_of_a_person_holds_every_label_once() -> None:
    grid = shuffled_grid("family", "P1", THREE)
    assert sorted(grid) == list(THREE.ids)
    assert grid == shuffled_grid("family", "P1", THREE) != shuffled_grid("family", "P2", THREE)
