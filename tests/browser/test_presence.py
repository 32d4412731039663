"""A person who is away: the run asks whether they are there, waits, and what they could not see is set aside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from humanexp.participation.models import Response, Session
from humanexp.participation.openings import note_deadline
from tests.browser import studies
from tests.browser.looks import fits
from tests.browser.person import Person, lets_time_pass
from tests.browser.studies import right_answers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]

#: Longer than the time to answer, and than the pictures before it.
A_TRIAL_MS = studies.BRIEF["response_ms"] + 2_000


def set_aside(session: Session) -> dict[int, bool | None]:
    return dict(Response.objects.filter(session=session).values_list("position", "set_aside"))


def stored(page: Any, session: Session, count: int) -> None:
    for _ in range(200):
        if Response.objects.filter(session=session).count() >= count:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{Response.objects.filter(session=session).count()} of {count} answers came")


def to_the_first_round(page: Any, address: str, session: Session) -> Person:
    person = Person(page, address)
    person.arrives(session)
    right = right_answers(session)
    person.answers_round(session, lambda position: right[position])
    person.presses("start")
    return person


def test_a_person_who_is_away_is_asked_and_loses_three_trials(page: Any, live_server: Any, session: Session) -> None:
    page.clock.install()
    note_deadline(session=session, due_at=timezone.now() + timedelta(minutes=40))
    right = right_answers(session)
    person = to_the_first_round(page, live_server.url, session)
    person.clicks(right[2])
    for _ in range(3):
        person.sees_the_choices()
        lets_time_pass(page, A_TRIAL_MS)
    person.sees("absent")
    expect(page.locator("[data-deadline]")).to_contain_text("it ends at", use_inner_text=True)
    fits(page, "presence-absent-1280")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page, "presence-absent-390")
    page.set_viewport_size({"width": 1280, "height": 860})
    # Without limit: nothing goes on until somebody says that they are there.
    lets_time_pass(page, 60_000)
    expect(page.locator("[data-screen=absent]")).to_be_visible()
    page.keyboard.press("Enter")
    person.answers(range(6, 7), lambda position: right[position])
    person.presses("start")
    person.answers_round(session, lambda position: right[position])
    person.sees("done")
    assert set_aside(session) == {position: position in (3, 4, 5) for position in right}
    away = Response.objects.get(session=session, position=3)
    assert away.response == "na" and away.timing["input_watched_ms"] >= 10_000
    assert away.timing["last_input_ms"] < 0 and away.timing_ok is None
    assert person.complaints == []


def test_a_missed_trial_counts_when_the_person_moves_soon_after(
    page: Any, live_server: Any, own_media: None, drawings: Path
) -> None:
    """Input is watched for until 10 s after the choices have appeared, so the time to answer has to end before."""
    protocol = {**studies.BRIEF, "response_ms": 8_000}
    session = studies.open_session(studies.make_study(drawings, design=studies.short_design(), protocol=protocol))
    page.clock.install()
    right = right_answers(session)
    person = to_the_first_round(page, live_server.url, session)
    person.sees_the_choices()
    page.clock.pause_at(datetime.fromtimestamp(page.evaluate("Date.now()") / 1000 + 0.5, tz=UTC))
    page.clock.run_for(8_000)
    person.sees_them_go()
    page.mouse.move(200, 200)
    page.clock.resume()
    person.clicks(right[3])
    stored(page, session, 4)
    missed = Response.objects.get(session=session, position=2)
    assert missed.response == "na" and missed.set_aside is False
    assert 0 <= missed.timing["last_input_ms"] < 10_000
    assert Response.objects.get(session=session, position=3).input_kind == "pointer"


def test_a_trial_during_which_the_focus_is_lost_is_set_aside(page: Any, live_server: Any, session: Session) -> None:
    right = right_answers(session)
    person = to_the_first_round(page, live_server.url, session)
    person.sees_the_choices()
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    person.clicks(right[2])
    person.clicks(right[3])
    stored(page, session, 4)
    assert set_aside(session) == {0: False, 1: False, 2: True, 3: False}
    lost = Response.objects.get(session=session, position=2)
    assert lost.response == right[2], "what was answered plays no part"
    assert lost.timing["focus_lost_ms"] > 0 and lost.timing_ok is None


def test_who_is_asked_to_slow_down_reads_it_before_the_next_round(
    page: Any, live_server: Any, session: Session
) -> None:
    right = right_answers(session)
    person = Person(page, live_server.url)
    person.arrives(session)

    def asks(route: Any) -> None:
        told = route.fetch()
        route.fulfill(response=told, json={**told.json(), "slow_down": True})

    page.route("**/run/session/", asks)
    person.answers_round(session, lambda position: right[position])
    person.sees("slow")
    fits(page, "presence-slow-1280")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page, "presence-slow-390")
    page.set_viewport_size({"width": 1280, "height": 860})
    page.unroute_all(behavior="wait")
    page.keyboard.press("Enter")
    person.presses("start")
    person.clicks(right[2])


def test_no_round_begins_that_would_not_be_over_in_time(page: Any, live_server: Any, session: Session) -> None:
    person = Person(page, live_server.url)
    person.arrives(session)
    right = right_answers(session)
    note_deadline(session=session, due_at=timezone.now() + timedelta(minutes=9))
    person.answers_round(session, lambda position: right[position])
    person.presses("start")
    person.sees("deadline")
    expect(page.locator("[data-screen=deadline] [data-value=time]")).not_to_be_empty()
    fits_on_both(page, "deadline")
    person.presses("continue")
    note_deadline(session=session, due_at=timezone.now() + timedelta(minutes=3))
    person.answers_round(session, lambda position: right[position])
    person.sees("time-short")
    expect(page.locator("[data-screen=time-short]")).to_contain_text("the rounds that you have finished count")
    fits_on_both(page, "time-short")
    session.refresh_from_db()
    assert session.out_of_time, "also of whoever closes the page now"
    person.presses("finish")
    person.sees("out-of-time")
    expect(page.locator("[data-screen=out-of-time]")).to_contain_text("the rounds that you have finished count")
    expect(page.locator("[data-screen=out-of-time]")).not_to_contain_text("not paid")
    fits_on_both(page, "out-of-time")
    session.refresh_from_db()
    assert session.left_at is not None and session.state == "open" and session.cursor < session.total
    assert Response.objects.filter(session=session).count() == session.cursor
    assert person.complaints == []


def fits_on_both(page: Any, name: str) -> None:
    for width, height in ((390, 844), (1280, 860)):
        page.set_viewport_size({"width": width, "height": height})
        fits(page, f"{name}-{width}")
