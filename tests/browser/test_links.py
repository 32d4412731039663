"""Each task by a plain link: from consent to the completion code, on a desktop, by keyboard alone, on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.participation.models import Response, Session, SessionState
from humanexp.participation.openings import receipt_for, receipt_is_valid
from humanexp.recruiters.campaigns import HOUSE_VERSION
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from tests.browser import studies
from tests.browser.looks import PHONE, fits, refused, shot
from tests.browser.participant import Participant, agrees
from tests.browser.person import PATIENCE_MS

#: Somebody at a panel: long enough to be in no random part of an address.
PERSON = "panel-5f0c0ffee0ddba11"

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.fixture
def link_to(transactional_db: None, own_media: None, drawings: Path) -> Callable[[str], Campaign]:
    def campaign(task: str) -> Campaign:
        study = studies.make_study(drawings, design=studies.DESIGNS[task]())
        return publish(study=study, terms=LaunchTerms(to="link", assignments=2))

    return campaign


def check_session(session: Session, *, by_keyboard: bool) -> str:
    """Everything is stored once; gives the completion code."""
    session.refresh_from_db()
    assert session.state in (SessionState.COMPLETED, SessionState.SUBMITTED)
    answers = Response.objects.filter(session=session)
    assert answers.count() == session.total
    if by_keyboard:
        assert {click["input"] for answer in answers for click in answer.clicks} == {"key"}
    assert receipt_is_valid(session=session, receipt=receipt_for(session=session))
    return session.consent_version


@pytest.mark.parametrize(
    ("task", "by_keyboard"),
    [
        pytest.param("categorisation", False, marks=pytest.mark.slow),
        pytest.param("discrimination", False, marks=pytest.mark.slow),
        pytest.param("validation", True, marks=pytest.mark.gate),
    ],
)
def test_from_consent_to_the_code(page: Any, live_server: Any, link_to: Any, task: str, by_keyboard: bool) -> None:
    page.goto(f"{live_server.url}/take/{link_to(task).entry}/?p={PERSON}")
    page.wait_for_selector("[data-panel=start]:not([hidden])")
    expect(page).not_to_have_url(re.compile(PERSON))
    shot(page, f"frames-{task}-link-consent")
    window = agrees(page, page, by_keyboard=by_keyboard)
    session = Participant(window, window.keyboard, by_keyboard=by_keyboard).does_everything(task)
    window.wait_for_selector('[data-screen="done"]:not([hidden])', timeout=PATIENCE_MS)
    expect(window.locator('[data-value="code"]')).to_have_text(re.compile(r"\S"))
    code = window.inner_text('[data-value="code"]')
    shot(window, f"frames-{task}-link-window-done")
    check_session(session, by_keyboard=by_keyboard)
    assert Assignment.objects.get().state == "submitted", "told by the study's page: nobody has to go back for it"
    page.go_back()
    page.wait_for_selector("[data-panel=done]:not([hidden])", timeout=PATIENCE_MS)
    told = page.locator("[data-panel=done] [data-value=completion-code]")
    expect(told).to_have_text(code, use_inner_text=True)
    page.wait_for_function("document.title.startsWith('Done')")
    shot(page, f"frames-{task}-link-done")
    assert check_session(session, by_keyboard=by_keyboard) == HOUSE_VERSION
    assert Assignment.objects.get().state == "submitted"
    assert page.context.cookies() == []
    assert refused(page) == page.complaints == []


def test_validation_on_a_phone(chromium: Any, live_server: Any, link_to: Any) -> None:
    context = chromium.new_context(**PHONE)
    page = context.new_page()
    page.goto(f"{live_server.url}/take/{link_to('validation').entry}/")
    page.wait_for_selector("[data-panel=start]:not([hidden])")
    fits(page, "frames-validation-link-phone-consent")
    window = agrees(page, page)
    session = Participant(window, None).does_everything("validation")
    window.wait_for_selector('[data-screen="done"]:not([hidden])', timeout=PATIENCE_MS)
    fits(window, "frames-validation-link-phone-done")
    check_session(session, by_keyboard=False)
    context.close()


def test_a_shared_computer_forgets_both_pages_at_the_end(page: Any, live_server: Any, link_to: Any) -> None:
    page.goto(f"{live_server.url}/take/{link_to('validation').entry}/?p={PERSON}")
    page.check("[data-shared]")
    agrees(page, page)
    Participant(page, page.keyboard).sees("checks")
    Session.objects.update(cursor=Session.objects.get().total)
    page.reload()
    page.wait_for_selector('[data-screen="done"]:not([hidden])', timeout=PATIENCE_MS)
    assert page.evaluate("Object.keys(sessionStorage)") == []
    page.go_back()
    page.wait_for_selector("[data-panel=start]:not([hidden])", timeout=PATIENCE_MS)


@pytest.mark.parametrize("task", ["categorisation", "discrimination"])
def test_a_timed_task_tells_a_phone_before_anything_is_stored(
    chromium: Any, live_server: Any, link_to: Any, task: str
) -> None:
    context = chromium.new_context(**PHONE)
    page = context.new_page()
    page.goto(f"{live_server.url}/take/{link_to(task).entry}/")
    page.get_by_role("heading", name="This study needs a computer").wait_for()
    expect(page.locator("[data-consent]")).to_be_hidden()
    fits(page, f"frames-{task}-link-phone-refused")
    assert not Session.objects.exists()
    context.close()
