"""German throughout: chosen by the browser or by the switch, kept from the entry page to the code, at two widths."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.participation.models import Response, Session
from humanexp.recruiters.campaigns import HOUSE_VERSION
from humanexp.recruiting.launch import LaunchTerms, publish
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.looks import PHONE, fits, refused, shot
from tests.browser.participant import Participant, agrees
from tests.browser.person import PATIENCE_MS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


def speaks(place: Any, language: str) -> None:
    expect(place.locator("html")).to_have_attribute("lang", language)


def test_a_session_in_german_from_the_switch_to_the_code(page: Any, live_server: Any, drawings: Path) -> None:
    study = studies.make_study(drawings, design=studies.short_design())
    link = publish(study=study, terms=LaunchTerms(to="link", assignments=1, reward_cents=0, contact="lab@example.org"))
    page.goto(f"{live_server.url}/take/{link.entry}/?p=panel-7")
    page.wait_for_selector("[data-panel=start]:not([hidden])")
    speaks(page, "en")
    page.get_by_role("navigation", name="Language").get_by_role("link", name="Deutsch").click()
    page.get_by_role("heading", name="Ihre Entscheidung").wait_for()
    speaks(page, "de")
    expect(page).to_have_url(re.compile(r"\?language=de$"))
    assert violations(page) == []
    shot(page, "frames-german-entry")
    window = agrees(page, page)
    person = Participant(window, window.keyboard)
    person.sees("checks")
    speaks(window, "de")
    window.wait_for_selector("[data-check=refresh][data-result]:not([data-result=pending])", timeout=PATIENCE_MS)
    shot(window, "frames-german-checks")
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    for number in range(4):
        if number == 0:
            expect(window.locator("body")).to_contain_text("0,2 Sekunden", use_inner_text=True)
        shot(window, f"frames-german-instructions-{number + 1}")
        person.presses("next")
    window.wait_for_selector("text=Alles ist bereit.", timeout=PATIENCE_MS)
    shot(window, "frames-german-practice")
    person.presses("start")
    session = Session.objects.get()
    assert session.consent_version == f"{HOUSE_VERSION}.de"
    window.wait_for_selector("[data-grid][data-shown]", timeout=PATIENCE_MS)
    expect(window.locator('[data-choice="knife"]')).to_have_text("Messer", use_inner_text=True)
    overflowing = window.eval_on_selector_all(
        ".choice span",
        "labels => labels.filter((label) => label.scrollWidth > label.parentElement.clientWidth).length",
    )
    assert overflowing == 0, "every label fits its button"
    shot(window, "frames-german-grid")
    right = {trial.position: trial.correct_response for trial in session.trials.all()}
    wrong = "truck" if right[0] != "truck" else "cat"
    window.click(f'[data-grid][data-shown] [data-choice="{wrong}"]')
    window.wait_for_selector("[data-verdict]:has-text('Es war:')", timeout=PATIENCE_MS)
    shot(window, "frames-german-feedback")
    window.wait_for_selector("[data-grid]:not([data-shown])", state="attached", timeout=PATIENCE_MS)
    for block in session.blocks:
        if block["index"]:
            person.sees("ready")
            window.wait_for_selector('[data-screen="ready"] [data-action="start"]:enabled', timeout=PATIENCE_MS)
            shot(window, f"frames-german-round-{block['index']}")
            person.presses("start")
        for position in range(max(1, block["first"]), block["last"] + 1):
            person.chooses("categorisation", right[position])
    window.wait_for_selector("text=Ihr Abschlusscode", timeout=PATIENCE_MS)
    shot(window, "frames-german-done")
    assert {answer.position: answer.response for answer in Response.objects.all()} == {**right, 0: wrong}
    session.refresh_from_db()
    assert session.environment["page_language"] == "de"
    assert page.context.cookies() == []
    assert refused(page) == page.complaints == []


def test_the_switch_in_the_middle_of_a_session_keeps_the_session(page: Any, live_server: Any, session: Session) -> None:
    from humanexp.participation.openings import issue_handoff

    page.goto(f"{live_server.url}/run/#{issue_handoff(session=session)}")
    person = Participant(page, page.keyboard)
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    page.get_by_role("link", name="Deutsch").click()
    page.wait_for_selector("text=Was sehen Sie?", timeout=PATIENCE_MS)
    speaks(page, "de")
    page.get_by_role("link", name="English").click()
    page.wait_for_selector("text=What do you see?", timeout=PATIENCE_MS)


def test_validation_in_german_on_a_phone(chromium: Any, live_server: Any, drawings: Path) -> None:
    study = studies.make_study(drawings, design=studies.JUDGEMENTS, language="de")
    link = publish(study=study, terms=LaunchTerms(to="link", assignments=1))
    context = chromium.new_context(**PHONE, locale="en-GB")
    page = context.new_page()
    page.goto(f"{live_server.url}/take/{link.entry}/")
    page.wait_for_selector("[data-panel=start]:not([hidden])")
    speaks(page, "de")
    fits(page, "frames-german-phone-entry")
    window = agrees(page, page)
    person = Participant(window, None)
    person.sees("checks")
    shot(window, "frames-german-phone-checks")
    below = "document.querySelector('[data-languages]').getBoundingClientRect().top"
    text = "document.querySelector('.run__contact').getBoundingClientRect().bottom"
    assert window.evaluate(below) >= window.evaluate(text), "the switch covers no text"
    person.passes_the_checks()
    person.sees("instructions-validation")
    for number in range(3):
        fits(window, f"frames-german-phone-instructions-{number + 1}")
        person.presses("next")
    person.presses("start")
    person.sees("validation")
    window.wait_for_selector("text=Übungsbild 1 von 2", timeout=PATIENCE_MS)
    session = Session.objects.get()
    wanted = session.trials.get(position=0).wanted
    expect(window.locator("[data-link]"), wanted).to_have_attribute("href", re.compile(r"de\.wikipedia\.org"))
    shot(window, "frames-german-phone-judge")
    assert violations(window) == []
    person.judges("no-no")
    window.wait_for_selector("[data-verdict]:has-text(':')", timeout=PATIENCE_MS)
    shot(window, "frames-german-phone-feedback")
    window.click("[data-leave]")
    window.wait_for_selector("dialog[open]")
    shot(window, "frames-german-phone-leave")
    context.close()
