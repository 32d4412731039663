from __future__ import annotations

from typing import Any

import pytest

from humanexp.core.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def sign_in(page: Any, address: str) -> None:
    User.objects.create_user("lab", password="three-plain-words")  # noqa: S106  of this test's own database
    page.goto(f"{address}/login/")
    page.fill("#id_username", "lab")
    page.fill("#id_password", "three-plain-words")
    page.click("button[type=submit]")
    page.wait_for_selector(".who")


def test_a_researcher_signs_in_and_out_under_the_strict_policy(page: Any, live_server: Any) -> None:
    sign_in(page, live_server.url)
    assert page.url == f"{live_server.url}/"
    page.click(".who summary")
    page.click(".who button")
    assert page.url.startswith(f"{live_server.url}/login/")
    assert page.evaluate("window.__refused") == [] and page.complaints == []


def test_escape_closes_the_menu_and_gives_the_focus_back(page: Any, live_server: Any) -> None:
    sign_in(page, live_server.url)
    page.click(".who summary")
    assert page.evaluate("document.querySelector('.who details').open")
    page.keyboard.press("Escape")
    assert not page.evaluate("document.querySelector('.who details').open")
    assert page.evaluate("document.activeElement === document.querySelector('.who summary')")


def test_the_first_stop_of_the_keyboard_leads_to_the_content(page: Any, live_server: Any) -> None:
    sign_in(page, live_server.url)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_menus_open_without_scripts_on_a_phone(chromium: Any, page: Any, live_server: Any) -> None:
    sign_in(page, live_server.url)
    state = page.context.storage_state()
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
