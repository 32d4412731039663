"""A later version of the specification: what is stored keeps the defaults that it was made with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, ClassVar

import pytest
from pydantic import Field

from analysis.errors import InvalidInput
from analysis.reporting.methods import kept_defaults
from analysis.reporting.plan import freeze_plan
from analysis.study.analysis_plan import AnalysisPlan
from analysis.study.base import Earlier, Number
from analysis.study.study import StudyConfiguration, digest_of, earlier_defaults
from tests.labels import of_the_sixteen

STORED = json.loads((Path(__file__).parent / "stored.json").read_text())["studies"]


class LaterPlan(AnalysisPlan):
    """Another default, and a new setting that earlier studies do not have."""

    margin: Annotated[float, Field(gt=0, lt=1, description="wider"), Number, Earlier(5, 0.03)] = 0.05
    window_margin: Annotated[float | None, Field(gt=0, lt=1, description="new"), Number, Earlier(5, None)] = 0.1


class Later(StudyConfiguration):
    VERSION: ClassVar[int] = 5

    analysis: Annotated[LaterPlan, Field(description="decided before anybody looks")] = LaterPlan()
    spec: Annotated[int, Field(ge=1, description="version")] = 5


#: What later versions of the specification brought: a margin as d', the mean over people, practice with a criterion.
SINCE = {
    "design.practice_trials": 10, "recruitment.wage_people": 0, "recruitment.return_alarm": 1,
    "analysis.d_prime_margin": None, "analysis.observer_model": "independent", "analysis.estimand": "answers",
}  # fmt: skip
NEW = {"title": "A", "stimuli": "b"}


@of_the_sixteen
def test_a_stored_study_keeps_the_defaults_of_its_version_and_its_digest():
    stored = STORED["least"]["configuration"]
    study = Later.from_dict(stored)
    assert (study.spec, study.analysis.margin, study.analysis.window_margin) == (1, 0.03, None)
    assert digest_of(stored) == STORED["least"]["digest"]
    stated = Later.from_dict(STORED["everything"]["configuration"])
    assert stated.analysis.margin == STORED["everything"]["configuration"]["analysis"]["margin"] == 0.05
    assert stated.analysis.window_margin is None


def test_a_new_file_has_the_new_defaults_and_says_which_version_it_is():
    study = Later.from_file_values(NEW)
    assert (study.spec, study.analysis.margin, study.analysis.window_margin) == (5, 0.05, 0.1)
    assert study.to_dict()["spec"] == 5
    assert Later.from_dict(study.to_dict()) == study
    assert Later.from_toml(study.to_toml()) == study


def test_a_file_may_ask_for_an_earlier_version():
    study = Later.from_toml('title = "A"\nstimuli = "b"\nspec = 1\n')
    assert (study.analysis.margin, study.analysis.window_margin) == (0.03, None)
    with pytest.raises(InvalidInput, match="study.toml, line 3: spec must be a whole number from 1 to 4, not 5"):
        StudyConfiguration.from_toml('title = "A"\nstimuli = "b"\nspec = 5\n')


@pytest.mark.parametrize(("version", "estimand"), [(1, "answers"), (2, "people"), (3, "categories")])
def test_what_a_curve_is_the_mean_over_follows_from_the_version(version: int, estimand: str):
    assert StudyConfiguration.from_file_values({**NEW, "spec": version}).analysis.estimand == estimand
    kept = StudyConfiguration.from_dict({**NEW, "spec": version, "analysis": {"estimand": "answers"}})
    assert kept.analysis.estimand == "answers"


def test_an_old_study_written_as_a_file_stays_the_same_study():
    study = Later.from_dict(STORED["least"]["configuration"])
    assert Later.from_toml(study.to_toml()).analysis.settings() == study.analysis.settings()


def test_an_earlier_study_says_which_defaults_it_keeps():
    assert earlier_defaults(Later.from_dict(STORED["least"]["configuration"])) == {
        "analysis.margin": 0.03, "analysis.window_margin": None, **SINCE,
    }  # fmt: skip
    assert earlier_defaults(Later.from_file_values(NEW)) == {}
    assert earlier_defaults(StudyConfiguration.from_dict(STORED["least"]["configuration"])) == SINCE
    assert earlier_defaults(StudyConfiguration.from_file_values(NEW)) == {}


def test_the_methods_of_an_earlier_plan_say_which_defaults_it_keeps():
    def said(configuration):
        return list(kept_defaults(freeze_plan({"configuration": configuration}, {}), Later))

    assert said(STORED["least"]["configuration"]) == [
        "The plan keeps the defaults of version 1 of the study file: design.practice trials 10, "
        "analysis.margin 0.03, analysis.d prime margin none, analysis.observer model independent, "
        "analysis.estimand answers, analysis.window margin none."
    ]
    assert said(Later.from_file_values(NEW).to_dict()) == said({}) == []
