"""The page of everything that needs a person, the settings, mail, and the pre-flight check's test message."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from humanexp.console.preflight.check import Launch, check
from humanexp.core.models import AuditEvent, User
from humanexp.notices import preflight, selectors  # noqa: F401  (preflight registers its check)
from humanexp.notices.addresses import add_address
from humanexp.notices.models import Address, Event, Mute
from humanexp.notices.watch import look
from tests.core.test_accounts import Mailbox
from tests.notices.receivers import Receiver
from tests.notices.surroundings import (
    HandMachine,
    address_of,
    hold,
    new_campaign,
    new_payment,
    new_study,
    park,
    tell,
    withdraw_approval,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("beating")]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_the_page_shows_all_studies_with_buttons_and_a_count_in_the_navigation(owner: User) -> None:
    for slug in ("one", "two"):
        park(new_campaign(new_study(slug, owner)))
    new_campaign(new_study("foreign"))
    look()
    page = signed_in(owner).get("/waiting/").content.decode()
    assert (
        "/studies/one/monitor/ledger/parked/" in page
        and "/studies/two/monitor/ledger/parked/" in page
        and "foreign" not in page
    )
    assert '<span class="top__count">2</span>' in page
    assert "2 things need you." in signed_in(owner).get("/").content.decode()


def test_the_page_looks_again_and_does_not_wait_for_the_job(owner: User) -> None:
    campaign = new_campaign(new_study("one", owner))
    assert "Nothing waits for you" in signed_in(owner).get("/waiting/").content.decode()
    park(campaign)
    assert "/studies/one/monitor/ledger/parked/" in signed_in(owner).get("/waiting/").content.decode()


def test_a_viewer_sees_no_money_and_nothing_that_others_solve(owner: User) -> None:
    study = new_study("one", owner)
    campaign = new_campaign(study)
    viewer, payer = User.objects.create_user("vera"), User.objects.create_user("pia")
    study.memberships.create(user=viewer, role="viewer")
    study.memberships.create(user=payer, role="payer")
    new_payment(campaign, state="parked")
    hold(campaign, "wage")
    withdraw_approval(study)
    look()
    assert "Nothing waits for you" in signed_in(viewer).get("/waiting/").content.decode()
    assert selectors.waiting_count(viewer) == 0
    of_payer = signed_in(payer).get("/waiting/").content.decode()
    assert "/studies/one/payments/" in of_payer or "parked" in of_payer
    assert "approval" not in of_payer


def test_the_installation_is_for_administrators(owner: User, hand_machine: HandMachine) -> None:
    hand_machine.disk_mb = 900
    assert "900 MB" not in signed_in(owner).get("/waiting/").content.decode()
    adam = User.objects.create_user("adam", is_staff=True)
    assert "900 MB" in signed_in(adam).get("/waiting/").content.decode()


def test_without_an_account_nothing_is_shown() -> None:
    for path in ("/waiting/", "/account/notices/"):
        assert Client().get(path).status_code == 302
    for path in ("/waiting/mute/", "/account/notices/1/", "/account/notices/mutes/1/"):
        assert Client().post(path).status_code == 302


def test_addresses_are_entered_tried_changed_and_removed_on_the_page(owner: User, receiver: Receiver) -> None:
    client = signed_in(owner)
    refused = client.post("/account/notices/", {"way": "webhook", "target": "http://example.org", "pace": "now"})
    assert refused.status_code == 422 and "https://" in refused.content.decode()
    client.post("/account/notices/", {"way": "webhook", "target": f"{receiver.url}/secret-path", "pace": "now"})
    address = Address.objects.get()
    page = client.get("/account/notices/").content.decode()
    assert "secret-path" not in page and address.secret in page
    said = client.post(f"/account/notices/{address.pk}/", {"what": "test"}, follow=True).content.decode()
    assert "The test was taken" in said and receiver.calls[0].json["test"] is True
    receiver.mood = 500
    said = client.post(f"/account/notices/{address.pk}/", {"what": "test"}, follow=True).content.decode()
    assert "did not arrive" in said and "status 500" in said
    assert "status 500" in client.get("/waiting/").content.decode()  # a quiet failure is visible
    client.post(f"/account/notices/{address.pk}/", {"what": "pace", "pace": "daily"})
    assert Address.objects.get().pace == "daily"
    other = signed_in(User.objects.create_user("eve"))
    assert other.post(f"/account/notices/{address.pk}/", {"what": "remove"}).status_code == 404
    client.post(f"/account/notices/{address.pk}/", {"what": "remove"})
    assert not Address.objects.exists()
    acts = set(AuditEvent.objects.values_list("action", flat=True))
    assert {"add-notice-address", "remove-notice-address"} <= acts


def test_a_mute_is_set_next_to_an_entry_and_ended_in_the_settings(owner: User) -> None:
    park(new_campaign(new_study("one", owner)))
    client = signed_in(owner)
    client.post("/waiting/mute/", {"study": "one", "name": "parked", "days": "7"})
    mute = Mute.objects.get()
    assert (mute.study.slug, mute.name) == ("one", "parked") if mute.study else False
    assert "/studies/one/monitor/ledger/parked/" in client.get("/waiting/").content.decode()  # it stays on the page
    eve = signed_in(User.objects.create_user("eve"))
    assert eve.post("/waiting/mute/", {"study": "one", "name": "parked", "days": "7"}).status_code == 404
    assert eve.post(f"/account/notices/mutes/{mute.pk}/").status_code == 404
    client.post(f"/account/notices/mutes/{mute.pk}/")
    assert not Mute.objects.exists()


class TestMail:
    @pytest.fixture
    def mailbox(self, settings: Any) -> Iterator[list[str]]:
        Mailbox.received = []
        with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mailbox) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
            settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address[0], server.server_address[1]
            yield Mailbox.received
            server.shutdown()

    @pytest.mark.process
    def test_goes_to_the_account_with_a_message_id(self, owner: User, mailbox: list[str]) -> None:
        park(new_campaign(new_study("one", owner)))
        add_address(by=owner, way="email")
        tell()
        tell()
        [text] = mailbox
        assert "To: olga@lab.example" in text and "Message-ID: <" in text and "Auto-Submitted: auto-generated" in text
        assert "/studies/one/monitor/ledger/parked/" in text.replace("=\r\n", "")

    def test_a_server_that_refuses_is_shown_and_tried_again(self, owner: User, settings: Any) -> None:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
        park(new_campaign(new_study("one", owner)))
        add_address(by=owner, way="email")
        tell()
        address = Address.objects.get()
        assert "mail server" in address.last_error and address.try_after is not None

    def test_the_installation_has_addresses_by_a_setting(
        self, mailbox: list[str], receiver: Receiver, settings: Any, hand_machine: HandMachine
    ) -> None:
        settings.NOTICE_ADDRESSES = ["mailto:ops@lab.example", f"slack+{receiver.url}/chat"]
        hand_machine.disk_mb = 900
        tell()
        assert "To: ops@lab.example" in mailbox[0] and "900 MB" in mailbox[0]
        assert "900 MB" in receiver.calls[0].json["text"]
        settings.NOTICE_ADDRESSES = []
        tell()
        assert not Address.objects.exists()


class TestThePreFlightCheck:
    def ask(self, study: Any) -> Any:
        [entry] = [entry for entry in check if entry.key == "notices"]
        return entry.ask(Launch(study=study, to="marketplace"))

    def test_says_that_no_one_would_hear(self, owner: User) -> None:
        found = self.ask(new_study("one", owner))
        assert found.severity == "warn" and found.url == "/account/notices/"

    def test_sends_a_test_to_those_who_can_pay_and_shows_the_outcome(self, owner: User, receiver: Receiver) -> None:
        study = new_study("one", owner)
        viewer = User.objects.create_user("vera")
        study.memberships.create(user=viewer, role="viewer")
        address_of(owner, f"{receiver.url}/olga")
        address_of(viewer, f"{receiver.url}/vera")
        assert self.ask(study).severity == "good"
        assert [call.path for call in receiver.calls] == ["/olga"]
        receiver.mood = 500
        found = self.ask(study)
        assert found.severity != "good" and "status 500" in found.text


def fill(studies: int, owner: User) -> None:
    for number in range(studies):
        study = new_study(f"s{number}", owner)
        for _ in range(2):
            campaign = new_campaign(study)
            hold(campaign, "wage")
            hold(campaign, "returns")
            new_payment(campaign, state="refused")
            new_payment(campaign, state="parked")
        withdraw_approval(study)


def counted(user: User) -> tuple[int, int, int]:
    """Queries of the page, of a first look, and of a look that finds nothing new."""
    with CaptureQueriesContext(connection) as page:
        selectors.waiting_for(user)
    with CaptureQueriesContext(connection) as first:
        look()
    with CaptureQueriesContext(connection) as again:
        look()
    return len(page), len(first), len(again)


def test_the_number_of_queries_does_not_depend_on_the_number_of_studies(owner: User, receiver: Receiver) -> None:
    address_of(owner, receiver.url, pace="daily")
    fill(2, owner)
    few = counted(owner)
    Event.objects.all().delete()
    for number in range(2, 30):
        study = new_study(f"s{number}", owner)
        campaign = new_campaign(study)
        hold(campaign, "wage")
        new_payment(campaign, state="parked")
        withdraw_approval(study)
    many = counted(owner)
    assert many[0] == few[0] and many[2] == few[2]
    assert many[0] < 60 and many[2] < 70
