"""A frame on another site loses its tab, over HTTPS and with storage parted by site: who goes on, and who does not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from humanexp.participation.models import Response, Session
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from tests.browser import recruiter_site, studies, tls
from tests.browser.looks import PHONE, fits, shot
from tests.browser.participant import Participant, agrees
from tests.browser.person import PATIENCE_MS
from tests.browser.recruiter_site import RecruiterSite
from tests.browser.researcher import sign_in
from tests.chromium import CHROMIUM

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]

_SECRETS = "Object.entries(localStorage).filter(([name]) => name.startsWith('humanexp.resume.'))"


@pytest.fixture
def sites(live_server: Any, settings: Any, tmp_path: Path) -> Iterator[tuple[str, RecruiterSite]]:
    """The platform at https://127.0.0.1 and a recruiter at https://localhost: two sites."""
    context = tls.certificate(tmp_path)
    plain = urlsplit(live_server.url)
    with (
        recruiter_site.running(context) as recruiter,
        tls.in_front_of((plain.hostname or "", plain.port or 0), context) as port,
    ):
        settings.PUBLIC_URL = f"https://127.0.0.1:{port}"
        settings.MARKETPLACE_URL = recruiter.address
        settings.RECRUITER_ORIGINS = [recruiter.address]
        yield settings.PUBLIC_URL, recruiter


@pytest.fixture
def browser_of(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Somebody's own browser, with a profile on the disk: there a frame's storage is parted by site, not forbidden."""
    with ExitStack() as stack:

        def profile(name: str, **options: Any) -> Any:
            preferences = tmp_path / name / "Default" / "Preferences"
            preferences.parent.mkdir(parents=True)
            preferences.write_text(json.dumps({"profile": {"cookie_controls_mode": 0}}))
            context = chromium.browser_type.launch_persistent_context(
                str(tmp_path / name),
                executable_path=CHROMIUM,
                # playwright switches the parting of storage off; the last word on features counts
                args=["--no-sandbox", "--disable-features=Translate"],
                ignore_https_errors=True,
                **{"viewport": {"width": 1280, "height": 860}, **options},
            )
            stack.callback(context.close)
            return context

        yield profile


@pytest.fixture
def campaign(transactional_db: None, own_media: None, drawings: Path, sites: Any) -> Campaign:
    study = studies.make_study(drawings, design=studies.JUDGEMENTS)
    return publish(
        study=study,
        terms=LaunchTerms(to="marketplace", assignments=2, reward_cents=120, contact="lab@example.org"),
    )


def framed(page: Any, campaign: Campaign, sites: tuple[str, RecruiterSite]) -> Any:
    platform, recruiter = sites
    page.goto(recruiter.page(f"{platform}/take/{campaign.entry}/"))
    frame = page.frame(name="work")
    frame.wait_for_selector("[data-panel=start]:not([hidden])", timeout=PATIENCE_MS)
    return frame


def begins(page: Any, frame: Any) -> tuple[Any, Session]:
    """Agrees, and judges the pictures of the practice."""
    window = agrees(page, frame)
    participant = Participant(window, window.keyboard)
    participant.passes_the_checks()
    participant.sees("instructions-validation")
    for _ in range(window.locator('[data-screen="instructions-validation"] [data-page]').count()):
        participant.presses("next")
    session = Session.objects.get()
    participant.presses("start")
    judge(participant, session, session.blocks[0])
    return window, session


def judge(participant: Participant, session: Session, block: dict[str, Any]) -> None:
    right = studies.right_answers(session)
    for position in range(block["first"], block["last"] + 1):
        participant.judges(right[position])
        if block["feedback"]:
            participant.reads_the_verdict()


def goes_on(window: Any, session: Session) -> None:
    """From where a new window begins to the last page."""
    participant = Participant(window, window.keyboard)
    shown = '[data-screen="checks"]:not([hidden]), [data-screen="ready"]:not([hidden])'
    window.wait_for_selector(shown, timeout=PATIENCE_MS)
    if participant.screen == "checks":  # in the same browser they are remembered
        participant.passes_the_checks()
    for block in session.blocks[1:]:
        participant.presses("start")
        judge(participant, session, block)
    window.wait_for_selector('[data-screen="done"]:not([hidden])', timeout=PATIENCE_MS)


@pytest.mark.gate
@pytest.mark.promise(8)
def test_the_browser_that_began_lets_a_new_frame_go_on_with_one_press_and_no_other_browser_does(
    browser_of: Callable[..., Any], campaign: Campaign, sites: tuple[str, RecruiterSite]
) -> None:
    owner = browser_of("owner")
    page = owner.new_page()
    frame = framed(page, campaign, sites)
    window, session = begins(page, frame)
    kept = window.evaluate(_SECRETS)
    assert len(kept) == 1 and kept[0][0].startswith(f"humanexp.resume.{campaign.entry}.")
    assert recruiter_site.WORKER not in str(window.evaluate("Object.entries(localStorage)")), "no id is kept"
    assert frame.evaluate("localStorage.setItem('probe', '1'), localStorage.getItem('probe')") == "1"
    assert frame.evaluate(_SECRETS) == [], "the frame's storage is parted from the window's"
    window.close()
    page.close()

    thief = browser_of("thief").new_page()
    frame = framed(thief, campaign, sites)
    window = agrees(thief, frame)
    window.wait_for_selector('[data-screen="again-elsewhere"]:not([hidden])', timeout=PATIENCE_MS)
    shot(window, "going-on-elsewhere")
    expect(frame.locator("[data-panel=asked]")).to_be_visible()
    expect(window.locator("[data-action=again-yes]")).to_be_hidden()
    assert frame.evaluate("Object.keys(sessionStorage)") == []

    page = owner.new_page()
    frame = framed(page, campaign, sites)
    answered = Response.objects.filter(session=session).count()
    assert answered > 0
    window = agrees(page, frame)
    window.wait_for_selector('[data-screen="again"]:not([hidden])', timeout=PATIENCE_MS)
    expect(window, "the request leaves the address").not_to_have_url(re.compile("#"))
    shot(window, "going-on-again")
    shot(page, "going-on-asked", full_page=True)
    window.set_viewport_size({"width": 390, "height": 844})
    shot(window, "going-on-again-390")
    window.set_viewport_size({"width": 1280, "height": 860})
    window.get_by_role("link", name="Deutsch").click()
    window.get_by_role("heading", name="Sie haben diese Studie noch einmal").wait_for()
    window.click("[data-action=again-yes]")
    frame.wait_for_selector("[data-panel=under-way]:not([hidden])", timeout=PATIENCE_MS)
    goes_on(window, session)
    frame.wait_for_selector("[data-panel=done]:not([hidden])", timeout=PATIENCE_MS)
    frame.click("[data-action=submit]")
    frame.wait_for_selector("text=Your work has been submitted")
    session.refresh_from_db()
    assert Session.objects.count() == 1
    assert Response.objects.filter(session=session).count() == session.total > answered
    assert thief.frame(name="work").evaluate("Object.keys(sessionStorage)") == []


def test_no_changes_nothing(
    browser_of: Callable[..., Any], campaign: Campaign, sites: tuple[str, RecruiterSite]
) -> None:
    owner = browser_of("owner")
    page = owner.new_page()
    window, session = begins(page, framed(page, campaign, sites))
    again = owner.new_page()
    frame = framed(again, campaign, sites)
    asked = agrees(again, frame)
    asked.wait_for_selector('[data-screen="again"]:not([hidden])', timeout=PATIENCE_MS)
    asked.click("[data-action=again-no]")
    asked.wait_for_selector('[data-screen="again-declined"]:not([hidden])')
    expect(frame.locator("[data-panel=asked]")).to_be_visible()
    Participant(window, window.keyboard).presses("start")


def test_a_plain_link_goes_on_by_itself_and_a_shared_computer_forgets(
    browser_of: Callable[..., Any], campaign: Campaign, sites: tuple[str, RecruiterSite]
) -> None:
    platform, _ = sites
    link = publish(study=campaign.study, terms=LaunchTerms(to="link", assignments=2, contact="lab@example.org"))
    address = f"{platform}/take/{link.entry}/?p=panel-7"
    owner = browser_of("owner")
    page = owner.new_page()
    page.goto(address)
    page.wait_for_selector("[data-panel=start]:not([hidden])")
    _, session = begins(page, page)
    page.close()
    page = owner.new_page()
    page.goto(address)
    window = agrees(page, page)
    goes_on(window, session)
    assert Session.objects.count() == 1

    shared = browser_of("shared").new_page()
    shared.goto(f"{platform}/take/{link.entry}/?p=panel-8")
    shared.check("[data-shared]")
    shot(shared, "going-on-start", full_page=True)
    window = agrees(shared, shared)
    Participant(window, window.keyboard).sees("checks")
    assert window.evaluate(_SECRETS) == []
    other = shared.context.new_page()
    other.goto(f"{platform}/take/{link.entry}/?p=panel-8")
    other.check("[data-consent]")
    other.click("[data-action=start]")
    other.wait_for_selector("[data-panel=begun]:not([hidden])", timeout=PATIENCE_MS)
    expect(other.locator("[data-panel=begun]")).to_contain_text("write to lab@example.org", use_inner_text=True)
    shot(other, "going-on-begun", full_page=True)
    other.set_viewport_size({"width": 390, "height": 844})
    fits(other, "going-on-begun-390")


def test_a_researcher_lets_somebody_in_by_a_personal_link(
    browser_of: Callable[..., Any], campaign: Campaign, sites: tuple[str, RecruiterSite], page: Any, live_server: Any
) -> None:
    platform, _ = sites
    began = browser_of("began").new_page()
    window, session = begins(began, framed(began, campaign, sites))
    campaign.study.memberships.create(user=sign_in(page, live_server.url), role="owner")
    page.goto(f"{live_server.url}/studies/{campaign.study.slug}/let-in/")
    shot(page, "going-on-find", full_page=True)
    page.get_by_label("Their id or their submission's at the recruiter").fill(recruiter_site.WORKER)
    page.get_by_role("button", name="Find").click()
    page.get_by_role("button", name="Release for half an hour").click()
    page.get_by_role("button", name="Make a personal link").click()
    page.get_by_text("The personal link is made").wait_for()
    shot(page, "going-on-assignment", full_page=True)
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page, "going-on-assignment-390")
    source = page.locator("[data-copy-source]")
    expect(source).to_have_text(re.compile("^" + re.escape(f"{platform}/take/{campaign.entry}/personal/#")))
    address = source.inner_text()
    new = browser_of("new", **PHONE).new_page()
    new.goto(address)
    new.get_by_role("heading", name="Continue the study").wait_for()
    expect(new).not_to_have_url(re.compile("#"))
    fits(new, "going-on-personal-390")
    new.get_by_role("button", name="Continue").click()
    goes_on(new, session)
    assert Session.objects.get().state == "completed"
    window.reload()
    window.wait_for_selector('[data-screen="moved"]:not([hidden])', timeout=PATIENCE_MS)
