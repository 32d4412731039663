"""The page on which an administrator sets recruiters up: states, keys, pauses, limits, and sites on this machine."""

from __future__ import annotations

import socket
import stat
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from humanexp.console import doctor_checks, sites
from humanexp.console.models import LocalSite
from humanexp.core.errors import NotAllowed
from humanexp.core.models import AuditEvent, User
from humanexp.jobs import runner
from humanexp.ledger.budgets import set_month_cap
from humanexp.recruiters import keys, registry
from humanexp.recruiters.models import Pause, RecruiterAccount
from humanexp.recruiting.accounts import open_account, pause_account, request_try, resume_account, try_account
from tests.limits import LIMIT
from tests.served import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]
KEY_ID, KEY = "RECRUITER_MARKET_B_ACCESS_KEY_ID", "RECRUITER_MARKET_B_SECRET_ACCESS_KEY"
SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYzEXAMPLE0001"


@pytest.fixture
def ada(client: Client) -> Client:
    client.force_login(User.objects.create_user("ada", is_staff=True))
    return client


@pytest.fixture
def bob() -> Client:
    client = Client()
    client.force_login(User.objects.create_user("bob"))
    return client


def words(client: Client, address: str) -> str:
    response = client.get(address, follow=True)
    assert response.status_code == 200
    return " ".join(unescape(response.content.decode()).split())


@pytest.fixture
def own_ground(settings: Any) -> Iterator[str]:
    """Addresses on this machine at which nothing answers yet; what was started there ends with the test."""
    settings.MARKETPLACE_URL = f"http://localhost:{free_port()}"
    settings.PANEL_URL = f"http://localhost:{free_port()}"
    settings.LOCAL_SITES = True
    for name in ("MARKETPLACE_ACCESS_KEY_ID", "MARKETPLACE_SECRET_ACCESS_KEY", "PANEL_TOKEN"):
        setattr(settings, name, "")
    yield str(settings.MEDIA_ROOT)
    LocalSite.objects.update(is_wanted=False)
    sites.keep()
    registry.forget("market-b")


@pytest.mark.process
def test_what_there_is_at_first(ada: Client, own_ground: str) -> None:
    body = words(ada, reverse("console:recruiters"))
    assert "There is no MARKETPLACE_ACCESS_KEY_ID and MARKETPLACE_SECRET_ACCESS_KEY yet." in body
    assert "There is no PANEL_TOKEN yet." in body and "There is no PROLIFIC_TOKEN yet." in body
    assert body.count("Start it on this machine") == 2
    assert "MTurk Sandbox, MTurk production <span" in body  # closed: one folded line


@pytest.mark.process
def test_others_read_what_they_may_use_and_change_nothing(bob: Client, own_ground: str) -> None:
    RecruiterAccount.objects.update(balance_cents=12_345)
    body = words(bob, reverse("console:recruiters"))
    assert "Plain link" in body and "Administrators set them up." in body
    assert "Start it" not in body and "123.45" not in body and "<form" not in body.partition("<main")[2]
    assert bob.get(reverse("console:account", args=["marketplace"])).status_code == 403
    asked = {
        reverse("console:open-account"): {"kind": "marketplace", "code": "mine", "name": "Mine", "currency": "USD"},
        reverse("console:account", args=["marketplace"]): {"do": "pause"},
    }
    for address, given in asked.items():
        assert bob.post(address, given).status_code == 403
    bob.post(reverse("console:site", args=["marketplace"]), {"start": "1"})
    for refused in (pause_account, resume_account, request_try):
        with pytest.raises(NotAllowed):
            refused(code="marketplace", by=User.objects.get(username="bob"))
    assert not LocalSite.objects.exists() and not RecruiterAccount.objects.filter(environment="mine").exists()
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize("kind", ["marketplace", "panel"])
@pytest.mark.process
def test_a_site_is_started_given_keys_and_stopped_by_buttons(
    ada: Client, own_ground: str, closed_accounts: None, kind: str
) -> None:
    ada.post(reverse("console:site", args=[kind]), {"start": "1"})
    assert "It is being started on this machine." in words(ada, reverse("console:recruiters"))
    runner.run_waiting()
    row = LocalSite.objects.get(kind=kind)
    assert (row.fault, row.pid > 0) == ("", True)
    body = words(ada, reverse("console:recruiters"))
    address = registry.kind_of(kind).address
    assert f"It runs on this machine, at {address}." in body
    assert "1,000.00" in body
    # an approval at the marketplace is a debt in real money; the panel's is made up
    limits = {
        "marketplace": "Nothing may be spent through it yet",
        "panel": "At most £1,000.00 of play money in a month.",
    }
    assert limits[kind] in body
    account = registry.account_of(kind)
    for name in account.kind.key_names(account):
        file = keys.file_of(name)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600 and keys.key(name)
        assert keys.key(name) not in body
    assert registry.recruiter_for(kind).balance_cents() == 100_000
    # a second round leaves it alone
    assert sites.keep() == {}
    ada.post(reverse("console:site", args=[kind]), {"stop": "1"})
    runner.run_waiting()
    assert not sites.answers(address)
    assert "It runs on this machine" not in words(ada, reverse("console:recruiters"))
    acts = AuditEvent.objects.filter(subject=f"recruiter:{kind}").values_list("action", flat=True)
    assert [act for act in acts if act.endswith("site")] in (["start-site", "stop-site"], ["stop-site", "start-site"])


@pytest.mark.gate
@pytest.mark.promise(10)
@pytest.mark.process
def test_what_has_died_is_started_again(ada: Client, own_ground: str) -> None:
    ada.post(reverse("console:site", args=["panel"]), {"start": "1"})
    runner.run_waiting()
    token = keys.key("PANEL_TOKEN")
    set_month_cap(environment="panel", cap_cents=0, by=None)
    sites._children["panel"].kill()
    sites._children["panel"].wait(LIMIT)
    assert sites.keep() == {"panel": "started"}
    assert sites.answers(registry.kind_of("panel").address) and keys.key("PANEL_TOKEN") == token
    assert RecruiterAccount.objects.get(environment="panel").month_cap_cents == 0  # a treasurer's word stays


@pytest.mark.process
def test_a_port_that_is_taken_is_said(ada: Client, own_ground: str, settings: Any) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        settings.PANEL_URL = f"http://127.0.0.1:{other.getsockname()[1]}"
        ada.post(reverse("console:site", args=["panel"]), {"start": "1"})
        runner.run_waiting()
    assert "The panel process ended with status 1" in words(ada, reverse("console:recruiters"))
    assert not LocalSite.objects.get().is_wanted


@pytest.mark.process
@pytest.mark.parametrize(("name", "given"), [("LOCAL_SITES", False), ("PANEL_URL", "http://panel.example.org")])
def test_only_where_it_is_allowed_and_on_this_machine(
    ada: Client, own_ground: str, settings: Any, name: str, given: object
) -> None:
    setattr(settings, name, given)
    body = words(ada, reverse("console:recruiters"))
    assert "This installation does not start it." in body
    answer = ada.post(reverse("console:site", args=["panel"]), {"start": "1"}, follow=True)
    assert "This installation does not start sites" in answer.content.decode()
    assert not LocalSite.objects.exists()


@pytest.mark.process
def test_keys_are_entered_tested_and_never_shown(ada: Client, own_ground: str) -> None:
    open_account(kind="marketplace", code="market-b", name="Class of 2026", by=None)
    address = reverse("console:account", args=["market-b"])
    assert f"There is no {KEY_ID} and {KEY} yet." in words(ada, address)
    given = {"do": "keys", KEY_ID: "AKIAMARKETB", KEY: SECRET}
    assert "paste the whole key" in words_after(ada, address, {**given, KEY_ID: "two words"})
    body = words_after(ada, address, given)
    assert SECRET not in body and "keys/recruiter_market_b_secret_access_key" in body
    runner.run_waiting()
    row = RecruiterAccount.objects.get(environment="market-b")
    assert row.tried_at is not None and "cannot be reached" in row.fault
    assert "test failed" in words(ada, address) and row.fault in words(ada, address)
    assert SECRET not in str(list(AuditEvent.objects.values_list("facts", flat=True)))
    assert keys.file_of(KEY) == Path(own_ground) / "keys" / "recruiter_market_b_secret_access_key"


def words_after(client: Client, address: str, given: dict[str, str]) -> str:
    return " ".join(unescape(client.post(address, given, follow=True).content.decode()).split())


@pytest.mark.process
def test_keys_of_the_environment_go_before_files(ada: Client, own_ground: str, monkeypatch: pytest.MonkeyPatch) -> None:
    open_account(kind="marketplace", code="market-b", name="Class of 2026", by=None)
    for name in (KEY_ID, KEY):
        monkeypatch.setenv(name, "of-the-environment")
    address = reverse("console:account", args=["market-b"])
    assert "Set in the environment of the processes" in words(ada, address)
    assert "Store and test" not in words(ada, address)
    given = {"do": "keys", KEY_ID: "AKIA", KEY: SECRET}
    assert "set in the environment" in words_after(ada, address, given)
    assert keys.key(KEY_ID) == "of-the-environment"


@pytest.mark.process
def test_an_account_is_opened_named_and_capped(ada: Client, own_ground: str) -> None:
    given = {"kind": "marketplace", "code": "market-b", "name": "Second grant", "currency": "USD", "workspace": ""}
    refused = ada.post(reverse("console:open-account"), {**given, "code": "Market B"})
    assert refused.status_code == 422 and "2 to 12 small letters" in unescape(refused.content.decode())
    ada.post(reverse("console:open-account"), given)
    assert ada.post(reverse("console:open-account"), given).status_code == 409
    address = reverse("console:account", args=["market-b"])
    assert "The name is stored." in words_after(ada, address, {"do": "name", "name": "Third grant"})
    assert "Third grant" in words(ada, reverse("console:recruiters"))
    assert "Stored." in words_after(ada, address, {"do": "spending", "month_cap": "250", "launchers": ""})
    assert RecruiterAccount.objects.get(environment="market-b").month_cap_cents == 25_000
    assert 'value="250.00"' in words(ada, address)
    acts = set(AuditEvent.objects.filter(subject="recruiter:market-b").values_list("action", flat=True))
    assert acts == {"add-account", "rename-account", "month-cap", "set-launchers"}


@pytest.mark.process
def test_a_pause_is_asked_twice_and_ends_by_a_button(ada: Client, own_ground: str) -> None:
    address = reverse("console:account", args=["marketplace"])
    assert "Pause it now" in words(ada, address)
    body = words_after(ada, address, {"do": "pause"})
    assert "Resume it" in body
    row = RecruiterAccount.objects.get(environment="marketplace")
    assert row.pause == Pause.HAND
    try_account(code="marketplace")
    row.refresh_from_db()
    assert row.pause == Pause.HAND  # a person's, whatever becomes of the keys
    words_after(ada, address, {"do": "resume"})
    row.refresh_from_db()
    assert row.pause == Pause.NO


@pytest.mark.process
def test_a_button_that_the_page_does_not_have_is_said(ada: Client, own_ground: str) -> None:
    address = reverse("console:account", args=["marketplace"])
    assert "Nothing was changed" in words_after(ada, address, {"do": "sell"})


@pytest.mark.process
def test_the_doctor_reads_every_account_and_says_which_site_is_silent(ada: Client, own_ground: str) -> None:
    assert (doctor_checks.panel().severity, doctor_checks.recruiter_accounts().severity) == ("note", "good")
    assert doctor_checks.recruiter_accounts().text == "without keys: own marketplace, Prolific, practice panel"
    ada.post(reverse("console:site", args=["panel"]), {"start": "1"})
    runner.run_waiting()
    assert doctor_checks.panel().severity == "good"
    assert doctor_checks.recruiter_accounts().text.startswith("works: practice panel; without keys: own marketplace")
    keys.store({"PANEL_TOKEN": "another"})
    told = doctor_checks.recruiter_accounts()
    assert told.severity == "bad" and "another" not in told.text and "Recruiters" in told.remedy
