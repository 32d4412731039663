"""The last pages in a browser: optional questions, one button that leads out, and one's own result."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.participation.models import ClosingAnswers, Session
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import PHONE, fits, shot
from tests.browser.participant import agrees
from tests.browser.person import PATIENCE_MS, Person

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.fixture
def finished(page: Any, live_server: Any, session: Session, study: Study) -> Person:
    """Somebody whose every trial is answered opens the page again."""
    Study.objects.filter(pk=study.pk).update(configuration={**study.configuration, "ending": {}})
    Session.objects.filter(pk=session.pk).update(cursor=session.total)
    session.refresh_from_db()
    person = Person(page, live_server.url)
    person.enters(session)
    person.sees("closing")
    return person


def test_everything_is_optional_and_finish_leads_on(finished: Person, page: Any) -> None:
    assert violations(page) == []
    fits(page, "closing-1280")
    page.reload()
    finished.sees("closing")
    page.get_by_role("button", name="Finish").click()
    finished.sees("done")
    said = ClosingAnswers.objects.get()
    assert (said.went_wrong, said.problem, said.comment, said.device) == ("", "", "", "")
    page.reload()
    finished.sees("unopened")  # on a shared computer nothing is kept once Finish is pressed
    assert finished.complaints == []


@pytest.mark.gate
def test_what_is_said_is_stored_by_keyboard_alone(finished: Person, page: Any) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.type("The screen froze.")
    page.keyboard.press("Tab")
    page.keyboard.type("Thank you.")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    finished.sees("done")
    said = ClosingAnswers.objects.get()
    assert (said.went_wrong, said.problem) == ("yes", "The screen froze.")
    assert (said.comment, said.device) == ("Thank you.", "desktop")


def test_without_a_connection_nothing_is_lost_and_finish_works_again(finished: Person, page: Any) -> None:
    page.route("**/api/v1/run/closing/", lambda route: route.abort())
    page.fill("[name=comment]", "Hello.")
    page.get_by_role("button", name="Finish").click()
    page.wait_for_selector("[data-closing-trouble]:not([hidden])", timeout=PATIENCE_MS)
    expect(page.locator("[name=comment]")).to_have_value("Hello.")
    shot(page, "closing-offline")
    page.unroute_all(behavior="wait")
    page.get_by_role("button", name="Finish").click()
    finished.sees("done")
    assert ClosingAnswers.objects.get().comment == "Hello."


def test_it_fits_a_phone(chromium: Any, live_server: Any, finished: Person, page: Any) -> None:
    page.set_viewport_size(PHONE["viewport"])
    fits(page, "closing-390")


def test_whoever_goes_back_before_finish_finds_the_way_to_it_on_the_page_of_a_link(
    page: Any, live_server: Any, study: Study
) -> None:
    Study.objects.filter(pk=study.pk).update(configuration={**study.configuration, "ending": {}})
    campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=1, contact="lab@example.org"))
    page.goto(f"{live_server.url}/take/{campaign.entry}/")
    agrees(page, page)
    person = Person(page, live_server.url)
    person.sees("checks")
    Session.objects.update(cursor=Session.objects.get().total)
    page.reload()
    person.sees("closing")
    page.go_back()
    page.get_by_role("button", name="Continue the study").click()
    person.sees("closing")
    page.get_by_role("button", name="Finish").click()
    person.sees("done")
    expect(page.locator("[data-screen=done]")).to_contain_text("Nothing is left to do", use_inner_text=True)
