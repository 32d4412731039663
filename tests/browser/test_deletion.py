"""A deletion code in a browser: shown on leaving to somebody without an id, and used on the page that it names."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.entry import identity
from humanexp.participation.models import Session, SessionState
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import fits
from tests.browser.participant import agrees
from tests.browser.person import PATIENCE_MS, Person

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.mark.parametrize("ending", ["left", "done"])
def test_the_code_is_shown_at_the_end_and_works(
    page: Any, live_server: Any, study: Study, settings: Any, ending: str
) -> None:
    identity.ATTEMPTS.clear()
    settings.PUBLIC_URL = live_server.url
    campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=1, contact="lab@example.org"))
    page.goto(f"{live_server.url}/take/{campaign.entry}/")
    window = agrees(page, page)
    person = Person(window, live_server.url)
    person.sees("checks")
    if ending == "left":
        window.click("[data-leave]")
        window.click("[data-leave-answer=keep]")
    else:
        Session.objects.update(cursor=Session.objects.get().total)
        window.reload()
    person.sees(ending)
    shown = f"[data-screen={ending}] [data-deletion]"
    window.wait_for_selector(f"{shown}:not([hidden])", timeout=PATIENCE_MS)
    said = window.locator(f"{shown} [data-value=deletion-code]")
    expect(said).to_have_text(re.compile(r"^D-\w{16}$"), use_inner_text=True)
    code = said.inner_text()
    closing = window.locator(f"[data-screen={ending}] p", has_text="You can close this window.")
    code_ends_at = window.locator(shown).bounding_box()
    assert code_ends_at and closing.bounding_box()["y"] >= code_ends_at["y"] + code_ends_at["height"]
    assert violations(window) == []
    fits(window, f"deletion-code-{ending}-1280")
    window.set_viewport_size({"width": 390, "height": 844})
    fits(window, f"deletion-code-{ending}-390")
    window.set_viewport_size({"width": 1280, "height": 860})
    expect(window.locator(shown)).to_contain_text(re.compile(r"http\S+/delete"), use_inner_text=True)
    [address] = re.findall(r"http\S+/delete", window.inner_text(shown))
    window.goto(f"{address}?language=de")
    assert violations(window) == []
    fits(window, "deletion-page-de")
    window.fill("[name=code]", "D-2222222222222222")
    window.get_by_role("button", name="Meine Antworten löschen").click()
    window.wait_for_selector("[role=alert]:has-text('gehört zu keinen Antworten')")
    fits(window, "deletion-refused-de")
    window.fill("[name=code]", code)
    window.keyboard.press("Enter")
    window.wait_for_selector("[role=status]:has-text('Ihre Antworten sind zurückgezogen')")
    fits(window, "deletion-done-de")
    assert Session.objects.get().state == SessionState.WITHDRAWN
    assert page.context.cookies() == []
