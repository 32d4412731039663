"""A connection that is lost and comes back: the page says so, keeps the answers, and goes on by itself."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.participation.models import Session
from tests.browser.looks import fits
from tests.browser.person import PATIENCE_MS, Person
from tests.browser.studies import given, right_answers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


def test_a_round_goes_on_without_the_network_and_is_saved_when_it_is_back(
    page: Any, live_server: Any, session: Session
) -> None:
    right = right_answers(session)
    person = Person(page, live_server.url)
    person.arrives(session)
    person.answers_round(session, lambda position: right[position])
    page.wait_for_selector('[data-screen="ready"] :text("About 1 minute is left.")')
    fits(page, "connection-break-1280")
    person.presses("start")
    person.sees_the_choices()
    page.context.set_offline(True)
    person.clicks(right[2])
    person.sees_the_choices()
    page.wait_for_selector("text=no connection: 1 answer kept here")
    person.answers(range(3, 7), lambda position: right[position])
    person.sees("saving")
    assert set(given(session)) == {0, 1}
    page.context.set_offline(False)
    # Nobody presses anything.
    person.sees("ready")
    assert given(session) == {position: right[position] for position in range(7)}
    person.presses("start")
    person.answers_round(session, lambda position: right[position])
    person.sees("done")
    assert given(session) == right


def test_the_page_that_says_that_the_server_is_away_goes_on_by_itself(
    page: Any, live_server: Any, session: Session
) -> None:
    right = right_answers(session)
    person = Person(page, live_server.url)
    person.arrives(session)
    page.route("**/pictures/", lambda route: route.abort())
    page.route("**/status/", lambda route: route.abort())
    person.answers_round(session, lambda position: right[position])
    person.sees("offline")
    fits(page, "connection-offline-1280")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page, "connection-offline-390")
    page.set_viewport_size({"width": 1280, "height": 860})
    for _ in range(2):
        page.wait_for_event("requestfailed", timeout=PATIENCE_MS)
    expect(page.locator("[data-screen=offline]"), "it has asked again, in vain").to_be_visible()
    page.unroute_all(behavior="wait")
    person.sees("ready")
    person.presses("start")
    person.clicks(right[2])
