from __future__ import annotations

from typing import Any

import pytest

from humanexp.core.models import User
from tests.browser.researcher import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_researcher_signs_in_and_out_under_the_strict_policy(page: Any, live_server: Any) -> None:
    User.objects.create_user("ada", password="lovelace")
    page.goto(f"{live_server.url}/stimuli/")
    page.fill("#id_username", "ada")
    page.fill("#id_password", "lovelace")
    page.click("button[type=submit]")
    page.wait_for_selector(".who")
    assert page.url == f"{live_server.url}/stimuli/"
    page.click(".who summary")
    page.click(".who button")
    page.wait_for_url(f"{live_server.url}/login/**")
    page.fill("#id_username", "ada")
    page.fill("#id_password", "lovelace")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{live_server.url}/")
    assert page.evaluate("window.__refused") == [] and page.complaints == []


@pytest.fixture
def signed_in(page: Any, live_server: Any) -> Any:
    sign_in(page, live_server.url)
    page.goto(live_server.url)
    return page


def test_escape_closes_the_menu_and_gives_the_focus_back(signed_in: Any) -> None:
    page = signed_in
    page.click(".who summary")
    assert page.evaluate("document.querySelector('.who details').open")
    page.keyboard.press("Escape")
    assert not page.evaluate("document.querySelector('.who details').open")
    assert page.evaluate("document.activeElement === document.querySelector('.who summary')")


def test_the_first_stop_of_the_keyboard_leads_to_the_content(signed_in: Any) -> None:
    page = signed_in
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_menus_open_without_scripts_on_a_phone(chromium: Any, signed_in: Any, live_server: Any) -> None:
    state = signed_in.context.storage_state()
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, java_script_enabled=False, storage_state=state
    )
    phone = context.new_page()
    phone.goto(f"{live_server.url}/")
    assert not phone.is_visible(".top__menu a")
    phone.click(".top__menu summary")
    phone.click(".top__menu a:has-text('Jobs')")
    assert phone.url == f"{live_server.url}/jobs/"
    context.close()
