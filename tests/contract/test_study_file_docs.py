"""The description of the study file names every setting and every kind of rule."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from analysis.acceptance.rules import KINDS
from analysis.design import DesignConfig, DiscriminationDesign, ValidationDesign
from humanexp.experiments.configuration import StudyConfiguration

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "study-file.md").read_text()


@pytest.mark.parametrize("kind", [StudyConfiguration, DesignConfig, DiscriminationDesign, ValidationDesign])
def test_every_setting_is_described(kind):
    missing = [
        field.name
        for field in dataclasses.fields(kind)
        if f"`{field.name}`" not in TEXT and f"[{field.name}]" not in TEXT and f".{field.name}]" not in TEXT
    ]
    assert not missing


def test_every_kind_of_rule_is_named():
    assert not [name for name in KINDS if f"`{name}`" not in TEXT]
