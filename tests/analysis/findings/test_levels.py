from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.findings.levels import level_entries
from analysis.tables.stimuli import LEVEL_PREDICTIONS, PREDICTIONS
from tests.analysis.findings.studies import analysed
from tests.labels import label_at

FUNCTIONS = ("brightness", "frost")
#: At the levels "steady" is behind, over the whole range ahead: it holds where the levels have no stimuli.
RIGHT_AT_LEVELS = {"steady": 0.55, "brittle": 0.75}
HOLDS_UNTIL = {"steady": 0.95, "brittle": 0.45}


def stimuli(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    continuous, fixed = [], []
    for function in FUNCTIONS:
        for k in range(200):
            change = (k + 0.5) / 200
            shared = {
                "original": f"o{k % 40}",
                "category": label_at(k),
                "corruption": function,
                "label_space": 16,
                "confidence": None,
            }
            for name in RIGHT_AT_LEVELS:
                continuous.append(
                    {
                        **shared,
                        "classifier": name,
                        "stimulus": f"{function}-{k}",
                        "visual_change": change,
                        "correct": change < HOLDS_UNTIL[name],
                    }
                )
                fixed.append(
                    {
                        **shared,
                        "classifier": name,
                        "stimulus": f"{function}-level-{k}",
                        "level": k % 5 + 1,
                        "visual_change": 0.1 + 0.05 * (k % 5),
                        "correct": rng.random() < RIGHT_AT_LEVELS[name],
                    }
                )
    for row in (*continuous, *fixed):
        row["response"] = row["category"] if row["correct"] else "na"
    return PREDICTIONS.frame(continuous), LEVEL_PREDICTIONS.frame(fixed)


@pytest.fixture(scope="module")
def levels() -> dict[str, Any]:
    continuous, fixed = stimuli(1)
    people = pd.DataFrame({name: [] for name in TRIAL_COLUMNS})
    found = analysed(people, continuous, study="s", seed=1, n_bootstrap=0, level_predictions=fixed)
    return found["levels"]


TRIAL_COLUMNS = (
    "participant", "session", "position", "task", "role", "original", "stimulus", "corruption", "visual_change",
    "condition", "response", "correct", "accepted",
)  # fmt: skip


def test_models_change_places_between_levels_and_areas(levels: dict[str, Any]) -> None:
    assert levels["functions"] == list(FUNCTIONS)
    first, second = levels["models"]
    assert (first["classifier"], second["classifier"]) == ("brittle", "steady")
    assert first["fixed_accuracy"] == pytest.approx(0.75, abs=0.06) and first["area_accuracy"] < 0.55
    assert second["fixed_accuracy"] == pytest.approx(0.55, abs=0.06) and second["area_accuracy"] > 0.9
    assert levels["rank_changes"] == [
        {"classifier": "brittle", "property": "accuracy", "from": 1, "to": 2},
        {"classifier": "steady", "property": "accuracy", "from": 2, "to": 1},
    ]
    assert levels["swaps"] == [{"property": "accuracy", "ahead_at_levels": "brittle", "ahead_by_area": "steady"}]


def test_fixed_accuracy_is_the_mean_over_levels_then_functions(levels: dict[str, Any]) -> None:
    fixed = stimuli(1)[1]
    own = fixed[fixed["classifier"] == "steady"].assign(correct=lambda rows: rows["correct"].astype(float))
    by_level = own.groupby(["corruption", "level"])["correct"].mean()
    expected = by_level.groupby(level=0).mean().mean()
    model = next(one for one in levels["models"] if one["classifier"] == "steady")
    assert model["fixed_accuracy"] == pytest.approx(expected)


def test_levels_leave_most_of_the_range_uncovered(levels: dict[str, Any]) -> None:
    frost = levels["coverage"]["functions"][1]
    assert frost["a"]["n"] == frost["b"]["n"] == 200
    assert sum(count > 0 for count in frost["a"]["counts"]) == 40
    assert sum(count > 0 for count in frost["b"]["counts"]) == 5
    assert [one["level"] for one in frost["b"]["levels"]] == [1, 2, 3, 4, 5]


def test_another_label_space_is_not_ranked_and_without_levels_there_is_nothing() -> None:
    continuous, fixed = stimuli(1)
    thousand = fixed.assign(label_space=1000)
    people = pd.DataFrame({name: [] for name in TRIAL_COLUMNS})
    found = analysed(people, continuous, study="s", seed=1, n_bootstrap=0, level_predictions=thousand)
    assert found["levels"] is None
    assert analysed(people, continuous, study="s", seed=1, n_bootstrap=0)["levels"] is None
    from analysis.findings.fits import StudyCurves

    assert level_entries(StudyCurves(), fixed, continuous) is None
