"""Practice with a criterion, and the example that comes before it, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from analysis.study.design import DiscriminationDesign
from humanexp.participation.models import Response, Session, SessionState
from tests.browser import axe, studies
from tests.browser.looks import after_two_frames, shot
from tests.browser.person import Person
from tests.browser.studies import right_answers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]

ROUNDS = {"practice_slow": 1, "practice_round": 2, "practice_pass": 2}
NEXT = '[data-screen]:not([hidden]) [data-action="next"]'
WATCH_FIRST = "[data-screen]:not([hidden]) [data-page]:not([hidden]) [data-watch-first]:not([hidden])"
STILLS = "[data-screen]:not([hidden]) [data-stills]"


@pytest.fixture
def practising(drawings: Path) -> Session:
    design = studies.short_design(practice_trials=None, **ROUNDS)
    return studies.open_session(studies.make_study(drawings, design=design, protocol={"feedback_wrong_ms": 20_000}))


def answers_wrong(person: Person, right: str) -> None:
    """And reads what it was, until a press."""
    person.sees_the_choices()
    person.page.click(f'[data-choice="{"dog" if right != "dog" else "cat"}"]')
    person.page.wait_for_selector(".stage__verdict[data-kind=wrong]")
    verdict = re.compile(rf"^It was: {right.title()}\. Press any key")
    expect(person.page.locator(".stage__verdict")).to_have_text(verdict, use_inner_text=True)
    shot(person.page, "practice-wrong")
    person.page.wait_for_timeout(500)  # a press sooner than 400 ms belongs to the answer
    person.page.keyboard.press("Shift")
    person.sees_them_go()


def test_the_example_is_played_before_the_page_can_be_left(page: Any, live_server: Any, practising: Session) -> None:
    person = Person(page, live_server.url)
    person.enters(practising)
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    person.presses("next")
    expect(page.locator(NEXT)).to_be_disabled()
    expect(page.locator(WATCH_FIRST)).to_be_visible()
    expect(page.locator(STILLS).filter(visible=True)).to_have_count(0)
    shot(page, "practice-watch-first")
    page.keyboard.press("Enter")
    played = page.locator('[data-play="categorisation"]').first
    expect(played, "Enter does not leave it, either").to_be_visible()
    page.get_by_role("button", name="Play at real speed").click()
    page.wait_for_selector(f"{NEXT}:enabled")
    expect(page.locator(WATCH_FIRST)).to_have_count(0)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Back").click()
    expect(page.locator(NEXT), "once is enough").to_be_enabled()


def test_an_example_that_still_plays_when_the_person_has_gone_on_harms_nothing(
    page: Any, live_server: Any, practising: Session
) -> None:
    person = Person(page, live_server.url)
    person.enters(practising)
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    person.presses("next")
    person.plays_the_example()
    page.click("[data-screen]:not([hidden]) [data-play][data-pace=slow]:enabled")
    while person.screen.startswith("instructions"):
        page.click(NEXT)
    played = "[data-screen=instructions-categorisation] [data-play][data-pace=slow]:enabled"
    page.wait_for_selector(played, state="attached")
    after_two_frames(page)
    assert person.complaints == []


def test_with_reduced_motion_the_example_stands_still_and_the_way_is_open(
    chromium: Any, live_server: Any, drawings: Path
) -> None:
    design = studies.pairs_design(discrimination=DiscriminationDesign(trials=2, sentinels=2, practice=2))
    session = studies.open_session(studies.make_study(drawings, design=design))
    context = chromium.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
    page = context.new_page()
    try:
        person = Person(page, live_server.url)
        person.enters(session)
        person.passes_the_checks()
        person.sees("instructions-discrimination")
        page.click(NEXT)
        page.wait_for_selector(f"{STILLS} figure >> nth=1")
        expect(page.locator(NEXT)).to_be_enabled()
        expect(page.locator(WATCH_FIRST)).to_have_count(0)
        captions = ["Both had speckles: same", "Speckles, then coarse squares: different"]
        expect(page.locator(f"{STILLS} figcaption")).to_have_text(captions, use_inner_text=True)
        assert axe.violations(page) == []
        shot(page, "practice-stills")
    finally:
        context.close()


@pytest.mark.gate
def test_whoever_does_not_pass_gets_other_words_another_round_and_a_kind_end(
    page: Any, live_server: Any, practising: Session
) -> None:
    right = right_answers(practising)
    person = Person(page, live_server.url)
    person.arrives(practising)
    expect(page).to_have_title("Pictures at a glance")
    person.clicks(right[0])
    person.sees("ready")
    person.reads("Now 2 pictures, as fast as in the study.")
    text = page.locator('[data-screen]:not([hidden]) [data-value="text"]')
    expect(text).to_contain_text("at least 2 are right", use_inner_text=True)
    shot(page, "practice-round")
    person.presses("start")
    for position in (1, 2):
        answers_wrong(person, right[position])
    person.sees("instructions-again-categorisation")
    expect(page.locator("[data-leave]")).to_be_visible()
    page.wait_for_selector(f"{STILLS} figcaption")
    assert axe.violations(page) == []
    shot(page, "practice-again")
    page.set_viewport_size({"width": 390, "height": 844})
    shot(page, "practice-again-390")
    page.set_viewport_size({"width": 1280, "height": 860})
    person.presses("next")
    person.sees("ready")
    shot(page, "practice-last-round")
    person.presses("start")
    for position in (3, 4):
        answers_wrong(person, right[position])
    person.sees("done")
    shown = page.locator('[data-screen="done"]')
    expect(shown.locator('[data-ending="practice"]')).to_be_visible()
    expect(shown.locator('[data-ending="early"]')).to_be_hidden()
    assert axe.violations(page) == []
    shot(page, "practice-end")
    practising.refresh_from_db()
    assert (practising.state, practising.practised) == (SessionState.COMPLETED, False)
    assert person.complaints == []


def test_slow_motion_is_slower_by_the_record_and_a_passed_round_skips_the_last(
    page: Any, live_server: Any, practising: Session
) -> None:
    right = right_answers(practising)
    person = Person(page, live_server.url)
    person.arrives(practising)
    person.clicks(right[0])
    person.presses("start")
    person.answers((1, 2), lambda position: right[position])
    person.sees("ready")
    person.reads("Round 1 of 2")
    practising.refresh_from_db()
    assert (practising.practised, practising.cursor) == (True, practising.blocks[3]["first"])
    slow, quick = (Response.objects.get(session=practising, position=position).timing for position in (0, 1))
    # In frames, as the page planned and counted them: how long a frame is, is the machine's affair.
    assert slow["frames_target"] == pytest.approx(3 * quick["frames_target"], abs=1)
    assert all(one["frames_shown"] == one["frames_target"] or one["n_long_frames"] for one in (slow, quick))
