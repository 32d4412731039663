"""Trouble in a browser: reported from the study's own window, answered at the desk, read with the reference code."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.recruitment import services as recruitment
from humanexp.recruitment.models import TroubleReport
from humanexp.recruitment.services import reporting_trouble
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import fits
from tests.browser.person import Person
from tests.browser.researcher import sign_in
from tests.recruitment.studies import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


def looks_good(page: Any, name: str) -> None:
    assert violations(page) == []
    fits(page, f"{name}-1280")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page, f"{name}-390")
    page.set_viewport_size({"width": 1280, "height": 860})


def test_a_report_of_somebody_who_is_locked_out_names_their_session(page: Any, live_server: Any, study: Study) -> None:
    reporting_trouble.REPORTING.clear()
    campaign = recruitment.publish(study=study, terms=recruitment.LaunchTerms(to="link", assignments=2))
    assert Visitor(campaign, worker_id="panel-7").open().status_code == 201
    page.goto(f"{live_server.url}/take/{campaign.entry}/?p=panel-7")
    expect(page).to_have_url(re.compile(rf"/take/{campaign.entry}/$"))
    page.reload()
    page.locator("[data-consent]").check()
    with page.expect_popup():
        page.get_by_role("button", name="Start the study").click()
    page.locator("[data-panel=begun]").wait_for()
    looks_good(page, "begun-elsewhere")
    with page.expect_popup() as opened:
        page.locator("[data-report]").click()
    form = opened.value
    form.locator("[data-value=untied]").wait_for(state="hidden")
    expect(form, "no id stays in the address").to_have_url(re.compile(r"/trouble/\?language=en$"))
    form.get_by_label("Technical failure").check()
    form.get_by_role("button", name="Send the report").click()
    form.locator("#sent-title").wait_for()
    report = TroubleReport.objects.get()
    assert report.session is not None and not report.is_proven


def test_a_report_from_the_study_s_window_knows_its_session(
    page: Any, live_server: Any, study: Study, settings: Any, chromium: Any
) -> None:
    reporting_trouble.REPORTING.clear()
    settings.PUBLIC_URL = live_server.url
    campaign = recruitment.publish(study=study, terms=recruitment.LaunchTerms(to="link", assignments=1))
    page.goto(f"{live_server.url}/take/{campaign.entry}/?language=de")
    page.locator("[data-consent]").check()
    with page.expect_popup() as popup:
        page.get_by_role("button", name="Die Studie anfangen").click()
    window = popup.value
    person = Person(window, live_server.url)
    person.sees("checks")
    fits(window, "run-with-report-1280")
    link = window.locator(".run__contact [data-report]")
    window.wait_for_function("document.querySelector('[data-report]').hash.length > 20")
    with window.expect_popup() as opened:
        link.click()
    form = opened.value
    form.locator("[data-value=untied]").wait_for(state="hidden")
    expect(form, "no proof stays in the history").to_have_url(re.compile(r"/trouble/\?language=de$"))
    looks_good(form, "trouble-form-de")
    form.get_by_role("button", name="Meldung absenden").click()
    form.locator("[role=alert]").wait_for()
    form.get_by_label("Technischer Fehler").check()
    form.get_by_label("Was ist passiert").fill("Das Bild blieb stehen.")
    form.get_by_role("button", name="Meldung absenden").click()
    form.locator("#sent-title").wait_for()
    looks_good(form, "trouble-sent-de")
    expect(form.locator("main")).to_contain_text(re.compile(r"R-\w{16}"), use_inner_text=True)
    [reference] = re.findall(r"R-\w{16}", form.inner_text("main"))
    report = TroubleReport.objects.get()
    assert report.is_proven and report.session is not None

    console = chromium.new_context(viewport={"width": 1280, "height": 860}).new_page()
    study.memberships.create(user=sign_in(console, live_server.url), role="owner")
    console.goto(f"{live_server.url}/desk/")
    console.get_by_role("link", name=f"Number {report.pk}").wait_for()
    looks_good(console, "desk-all")
    console.get_by_role("link", name=f"Number {report.pk}").click()
    console.locator("#report-title").wait_for()
    looks_good(console, "desk-report")
    console.fill("#id_text", "Bitte laden Sie die Seite neu.")
    console.get_by_role("button", name="Send the answer").click()
    console.locator("[role=status]:has-text('The answer is sent')").wait_for()
    console.get_by_role("button", name="Send a personal link").click()
    console.locator("[role=status]:has-text('personal link is sent')").wait_for()
    looks_good(console, "desk-answered")
    console.context.close()

    form.goto(f"{live_server.url}/take/{campaign.entry}/trouble/?language=de")
    form.get_by_label("Meldecode").fill(reference.lower())
    form.get_by_role("button", name="Antwort anzeigen").click()
    form.get_by_text("Bitte laden Sie die Seite neu.").wait_for()
    looks_good(form, "trouble-answer-de")
    assert page.context.cookies() == []
