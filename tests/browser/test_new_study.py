"""The form of a study in a real browser: what it makes stands beside it while it is filled."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import refused
from tests.browser.researcher import sign_in
from tests.factories import SIZE_PX, make_stimulus_set

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FILE = f"""\
title = "From a file"
stimuli = "pictures"
[protocol]
name = "vcr"
size_px = {SIZE_PX}
[design]
sessions = 3
main_trials = 16
practice_trials = 2
consistency_pairs = 1
"""


@pytest.mark.gate
def test_form_file_and_plan_show_one_another(page: Any, live_server: Any) -> None:
    make_stimulus_set()
    sign_in(page, live_server.url, is_staff=True)
    page.goto(live_server.url)
    page.click("[data-next-step]")
    # The small pictures of this test fit no protocol as it is: the page says so, at the field.
    page.wait_for_selector('[data-refusal="stimuli"]')
    page.click("#from-file > summary")
    page.fill("[name=text]", FILE)
    page.click("[name=read]")
    page.wait_for_selector('[data-draft="good"] [data-plan]')
    expect(page.locator("[name=title]")).to_have_value("From a file")
    expect(page.locator("[name=more]")).to_have_value(re.compile("size_px = 24"))
    expect(page.locator("[data-plan] h2")).to_contain_text("3 sessions of", use_inner_text=True)

    page.fill("[name=sessions]", "4")
    page.wait_for_selector("[data-plan] h2:has-text('4 sessions of')")
    expect(page.locator("[data-toml]")).to_contain_text("sessions = 4", use_inner_text=True)
    page.fill("[name=practice_trials]", "-2")
    page.wait_for_selector('[data-refusal="practice_trials"]')
    refusal = "practice_trials must be a whole number from 0 to 200, not -2."
    expect(page.locator("#draft [role=alert]")).to_contain_text(refusal, use_inner_text=True)
    page.click("#draft [role=alert] a")
    expect(page.locator("[name=practice_trials]")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("3")
    page.wait_for_selector('[data-draft="good"]')

    page.check('[name=task][value="validation"]')
    page.wait_for_selector("[data-toml]:has-text('[design.validation]')")
    expect(page.locator("[name=main_trials]")).to_be_hidden()
    expect(page.locator("[name=answers_per_picture]")).to_be_visible()
    page.check('[name=task][value="categorisation"]')
    page.wait_for_selector("[data-draft=good] [data-toml]:not(:has-text('validation'))")
    assert violations(page) == []
    assert not Study.objects.exists()

    page.click("[data-create]")
    page.wait_for_selector("[data-next]")
    expect(page).to_have_url(re.compile("/studies/from-a-file/design/$"))
    assert Study.objects.get().planned_sessions == 4
    page.click("[data-next]")
    page.wait_for_selector('[data-preflight="none"]')
    assert page.complaints == [] and refused(page) == []
