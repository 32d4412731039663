"""The page of recruiters in a real browser: a site started by a button, an account opened by keyboard, two widths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from humanexp.console import sites
from humanexp.console.models import LocalSite
from humanexp.jobs import runner
from humanexp.recruiters import registry
from tests.browser.axe import violations
from tests.browser.looks import refused
from tests.browser.researcher import sign_in
from tests.journeys.newcomer import Hand
from tests.served import free_port

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.fixture
def ada(page: Any, live_server: Any, settings: Any) -> Iterator[Hand]:
    settings.PANEL_URL = f"http://localhost:{free_port()}"
    settings.MARKETPLACE_URL = f"http://localhost:{free_port()}"
    settings.PANEL_TOKEN = settings.MARKETPLACE_ACCESS_KEY_ID = settings.MARKETPLACE_SECRET_ACCESS_KEY = ""
    address = live_server.url.replace("localhost", "127.0.0.1")
    sign_in(page, address, is_staff=True)
    page.goto(f"{address}/recruiters/")
    page.wait_for_function("window.htmx")
    yield Hand(page, "recruiters")
    LocalSite.objects.update(is_wanted=False)
    sites.keep()
    registry.forget("second")


def looks_right(hand: Hand, what: str) -> None:
    hand.shot(what)
    assert violations(hand.page) == [], what


def test_a_site_starts_and_an_account_is_opened(ada: Hand) -> None:
    page = ada.page
    looks_right(ada, "at-first")
    panel = page.locator("#kind-panel")
    ada.press(panel.get_by_role("button", name="Start it on this machine"), "start")
    panel.get_by_text("It is being started").wait_for()
    looks_right(ada, "starting")
    runner.run_waiting()
    # the page follows by itself
    panel.get_by_role("link", name="Open it").wait_for()
    panel.get_by_text("works").wait_for()
    looks_right(ada, "runs")

    page.get_by_text("Open another account").focus()
    page.keyboard.press("Enter")
    ada.field("name", "Second grant")
    ada.field("code", "Second one")
    page.get_by_role("button", name="Open the account").press("Enter")
    ada.reads("a letter first")
    looks_right(ada, "refused")
    ada.field("code", "second")
    page.get_by_role("button", name="Open the account").press("Enter")
    page.get_by_role("heading", name="Second grant").wait_for()
    looks_right(ada, "account")
    ada.press(page.get_by_text("Pause this account"), "pause")
    ada.press(page.get_by_role("button", name="Pause it now"), "pause now")
    page.get_by_role("button", name="Resume it").wait_for()
    looks_right(ada, "paused")
    refusal = "the server responded with a status of 422"  # Chromium's own line about the refused form
    assert [one for one in page.complaints if refusal not in one] == [] and refused(page) == []
