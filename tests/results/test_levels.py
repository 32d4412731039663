"""Fixed levels against the whole range: a table for each function, places gained, and orders that are reversed."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from analysis.differences.reversals import ahead
from analysis.findings.model.findings import Findings
from humanexp.results.charts.levels import LEVELS
from tests.analysis.findings.studies import analysed
from tests.analysis.findings.test_levels import FUNCTIONS, TRIAL_COLUMNS, stimuli


@pytest.fixture(scope="module")
def found() -> Findings:
    continuous, fixed = stimuli(1)
    people = pd.DataFrame({name: [] for name in TRIAL_COLUMNS})
    return Findings.model_validate(
        analysed(people, continuous, study="s", seed=1, n_bootstrap=0, level_predictions=fixed)
    )


def rows_of(found: Findings, key: str, table: str) -> list[dict[str, Any]]:
    chart = LEVELS.build(found, key)
    made = chart.table(table)
    return [dict(zip((column.name for column in made.columns), row, strict=True)) for row in made.rows]


def test_every_function_has_a_table_with_ranks_and_a_figure(found: Findings) -> None:
    assert [one.key for one in LEVELS.choices(found)] == ["levels", *(f"levels--{name}" for name in FUNCTIONS)]
    first, second = rows_of(found, "levels--frost", "levels")
    assert (first["model"], first["rank_fixed"], first["rank_accuracy"]) == ("brittle", 1, 2)
    assert (first["places_accuracy"], second["places_accuracy"]) == ("−1", "+1")
    figure = LEVELS.build(found, "levels--frost").figure
    assert figure is not None and figure.y.categories == ("brittle", "steady")


def test_reversals_are_listed_with_both_differences_and_the_right_function(found: Findings) -> None:
    everywhere = rows_of(found, "levels", "reversals")
    assert [row["function"] for row in everywhere] == ["all functions", *FUNCTIONS]
    (frost,) = rows_of(found, "levels--frost", "reversals")
    assert (frost["ahead_at_levels"], frost["ahead_by_area"], frost["shown"]) == ("brittle", "steady", "yes")
    continuous, fixed = stimuli(1)
    own = fixed[fixed["corruption"] == "frost"].pivot(index="stimulus", columns="classifier", values="correct")
    numbers = own.index.str.rpartition("-").get_level_values(2).astype(int)
    by_hand = ahead(
        own["brittle"].astype(float).to_numpy(), own["steady"].astype(float).to_numpy(), (numbers % 5).to_numpy(),
        (numbers % 40).to_numpy(),
    )  # fmt: skip
    assert frost["at_levels"] == pytest.approx((by_hand.difference, *by_hand.interval))
    # Over visual change "steady" holds until .95 and "brittle" until .45: half of twenty bins lie between.
    assert frost["over_change"][0] == pytest.approx(0.5, abs=1e-9)


def test_the_mean_at_levels_is_the_difference_of_the_accuracies(found: Findings) -> None:
    assert found.levels is not None
    first, second = found.levels.models
    overall = next(one for one in found.levels.reversals if one.corruption is None)
    assert overall.at_levels == pytest.approx(first.fixed_accuracy - second.fixed_accuracy)
