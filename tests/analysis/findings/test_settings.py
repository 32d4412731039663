from __future__ import annotations

from typing import Any

import pytest

from analysis.errors import InvalidInput
from analysis.findings.model.settings import Settings
from analysis.study.analysis_plan import AnalysisPlan


def test_defaults_are_those_of_the_analysis() -> None:
    stated = Settings.planned(seed=1)
    for name, value in AnalysisPlan().settings().items():
        assert value == getattr(stated, name), name
    # What a study says is never lost on the way; that there are no weights and no kinds is not stated.
    absent = {"recruiter_weights", "change_weights", "change_weights_name", "network_kinds"}
    assert set(Settings.model_fields) - stated.model_fields_set == absent


def test_what_is_given_is_kept() -> None:
    given = {"margin": 0.05, "borrow": {"glass_blur": "gaussian_blur"}, "level": 0.9}
    assert {**AnalysisPlan.from_dict(given).settings(), **given} == AnalysisPlan.from_dict(given).settings()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"margn": 0.05}, "no setting 'margn'"),
        ({"margin": 0}, "margin must be a number above 0 and below 1, not 0"),
        ({"level": 95}, "level must be a number above 0 and below 1, not 95"),
        ({"discrimination_margin": 0.6}, "above 0 and below 0.5"),
        ({"margin": True}, "not True"),
        ({"borrow": "frost"}, "borrow.* must be a table"),
        ({"borrow": {"fog": 1}}, "borrow.* must be a table"),
    ],
)
def test_what_makes_no_analysis_is_refused_with_its_name(values: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        AnalysisPlan.from_dict(values)
