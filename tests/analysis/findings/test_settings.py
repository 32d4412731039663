from __future__ import annotations

import inspect
from typing import Any

import pytest

from analysis.errors import InvalidInput
from analysis.findings import analyse
from analysis.findings.settings import planned_settings


def test_defaults_are_those_of_the_analysis() -> None:
    defaults = {name: one.default for name, one in inspect.signature(analyse).parameters.items()}
    for name, value in planned_settings({}).items():
        assert value == (defaults[name] or {}), name


def test_what_is_given_is_kept() -> None:
    given = {"margin": 0.05, "borrow": {"glass_blur": "gaussian_blur"}, "level": 0.9}
    assert {**planned_settings(given), **given} == planned_settings(given)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"margn": 0.05}, "no setting 'margn'"),
        ({"margin": 0}, "analysis.margin must be a number between 0 and 1"),
        ({"level": 95}, "analysis.level"),
        ({"discrimination_margin": 0.6}, "between 0 and 0.5"),
        ({"margin": True}, "not True"),
        ({"borrow": "frost"}, "borrow is a table"),
        ({"borrow": {"fog": 1}}, "borrow is a table"),
    ],
)
def test_what_makes_no_analysis_is_refused_with_its_name(values: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        planned_settings(values)
