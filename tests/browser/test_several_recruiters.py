"""A study with several recruiters in a browser: the question at the entry, the note, and the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from analysis.findings.analysing import analyse
from analysis.study.link import Link
from humanexp.core.storage import media_path
from humanexp.participation.models import Session
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.results import selectors
from tests.analysis.findings.test_recruiters import QUICK, from_two, sent, tables
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.looks import fits, refused, shot
from tests.browser.person import PATIENCE_MS
from tests.browser.researcher import sign_in
from tests.results.large import make_large_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.fixture
def campaigns(transactional_db: None, own_media: None, drawings: Path) -> list[Campaign]:
    study = studies.make_study(drawings, design=studies.short_design(sessions=4), places={"link": 2, "sona": 2})
    credit = Link(preset="sona", alternative="an essay")
    return [publish(study=study, terms=LaunchTerms(to="link", assignments=1, link=link)) for link in (None, credit)]


def test_people_are_asked_and_the_browser_knows(page: Any, live_server: Any, campaigns: list[Campaign]) -> None:
    first, second = campaigns
    page.goto(f"{live_server.url}/take/{first.entry}/")
    page.wait_for_selector("[data-panel=start]:not([hidden])")
    question = page.get_by_role("group", name="Have you taken part in this study before")
    expect(page.locator("[data-value=noted]")).to_be_hidden()
    page.check("[data-consent]")
    page.click("[data-action=start]")
    page.locator("[data-value=repeat-error]").wait_for()
    expect(page.locator("[name=took-part]:focus")).to_have_count(1)
    assert not Session.objects.exists()
    assert violations(page) == []
    shot(page, "several-entry", full_page=True)
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page, "several-entry-phone")
    page.set_viewport_size({"width": 1280, "height": 900})
    question.get_by_label("No, or I have begun it here").check()
    page.click("[data-action=start]")
    page.wait_for_selector("[data-screen=checks]:not([hidden])", timeout=PATIENCE_MS)
    assert Session.objects.get().recruiter == "link"
    # The same browser, through another site.
    page.goto(f"{live_server.url}/take/{second.entry}/?survey_code=4711")
    page.locator("[data-value=noted]").wait_for()
    shot(page, "several-entry-noted", full_page=True)
    page.check("[data-consent]")
    page.get_by_role("group", name="Have you taken part in this study before").get_by_label("Yes").check()
    page.click("[data-action=start]")
    page.wait_for_selector("[data-panel=refused]:not([hidden])")
    expect(page.locator("[data-panel=refused]")).to_contain_text("already taken part", use_inner_text=True)
    shot(page, "several-refused", full_page=True)
    assert Session.objects.count() == 1
    page.reload()
    page.wait_for_selector("[data-panel=start]:not([hidden])")
    page.check("[data-consent]")
    page.get_by_label("No, or I have begun it here").check()
    page.click("[data-action=start]")
    page.wait_for_selector("[data-screen=checks]:not([hidden])", timeout=PATIENCE_MS)
    assert Session.objects.get(recruiter="sona").seen_before
    # Chromium names the refusal of somebody who took part before.
    assert refused(page) == [one for one in page.complaints if "409 (Conflict)" not in one] == []


def test_the_room_of_people_has_the_recruiters(page: Any, live_server: Any) -> None:
    study = make_large_study(sign_in(page, live_server.url), corruptions=2, models=1)
    run = selectors.latest_run(study)
    assert run is not None
    more = analyse(*tables(), session_table=sent(tables()[0], from_two), **QUICK)
    found = selectors.findings(run).model_copy(update={"recruiters": more.recruiters})
    media_path(run.findings_file).write_text(json.dumps(found.to_json(), allow_nan=False))
    selectors._read.cache_clear()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{live_server.url}/studies/{study.slug}/results/people/")
        page.get_by_role("heading", name="Recruiters").first.wait_for()
        page.wait_for_selector("[data-drawn]")
        fits(page, f"several-people-{width}")
    assert refused(page) == page.complaints == []
