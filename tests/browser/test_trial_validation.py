"""Judging pictures without a time limit: on a desktop, with the keyboard alone, on a phone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from analysis.study.validation import Judging
from humanexp.participation.models import Response, Session, SessionState
from humanexp.participation.openings import issue_handoff
from humanexp.simulation.browser import NO_DOUBLE_CLICK_MS
from humanexp.studies.presets import preset
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.looks import fits, shot
from tests.browser.person import Judge
from tests.browser.studies import given, right_answers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.fixture
def judging(transactional_db: None, own_media: None, drawings: Path) -> Session:
    return studies.open_session(studies.make_study(drawings, design=studies.JUDGEMENTS))


def test_a_whole_session_on_a_desktop(page: Any, live_server: Any, judging: Session) -> None:
    right = right_answers(judging)
    judge = Judge(page, live_server.url)
    judge.enters(judging)
    judge.sees("checks")
    expect(page.locator('[data-check="window"]'), "nothing is timed").to_be_hidden()
    judge.passes_the_checks()
    judge.sees("instructions-validation")
    for _ in range(3):
        judge.presses("next")
    judge.presses("start")
    judge.sees_picture("Practice picture 1 of 2")

    # Nothing goes on before both questions are answered.
    page.wait_for_timeout(NO_DOUBLE_CLICK_MS)
    judge.presses("judged")
    judge.reads("Please answer both questions")
    page.check('input[name="shows"][value="no"]')
    judge.presses("judged")
    judge.reads("Please answer both questions")
    expect(page.locator("[name=usable]:focus")).to_have_count(1)
    assert given(judging) == {}

    # Practice shows the right answers, and waits.
    wrong = "no-yes"
    judge.judges(wrong)
    judge.reads("Here the right answer to both is")
    marked = page.locator("label[data-mark=right] input")
    expect(marked).to_have_count(2)
    for number, answer in enumerate(right[0].split("-")):
        expect(marked.nth(number)).to_have_value(answer)
    expect(page.locator('input[name="shows"][value="yes"]')).to_be_disabled()
    judge.presses("judged")
    judge.sees_picture("Practice picture 2 of 2")
    judge.judges(right[1])
    judge.reads("Right:")
    judge.presses("judged")

    for block in judging.blocks[1:]:
        judge.presses("start")
        for position in range(block["first"], block["last"] + 1):
            judge.sees_picture(f"Picture {position - block['first'] + 1} of")
            expect(page.locator("[data-judge] input:checked"), "no answer is carried over").to_have_count(0)
            judge.judges(right[position])
    judge.sees("done")
    assert given(judging) == {**right, 0: wrong}
    for response in Response.objects.filter(session=judging):
        assert response.rt_ms is not None and response.rt_ms > 0
        assert [click["choice"].partition(":")[0] for click in response.clicks][-2:] == [
            "shows",
            "usable",
        ] or response.position == 0
        assert response.timing["decode_ok"] and response.timing["css_px"] > studies.SIZE_PX
        assert response.timing_ok is None and "frames_target" not in response.timing
    judging.refresh_from_db()
    assert judging.state == SessionState.COMPLETED
    expect(page.locator(":fullscreen")).to_have_count(0)
    assert judge.complaints == []


def test_with_the_keyboard_alone(page: Any, live_server: Any, judging: Session) -> None:
    right = right_answers(judging)
    keys = page.keyboard
    judge = Judge(page, live_server.url)
    judge.enters(judging)
    judge.sees("checks")
    for _ in range(2):
        keys.press("Tab")
        keys.press("Space")
    keys.press("Enter")
    judge.sees("instructions-validation")
    for _ in range(3):
        keys.press("Enter")
    for block in judging.blocks:
        page.wait_for_selector('[data-screen="ready"] [data-action="start"]:enabled')
        keys.press("Enter")
        for position in range(block["first"], block["last"] + 1):
            kind = "Practice picture" if block["feedback"] else "Picture"
            judge.sees_picture(f"{kind} {position - block['first'] + 1} of")
            judge.judges_with_keys(right[position])
            if block["feedback"]:
                judge.reads("Right:")
                keys.press("Enter")
    judge.sees("done")
    assert given(judging) == right
    inputs = {click["input"] for response in Response.objects.filter(session=judging) for click in response.clicks}
    assert inputs == {"key"}
    assert judge.complaints == []


def test_on_a_phone(chromium: Any, live_server: Any, judging: Session) -> None:
    right = right_answers(judging)
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, device_scale_factor=3, is_mobile=True, has_touch=True
    )
    phone = context.new_page()
    judge = Judge(phone, live_server.url)
    judge.arrives_to_judge(judging)
    for block in judging.blocks:
        if block["index"]:
            judge.presses("start")
        for position in range(block["first"], block["last"] + 1):
            judge.sees("validation")
            fits(phone, f"validation-phone-{position}")
            for question, answer in zip(("shows", "usable"), right[position].split("-"), strict=True):
                label = phone.locator(f'label:has(input[name="{question}"][value="{answer}"])')
                box = label.bounding_box()
                assert box["height"] >= 44 and box["width"] >= 72, "large enough for a thumb"
                label.tap()
            phone.wait_for_timeout(NO_DOUBLE_CLICK_MS)
            phone.locator('[data-action="judged"]').tap()
            if block["feedback"]:
                judge.reads("Right:")
                phone.locator('[data-action="judged"]').tap()
        if block["index"] == 0:
            phone.reload()  # in the middle of a session on a phone, without a code in the address
    judge.sees("done")
    assert given(judging) == right
    context.close()


def test_a_reload_in_the_middle_of_a_picture_goes_on_with_it(page: Any, live_server: Any, judging: Session) -> None:
    right = right_answers(judging)
    judge = Judge(page, live_server.url)
    judge.arrives_to_judge(judging)
    judge.judges(right[0])
    judge.reads("Right:")
    judge.presses("judged")
    judge.sees_picture("Practice picture 2 of 2")
    page.check('input[name="shows"][value="no"]')
    page.reload()
    judge.reads("Welcome back")
    judge.presses("start")
    judge.sees_picture("Practice picture 2 of 2")
    expect(page.locator("[data-judge] input:checked")).to_have_count(0)
    judge.judges(right[1])
    judge.reads("Right:")
    assert given(judging) == {0: right[0], 1: right[1]}


def test_a_reader_of_the_screen_hears_what_is_asked(page: Any, live_server: Any, judging: Session) -> None:
    judge = Judge(page, live_server.url)
    judge.arrives_to_judge(judging)
    judge.sees_picture("Practice picture 1 of 2")
    trial = judging.trials.get(position=0)
    tree = page.locator('[data-screen="validation"]').aria_snapshot()
    assert f'heading "Practice picture 1 of 2: {trial.wanted.title()}"' in tree
    assert 'img "The picture to judge"' in tree
    assert 'group "Does the picture show a' in tree and f"{trial.wanted}?" in tree
    assert tree.count('radio "Yes"') == tree.count('radio "No"') == 2
    assert 'link "More about it (opens another window)"' in tree
    expect(page.locator("[data-heading]:focus"), "reading begins at the heading").to_have_count(1)
    link = page.locator("[data-link]")
    expect(link).to_have_attribute("target", "_blank")
    expect(link).to_have_attribute("rel", re.compile("noopener"))
    page.wait_for_timeout(NO_DOUBLE_CLICK_MS)
    judge.presses("judged")
    alert = page.get_by_role("alert")
    expect(alert).to_have_text("Please answer both questions before you continue.", use_inner_text=True)


def test_the_server_is_asked_before_a_phone_uses_up_its_link(chromium: Any, live_server: Any, judging: Session) -> None:
    """A timed study would refuse it and keep the link good; this one lets it in, once."""
    context = chromium.new_context(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    phone = context.new_page()
    code = issue_handoff(session=judging)
    calls: list[str] = []
    phone.on("request", lambda request: calls.append(request.url.partition("/api/v1/run/")[2]))
    phone.goto(f"{live_server.url}/run/#{code}")
    Judge(phone, live_server.url).sees("checks")
    assert calls.index("handoff/look/") < calls.index("handoff/")
    context.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844), (390, 667)])
def test_the_instructions_of_imagenet_d_are_above_every_picture(
    page: Any, live_server: Any, drawings: Path, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    words = Judging.from_dict(dict(preset("imagenet-d").values["judging"]))
    judging = studies.open_session(studies.make_study(drawings, design=studies.JUDGEMENTS, judging=words))
    right = right_answers(judging)
    judge = Judge(page, live_server.url)
    judge.enters(judging)
    judge.passes_the_checks()
    judge.sees("instructions-validation")
    instructions = page.locator("[data-screen=instructions-validation]")
    expect(instructions.locator("[data-instructions] li")).to_have_text(list(words.instructions))
    expect(instructions.get_by_text("You will see pictures")).to_have_count(0)
    shot(page, f"imagenet-d-first-{width}", full_page=True)
    assert violations(page) == []
    for _ in range(2):  # and no example of a chair
        judge.presses("next")
    judge.presses("start")
    for position, count in ((0, "Practice picture 1 of 2"), (1, "Practice picture 2 of 2")):
        judge.sees_picture(count)
        stated = page.locator("[data-instructions=shown]")
        expect(stated.locator("li")).to_have_text(list(words.instructions))
        expect(page.locator("[data-instructions=folded]")).to_be_hidden()
        above, picture = stated.bounding_box(), page.locator("[data-judge] canvas").bounding_box()
        assert above["y"] >= 0 and above["y"] + above["height"] <= picture["y"]
        assert picture["y"] + picture["height"] <= height, "the picture is seen without scrolling"
        fits(page, f"imagenet-d-{width}-{height}-{position}")
        assert violations(page) == []
        judge.judges(right[position])
        judge.reads("Right:")
        judge.presses("judged")
