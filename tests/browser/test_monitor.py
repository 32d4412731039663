"""The live page of sessions in a real browser: it follows what happens, stops while hidden, reads well on any width."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.core import clock
from humanexp.participation.models import Response, Session, SessionState
from humanexp.studies.models import Study
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.looks import fits, refused
from tests.browser.person import PATIENCE_MS
from tests.browser.researcher import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]
CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
_HIDE = """(state) => {
  Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
def study(transactional_db: None, own_media: None, drawings: Path) -> Study:
    return studies.make_study(drawings, design=studies.short_design(sessions=6))


def put(study: Study, code: str, *, cursor: int, state: str = "open", minutes_ago: int = 0) -> Session:
    """Somebody who is where the arguments say, with as many answers."""
    session = studies.open_session(study, code)
    now = clock.now() - timedelta(minutes=minutes_ago)
    is_done = state in (SessionState.COMPLETED, SessionState.SUBMITTED)
    told = {"user_agent": CHROME, "window_px": [1440, 900]} if is_done else {}
    Session.objects.filter(pk=session.pk).update(
        cursor=cursor, state=state, lease="tab-1", last_seen_at=now, environment=told
    )
    for trial in session.trials.filter(position__lt=cursor):
        Response.objects.create(
            session=session,
            trial=trial,
            position=trial.position,
            response="dog",
            timing={"t_refresh_median_ms": 16.67, "dpr": 1.0},
            timing_ok=trial.position != 3,
            received_at=now + timedelta(seconds=3 * trial.position),
        )
    return session


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_reads_well_empty_and_full(page: Any, live_server: Any, study: Study, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    sign_in(page, live_server.url, is_staff=True)
    address = f"{live_server.url}/studies/{study.slug}/sessions/"
    page.goto(address)
    page.get_by_role("heading", name="No sessions yet").wait_for()
    assert violations(page) == []
    put(study, "P-1", cursor=11, state="submitted", minutes_ago=50)
    put(study, "P-2", cursor=11, state="completed", minutes_ago=4)
    put(study, "P-3", cursor=8, minutes_ago=1)
    put(study, "P-4", cursor=4)
    put(study, "P-5", cursor=2, minutes_ago=75)
    put(study, "P-6", cursor=5, state="withdrawn", minutes_ago=20)
    page.reload()
    page.get_by_text("2 people are taking part now;").wait_for()
    fits(page, f"sessions-full-{width}")
    assert violations(page) == []
    page.get_by_role("link", name="silent").click()
    page.get_by_role("rowheader", name="P-5").wait_for()
    expect(page.get_by_role("rowheader", name="P-1")).to_be_hidden()
    assert refused(page) == [] and page.complaints == []


@pytest.mark.gate
def test_it_follows_by_itself_and_asks_nothing_while_hidden(page: Any, live_server: Any, study: Study) -> None:
    sign_in(page, live_server.url, is_staff=True)
    session = put(study, "P-1", cursor=4)
    page.clock.install()
    page.goto(f"{live_server.url}/studies/{study.slug}/sessions/")
    page.get_by_text("4 of 11").wait_for()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    Session.objects.filter(pk=session.pk).update(cursor=7)
    page.clock.run_for(10_500)
    page.get_by_text("7 of 11").wait_for(timeout=PATIENCE_MS)
    assert len(asked) == 1

    page.evaluate(_HIDE, "hidden")
    Session.objects.filter(pk=session.pk).update(cursor=9)
    page.clock.run_for(60_000)
    expect(page.get_by_text("7 of 11")).to_be_visible()
    assert len(asked) == 1
    page.evaluate(_HIDE, "visible")
    page.clock.run_for(100)
    page.get_by_text("9 of 11").wait_for(timeout=PATIENCE_MS)
