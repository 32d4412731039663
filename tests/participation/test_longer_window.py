"""A longer time for each answer, for those who ask: no reason is stored, and what it means for results is planned."""

from __future__ import annotations

import pytest

from analysis.errors import InvalidInput
from analysis.study.study import StudyConfiguration
from humanexp.participation.models import SetUp
from humanexp.studies.models import Study
from tests.factories import Tab, collecting_study, make_stimulus_set, new_session

FILE = {"title": "A study", "stimuli": "pictures"}


@pytest.fixture
def offering(db: None) -> Study:
    make_stimulus_set()
    return collecting_study(spec=4, setup={"longer_window_ms": 8000})


@pytest.fixture
def tab(client, offering: Study) -> Tab:
    tab = Tab(client, new_session(offering))
    tab.take_lease()
    return tab


@pytest.mark.parametrize(
    ("protocol", "longer_ms"), [("geirhos2018-batch1", 3000), ("geirhos2018-batch2", 3000), ("vcr", 4000), ("vcr", 600)]
)
def test_fixed_windows_take_none_and_others_only_a_longer_one(protocol: str, longer_ms: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        StudyConfiguration.from_file_values({**FILE, "protocol": protocol, "setup": {"longer_window_ms": longer_ms}})
    assert list(refused.value.fields) == ["setup.longer_window_ms"]


def test_who_asks_has_the_longer_window_and_nothing_else_is_stored(tab: Tab) -> None:
    session = tab.get("session/").json()
    assert (session["set_up"], session["longer_window_ms"]) == (["longer_window"], 8000)
    assert session["protocol"]["response_ms"] == 4000
    assert tab.post("setup/", {"longer_window": True}).status_code == 200
    assert tab.get("session/").json()["protocol"]["response_ms"] == 8000
    stored = SetUp.objects.get()
    assert (stored.items, stored.answer_window_ms) == ({}, 8000)


def test_who_does_not_ask_keeps_the_protocol_s(tab: Tab) -> None:
    tab.post("setup/", {"longer_window": False})
    assert tab.get("session/").json()["protocol"]["response_ms"] == 4000
    assert SetUp.objects.get().answer_window_ms is None


def test_it_stays_as_it_is_once_there_are_answers(tab: Tab) -> None:
    assert tab.answer(0).status_code == 201
    assert tab.post("setup/", {"longer_window": True}).status_code == 422
    assert tab.get("session/").json()["protocol"]["response_ms"] == 4000


def test_a_second_set_up_takes_it_from_nobody(tab: Tab) -> None:
    tab.post("setup/", {"longer_window": True})
    assert tab.answer(0).status_code == 201
    assert tab.post("setup/", {"dpr": 2.0}).status_code == 200
    assert tab.get("session/").json()["protocol"]["response_ms"] == 8000
    assert tab.post("setup/", {"longer_window": True}).status_code == 200


def test_a_study_that_offers_none_gives_none(client, db: None) -> None:
    make_stimulus_set()
    tab = Tab(client, new_session(collecting_study(spec=4)))
    tab.take_lease()
    assert tab.get("session/").json()["longer_window_ms"] is None
    assert tab.post("setup/", {"longer_window": True}).status_code == 422
    assert not SetUp.objects.exists()
