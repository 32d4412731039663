from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.core.models import User
from tests.browser.looks import refused
from tests.browser.researcher import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.gate
def test_a_researcher_signs_in_and_out_under_the_strict_policy(page: Any, live_server: Any) -> None:
    User.objects.create_user("ada", password="lovelace")
    page.goto(f"{live_server.url}/stimuli/")
    page.fill("#id_username", "ada")
    page.fill("#id_password", "lovelace")
    page.click("button[type=submit]")
    page.wait_for_selector(".who")
    expect(page).to_have_url(f"{live_server.url}/stimuli/")
    page.click(".who summary")
    page.click(".who button")
    page.wait_for_url(f"{live_server.url}/login/**")
    page.fill("#id_username", "ada")
    page.fill("#id_password", "lovelace")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{live_server.url}/")
    assert refused(page) == [] and page.complaints == []


@pytest.fixture
def signed_in(page: Any, live_server: Any) -> Any:
    sign_in(page, live_server.url)
    page.goto(live_server.url)
    return page


def test_escape_closes_the_menu_and_gives_the_focus_back(signed_in: Any) -> None:
    page = signed_in
    page.click(".who summary")
    expect(page.locator(".who details")).to_have_js_property("open", True)
    page.keyboard.press("Escape")
    expect(page.locator(".who details")).to_have_js_property("open", False)
    expect(page.locator(".who summary")).to_be_focused()


def test_the_first_stop_of_the_keyboard_leads_to_the_content(signed_in: Any) -> None:
    page = signed_in
    page.keyboard.press("Tab")
    expect(page.locator("[class=skip]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_be_focused()


def test_menus_open_without_scripts_on_a_phone(chromium: Any, signed_in: Any, live_server: Any) -> None:
    state = signed_in.context.storage_state()
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, java_script_enabled=False, storage_state=state
    )
    phone = context.new_page()
    phone.goto(f"{live_server.url}/")
    expect(phone.locator(".top__menu a").first).to_be_hidden()
    phone.click(".top__menu summary")
    phone.click(".top__menu a:has-text('Jobs')")
    expect(phone).to_have_url(f"{live_server.url}/jobs/")
    context.close()
