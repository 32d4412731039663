"""What people of the practice panel meet who do not simply finish, from their place there to what becomes of it.

Each page on the way is looked at on a desk and on a phone's width.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.core import clock
from humanexp.ledger.budgets import raise_cap
from humanexp.ledger.sender import send
from humanexp.participation.models import Response, Session, SessionState
from humanexp.participation.openings import note_deadline
from humanexp.participation.sessions import SILENT_AFTER
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.states import AssignmentState
from humanexp.recruiting import attendance
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import fits
from tests.browser.panellist import open_study, take_part
from tests.browser.participant import Participant, agrees
from tests.browser.person import PATIENCE_MS, Person
from tests.browser.researcher import sign_in
from tests.panel.server import Lab, PanelServer

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("own_media"),
]
#: The panel takes a place back after this.
A_PLACE_S = 31 * 60


@pytest.fixture
def campaign(study: Study, lab: Lab, live_server: Any, settings: Any) -> Campaign:
    Study.objects.filter(pk=study.pk).update(configuration={**study.configuration, "ending": {}})
    study.refresh_from_db()
    settings.PUBLIC_URL = live_server.url
    attendance.ASKING.clear()
    campaign = publish(
        study=study,
        terms=LaunchTerms(to="panel", assignments=2, reward_cents=120, estimated_minutes=5, contact="lab@example.org"),
    )
    assert send(environment="panel").remarks == []
    campaign.refresh_from_db()
    return campaign


def looks_at(page: Any, name: str, *, is_ours: bool = True) -> None:
    before = page.viewport_size
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 860})
        fits(page, f"walk-{name}-{width}")
    assert not is_ours or violations(page) == []
    page.set_viewport_size(before)


def begins(page: Any, panel: PanelServer, campaign: Campaign) -> Any:
    """Somebody of the panel agrees, and the panel lists them as under way; the tab of the study."""
    tab = take_part(page, panel, campaign)
    agrees(tab, tab)
    Participant(tab, tab.keyboard).sees("checks")
    sync()
    return tab


def submission_of(page: Any) -> str:
    return str(re.search(r"/submissions/(\w+)/", page.url)[1])


def test_a_late_finisher_is_owed_and_paid(
    page: Any, live_server: Any, panel: PanelServer, lab: Lab, campaign: Campaign, study: Study, chromium: Any
) -> None:
    tab = begins(page, panel, campaign)
    panel.advance(A_PLACE_S)
    sync()
    assert Assignment.objects.get().state == AssignmentState.TIMED_OUT
    Participant(tab, tab.keyboard).does_everything("categorisation")
    Person(tab, live_server.url).sees("closing")
    note_deadline(session=Session.objects.get(), due_at=clock.now() - timedelta(seconds=1))
    tab.reload()
    Person(tab, live_server.url).sees("closing")
    expect(tab.locator("[data-screen=closing]")).to_contain_text(
        "Your answers count all the same.", use_inner_text=True
    )
    looks_at(tab, "late-closing")
    tab.get_by_role("button", name="Finish").click()
    expect(tab.locator("[data-screen=done]")).to_contain_text("You are owed 1.20 GBP.", use_inner_text=True)
    expect(tab.locator("[data-screen=done]")).not_to_contain_text("One step is left", use_inner_text=True)
    looks_at(tab, "late-done")
    tab.goto(f"{panel.url}/submissions/complete?cc={Campaign.objects.get().site.codes['finished'].code}")
    tab.get_by_text("Your time for this study is over").wait_for()
    looks_at(tab, "late-back-at-the-panel", is_ours=False)
    tab.go_back()
    Person(tab, live_server.url).sees("closing")
    tab.go_back()
    expect(tab.locator("[data-panel=done]")).to_contain_text("You are owed 1.20 GBP.", use_inner_text=True)
    expect(tab.locator("[data-panel=done]")).not_to_contain_text("One step is left", use_inner_text=True)
    looks_at(tab, "late-came-back")
    sync()

    console = chromium.new_context(viewport={"width": 1280, "height": 860}).new_page()
    address = live_server.url.replace("localhost", "127.0.0.1")
    owner = sign_in(console, address, is_staff=True)
    study.memberships.create(user=owner, role="owner")
    raise_cap(campaign=campaign, cap_cents=campaign.cap_cents + 1_000, by=owner)
    console.goto(f"{address}/studies/{study.slug}/monitor/")
    looks_at(console, "late-monitor")
    console.goto(f"{address}/studies/{study.slug}/monitor/settle/")
    looks_at(console, "late-settle")
    console.get_by_role("button", name="Pay this one first").click()
    console.get_by_text("£1.20 is on its way").wait_for()
    send(environment="panel")
    console.context.close()
    page.goto(f"{panel.url}/earnings/")
    page.get_by_text("1.20").first.wait_for()
    looks_at(page, "late-earnings", is_ours=False)


def test_a_second_device_goes_on_when_the_first_is_silent(
    page: Any, live_server: Any, panel: PanelServer, campaign: Campaign, chromium: Any
) -> None:
    tab = begins(page, panel, campaign)
    second = chromium.new_context(viewport={"width": 1280, "height": 860})
    second.add_cookies(page.context.cookies())  # the same person of the panel; nothing of the study
    other = second.new_page()
    other.goto(page.url)
    entry = open_study(other)
    entry.locator("[data-consent]").check()
    entry.get_by_role("button", name="Start the study").click()
    entry.get_by_role("heading", name="This study was begun before").wait_for()
    looks_at(entry, "device-too-early")
    with entry.expect_response("**/open/") as refused:
        entry.get_by_role("button", name="Continue here").click()
    assert refused.value.status == 409
    entry.get_by_role("alert").get_by_text("Not yet").wait_for()
    looks_at(entry, "device-not-yet")
    silent = clock.now() - SILENT_AFTER - timedelta(seconds=1)
    Session.objects.update(opened_at=silent)
    Response.objects.update(received_at=silent)
    entry.get_by_role("button", name="Continue here").click()
    Person(entry, live_server.url).sees("checks")
    looks_at(entry, "device-checked-anew")
    assert Session.objects.count() == 1
    tab.reload()
    Person(tab, live_server.url).sees("moved")
    looks_at(tab, "device-old-window")
    tab.go_back()
    tab.get_by_role("heading", name="Open the study from where you found it").wait_for()
    looks_at(tab, "device-old-first-page")
    Participant(entry, entry.keyboard).does_everything("categorisation")
    entry.get_by_role("button", name="Finish").click()
    entry.get_by_text("awaiting review").wait_for(timeout=PATIENCE_MS)
    second.close()
    sync()
    assert Assignment.objects.get().state == AssignmentState.SUBMITTED


def test_whoever_declines_reads_what_that_means(page: Any, panel: PanelServer, campaign: Campaign, lab: Lab) -> None:
    entry = take_part(page, panel, campaign)
    looks_at(entry, "decline-entry")
    entry.get_by_role("button", name="I do not want to take part").click()
    declined = entry.locator("[data-panel=declined]")
    expect(declined).to_contain_text("You do not take part", use_inner_text=True)
    expect(declined).to_contain_text("Nothing about you is stored.", use_inner_text=True)
    expect(declined).to_contain_text("You are not paid for this visit.", use_inner_text=True)
    looks_at(entry, "decline-declined")
    entry.get_by_role("link", name="Go back to Prolific").click()
    entry.get_by_text("awaiting review").wait_for(timeout=PATIENCE_MS)
    looks_at(entry, "decline-back-at-the-panel", is_ours=False)
    assert not Session.objects.exists()


def test_whoever_leaves_and_keeps_the_answers_keeps_them(
    page: Any, live_server: Any, panel: PanelServer, lab: Lab, campaign: Campaign
) -> None:
    tab = begins(page, panel, campaign)
    tab.click("[data-leave]")
    expect(tab.locator("dialog[open]")).to_contain_text("Either way you are not paid", use_inner_text=True)
    looks_at(tab, "leave-dialog")
    tab.click("[data-leave-answer=keep]")
    Person(tab, live_server.url).sees("left")
    expect(tab.locator("[data-screen=left] [data-left=kept]")).to_be_visible()
    looks_at(tab, "leave-left")
    tab.get_by_role("link", name="Go back to Prolific").click()
    tab.wait_for_url(f"{panel.url}/**", timeout=PATIENCE_MS)
    looks_at(tab, "leave-back-at-the-panel", is_ours=False)
    sync()
    submission = submission_of(page)
    page.reload()
    if page.get_by_role("button", name="Return").count():
        page.get_by_role("button", name="Return").first.click()
    panel.advance(A_PLACE_S)
    sync()
    assert lab.submission(submission)["status"] in ("RETURNED", "AWAITING REVIEW")
    session = Session.objects.get()
    assert (session.state, session.erase_after, session.withdrawn_at) == (SessionState.OPEN, None, None)
    assert session.left_at is not None


def test_an_address_without_ids_leads_back_to_where_they_come_from(
    page: Any, live_server: Any, campaign: Campaign
) -> None:
    page.goto(f"{live_server.url}/take/{campaign.entry}/")
    page.get_by_role("heading", name="Open the study from where you found it").wait_for()
    expect(page.locator("[data-consent]")).to_be_hidden()
    looks_at(page, "unnamed")
    page.goto(f"{live_server.url}/take/{campaign.entry}/run/")
    Person(page, live_server.url).sees("unopened")
    page.get_by_role("link", name="Go to the first page").click()
    page.get_by_role("heading", name="Open the study from where you found it").wait_for()
    assert not Session.objects.exists()
