"""Each task from a frame on another site: in a window of its own, and within the frame where windows are blocked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from analysis.tables.trials import TIMING_COLUMNS
from humanexp.participation.models import Response, Session, SessionState
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.browser import recruiter_site, studies
from tests.browser.looks import PHONE, shot, within_its_window
from tests.browser.participant import Participant, agrees
from tests.browser.person import PATIENCE_MS
from tests.browser.recruiter_site import RecruiterSite

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.fixture(scope="module")
def recruiter() -> Iterator[RecruiterSite]:
    with recruiter_site.running() as site:
        yield site


@pytest.fixture
def platform(live_server: Any, recruiter: RecruiterSite, settings: Any) -> str:
    """The platform's address, with the stub as its marketplace."""
    recruiter.submitted.clear()
    settings.PUBLIC_URL = live_server.url.replace("localhost", "127.0.0.1")
    settings.MARKETPLACE_URL = recruiter.address
    settings.RECRUITER_ORIGINS = [recruiter.address]
    return str(settings.PUBLIC_URL)


@pytest.fixture
def campaign_of(transactional_db: None, own_media: None, drawings: Path, platform: str) -> Callable[[str], Campaign]:
    def campaign(task: str) -> Campaign:
        study: Study = studies.make_study(drawings, design=studies.DESIGNS[task]())
        return publish(study=study, terms=LaunchTerms(to="marketplace", assignments=2, reward_cents=120))

    return campaign


def check_submission(recruiter: RecruiterSite, session: Session) -> None:
    """Everything is stored, once, and the recruiter has the receipt."""
    from humanexp.participation.openings import receipt_is_valid

    session.refresh_from_db()
    assert session.state == SessionState.COMPLETED
    assert Response.objects.filter(session=session).count() == session.total
    assert [form["assignmentId"] for form in recruiter.submitted] == ["A1"]
    assert receipt_is_valid(session=session, receipt=recruiter.submitted[0]["receipt"])


@pytest.mark.parametrize(
    ("task", "by_keyboard"),
    [
        ("categorisation", False),
        pytest.param("categorisation", True, marks=pytest.mark.slow),
        pytest.param("discrimination", False, marks=pytest.mark.slow),
        ("discrimination", True),
        ("validation", False),
    ],
)
def test_in_a_window_of_its_own(
    page: Any, platform: str, recruiter: RecruiterSite, campaign_of: Any, task: str, by_keyboard: bool
) -> None:
    campaign = campaign_of(task)
    page.goto(recruiter.page(f"{platform}/take/{campaign.entry}/"))
    frame = page.frame(name="work")
    frame.wait_for_selector("[data-panel=start]:not([hidden])")
    window = agrees(page, frame, by_keyboard=by_keyboard)
    session = Participant(window, window.keyboard, by_keyboard=by_keyboard).does_everything(task)
    window.wait_for_selector('[data-screen="done"]:not([hidden])', timeout=PATIENCE_MS)
    assert window.evaluate("window.top === window"), "a page of its own"
    shot(window, f"frames-{task}-window-done")
    window.close()
    frame.wait_for_selector("[data-panel=done]:not([hidden])", timeout=PATIENCE_MS)
    shot(page, f"frames-{task}-frame-done")
    if by_keyboard:
        while frame.evaluate("document.activeElement.dataset.action") != "submit":
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    else:
        frame.click("[data-action=submit]")
    frame.wait_for_selector("text=Your work has been submitted")
    check_submission(recruiter, session)
    assert page.context.cookies() == []
    assert page.complaints == []
    if by_keyboard and task != "validation":
        inputs = {click["input"] for answer in Response.objects.all() for click in answer.clicks}
        assert inputs == {"key"}


@pytest.mark.parametrize(
    "task", ["categorisation", pytest.param("discrimination", marks=pytest.mark.slow), "validation"]
)
def test_within_the_frame_where_windows_are_blocked(
    page: Any, platform: str, recruiter: RecruiterSite, campaign_of: Any, task: str
) -> None:
    campaign = campaign_of(task)
    page.goto(recruiter.page(f"{platform}/take/{campaign.entry}/", windows=False))
    frame = page.frame(name="work")
    frame.wait_for_selector("[data-panel=start]:not([hidden])")
    frame.check("[data-consent]")
    frame.click("[data-action=start]")
    frame.wait_for_selector("[data-action=inside]:visible", timeout=PATIENCE_MS)
    shot(page, f"frames-{task}-blocked")
    frame.click("[data-action=inside]")
    study = frame.wait_for_selector("[data-inside]:visible").content_frame()
    session = Participant(study, page.keyboard).does_everything(task)
    frame.wait_for_selector("[data-panel=done]:not([hidden])", timeout=PATIENCE_MS)
    frame.click("[data-action=submit]")
    frame.wait_for_selector("text=Your work has been submitted")
    check_submission(recruiter, session)
    if task != "validation":
        for answer in Response.objects.all():
            # What did not happen is left out: the focus was never lost.
            assert set(answer.timing) >= set(TIMING_COLUMNS) - {"dur_isi_taken_ms", "focus_lost_ms"}
            assert answer.timing["focused_whole_trial"] and answer.timing["visible_whole_trial"]
    assert [text for text in page.complaints if "Blocked opening" not in text and "popup" not in text] == []


def test_validation_on_a_phone_from_a_frame(
    chromium: Any, platform: str, recruiter: RecruiterSite, campaign_of: Any
) -> None:
    campaign = campaign_of("validation")
    context = chromium.new_context(**PHONE)
    page = context.new_page()
    page.goto(recruiter.page(f"{platform}/take/{campaign.entry}/"))
    frame = page.frame(name="work")
    frame.wait_for_selector("[data-panel=start]:not([hidden])")
    within_its_window(frame, "frames-validation-phone-consent")
    shot(page, "frames-validation-phone-consent")
    window = agrees(page, frame)
    session = Participant(window, None).does_everything("validation")
    window.wait_for_selector('[data-screen="done"]:not([hidden])', timeout=PATIENCE_MS)
    window.close()
    frame.wait_for_selector("[data-panel=done]:not([hidden])", timeout=PATIENCE_MS)
    frame.click("[data-action=submit]")
    frame.wait_for_selector("text=Your work has been submitted")
    check_submission(recruiter, session)
    context.close()


@pytest.mark.parametrize("assignment_id", ["ASSIGNMENT_ID_NOT_AVAILABLE", "A1"])
def test_a_phone_is_told_before_it_accepts_or_agrees_to_anything(
    chromium: Any, platform: str, recruiter: RecruiterSite, campaign_of: Any, assignment_id: str
) -> None:
    campaign = campaign_of("categorisation")
    context = chromium.new_context(**PHONE)
    page = context.new_page()
    page.goto(recruiter.page(f"{platform}/take/{campaign.entry}/", assignment_id=assignment_id))
    frame = page.frame(name="work")
    frame.wait_for_selector("[data-panel=device]:not([hidden])")
    expect(frame.locator("[data-panel=start]")).to_be_hidden()
    expect(frame.locator("[data-panel=preview]")).to_be_hidden()
    within_its_window(frame, "frames-timed-phone-refused")
    shot(page, "frames-timed-phone-refused")
    assert not Session.objects.exists()
    context.close()


def test_a_window_too_small_for_the_pictures_is_said_before_the_first_trial(
    page: Any, platform: str, campaign_of: Any
) -> None:
    from humanexp.participation.openings import issue_handoff

    study = campaign_of("categorisation").study
    session = studies.open_session(study)
    page.set_viewport_size({"width": 600, "height": 700})
    page.goto(f"{platform}/run/#{issue_handoff(session=session)}")
    participant = Participant(page, page.keyboard)
    participant.passes_the_checks()
    page.wait_for_selector("text=The pictures do not fit into this window yet")
    shot(page, "frames-window-too-small")
    page.set_viewport_size({"width": 1000, "height": 800})
    page.click('[data-screen="checks"] button[data-primary]')
    participant.sees("instructions-categorisation")


@pytest.mark.parametrize("path", ["/run/", "/login/", "/"])
def test_nothing_else_may_be_framed(client: Any, platform: str, path: str) -> None:
    reply = client.get(path, follow=True)
    assert "frame-ancestors 'none'" in reply["Content-Security-Policy"]
    assert reply["X-Frame-Options"] == "DENY"


def test_the_entry_and_the_study_within_it_are_framed_by_the_recruiter_alone(
    client: Any, platform: str, recruiter: RecruiterSite, campaign_of: Any
) -> None:
    campaign = campaign_of("validation")
    entry = client.get(f"/take/{campaign.entry}/")
    inside = client.get(f"/take/{campaign.entry}/inside/")
    assert f"frame-ancestors {recruiter.address}" in entry["Content-Security-Policy"]
    assert f"frame-ancestors 'self' {recruiter.address}" in inside["Content-Security-Policy"]
    assert "X-Frame-Options" not in entry and "X-Frame-Options" not in inside
    link = publish(study=campaign.study, terms=LaunchTerms(to="link", assignments=1))
    assert client.get(f"/take/{link.entry}/inside/").status_code == 404
    assert "frame-ancestors 'none'" in client.get(f"/take/{link.entry}/")["Content-Security-Policy"]
