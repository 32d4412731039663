from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.findings.observations import read_predictions, read_trials
from analysis.findings.outcomes import condition_number, condition_scale
from tests.analysis.findings.studies import imported


@pytest.mark.parametrize(
    ("condition", "number"), [("0.10", 0.1), ("c05", 5.0), ("100", 100.0), ("1e-2", 0.01), ("-3", -3.0), (".5", 0.5)]
)
def test_numbers_are_read_plain_or_behind_one_letter(condition: str, number: float) -> None:
    assert condition_number(condition) == pytest.approx(number)


@pytest.mark.parametrize("condition", ["1-0-10", "bw", "inf", "nan", "", "True", "ab12", "0.1.2"])
def test_everything_else_is_no_number(condition: str) -> None:
    assert math.isnan(condition_number(condition))


def scale_of(conditions: dict[str, float]):  # noqa: ANN201
    people = read_trials(imported(conditions))
    return condition_scale("experiment", people, read_predictions(None)[0])


def test_a_falling_condition_within_the_range_is_taken_as_it_is() -> None:
    scale = scale_of({"0.0": 0.9, "0.9": 0.1})
    assert scale is not None
    assert scale.place(np.array(["0.0", "0.9"])).tolist() == [0.0, 0.9]
    assert scale.notes == ("experiment: areas are over the experiment's own condition, not over visual change.",)


def test_contrast_is_rescaled_and_flipped_and_says_so() -> None:
    scale = scale_of({"c100": 0.95, "c50": 0.8, "c05": 0.2})
    assert scale is not None and scale.flipped
    assert scale.place(np.array(["c100", "c50", "c05"])) == pytest.approx([0.0, 0.5, 0.95])
    assert any("divided by 100" in note for note in scale.notes)
    assert any("flipped" in note for note in scale.notes)


def test_negative_numbers_are_moved_into_the_range() -> None:
    scale = scale_of({"-2": 0.9, "0": 0.5, "2": 0.1})
    assert scale is not None
    assert scale.place(np.array(["-2", "0", "2"])) == pytest.approx([0.0, 0.5, 1.0])


def test_one_number_is_no_axis() -> None:
    assert scale_of({"0.5": 0.9, "bw": 0.5}) is None
    assert scale_of({"1-0-10": 0.9, "2-0-10": 0.5}) is None
