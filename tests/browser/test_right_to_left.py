"""A language that is read from right to left: pages are mirrored, and what is measured is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.participation.models import Session
from humanexp.recruiting.launch import LaunchTerms, publish
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.looks import PHONE, fits, shot
from tests.browser.participant import Participant, agrees
from tests.browser.person import PATIENCE_MS
from tests.made_up import NAME, TAG, said

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("made_up_language", "own_media"),
]

_PLACES = """found => found.map((one) => {
  const { left, right, top, width, height } = one.getBoundingClientRect();
  return { name: one.dataset.choice ?? "", left, right, top, width, height };
})"""


def places(page: Any, selector: str) -> list[dict[str, Any]]:
    """Where things are on the screen, in the order of the page."""
    found: list[dict[str, Any]] = page.eval_on_selector_all(selector, _PLACES)
    return found


def left_to_right(page: Any, selector: str) -> list[float]:
    """Where things begin, within the row that holds them."""
    found = places(page, selector)
    return [round(one["left"] - min(other["left"] for other in found)) for one in found]


def enters(page: Any, address: str, language: str) -> Any:
    page.goto(f"{address}?language={language}")
    page.wait_for_selector("[data-panel=start]:not([hidden])")
    return agrees(page, page)


@pytest.mark.parametrize("task", ["categorisation", "discrimination"])
def test_tiles_and_pictures_are_where_they_are_in_english(
    chromium: Any, live_server: Any, drawings: Path, task: str
) -> None:
    study = studies.make_study(drawings, design=studies.DESIGNS[task]())
    link = publish(study=study, terms=LaunchTerms(to="link", assignments=2))
    measured = []
    for language, direction in (("en", "ltr"), (TAG, "rtl")):
        context = chromium.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
        window = enters(context.new_page(), f"{live_server.url}/take/{link.entry}/", language)
        person = Participant(window, window.keyboard)
        person.sees("checks")
        expect(window.locator("html")).to_have_css("direction", direction)
        person.passes_the_checks()
        person.sees(f"instructions-{task}")
        seen = {}
        pages = window.locator(f'[data-screen="instructions-{task}"] [data-page]')
        for number in range(pages.count()):
            expect(pages.nth(number)).to_be_visible()
            shown = "[data-screen]:not([hidden]) [data-page]:not([hidden])"
            for part in (".choices li", ".strip li", ".stills__row:first-child .stills__picture"):
                if window.locator(f"{shown} {part}").count():
                    seen[part, len(seen)] = left_to_right(window, f"{shown} {part}")
            person.presses("next")
        person.presses("start")
        person.sees_the_choices()
        seen["tiles", 0] = places(window, "[data-grid] [data-choice]")
        seen["canvas", 0] = places(window, ".stage__canvas")
        window.keyboard.press("ArrowRight")
        window.keyboard.press("ArrowRight")
        seen["cursor", 0] = window.evaluate("document.activeElement.dataset.choice")
        shot(window, f"rtl-{task}-{direction}-grid")
        measured.append(seen)
        context.close()
    english, made_up = measured
    assert len(english) >= 5 and made_up == english


def test_a_session_from_the_switch_to_the_end_is_mirrored_and_whole(
    page: Any, live_server: Any, drawings: Path
) -> None:
    study = studies.make_study(drawings, design=studies.short_design())
    link = publish(study=study, terms=LaunchTerms(to="link", assignments=1, reward_cents=0, contact="lab@example.org"))
    page.goto(f"{live_server.url}/take/{link.entry}/?p=panel-7")
    page.get_by_role("link", name=NAME).click()
    page.get_by_role("heading", name=said("Your decision")).wait_for()
    assert violations(page) == []
    fits(page, "rtl-entry")
    expect(page.locator("h1 bdi"), "of an English title").to_have_css("direction", "ltr")
    window = agrees(page, page)
    person = Participant(window, window.keyboard)
    person.sees("checks")
    box = places(window, '[data-screen="checks"]')[0]
    button = places(window, '[data-screen="checks"] button[data-primary]')[0]
    assert button["left"] - box["left"] < box["right"] - button["right"], "the way on is where a line ends"
    assert places(window, "[data-leave]")[0]["left"] > 640 and places(window, "[data-languages]")[0]["left"] < 100
    assert violations(window) == []
    fits(window, "rtl-checks")
    session = Session.objects.get()
    right = {trial.position: trial.correct_response for trial in session.trials.all()}
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    for number in range(window.locator('[data-screen="instructions-categorisation"] [data-page]').count()):
        fits(window, f"rtl-instructions-{number + 1}")
        assert violations(window) == []
        person.presses("next")
    for block in session.blocks:
        person.sees("ready")
        window.wait_for_selector('[data-screen="ready"] [data-action="start"]:enabled', timeout=PATIENCE_MS)
        fits(window, f"rtl-round-{block['index']}")
        person.presses("start")
        for position in range(block["first"], block["last"] + 1):
            person.chooses("categorisation", right[position])
    window.wait_for_selector('[data-screen="done"]:not([hidden])', timeout=PATIENCE_MS)
    fits(window, "rtl-done")
    session.refresh_from_db()
    assert (session.language, session.environment["page_language"]) == (TAG, TAG)
    assert page.complaints == []


def test_judging_on_a_phone(chromium: Any, live_server: Any, drawings: Path) -> None:
    study = studies.make_study(drawings, design=studies.JUDGEMENTS)
    link = publish(study=study, terms=LaunchTerms(to="link", assignments=1))
    context = chromium.new_context(**PHONE)
    window = enters(context.new_page(), f"{live_server.url}/take/{link.entry}/", TAG)
    person = Participant(window, None)
    person.sees("checks")
    fits(window, "rtl-phone-checks")
    page, way_out = places(window, '[data-screen="checks"]')[0], window.locator("[data-leave]").bounding_box()
    assert way_out["y"] >= page["top"] + page["height"], "the way out lies on nothing that is read"
    person.passes_the_checks()
    person.sees("instructions-validation")
    for number in range(3):
        fits(window, f"rtl-phone-instructions-{number + 1}")
        person.presses("next")
    person.presses("start")
    person.sees("validation")
    fits(window, "rtl-phone-judge")
    assert violations(window) == []
    window.set_viewport_size({"width": 390, "height": 500})
    window.click("[data-leave]")
    window.wait_for_selector("dialog[open]")
    fits(window, "rtl-phone-leave")
    expect(window.locator("[data-leave-answer=stay]")).to_be_focused()
    assert window.locator("dialog").evaluate("(one) => one.scrollTop") > 0, "the answers are below the window"
    question = window.locator("#leave-title").bounding_box()
    assert question["y"] >= 0, "the question is above the answers"
    context.close()


def test_the_text_of_a_note_stands_off_from_its_bar(page: Any, live_server: Any, drawings: Path) -> None:
    study = studies.make_study(drawings, design=studies.short_design())
    link = publish(study=study, terms=LaunchTerms(to="link", assignments=1))
    page.goto(f"{live_server.url}/take/{link.entry}/personal/?language={TAG}")
    note = page.locator(".note").first
    sides = note.evaluate("(one) => [getComputedStyle(one).paddingLeft, getComputedStyle(one).paddingRight]")
    assert sides[0] == "0px" != sides[1], "the text stands off from the bar, which is on the right"
