"""The page of consent in Chromium: blocks in both languages, who may agree, a pause, and the text to keep."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from analysis.study.ethics import Ethics
from humanexp.participation.models import Participant, Session
from humanexp.recruiters.models import Assignment, RecruitedPerson
from humanexp.recruiting.approvals import withdraw_approval
from humanexp.recruiting.launch import LaunchTerms, publish
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.looks import fits, shot
from tests.browser.participant import agrees
from tests.browser.person import PATIENCE_MS, Person

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]
ENGLISH = {
    "purpose": "We study which changes to a picture keep people from seeing what it shows.",
    "storage": "On a server of the University of Example in Example Town, Germany.",
    "retention": "Ten years after publication.",
    "recipients": "No one else.",
    "transfers": "None outside the European Union.",
    "legal_basis": "Your consent, Article 6(1)(a) GDPR.",
    "rights": "You can ask what is stored about you, and have it corrected or deleted.",
    "complaint_authority": "State Commissioner for Data Protection, Example Town.",
    "controller": "University of Example, 1 Example Square, 12345 Example Town, Germany",
    "responsible": "Ada Example, Vision Lab",
    "data_protection_officer": "dpo@example.org",
    "approval": "Ethics committee of the University of Example, number 2026-114",
}
GERMAN = {
    "purpose": "Wir untersuchen, welche Veränderungen eines Bildes verhindern, dass man sieht, was es zeigt.",
    "storage": "Auf einem Server der Universität Beispiel in Beispielstadt.",
    "retention": "Zehn Jahre nach der Veröffentlichung.",
    "recipients": "Niemand sonst.",
    "transfers": "Keine außerhalb der Europäischen Union.",
    "legal_basis": "Ihre Einwilligung, Artikel 6 Absatz 1 Buchstabe a DSGVO.",
    "rights": "Sie können fragen, was über Sie gespeichert ist, und es berichtigen oder löschen lassen.",
    "complaint_authority": "Landesbeauftragte für Datenschutz, Beispielstadt.",
    "controller": "Universität Beispiel, Beispielplatz 1, 12345 Beispielstadt",
    "responsible": "Ada Beispiel, Labor für Sehen",
    "data_protection_officer": "dpo@example.org",
    "approval": "Ethikkommission der Universität Beispiel, Nummer 2026-114",
}


def campaign_of(drawings: Path, *, at_leisure: bool = False, **ethics: Any) -> Any:
    design = studies.JUDGEMENTS if at_leisure else studies.short_design()
    settings = Ethics.from_dict({**ENGLISH, "translations": {"de": GERMAN}, **ethics})
    study = studies.make_study(drawings, design=design, ethics=settings)
    return publish(study=study, terms=LaunchTerms(to="link", assignments=2, contact="lab@example.org"))


def nothing_is_stored() -> bool:
    return not any(model.objects.exists() for model in (Session, Participant, RecruitedPerson, Assignment))


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("language", ["en", "de"])
def test_the_blocks_fit_and_are_read_in_order(
    page: Any, live_server: Any, drawings: Path, language: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    campaign = campaign_of(drawings, at_leisure=width == 390)
    for name, path in {"entry": "", "alone": "consent/"}.items():
        page.goto(f"{live_server.url}/take/{campaign.entry}/{path}?language={language}")
        page.get_by_text({"en": ENGLISH, "de": GERMAN}[language]["controller"]).wait_for()
        fits(page, f"consent-{name}-{language}-{width}")
        assert violations(page) == []
        levels = page.eval_on_selector_all("h1, h2, h3", "all => all.filter(e => e.offsetParent).map(e => e.tagName)")
        assert levels[:3] == ["H1", "H2", "H3"] and levels.count("H1") == 1
    page.emulate_media(media="print")
    expect(page.locator("[data-action=print]")).to_be_hidden()
    expect(page.locator("text=lab@example.org >> nth=2")).to_be_hidden()
    shot(page, f"consent-print-{language}-{width}", full_page=True)


def test_the_text_can_be_saved_as_a_file_that_needs_nothing_else(page: Any, live_server: Any, drawings: Path) -> None:
    campaign = campaign_of(drawings)
    page.goto(f"{live_server.url}/take/{campaign.entry}/consent/?language=de")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Als Datei speichern").click()
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    assert GERMAN["purpose"] in text and saved.value.suggested_filename.endswith("-consent.html")
    [digest] = re.findall(r"<code[^>]*>([^<]+)</code>", text)
    expect(page.locator("code:not(.quoted)")).to_have_text(digest)
    assert nothing_is_stored()


def test_a_person_who_is_too_young_is_refused_and_can_correct_a_mistake(
    page: Any, live_server: Any, drawings: Path
) -> None:
    campaign = campaign_of(drawings)
    calls: list[str] = []
    page.on("request", lambda request: calls.append(request.method))
    page.goto(f"{live_server.url}/take/{campaign.entry}/")
    page.get_by_role("button", name="I am younger than 18").click()
    page.get_by_role("heading", name="This study is for people of 18 and older").wait_for()
    expect(page.locator("[data-action=start]")).to_be_hidden()
    expect(page.locator("text=Questions or problems? Write to lab@example.org.").first).to_be_visible()
    fits(page, "consent-too-young")
    assert violations(page) == []
    page.get_by_role("button", name="Back: that was a mistake").click()
    page.get_by_role("button", name="Start the study").wait_for()
    assert set(calls) == {"GET"} and nothing_is_stored()


@pytest.mark.gate
def test_with_a_guardian_two_people_agree(page: Any, live_server: Any, drawings: Path) -> None:
    campaign = campaign_of(drawings, guardian_consent=True, minimum_age=16)
    page.goto(f"{live_server.url}/take/{campaign.entry}/")
    page.get_by_role("button", name="I am younger than 16").click()
    page.locator("[data-guardian]").wait_for()
    expect(page.locator("[name=guardian]")).to_be_focused()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Start the study").click()
    page.get_by_text("Both of you have to tick a box first.").wait_for()
    fits(page, "consent-guardian")
    assert violations(page) == [] and nothing_is_stored()
    page.locator("[data-assent]").check()
    page.get_by_role("button", name="Start the study").click()
    Person(page, live_server.url).sees("checks")
    session = Session.objects.get()
    assert session.guardian_agreed and len(session.consent_digest) == 64


def test_a_pause_lets_people_under_way_finish(page: Any, live_server: Any, drawings: Path) -> None:
    campaign = campaign_of(drawings)
    page.goto(f"{live_server.url}/take/{campaign.entry}/")
    agrees(page, page)
    Person(page, live_server.url).sees("checks")
    withdraw_approval(study=campaign.study, by=None)
    page.go_back()
    page.get_by_role("button", name="Continue the study").wait_for(timeout=PATIENCE_MS)
    again = page.context.new_page()  # another tab of the same browser
    again.goto(f"{live_server.url}/take/{campaign.entry}/")
    again.get_by_role("heading", name="This study is paused").wait_for()
    expect(again.locator("text=Questions or problems? Write to lab@example.org.").first).to_be_visible()
    fits(again, "consent-paused")
    assert violations(again) == []
    again.get_by_role("button", name="Continue where I stopped").click()
    Person(again, live_server.url).sees("checks")
    assert Session.objects.count() == 1
