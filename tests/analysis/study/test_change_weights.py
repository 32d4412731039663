"""Weights over visual change: what a table says, and what is no table."""

from __future__ import annotations

import pytest

from analysis.errors import InvalidInput
from analysis.study.analysis_plan import AnalysisPlan
from analysis.study.change_weights import ChangeWeights
from analysis.study.study import StudyConfiguration

SNOW = ChangeWeights(((0.0, 0.0), (0.6, 0.0), (0.6, 1.0), (1.0, 1.0)), "heavy snow in the arctic")


def test_masses_by_hand() -> None:
    assert SNOW.mass(0.0, 1.0) == 1.0 and SNOW.mass(0.0, 0.6) == 0.0
    assert SNOW.mass(0.5, 0.8) == pytest.approx(0.5)
    # A density of 2 v: v squared.
    rising = ChangeWeights(((0.0, 0.0), (1.0, 7.0)))
    assert rising.mass(0.0, 0.5) == pytest.approx(0.25) and rising.mass(0.5, 0.7) == pytest.approx(0.49 - 0.25)


def test_equal_rows_have_one_digest_whatever_they_are_called() -> None:
    assert ChangeWeights(((0, 1), (1, 1))).digest == ChangeWeights(((0.0, 1.0), (1.0, 1.0)), "as always").digest
    assert SNOW.digest != ChangeWeights(SNOW.points[:3] + ((1.0, 2.0),)).digest
    assert SNOW.called == "heavy snow in the arctic" and ChangeWeights(SNOW.points).called == "the study's weights"


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ((), "first row must have the visual change 0"),
        (((0.0, 1.0), (0.9, 1.0)), "and the last one 1"),
        (((0.0, 1.0), (0.5, -1.0), (1.0, 1.0)), "Row 2 has the weight -1: give a number of at least 0"),
        (((0.0, 1.0), (0.5, float("nan")), (1.0, 1.0)), "Row 2 has the weight nan"),
        (((0.0, 1.0), (50.0, 1.0), (1.0, 1.0)), "Row 2 has the visual change 50: give a number from 0 to 1"),
        (((0.0, 1.0), (0.7, 1.0), (0.3, 1.0), (1.0, 1.0)), "Row 3 has the visual change 0.3 after 0.7: sort the rows"),
        (((0.0, 1.0), (0.5, 1.0), (0.5, 2.0), (0.5, 3.0), (1.0, 1.0)), "more than two rows have the visual change 0.5"),
        (((0.0, 0.0), (1.0, 0.0)), "All weights are 0"),
    ],
)
def test_what_is_no_table_is_refused_by_its_row(points: tuple[tuple[float, float], ...], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        ChangeWeights(points)


def test_a_study_file_states_them_and_says_which_row_is_wrong() -> None:
    text = 'title = "A"\nstimuli = "b"\n[analysis]\nchange_weights = [[0, 0], [0.6, 1], [1, 3]]\n'
    study = StudyConfiguration.from_toml(text)
    assert study.analysis.change_weights == ((0, 0), (0.6, 1), (1, 3))
    assert StudyConfiguration.from_toml(study.to_toml()) == study
    assert AnalysisPlan().settings()["change_weights"] == ()
    for rows, said in (
        ("[[0, 0], [0.6, -1], [1, 3]]", "analysis.change_weights: Row 2 has the weight -1"),
        ('"heavy"', r"analysis.change_weights must be a list of \[Δv, weight\]"),
        ("[[0, 0, 1], [1, 1]]", "analysis.change_weights"),
    ):
        with pytest.raises(InvalidInput, match=said):
            StudyConfiguration.from_toml(f'title = "A"\nstimuli = "b"\n[analysis]\nchange_weights = {rows}\n')
