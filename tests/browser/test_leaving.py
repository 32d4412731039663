"""Stop and leave, in a browser: from a page that is read, and in the middle of a round."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.participation.models import Response, Session, SessionState
from humanexp.recruiters.campaigns import HOUSE_VERSION
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import shot
from tests.browser.participant import agrees
from tests.browser.person import PATIENCE_MS, Person

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.mark.gate
def test_leaving_in_the_middle_of_a_round(page: Any, live_server: Any, session: Session) -> None:
    person = Person(page, live_server.url)
    person.enters(session)
    person.sees("checks")
    # Staying changes nothing.
    page.click("[data-leave]")
    page.wait_for_selector("dialog[open]")
    assert violations(page) == []
    shot(page, "frames-leave-dialog")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog:not([open])", state="attached")
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    for _ in range(4):
        person.presses("next")
    person.presses("start")
    person.clicks("dog")
    person.sees_the_choices()
    page.click("[data-leave]")
    expect(page.locator("dialog[open]"), "a trial is never interrupted").to_have_count(0)
    person.clicks("dog")
    page.wait_for_selector("dialog[open]", timeout=PATIENCE_MS)
    assert Response.objects.filter(session=session).count() == 2
    page.click("[data-leave-answer=delete]")
    person.sees("left")
    expect(page.locator("[data-screen=left] [data-left=deleted]")).to_be_visible()
    expect(page.locator("[data-screen=left] [data-left=kept]")).to_be_hidden()
    shot(page, "frames-left")
    session.refresh_from_db()
    assert session.state == SessionState.WITHDRAWN
    assert session.erase_after is not None, "they are erased later, and hidden from now on"
    assert person.kept == []
    assert person.complaints == []


def test_the_entry_page_says_goodbye_and_the_text_can_be_printed(page: Any, live_server: Any, study: Study) -> None:
    campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=1, contact="lab@example.org"))
    page.goto(f"{live_server.url}/take/{campaign.entry}/")
    with page.expect_popup() as text:
        page.get_by_role("link", name="Print or keep this text").click()
    text.value.get_by_role("button", name="Print").wait_for()
    expect(text.value.locator("main")).to_contain_text(HOUSE_VERSION, use_inner_text=True)
    expect(text.value.locator("main")).to_contain_text("lab@example.org", use_inner_text=True)
    assert violations(text.value) == []
    text.value.emulate_media(media="print")
    expect(text.value.locator("[data-action=print]")).to_be_hidden()
    shot(text.value, "frames-consent-print")
    text.value.close()
    assert not Session.objects.exists(), "reading stores nothing"
    agrees(page, page)
    Person(page, live_server.url).sees("checks")
    page.click("[data-leave]")
    page.click("[data-leave-answer=keep]")
    Person(page, live_server.url).sees("left")
    expect(page.locator("[data-screen=left] [data-left=kept]")).to_be_visible()
    page.go_back()
    page.get_by_role("heading", name="You have left the study").wait_for(timeout=PATIENCE_MS)
    expect(page.locator("[data-panel=left] [data-left=kept]")).to_be_visible()
    expect(page.locator("[data-panel=left] [data-left=deleted]")).to_be_hidden()
    shot(page, "frames-entry-left")
    session = Session.objects.get()
    assert session.left_at is not None and session.state == SessionState.OPEN
    assert session.consent_version == HOUSE_VERSION and session.consented_at is not None
    # The place is free for somebody else.
    from humanexp.ledger.payments import places_left

    assert places_left(campaign) == 1
