"""The set-up before practice: only what the study wants, marked measured or asked, coarse in exports."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from analysis.tables.sessions import ITEMS
from humanexp.participation.endings import erase_withdrawn
from humanexp.participation.models import Session, SetUp
from humanexp.results.tables import setup_of
from humanexp.studies.models import Study
from tests.factories import Tab, collecting_study, make_stimulus_set, new_session

MEASURED = {"window_px": [1437, 811], "screen_px": [2560, 1440], "dpr": 1.25, "zoom": 1.1, "refresh_hz": 59.94}


def study(**setup: bool) -> Study:
    make_stimulus_set()
    return collecting_study(spec=4, setup=setup) if setup else collecting_study(spec=4)


def tab_of(client, study: Study) -> Tab:
    tab = Tab(client, new_session(study))
    tab.take_lease()
    return tab


def exported(study: Study) -> dict[str, tuple[str, str]]:
    rows = setup_of(study).to_dict("records")
    return {row["item"]: (row["how"], row["value"]) for row in rows}


@pytest.mark.django_db
def test_every_item_is_marked_measured_or_asked_and_leaves_coarse(client) -> None:
    wanted = study(light=True, glasses=True, distance=True, greys=True)
    tab = tab_of(client, wanted)
    assert tab.get("session/").json()["set_up"] == ["glasses", "light", "greys", "distance"]
    asked = {"light": "dim", "glasses": "lenses", "dark_steps": 6, "bright_steps": 5}
    found = {**MEASURED, **asked, "px_per_mm": 4.263, "distance_mm": 613}
    assert tab.post("setup/", found).status_code == 200
    stored = SetUp.objects.get().items
    assert stored["window_px"] == {"how": "measured", "value": [1437, 811]}
    assert stored["light"] == {"how": "asked", "value": "dim"}
    assert {name for name, one in stored.items() if one["how"] == "asked"} == set(asked)
    assert exported(wanted) == {
        "window_px": ("measured", "1400 x 800"),
        "screen_px": ("measured", "2400 x 1400"),
        "dpr": ("measured", "1"),
        "zoom": ("measured", "1"),
        "refresh_hz": ("measured", "up to 66"),
        "px_per_mm": ("measured", "4"),
        "distance_mm": ("measured", "600"),
        "dark_steps": ("asked", "6"),
        "bright_steps": ("asked", "5"),
        "glasses": ("asked", "lenses"),
        "light": ("asked", "dim"),
    }


@pytest.mark.django_db
def test_what_the_study_does_not_ask_is_refused_and_not_stored(client) -> None:
    tab = tab_of(client, study())
    assert tab.get("session/").json()["set_up"] == []
    for item, value in {"light": "dim", "px_per_mm": 4, "distance_mm": 600, "dark_steps": 3}.items():
        assert tab.post("setup/", {**MEASURED, item: value}).status_code == 422, item
    assert not SetUp.objects.exists()
    assert tab.post("setup/", MEASURED).status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("wrong", [{"light": "a candle"}, {"zoom": 0}, {"window_px": [1]}, {"dark_steps": 9}])
def test_values_that_cannot_be_are_refused(client, wrong: dict[str, object]) -> None:
    tab = tab_of(client, study(light=True, greys=True))
    assert tab.post("setup/", wrong).status_code == 422
    assert not SetUp.objects.exists()


@pytest.mark.django_db
def test_whoever_comes_back_on_another_screen_is_set_up_anew(client) -> None:
    wanted = study(light=True)
    tab = tab_of(client, wanted)
    tab.post("setup/", {**MEASURED, "light": "dim"})
    tab.post("setup/", {**MEASURED, "refresh_hz": 144.1})
    assert exported(wanted)["refresh_hz"] == ("measured", "over 110")
    assert "light" not in exported(wanted)
    assert Tab(client, Session.objects.get(), lease="another-tab-1").post("setup/", MEASURED).status_code == 409


@pytest.mark.django_db
def test_words_on_sight_leave_as_asked_and_nothing_else_that_a_browser_sent(client) -> None:
    wanted = study()
    tab_of(client, wanted)
    said = {"sight": "yes", "colour_sight": "I am Jo", "zoom": "no", "name": "Jo"}
    Session.objects.update(environment={"self_report": said})
    assert exported(wanted) == {"sight": ("asked", "yes")}


@pytest.mark.django_db
def test_it_is_erased_with_the_answers(client) -> None:
    tab = tab_of(client, study())
    tab.post("setup/", MEASURED)
    session = Session.objects.get()
    tab.post("withdraw/", {})
    assert setup_of(session.study).empty
    Session.objects.update(erase_after=timezone.now() - timedelta(minutes=1))
    erase_withdrawn()
    assert not SetUp.objects.exists()


def test_coarse_values_have_few_classes() -> None:
    sizes = {ITEMS["window_px"].coarse((w, h)) for w in range(640, 5000, 7) for h in range(560, 3000, 7)}
    assert len(sizes) <= 60
    for item, values in {"dpr": (0.5, 4), "zoom": (0.1, 10), "refresh_hz": (20, 500), "px_per_mm": (1, 20)}.items():
        low, high = values
        found = {ITEMS[item].coarse(low + (high - low) * step / 500) for step in range(501)}
        assert len(found) <= 7, item
