"""The set-up in a browser: what the study wants is asked and measured before practice, and full screen is offered."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.participation.models import Session, SetUp
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import after_two_frames, fits
from tests.browser.person import PATIENCE_MS, Person
from tests.browser.studies import right_answers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]

EVERYTHING = dict.fromkeys(("night_light", "notifications", "glasses", "light", "greys", "distance"), True)


def wants(study: Study, **setup: int) -> None:
    study.configuration["setup"] = setup
    study.save(update_fields=["configuration"])


@pytest.mark.parametrize("language", ["en", "de"])
def test_everything_is_asked_by_keyboard_and_stored(
    page: Any, live_server: Any, session: Session, study: Study, language: str
) -> None:
    wants(study, **EVERYTHING)
    person = Person(page, live_server.url)
    person.enters(session)
    person.sees("checks")
    if language == "de":
        page.click("[data-languages] a[lang=de]")
        person.sees("checks")
    looks_right(page, f"setup-questions-{language}")
    person.passes_the_checks()
    person.sees("calibration")
    page.focus("[data-card-width]")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    looks_right(page, f"setup-card-{language}")
    person.presses("fitted")
    person.sees("distance")
    expect(page.locator("[data-dot-place]:focus")).to_have_count(1)
    for presses in (100, 110, 200):
        for _ in range(presses):
            page.keyboard.press("ArrowLeft")
        if presses == 100:
            looks_right(page, f"setup-distance-{language}")
        page.keyboard.press("Enter")
    person.sees("greys")
    page.select_option("[name=dark_steps]", "6")
    page.select_option("[name=bright_steps]", "7")
    looks_right(page, f"setup-greys-{language}")
    person.presses("counted")
    person.sees("instructions-categorisation")
    items = {name: one["value"] for name, one in SetUp.objects.get().items.items()}
    assert items["night_light"] == "off" and items["light"] == "dark" and items["glasses"] == "none"
    assert (items["dark_steps"], items["bright_steps"]) == (6, 7)
    assert items["window_px"] == [1280, 860] and items["zoom"] == 1
    assert items["distance_mm"] == round((60 + 2 * 110) / items["px_per_mm"] / 0.240079)
    page.reload()
    person.sees("instructions-categorisation")
    assert person.complaints == []


def looks_right(page: Any, name: str) -> None:
    assert violations(page) == []
    fits(page, f"{name}-1280")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page, f"{name}-390")
    page.set_viewport_size({"width": 1280, "height": 860})


def test_a_study_that_wants_nothing_asks_nothing(page: Any, live_server: Any, session: Session) -> None:
    person = Person(page, live_server.url)
    person.enters(session)
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    assert set(SetUp.objects.get().items) == {"window_px", "screen_px", "dpr", "zoom", "refresh_hz"}


def test_full_screen_is_announced_and_offered_again_between_two_trials(
    page: Any, live_server: Any, session: Session
) -> None:
    right = right_answers(session)
    person = Person(page, live_server.url)
    person.enters(session)
    person.sees("checks")
    expect(page.locator("text=the study fills the whole screen").first).to_be_visible()
    person.passes_the_checks()
    for _ in range(4):
        person.presses("next")
    person.presses("start")
    person.sees_the_choices()
    expect(page.locator(":fullscreen").first).to_be_attached()
    page.evaluate("document.exitFullscreen()")
    expect(page.locator(":fullscreen")).to_have_count(0)
    after_two_frames(page)
    expect(page.locator("[data-screen=trial]"), "never during a trial").to_be_visible()
    person.clicks(right[0])
    person.sees("full-screen")
    looks_right(page, "setup-full-screen")
    page.keyboard.press("Enter")
    person.sees_the_choices()
    expect(page.locator(":fullscreen").first).to_be_attached()
    page.evaluate("document.exitFullscreen()")
    person.clicks(right[1])
    person.presses("start")
    person.sees("full-screen")
    person.presses("continue")
    person.clicks(right[2])
    person.clicks(right[3])
    assert person.complaints == []


@pytest.mark.gate
def test_a_small_window_is_refused_before_consent_with_nothing_stored(
    page: Any, live_server: Any, study: Study
) -> None:
    campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=1, contact="lab@example.org"))
    page.set_viewport_size({"width": 560, "height": 700})
    page.goto(f"{live_server.url}/take/{campaign.entry}/")
    page.wait_for_selector("[data-panel=small]:not([hidden])", timeout=PATIENCE_MS)
    expect(page.locator("[data-consent]")).to_be_hidden()
    expect(page.locator("[data-panel=consent]")).to_be_hidden()
    assert violations(page) == []
    fits(page, "setup-small-560")
    assert not Session.objects.exists()
    page.set_viewport_size({"width": 1280, "height": 860})
    page.wait_for_selector("[data-panel=start]:not([hidden])", timeout=PATIENCE_MS)
    expect(page.locator("[data-consent]")).to_be_visible()
    assert page.complaints == []


@pytest.mark.parametrize("asks", [False, True])
def test_a_longer_window_is_given_to_who_asks(
    page: Any, live_server: Any, session: Session, study: Study, asks: bool
) -> None:
    wants(study, longer_window_ms=30_000)
    person = Person(page, live_server.url)
    person.enters(session)
    person.sees("checks")
    question = page.locator("[data-name=longer_window]")
    expect(question).to_contain_text("You have 20 seconds for each answer", use_inner_text=True)
    looks_right(page, "setup-longer-window")
    for question in ("sight", "colour_sight"):
        page.check(f"input[name={question}][value=yes]")
    if asks:
        page.check("input[name=longer_window][value=yes]")
    page.click("[data-screen=checks] button[data-primary]")
    person.sees("instructions-categorisation")
    person.presses("next")
    person.presses("next")
    page.wait_for_selector("[data-page]:not([hidden]) [data-value=response_s]", timeout=PATIENCE_MS)
    instructions = page.locator("[data-screen=instructions-categorisation]")
    expect(instructions).to_contain_text(f"You have {30 if asks else 20} seconds", use_inner_text=True)
    assert SetUp.objects.get().answer_window_ms == (30_000 if asks else None)
