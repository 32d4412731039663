"""Accounts in Chromium: passkeys of a virtual authenticator, and every page in two widths."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import expect

from humanexp.core.accounts import set_active
from humanexp.core.models import User
from tests.browser.looks import PHONE, fits, refused
from tests.browser.researcher import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def ada(transactional_db: None) -> User:
    return User.objects.create_user("ada", password=PASSWORD)


@pytest.fixture
def keys(page: Any) -> Any:
    """A device that keeps passkeys, and whose owner always agrees."""
    cdp = page.context.new_cdp_session(page)
    cdp.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    added = cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})

    def send(command: str, **more: Any) -> Any:
        return cdp.send(f"WebAuthn.{command}", {"authenticatorId": added["authenticatorId"], **more})

    return send


def sign_in(page: Any, url: str) -> None:
    page.goto(f"{url}/login/")
    page.fill("#id_username", "ada")
    page.fill("#id_password", PASSWORD)
    page.click("button[type=submit]")


def add_passkey(page: Any, url: str) -> None:
    page.goto(f"{url}/account/second-factor/passkeys/add/")
    page.click("text=Make the passkey")
    page.wait_for_url("**/second-factor/recovery/")


def both_widths(page: Any, name: str) -> None:
    """Also pages that a person sees once."""
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 860})
        fits(page, f"accounts-{name}-{width}")


def sign_out(page: Any) -> None:
    page.click(".who summary")
    page.click(".who button")
    page.wait_for_url("**/login/**")


@pytest.mark.gate
def test_a_passkey_is_made_asked_for_used_alone_and_removed(page: Any, ada: User, keys: Any, live_server: Any) -> None:
    url = live_server.url
    sign_in(page, url)
    page.wait_for_selector(".who")
    add_passkey(page, url)
    expect(page.locator("code.address")).to_have_text(re.compile(r"^\s*(?:\S+\s+){9}\d+(?:\s|$)"))
    both_widths(page, "recovery")
    assert len(keys("getCredentials")["credentials"]) == 1
    sign_out(page)

    sign_in(page, url)
    page.wait_for_url("**/second-factor/ask/")
    both_widths(page, "ask")
    page.click("text=Use a passkey")
    page.wait_for_selector(".who")
    assert ada.sign_ins.first().way == "code"
    sign_out(page)

    page.goto(f"{url}/login/?next=/jobs/")
    page.click("text=Sign in with a passkey")
    page.wait_for_url(f"{url}/jobs/")
    assert ada.sign_ins.first().way == "passkey"

    page.goto(f"{url}/account/second-factor/")
    both_widths(page, "have")
    page.click("text=Remove")
    page.click("button.btn--danger")
    page.wait_for_url("**/second-factor/passkeys/")
    assert not Authenticator.objects.exists(), "the recovery codes go with the last factor"
    assert refused(page) == [] and page.complaints == []


def test_a_device_that_does_not_agree_signs_nobody_in(page: Any, ada: User, keys: Any, live_server: Any) -> None:
    sign_in(page, live_server.url)
    page.wait_for_selector(".who")
    add_passkey(page, live_server.url)
    sign_out(page)
    keys("setUserVerified", isUserVerified=False)
    page.goto(f"{live_server.url}/login/")
    page.click("text=Sign in with a passkey")
    page.wait_for_selector("[data-passkey-said]:visible")
    expect(page).to_have_url(re.compile("/login/$"))
    expect(page.locator(".who")).to_have_count(0)


def test_a_passkey_of_a_closed_account_signs_nobody_in(page: Any, ada: User, keys: Any, live_server: Any) -> None:
    sign_in(page, live_server.url)
    page.wait_for_selector(".who")
    add_passkey(page, live_server.url)
    User.objects.create_superuser("head")
    set_active(user=ada, is_active=False)
    page.goto(f"{live_server.url}/login/")
    page.click("text=Sign in with a passkey")
    page.wait_for_selector("text=This account is closed")
    page.goto(f"{live_server.url}/account/")
    expect(page).to_have_url(re.compile("/login/"))


@pytest.mark.parametrize("width", ["1280", "390"])
def test_every_page_fits(chromium: Any, ada: User, live_server: Any, width: str) -> None:
    User.objects.filter(pk=ada.pk).update(is_staff=True, is_superuser=True)
    context = chromium.new_context(**(PHONE if width == "390" else {"viewport": {"width": 1280, "height": 860}}))
    page, url = context.new_page(), live_server.url
    page.goto(f"{url}/login/")
    fits(page, f"accounts-login-{width}")
    sign_in(page, url)
    page.wait_for_url(f"{url}/")
    page.goto(f"{url}/accounts/")
    page.fill("#id_username", "grace.hopper")
    page.fill("#id_email", "grace@lab.example")
    page.click("text=Make the link")
    page.wait_for_selector("[data-copy]")
    fits(page, f"accounts-link-{width}")
    link = page.locator("code.address").inner_text().replace("http://127.0.0.1:8000", url)
    closed = User.objects.create_user("mary.jackson", password=PASSWORD, is_active=False)
    for name, path in {
        "all": "/accounts/",
        "one": f"/accounts/{User.objects.get(username='grace.hopper').pk}/",
        "closed": f"/accounts/{closed.pk}/",
        "own": "/account/",
        "factors": "/account/second-factor/",
        "app": "/account/second-factor/app/",
        "passkey": "/account/second-factor/passkeys/add/",
        "confirm": "/account/confirm/?next=/",
    }.items():
        page.goto(f"{url}{path}")
        fits(page, f"accounts-{name}-{width}")
    page.goto(link)
    fits(page, f"accounts-choose-{width}")
    context.close()
