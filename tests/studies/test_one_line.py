"""A setting is one line of the specification: form, file, documents, refusals and API follow by themselves."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import Field

from analysis.study.base import InForm
from analysis.study.documents import settings_table
from analysis.study.study import StudyConfiguration
from humanexp.core.models import User
from humanexp.participation.api import serializers
from humanexp.studies.models import Study
from humanexp.studies.pages import forms, views
from humanexp.studies.pages.forms import StudyForm
from tests.factories import SIZE_PX


class Longer(StudyConfiguration):
    rest_s: Annotated[int, Field(ge=5, le=60, description="rest between blocks"), InForm("Rest", part="record")] = 10


@pytest.fixture
def longer(monkeypatch):
    """The product with a specification that is one line longer."""
    monkeypatch.setattr(forms, "SETTINGS", dict(forms.settings_in(Longer)))
    for module in (views, serializers):
        monkeypatch.setattr(module, "StudyConfiguration", Longer)


def test_the_form_shows_it_with_its_range_and_default(longer):
    field = StudyForm(sets=[]).fields["rest_s"]
    assert field.label == "Rest"
    assert {"min": 5, "max": 60, "placeholder": "10"}.items() <= field.widget.attrs.items()
    assert "rest_s" in [bound.name for bound in StudyForm(sets=[]).parts()["record"]]


def test_no_two_settings_of_the_form_share_a_name():
    names = [name for name, _setting in forms.settings_in(StudyConfiguration)]
    assert len(names) == len(set(names)), "give one of them another name in its InForm"


def test_the_page_takes_it_writes_it_and_refuses_it(longer, client, stimulus_set):
    client.force_login(User.objects.create_user("anna"))
    given = {
        "title": "A", "stimuli": "pictures", "task": "categorisation", "sessions": "4", "main_trials": "16",
        "practice_trials": "2", "consistency_pairs": "1", "more": f"[protocol]\nsize_px = {SIZE_PX}\n",
    }  # fmt: skip
    page = client.post("/studies/new/draft/", {**given, "rest_s": "20"}).content.decode()
    assert 'data-draft="good"' in page and "rest_s = 20" in page
    page = client.post("/studies/new/draft/", {**given, "rest_s": "2"}).content.decode()
    assert 'data-refusal="rest_s"' in page and "rest_s</a> must be a whole number from 5 to 60, not 2." in page
    made = client.post("/studies/new/", {**given, "rest_s": "20"})
    assert made.status_code == 302 and Study.objects.get().configuration["rest_s"] == 20


def test_the_file_takes_it_and_gives_it_back():
    study = Longer.from_toml('title = "A"\nstimuli = "b"\nrest_s = 20\n')
    assert study.rest_s == 20 and "rest_s = 20" in study.to_toml()
    with pytest.raises(Exception, match="study.toml, line 3: rest_s must be a whole number from 5 to 60, not 'long'"):
        Longer.from_toml('title = "A"\nstimuli = "b"\nrest_s = "long"\n')


def test_the_documents_and_the_api_describe_it(longer):
    assert "| `rest_s` | a whole number from 5 to 60 | 10 | rest between blocks |" in settings_table(Longer)
    schemas = serializers.with_study_file({"components": {"schemas": {}}})["components"]["schemas"]
    described = schemas["StudyConfiguration"]["properties"]["rest_s"]
    assert (described["minimum"], described["maximum"], described["default"]) == (5, 60, 10)
