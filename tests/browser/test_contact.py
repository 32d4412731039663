"""Whom to write to, on every page of a participant: with the code to quote, once there is one."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from humanexp.participation.models import Session
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import fits
from tests.browser.participant import agrees
from tests.browser.person import PATIENCE_MS, Person
from tests.browser.researcher import sign_in
from tests.recruitment.studies import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


def campaign_of(study: Study, contact: str = "lab@example.org", places: int = 2) -> Campaign:
    terms = LaunchTerms(to="link", assignments=places, contact=contact)
    return publish(study=study, terms=terms)


def looks_good(page: Any, name: str) -> None:
    assert violations(page) == []
    fits(page, f"{name}-1280")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page, f"{name}-390")
    page.set_viewport_size({"width": 1280, "height": 860})


def begins_a_letter(line: Any, study: Study, quoted: str) -> None:
    """The id is in words beside the address, and in the subject."""
    expect(line.locator("[data-quote] code")).to_have_text(quoted)
    subject = quote(f"{study.title} ({quoted})", safe="()")
    expect(line.locator("[data-letter]")).to_have_attribute("href", f"mailto:lab@example.org?subject={subject}")


def test_every_page_without_a_session_names_whom_to_write_to(page: Any, live_server: Any, study: Study) -> None:
    campaign = campaign_of(study)
    for path in ("", "consent/", "run/", "personal/", "delete/"):
        page.goto(f"{live_server.url}/take/{campaign.entry}/{path}")
        line = page.get_by_text("Questions or problems? Write to lab@example.org.").first
        line.wait_for(timeout=PATIENCE_MS)
        expect(line.locator("[data-quote]")).to_be_hidden()
        looks_good(page, f"contact-{path.strip('/') or 'entry'}")


def test_somebody_who_is_locked_out_quotes_the_id_of_their_link(page: Any, live_server: Any, study: Study) -> None:
    campaign = campaign_of(study)
    assert Visitor(campaign, worker_id="panel-7").open().status_code == 201
    page.goto(f"{live_server.url}/take/{campaign.entry}/?p=panel-7")
    expect(page).to_have_url(re.compile(rf"/take/{campaign.entry}/$"))
    page.reload()
    page.locator("[data-consent]").check()
    page.get_by_role("button", name="Start the study").click()
    page.locator("[data-panel=begun]").wait_for()
    begins_a_letter(page.get_by_text("Questions or problems?").last, study, "panel-7")
    looks_good(page, "contact-begun-elsewhere")


def test_letters_from_a_session_quote_its_code_by_which_it_is_found(
    page: Any, live_server: Any, study: Study, chromium: Any
) -> None:
    campaign = campaign_of(study, places=1)
    page.goto(f"{live_server.url}/take/{campaign.entry}/?language=de")
    window = agrees(page, page)
    Person(window, live_server.url).sees("checks")
    code = Session.objects.get().code
    begins_a_letter(window.locator(".run__contact"), study, code)
    expect(window.locator(".run__contact")).to_contain_text(f"Bitte nennen Sie dabei: {code}", use_inner_text=True)
    looks_good(window, "contact-run-de")
    window.click("[data-leave]")
    begins_a_letter(window.locator("dialog[open]"), study, code)
    looks_good(window, "contact-leave-de")
    window.click("[data-leave-answer=keep]")
    Person(window, live_server.url).sees("left")
    looks_good(window, "contact-left-de")
    page.go_back()
    page.locator("[data-panel=left]").wait_for(timeout=PATIENCE_MS)
    begins_a_letter(page.locator("main > p.cap").last, study, code)
    looks_good(page, "contact-entry-left-de")
    assert page.context.cookies() == []

    console = chromium.new_context(viewport={"width": 1280, "height": 860}).new_page()
    study.memberships.create(user=sign_in(console, live_server.url), role="owner")
    console.goto(f"{live_server.url}/studies/{study.slug}/recruit/")
    console.get_by_role("link", name="A person has written to you").click()
    looks_good(console, "contact-find")
    console.fill("#id_who", code)
    console.get_by_role("button", name="Find").click()
    console.wait_for_url(re.compile(r"/assignments/\d+/"))
    console.context.close()


def test_a_contact_that_is_no_address_is_told_in_words_with_the_code(page: Any, live_server: Any, study: Study) -> None:
    campaign = campaign_of(study, contact="Ada Lovelace, room 7")
    page.goto(f"{live_server.url}/take/{campaign.entry}/")
    window = agrees(page, page)
    Person(window, live_server.url).sees("checks")
    code = Session.objects.get().code
    line = window.locator(".run__contact")
    expect(line).to_have_text(f"Questions or problems? Write to Ada Lovelace, room 7. Please quote: {code}")
    expect(line.locator("a")).to_have_count(0)
    looks_good(window, "contact-in-words")
