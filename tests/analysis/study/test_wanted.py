"""A study's own words for what pictures show: checked against the labels that the study names."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.errors import InvalidInput
from analysis.study.study import StudyConfiguration


def study(**more: Any) -> StudyConfiguration:
    return StudyConfiguration.from_file_values({"title": "A", "stimuli": "b", **more})


def test_words_are_those_of_the_labels_that_are_named() -> None:
    own = {"frog": {"definition": "A frog."}}
    assert study(labels="cifar10", wanted=own).wanted["frog"].definition == "A frog."
    assert StudyConfiguration.from_toml(study(labels="cifar10", wanted=own).to_toml()).labels == "cifar10"
    with pytest.raises(InvalidInput, match=r"\[wanted\] has no category 'frog'; there are: airplane"):
        study(wanted=own)
    with pytest.raises(InvalidInput, match=r"\[wanted\] has no category 'oven'; there are: airplane, automobile"):
        study(labels="cifar10", wanted={"oven": {"definition": "An oven."}})


def test_labels_of_an_installation_are_not_known_here() -> None:
    assert "knife" in study(labels="kitchen", wanted={"knife": {"definition": "A knife."}}).wanted


def test_a_study_that_names_no_labels_is_stored_as_ever() -> None:
    assert "labels" not in study().to_dict()


@pytest.mark.parametrize("name", ["../entry16", "My labels", "x" * 81])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="labels"):
        study(labels=name)
