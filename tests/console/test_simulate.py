from __future__ import annotations

import socket
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from humanexp.console.scripted_participants import persona_mix, whole_number
from humanexp.participation.models import Session
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.recruitment.studies import make_study


def simulate(study: str = "noise", participants: str = "3", *more: str) -> None:
    call_command("simulate", study, "--participants", participants, *more)


@pytest.fixture
def scripted_study(transactional_db: None) -> Study:
    return make_study(population="scripted")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("careful", "not written like"),
        ("careful=much", "not written like"),
        ("careful=0.5,,", "not written like"),
        ("lazy=1", "no persona 'lazy'; there are careful, average"),
        ("careful=0.5,careful=0.5", "named twice"),
        ("careful=-1", "at least 0"),
        ("careful=nan", "at least 0"),
        ("careful=0,random=0", "one share must be above 0"),
    ],
)
def test_a_mix_that_is_none_is_refused_with_what_is_wrong(text: str, complaint: str) -> None:
    with pytest.raises(CommandError, match=complaint):
        simulate("noise", "3", "--mix", text)


def test_a_mix_is_read_with_its_shares() -> None:
    assert persona_mix("careful=0.7, random=1") == {"careful": 0.7, "random": 1.0}


@pytest.mark.parametrize("text", ["0", "-3", "three", "2.5", "²"])
def test_a_number_of_participants_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match=r"not a whole number|expected one argument"):
        simulate("noise", text)
    assert whole_number(0)("7") == 7


@pytest.mark.django_db
def test_an_unknown_study_is_named() -> None:
    with pytest.raises(CommandError, match="no study 'nowhere'"):
        simulate("nowhere")


def test_people_s_studies_are_left_alone(transactional_db: None, open_gates: None) -> None:
    study = make_study()
    publish(study=study, terms=LaunchTerms(to="link", assignments=5))
    with pytest.raises(CommandError, match="is for people"):
        simulate()
    assert not Session.objects.exists()


def test_a_study_that_is_not_published_has_to_be(scripted_study: Study) -> None:
    with pytest.raises(CommandError, match="publish it first"):
        simulate()


def test_more_participants_than_places_are_refused_before_anybody_enters(scripted_study: Study) -> None:
    publish(study=scripted_study, terms=LaunchTerms(to="link", assignments=2))
    with pytest.raises(CommandError, match="2 free places, fewer than 3"):
        simulate()
    assert not Session.objects.exists()


@pytest.mark.process
def test_a_site_that_does_not_answer_is_named_at_once(scripted_study: Study, settings: Any) -> None:
    with socket.socket() as nobody:  # bound, not listening
        nobody.bind(("127.0.0.1", 0))
        settings.PUBLIC_URL = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        publish(study=scripted_study, terms=LaunchTerms(to="link", assignments=3))
        with pytest.raises(CommandError, match="which is PUBLIC_URL"):
            simulate()
