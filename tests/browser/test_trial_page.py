"""A person's way through a session, in a real browser against the real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from analysis.tables.trials import TIMING_COLUMNS
from humanexp.participation.models import Response, Session, SessionState
from humanexp.participation.openings import exchange_handoff, issue_handoff, issue_token
from tests.browser import studies
from tests.browser.looks import fits, refused
from tests.browser.person import Person
from tests.browser.studies import given, right_answers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


def stored(session: Session) -> dict[int, Response]:
    return {response.position: response for response in Response.objects.filter(session=session)}


@pytest.mark.gate
@pytest.mark.promise(1)
def test_every_answer_is_stored_once_with_its_timing(page: Any, live_server: Any, session: Session) -> None:
    right = right_answers(session)
    person = Person(page, live_server.url)
    person.arrives(session, keep_as="own-computer")
    wrong = "dog" if right[0] != "dog" else "cat"
    person.sees_the_choices()
    page.click(f'[data-grid][data-shown] [data-choice="{wrong}"]')
    person.reads(f"It was: {right[0].title()}")
    person.sees_them_go()
    person.types(right[1])
    for _ in session.blocks[1:]:
        person.presses("start")
        person.answers_round(session, lambda position: right[position])
    person.sees("done")

    assert given(session) == {**right, 0: wrong}
    for position, response in stored(session).items():
        assert response.rt_ms is not None and response.rt_ms > 0
        assert [click["input"] for click in response.clicks] == ["key" if position == 1 else "pointer"]
        assert set(response.timing) == set(TIMING_COLUMNS) - {"dur_isi_taken_ms", "focus_lost_ms"}
        assert (response.timing["css_px"], response.timing["canvas_px"]) == (studies.SIZE_PX, studies.SIZE_PX)
        assert response.timing["decode_ok"] and response.timing["visible_whole_trial"]
        # A departure of more than half a frame is never passed over in silence.
        departs = abs(response.timing["dur_stim_ms"] - 200) > response.timing["t_refresh_median_ms"] / 2
        assert not (departs and response.timing_ok)
    session.refresh_from_db()
    assert session.state == SessionState.COMPLETED
    assert session.environment["self_report"] == {"sight": "yes", "colour_sight": "yes"}
    status = page.request.get(
        f"{live_server.url}/api/v1/run/status/",
        headers={"Authorization": f"Bearer {issue_token(session=session)}"},
    ).json()
    expect(page.locator('[data-value="code"]')).to_have_text(status["completion_code"], use_inner_text=True)
    debrief = page.locator('[data-value="debrief"]')
    expect(debrief).to_have_text("Thank you: this is what the study is about.", use_inner_text=True)
    assert person.kept == ["humanexp.resume.own-computer"], "nothing about a person stays in the browser"
    assert person.complaints == []

    page.reload()
    person.sees("done")
    expect(page.locator('[data-value="code"]')).to_have_text(status["completion_code"], use_inner_text=True)


@pytest.mark.gate
@pytest.mark.promise(1)
def test_a_reload_goes_on_where_the_person_stopped(page: Any, live_server: Any, session: Session) -> None:
    right = right_answers(session)
    person = Person(page, live_server.url)
    person.arrives(session)
    person.answers_round(session, lambda position: right[position])
    person.presses("start")
    person.clicks(right[2])

    # The server has one answer and its reply is lost; the next never arrives; then the person reloads.
    def lose_the_reply(route: Any) -> None:
        route.fetch()
        route.abort()

    page.route("**/responses/", lose_the_reply)
    person.clicks(right[3])
    page.unroute_all(behavior="wait")
    page.route("**/responses/", lambda route: route.abort())
    person.clicks(right[4])
    page.unroute_all(behavior="wait")
    # The next picture has been seen, and is not shown again.
    person.sees_the_choices()
    page.reload()
    person.reads("Welcome back")
    session.refresh_from_db()
    assert given(session) == {position: right[position] for position in range(5)}

    person.presses("start")
    person.clicks(right[6])
    person.presses("start")
    person.answers_round(session, lambda position: right[position])
    person.sees("done")
    assert given(session) == {**right, 5: "na"}


@pytest.mark.gate
@pytest.mark.promise(1)
def test_the_younger_window_has_the_session_and_no_answer_is_lost(
    page: Any, live_server: Any, session: Session
) -> None:
    right = right_answers(session)
    first = Person(page, live_server.url)
    first.arrives(session)
    first.sees_the_choices()
    second = Person(page.context.new_page(), live_server.url)
    second.enters(session)
    second.sees("instructions-categorisation")
    expect(took_over(second), "the younger window says that it took over").to_be_visible()
    expect(took_over(first)).to_be_hidden()
    first.clicks(right[0])
    first.sees("elsewhere")
    assert stored(session) == {}

    first.page.bring_to_front()  # as for whoever presses it: a window behind another draws too few frames to measure
    first.presses("reload")
    first.reads("Welcome back")
    expect(took_over(first)).to_be_visible()
    first.page.reload()
    first.reads("Welcome back")
    expect(took_over(first), "the other window knows nothing of it yet").to_be_visible()
    assert given(session) == {0: right[0]}, "the answer that was refused is sent again under the new lease"
    second.page.bring_to_front()
    for _ in range(4):
        second.presses("next")
    second.sees("elsewhere")
    assert refused(page) == []
    first.page.bring_to_front()
    first.page.reload()
    first.reads("Welcome back")
    expect(took_over(first), "the other window has stopped").to_be_hidden()


def took_over(person: Person) -> Any:
    """What is said to somebody whose other window is stopped by this one."""
    return person.page.get_by_text("This study was open in another window. It continues here")


def test_without_a_connection_answers_wait_in_the_browser(page: Any, live_server: Any, session: Session) -> None:
    right = right_answers(session)
    person = Person(page, live_server.url)
    person.arrives(session)
    person.answers_round(session, lambda position: right[position])
    person.presses("start")
    person.sees_the_choices()
    page.context.set_offline(True)
    person.clicks(right[2])
    person.clicks(right[3])
    person.reads("no connection: 2 answers kept here")
    assert sorted(stored(session)) == [0, 1]
    page.context.set_offline(False)
    for position in range(4, session.blocks[1]["last"] + 1):
        person.clicks(right[position])
    person.sees("ready")
    assert given(session) == {position: right[position] for position in range(session.blocks[1]["last"] + 1)}


@pytest.mark.gate
def test_pairs_are_shown_one_after_the_other_and_answered_by_key(page: Any, live_server: Any, drawings: Path) -> None:
    session = studies.open_session(studies.make_study(drawings, design=studies.pairs_design()))
    right = right_answers(session)
    person = Person(page, live_server.url)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url.partition("/trials/")[2]))
    lengths: list[str] = []
    page.on("response", lambda response: lengths.append(response.headers.get("picture-lengths", "")))
    person.arrives(session, task="discrimination")
    for block in session.blocks:
        if block["index"]:
            person.presses("start")
        for position in range(block["first"], block["last"] + 1):
            person.sees_the_choices()
            page.keyboard.press(right[position][0])
            page.keyboard.press("Enter")
            person.sees_them_go()
    person.sees("done")
    assert given(session) == right
    assert set(right.values()) == {"same", "different"}
    asked = [path.partition("/")[0].split("-") for path in fetched if path.endswith("/pictures/")]
    assert sorted(p for first, last in asked for p in range(int(first), int(last) + 1)) == sorted(right), "each once"
    assert sum(len(text.split(",")) for text in lengths if text) == 3 * len(right), "two showings and a mask"
    for response in stored(session).values():
        # From the onset of the second picture: 200 ms, then the mask; unless the record says that frames were long.
        took_ms = response.timing["ts_grid_on"] - response.timing["ts_stim_on"]
        assert took_ms < 600 or response.timing["n_long_frames"]
        assert response.timing["frames_target"] is not None
    assert person.complaints == []


def test_a_phone_is_refused_kindly_and_its_link_still_works_on_a_computer(
    chromium: Any, page: Any, live_server: Any, session: Session
) -> None:
    link = f"{live_server.url}/run/#{issue_handoff(session=session)}"
    context = chromium.new_context(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    phone = context.new_page()
    phone.goto(link)
    phone.wait_for_selector("text=This study needs a computer")
    fits(phone, "trial-phone-refused")
    context.close()
    page.goto(link)
    Person(page, live_server.url).sees("checks")


def test_used_and_forged_links_get_a_plain_refusal(page: Any, live_server: Any, session: Session) -> None:
    person = Person(page, live_server.url)
    page.goto(f"{live_server.url}/run/")
    person.sees("unopened")
    used = issue_handoff(session=session)
    exchange_handoff(code=used)
    for code in (used, f"{used[:-1]}_", "nonsense", "%E0%A4%A"):
        page.goto(f"{live_server.url}/run/#{code}")
        person.sees("expired")
        expect(page).to_have_url(f"{live_server.url}/run/")
    person.enters(session)
    person.sees("checks")
