"""A researcher takes a study from the console, in a real browser: as participants do, and in a hurry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.participation.models import Preview, Response, Session
from humanexp.studies.models import Study
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.looks import fits
from tests.browser.person import Person
from tests.browser.researcher import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


def opens(page: Any, address: str, study: Study, *, pace: str) -> Person:
    """From the study's page to the window that participants see."""
    page.goto(f"{address}/studies/{study.slug}/")
    page.get_by_role("link", name="Take it yourself").click()
    page.check(f'[name=pace][value="{pace}"]')
    assert violations(page) == []
    with page.expect_popup() as popup:
        page.get_by_role("button", name="Open in a new window").click()
    return Person(popup.value, address)


def ends(person: Person) -> None:
    person.page.wait_for_selector('[data-screen="done"]:not([hidden])', timeout=60_000)


def test_the_whole_study_at_true_timing(page: Any, live_server: Any, study: Study) -> None:
    sign_in(page, live_server.url, is_staff=True)
    page.goto(f"{live_server.url}/studies/{study.slug}/preview/")
    fits(page, "preview-start-1280")
    person = opens(page, live_server.url, study, pace="true")
    person.sees("checks")
    person.reads("Preview: nothing is stored.")
    expect(person.page.locator("[data-preview-auto]")).not_to_be_checked()
    assert violations(person.page) == []
    fits(person.page, "preview-checks-1280")
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    for _ in range(4):
        person.presses("next")
    blocks = person.page.evaluate(
        """async () => (await (await fetch("/api/v1/preview/session/", {headers:
        {Authorization: `Bearer ${sessionStorage.getItem("humanexp.run.token")}`}})).json()).blocks"""
    )
    for block in blocks:
        person.presses("start")
        for _ in range(block["first"], block["last"] + 1):
            person.sees_the_choices()
            if block["index"] == 1:
                fits(person.page, "preview-trial-1280")
            person.clicks("dog")
    ends(person)
    person.reads("PREVIEW")
    assert violations(person.page) == []
    fits(person.page, "preview-done-1280")
    assert not Session.objects.exists() and not Response.objects.exists() and not Preview.objects.exists()
    person.page.get_by_role("button", name="End preview").click()
    person.page.wait_for_url(f"**/studies/{study.slug}/preview/")
    assert person.kept == []


def test_in_a_hurry_the_page_answers_by_itself_to_the_end(page: Any, live_server: Any, study: Study) -> None:
    sign_in(page, live_server.url, is_staff=True)
    person = opens(page, live_server.url, study, pace="hurried")
    person.reads("10 times shorter")
    stated = study.protocol.configuration["stimulus_ms"] / 1000
    screen = person.page.locator('[data-screen="instructions-categorisation"]')
    told = screen.locator('[data-offered="all"] [data-value="stimulus_s"]')
    expect(told).to_have_text(f"{stated:g}")
    ends(person)
    assert not Session.objects.exists() and not Response.objects.exists() and not Preview.objects.exists()


@pytest.mark.gate
def test_rounds_can_be_skipped_and_the_preview_ended(page: Any, live_server: Any, study: Study) -> None:
    sign_in(page, live_server.url, is_staff=True)
    person = opens(page, live_server.url, study, pace="true")
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    person.page.get_by_role("button", name="Skip practice").click()
    person.sees("ready")
    expect(person.page.locator("[data-preview-skip=main]")).to_be_hidden()
    assert Preview.objects.get().cursor == 2
    person.page.get_by_role("button", name="Next round").click()
    person.sees("ready")
    person.page.get_by_role("button", name="End preview").click()
    person.page.wait_for_url(f"**/studies/{study.slug}/preview/")
    assert not Preview.objects.exists()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_validation_goes_by_itself_on_any_width(page: Any, live_server: Any, drawings: Path, width: int) -> None:
    made = studies.make_study(drawings, design=studies.JUDGEMENTS)
    sign_in(page, live_server.url, is_staff=True)
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{live_server.url}/studies/{made.slug}/preview/")
    fits(page, f"preview-start-validation-{width}")
    person = opens(page, live_server.url, made, pace="hurried")
    person.page.set_viewport_size({"width": width, "height": 844})
    person.sees("validation")
    fits(person.page, f"preview-validation-{width}")
    assert violations(person.page) == []
    ends(person)
    assert not Session.objects.exists()
