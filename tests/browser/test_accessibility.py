"""axe-core on every page of a participant and the main pages of the console: nothing serious, at two widths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from humanexp.core.models import User
from humanexp.experiments.models import Study
from humanexp.recruitment import services as recruitment
from tests.browser import studies
from tests.browser.axe import grave_violations
from tests.browser.person import Person
from tests.browser.test_trial_validation import SHORT, Judge

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]

#: Screens that are only shown when something happens; here the page is told to show them.
SCREENS = "loading phone browser unopened expired paused small saving elsewhere offline failed closed"


@pytest.fixture
def study(transactional_db: None, own_media: None, drawings: Path) -> Study:
    return studies.make_study(drawings, design=studies.short_design(), protocol=studies.BRIEF)


def test_the_pages_of_a_timed_study(page: Any, live_server: Any, study: Study) -> None:
    person = Person(page, live_server.url)
    session = studies.open_session(study)
    person.enters(session)
    person.sees("checks")
    assert grave_violations(page) == []
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    for _ in range(4):
        assert grave_violations(page) == []
        person.presses("next")
    person.sees("ready")
    assert grave_violations(page) == []
    person.presses("start")
    person.sees_the_choices()
    assert grave_violations(page) == []
    person.answers_round(session, lambda _: "dog")
    for _ in session.blocks[1:]:
        person.presses("start")
        person.answers_round(session, lambda _: "dog")
    person.sees("done")
    assert grave_violations(page) == []


def test_the_pages_of_pairs(page: Any, live_server: Any, drawings: Path) -> None:
    person = Person(page, live_server.url)
    person.enters(
        studies.open_session(studies.make_study(drawings, design=studies.pairs_design(), protocol=studies.BRIEF))
    )
    person.passes_the_checks()
    person.sees("instructions-discrimination")
    for _ in range(4):
        assert grave_violations(page) == []
        person.presses("next")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_pages_of_a_validation(page: Any, live_server: Any, drawings: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    judge = Judge(page, live_server.url)
    judge.enters(studies.open_session(studies.make_study(drawings, design=SHORT, protocol=studies.BRIEF)))
    judge.passes_the_checks()
    judge.sees("instructions-validation")
    for _ in range(3):
        assert grave_violations(page) == []
        judge.presses("next")
    judge.presses("start")
    judge.sees_picture("Practice picture 1 of 2")
    assert grave_violations(page) == []
    judge.judges("no-no")
    judge.reads("ight answer")
    assert grave_violations(page) == []


def test_the_pages_that_only_some_people_meet(page: Any, live_server: Any) -> None:
    page.goto(f"{live_server.url}/run/")
    Person(page, live_server.url).sees("unopened")
    for name in SCREENS.split():
        page.evaluate(
            """(name) => { for (const part of document.querySelectorAll("[data-screen]"))
            part.hidden = part.dataset.screen !== name; document.body.dataset.state = name; }""",
            name,
        )
        assert grave_violations(page) == [], name


@pytest.mark.parametrize("width", [1280, 390])
def test_the_way_in(page: Any, live_server: Any, study: Study, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    link = recruitment.publish(study=study, to="link", assignments=1)
    work = recruitment.publish(study=study, to="marketplace", assignments=1, reward_cents=100)
    for path in (f"/take/{link.entry}/", f"/take/{work.entry}/", "/take/nothing/"):
        page.goto(live_server.url + path)
        assert grave_violations(page) == [], path


@pytest.mark.parametrize("width", [1280, 390])
def test_the_console(page: Any, live_server: Any, study: Study, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    User.objects.create_user("ada", password="lovelace", is_staff=True)
    page.goto(f"{live_server.url}/login/")
    assert grave_violations(page) == []
    page.fill("[name=username]", "ada")
    page.fill("[name=password]", "lovelace")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{live_server.url}/**")
    rooms = ("", "design/", "recruit/", "monitor/", "review/", "results/")
    for path in ("/", "/studies/new/", *(f"/studies/{study.slug}/{room}" for room in rooms)):
        assert page.goto(live_server.url + path).status == 200, path
        assert grave_violations(page) == [], path
