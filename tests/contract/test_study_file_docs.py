"""The description of the study file is the specification's, and what it shows as examples is a study."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis.acceptance.rules import FUNCTIONS
from analysis.study.documents import TABLES, filled
from analysis.study.rules import KINDS
from analysis.study.study import StudyConfiguration

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "study-file.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


def test_every_table_is_the_specifications():
    assert filled(TEXT) == TEXT, "run: python -m analysis.study docs/study-file.md"


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_shown(name):
    assert TEXT.count(f"<!-- settings: {name} -->") == 1
    assert all(info.description for info in TABLES[name].model_fields.values())


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_makes_a_study(text):
    needed = "" if "title =" in text else 'title = "Example"\nstimuli = "photos"\n'
    study = StudyConfiguration.from_toml(needed + text)
    assert StudyConfiguration.from_dict(study.to_dict()) == study


def test_there_are_examples():
    assert len(EXAMPLES) >= 3


def test_every_kind_of_rule_has_a_function_and_is_named():
    assert set(FUNCTIONS) == set(KINDS)
    assert not [name for name in KINDS if f"`{name}`" not in TEXT]
