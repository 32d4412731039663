"""A study on the practice panel by its API, in a real browser on two sites: taken, finished, decided about."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.ledger.sender import send
from humanexp.participation.models import Session, SessionState
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.states import AssignmentState
from humanexp.recruiting.attendance import verify_begun
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import fits
from tests.browser.panellist import take_part
from tests.browser.participant import agrees
from tests.browser.person import PATIENCE_MS, Person
from tests.browser.researcher import sign_in
from tests.panel.server import Lab, PanelServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.fixture
def campaign(study: Study, lab: Lab, live_server: Any, settings: Any) -> Campaign:
    Study.objects.filter(pk=study.pk).update(configuration={**study.configuration, "ending": {}})
    study.refresh_from_db()
    settings.PUBLIC_URL = live_server.url
    campaign = publish(
        study=study,
        terms=LaunchTerms(to="panel", assignments=2, reward_cents=120, estimated_minutes=5, contact="lab@example.org"),
    )
    assert send(environment="panel").remarks == []
    campaign.refresh_from_db()
    return campaign


@pytest.mark.gate
def test_a_person_of_the_panel_takes_part_and_goes_back(
    page: Any, live_server: Any, panel: PanelServer, lab: Lab, campaign: Campaign
) -> None:
    entry = take_part(page, panel, campaign)
    submission = re.search(r"/submissions/(\w+)/", page.url)[1]
    expect(entry).not_to_have_url(re.compile(submission))
    expect(entry.locator("body")).to_contain_text("1.20 GBP", use_inner_text=True)
    expect(entry.locator("body")).not_to_contain_text(re.compile(r"\bHITs?\b"), use_inner_text=True)
    fits(entry, "prolific-entry-1280")
    assert violations(entry) == []
    window = agrees(entry, entry)
    assert len(page.context.pages) == 2, "the panel's page and the study: no third tab"
    person = Person(window, live_server.url)
    person.sees("checks")
    verify_begun(campaign=campaign)
    assert Session.objects.get().is_verified
    Session.objects.update(cursor=Session.objects.get().total)
    window.reload()
    person.sees("closing")
    window.get_by_role("button", name="Finish").click()
    window.get_by_text("awaiting review").wait_for(timeout=PATIENCE_MS)
    assert lab.submission(submission)["entered_code"] == Campaign.objects.get().site.codes["finished"].code
    sync()
    assert Assignment.objects.get().state == AssignmentState.SUBMITTED
    assert Session.objects.get().state == SessionState.SUBMITTED


def test_who_says_no_is_asked_for_the_place_and_nothing_is_kept(
    page: Any, panel: PanelServer, lab: Lab, campaign: Campaign
) -> None:
    entry = take_part(page, panel, campaign)
    submission = re.search(r"/submissions/(\w+)/", page.url)[1]
    entry.get_by_role("button", name="I do not want to take part").click()
    back = entry.get_by_role("link", name="Go back to Prolific")
    back.wait_for()
    fits(entry, "prolific-declined-1280")
    back.click()
    entry.get_by_text("awaiting review").wait_for(timeout=PATIENCE_MS)
    assert lab.submission(submission)["return_requested"] == "You did not agree to take part."
    sync()
    assert not Assignment.objects.exists() and not Session.objects.exists()


def test_its_owner_pauses_it_and_rejects_by_a_ground(
    page: Any, live_server: Any, panel: PanelServer, lab: Lab, campaign: Campaign, study: Study
) -> None:
    lab.people(campaign.hits.get().hit_id, 1, code="NOCODE")
    sync()
    address = live_server.url.replace("localhost", "127.0.0.1")
    study.memberships.create(user=sign_in(page, address), role="owner")
    page.goto(f"{address}/studies/{study.slug}/recruit/")
    page.get_by_role("button", name="Pause").wait_for()
    fits(page, "prolific-recruit-1280")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Open again").wait_for()
    send(environment="panel")
    assert lab.status(campaign.hits.get().hit_id) == "PAUSED"
    fits(page, "prolific-paused-1280")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page, "prolific-paused-390")
    page.set_viewport_size({"width": 1280, "height": 800})
    assert violations(page) == []
    page.goto(f"{address}/studies/{study.slug}/assignments/{Assignment.objects.get().pk}/")
    page.get_by_text("Reject …").click()
    ground = page.get_by_label("Ground, in the recruiter's words")
    ground.wait_for()
    expect(ground.locator("option[value=NO_DATA]")).to_be_attached()
    expect(ground.locator("option[value=FAILED_CHECK], option[value=TOO_QUICKLY]")).to_have_count(0)
    fits(page, "prolific-reject-1280")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page, "prolific-reject-390")
    assert violations(page) == []
    ground.select_option("NO_DATA")
    page.get_by_label("Reason, as the person will read it").fill("Nothing of what was sent can be read. " * 4)
    page.get_by_label("Your evidence, for the record").fill("Looked at it in both of the files.")
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Reject this one submission").click()
    page.get_by_text("The rejection is on its way").wait_for()
    send(environment="panel")
    assert lab.submission(Assignment.objects.get().assignment_id)["status"] == "REJECTED"
