"""A trial whose picture may have been seen is not shown again: after the back button, a crash, in a second window."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.participation.models import Response, Session
from tests.browser.person import Person
from tests.browser.studies import given, right_answers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


def test_the_back_button_leads_past_the_trial_that_was_seen(page: Any, live_server: Any, session: Session) -> None:
    right = right_answers(session)
    page.goto(f"{live_server.url}/take/nothing/")
    person = Person(page, live_server.url)
    person.arrives(session)
    person.answers_round(session, lambda position: right[position])
    person.presses("start")
    person.clicks(right[2])
    person.sees_the_choices()
    page.go_back()
    page.wait_for_selector("text=This study cannot be opened")
    page.go_forward()
    person.reads("Welcome back")
    person.reads("Still to come in this round: 3 pictures")
    assert given(session) == {position: right[position] for position in range(3)}
    person.presses("start")
    person.sees_the_choices()
    expect(page.locator("[data-part=count]")).to_have_text(f"5 of {session.total}", use_inner_text=True)
    person.clicks(right[4])
    person.clicks(right[5])
    person.clicks(right[6])
    person.presses("start")
    person.answers_round(session, lambda position: right[position])
    person.sees("done")
    assert given(session) == {**right, 3: "na"}
    lost = Response.objects.get(session=session, position=3)
    assert lost.correct is False and lost.rt_ms is None and lost.clicks == []
    assert lost.timing["visible_whole_trial"] is False, "told apart from who saw it and did not answer"
    assert "ts_stim_on" not in lost.timing and lost.timing_ok is None
    assert person.kept == []
    assert person.complaints == [] or all("404" in text for text in person.complaints)


def test_the_last_trial_of_a_round_is_not_shown_again_either(page: Any, live_server: Any, session: Session) -> None:
    right = right_answers(session)
    person = Person(page, live_server.url)
    person.arrives(session)
    person.clicks(right[0])
    person.sees_the_choices()
    page.reload()
    person.reads("Round 1 of 2")
    assert given(session) == {0: right[0], 1: "na"}


def test_a_window_that_crashed_leaves_its_trial_behind(page: Any, live_server: Any, session: Session) -> None:
    right = right_answers(session)
    person = Person(page, live_server.url)
    person.arrives(session)
    person.answers_round(session, lambda position: right[position])
    person.presses("start")
    person.sees_the_choices()
    crashed = page
    again = Person(page.context.new_page(), live_server.url)
    crashed.close(run_before_unload=False)
    again.enters(session)
    again.reads("Round 1 of 2")
    again.presses("start")
    again.sees_the_choices()
    expect(again.page.locator("[data-part=count]")).to_have_text(f"4 of {session.total}", use_inner_text=True)
    assert given(session)[2] == "na"
