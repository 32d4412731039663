"""The form of a study in a real browser: what it makes stands beside it while it is filled."""

from __future__ import annotations

from typing import Any

import pytest

from humanexp.studies.models import Study
from tests.browser.axe import grave_violations
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
    assert page.input_value("[name=title]") == "From a file" and "size_px = 24" in page.input_value("[name=more]")
    assert "3 sessions of" in page.inner_text("[data-plan] h2")

    page.fill("[name=sessions]", "4")
    page.wait_for_selector("[data-plan] h2:has-text('4 sessions of')")
    assert "sessions = 4" in page.inner_text("[data-toml]")
    page.fill("[name=practice_trials]", "-2")
    page.wait_for_selector('[data-refusal="practice_trials"]')
    assert "practice_trials must be a whole number from 0 to 200, not -2." in page.inner_text("#draft [role=alert]")
    page.click("#draft [role=alert] a")
    assert page.evaluate("document.activeElement.name") == "practice_trials"
    page.keyboard.press("Control+A")
    page.keyboard.type("3")
    page.wait_for_selector('[data-draft="good"]')

    page.check('[name=task][value="validation"]')
    page.wait_for_selector("[data-toml]:has-text('[design.validation]')")
    assert page.is_hidden("[name=main_trials]") and page.is_visible("[name=answers_per_picture]")
    page.check('[name=task][value="categorisation"]')
    page.wait_for_selector("[data-draft=good] [data-toml]:not(:has-text('validation'))")
    assert grave_violations(page) == []
    assert not Study.objects.exists()

    page.click("[data-create]")
    page.wait_for_selector("[data-next]")
    assert page.url.endswith("/studies/from-a-file/design/") and Study.objects.get().planned_sessions == 4
    page.click("[data-next]")
    page.wait_for_selector('[data-preflight="none"]')
    assert page.complaints == [] and page.evaluate("window.__refused") == []
