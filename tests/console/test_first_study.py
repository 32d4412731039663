"""The way of a first study: what is done is known from what is there, and the way goes when it was gone."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from humanexp.console.models import Preflight
from humanexp.console.overview import way_of
from humanexp.core.models import User
from humanexp.evaluations.models import EvaluationRun
from humanexp.participation.models import Participant, Response, Session
from humanexp.results.services import run_analysis
from humanexp.stimuli.models import SourceSet
from humanexp.studies.models import Population, Study, StudyState
from tests.factories import draft_study, make_stimulus_set
from tests.results.collected import make_predictions, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("lab", is_staff=True)


def stands_at(user: User) -> str:
    way = way_of(user)
    return way.now.name if way is not None else ""


def done(user: User) -> int:
    way = way_of(user)
    assert way is not None
    return sum(stage.is_done for stage in way.stages)


def test_each_stage_follows_the_one_before(user: User) -> None:
    assert (stands_at(user), done(user)) == ("Pictures", 0)
    SourceSet.objects.create(name="drawings")
    assert stands_at(user) == "Stimuli"
    make_stimulus_set()
    assert stands_at(user) == "Study"
    draft = draft_study(by=user)
    assert stands_at(user) == "Pre-flight"
    now = timezone.now()
    facts: dict[str, Any] = {"study": draft, "to": "link", "began_at": now, "ended_at": now}
    Preflight.objects.create(is_green=False, **facts)
    assert stands_at(user) == "Pre-flight", "a red one is not done"
    Preflight.objects.create(is_green=True, **facts)
    assert stands_at(user) == "People"
    Study.objects.update(state=StudyState.COLLECTING)
    way = way_of(user)
    assert way is not None and way.now.url == reverse("recruitment:monitor", args=[draft.slug])


def test_somebody_who_opened_the_study_has_not_taken_it(user: User) -> None:
    study = make_study(by=user)
    Response.objects.all().delete()
    Session.objects.update(state="open", completed_at=None, submitted_at=None)
    assert Participant.objects.exists() and stands_at(user) == "People"
    assert stands_at(user) != "Results" and study.state == StudyState.COLLECTING


@pytest.mark.verify
def test_the_network_has_to_see_the_pictures_of_this_study(user: User) -> None:
    study = make_study(by=user)
    elsewhere = make_predictions(study)
    EvaluationRun.objects.update(stimulus_set=make_stimulus_set("others"))
    assert elsewhere.completed_at and stands_at(user) == "A network"
    way = way_of(user)
    assert way is not None and f"stimulus_set={study.stimulus_set_id}" in way.now.url and "spec=" in way.now.url
    make_predictions(study, "another net")
    assert stands_at(user) == "Results"
    run_analysis(study=study)
    assert way_of(user) is None


@pytest.mark.verify
def test_scripted_answers_are_an_example_and_not_the_way(user: User) -> None:
    study = make_study(by=user)
    make_predictions(study)
    run_analysis(study=study)
    Study.objects.update(population=Population.SCRIPTED)
    way = way_of(user)
    assert way is not None and (way.now.name, way.example) == ("Study", study)


def test_whoever_has_two_studies_knows_the_way(user: User) -> None:
    make_stimulus_set()
    draft_study(by=user)
    assert way_of(user) is not None
    draft_study(by=user, slug="second")
    assert way_of(user) is None


def test_other_peoples_studies_are_not_ones_own(user: User) -> None:
    make_stimulus_set()
    draft_study(by=user)
    newcomer = User.objects.create_user("newcomer")
    assert stands_at(newcomer) == "Study"


def test_the_page_says_what_is_done_and_offers_one_next_step(user: User, client: Client) -> None:
    client.force_login(user)
    make_stimulus_set()
    draft = draft_study(by=user)
    page = " ".join(client.get("/").content.decode().split())
    assert "Your first study" in page and page.count("data-next-step") == 1 and page.count("(done)") == 3
    assert page.count('aria-current="step"') == 1 and reverse("console:preflight", args=[draft.slug]) in page


def test_an_address_fills_the_form_of_an_evaluation_in(user: User, client: Client) -> None:
    client.force_login(user)
    make_stimulus_set("first")
    second = make_stimulus_set("second")
    page = client.get(reverse("evaluations:new"), {"stimulus_set": second.pk, "spec": "lite:0"}).content.decode()
    assert f'value="{second.pk}" selected' in page and 'value="lite:0"' in page
