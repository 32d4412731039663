"""Administrators invite, close and open accounts in the console; sessions end; sign-ins are written down."""

from __future__ import annotations

import multiprocessing
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client
from django.utils import timezone

from humanexp.core import accounts, clock
from humanexp.core.accounts import entry_link, make_account, set_active
from humanexp.core.errors import NotAllowed
from humanexp.core.limits import SharedAllowance
from humanexp.core.models import AuditEvent, Invitation, SignIn, User
from humanexp.core.pages.login import OF_A_CALLER
from tests.tampering import tampered

pytestmark = pytest.mark.django_db
NEW, OLD = "correct horse battery", "a long pass phrase"
CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", email="ada@lab.example", password=OLD)


@pytest.fixture
def head() -> User:
    return User.objects.create_user("head", password=OLD, is_staff=True, is_superuser=True)


@pytest.fixture
def office(head: User) -> Client:
    office = Client()
    office.force_login(head)
    return office


def link_in(answer: Any) -> str:
    found = re.search(r'data-copy="http://127.0.0.1:8000(\S+)"', answer.content.decode())
    assert found is not None
    return found[1].replace("&amp;", "&")


def invite(office: Client, **chosen: Any) -> Any:
    form = {"username": "grace", "email": "", "role": "member", "valid_days": 3, **chosen}
    return office.post("/accounts/", form)


def choose(link: str, password: str = NEW) -> int:
    client = Client()
    opened = client.get(link)
    if opened.status_code != 302:
        return int(opened.status_code)
    chosen = client.post(opened["Location"], {"new_password1": password, "new_password2": password})
    return int(chosen.status_code)


def signs_in(name: str, password: str, client: Client | None = None) -> bool:
    answer = (client or Client()).post("/login/", {"username": name, "password": password})
    return bool(answer.status_code == 302)


def later(monkeypatch: pytest.MonkeyPatch, **time: float) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(**time))


class TestAnInvitation:
    def test_is_used_once(self, office: Client, head: User) -> None:
        link = link_in(invite(office))
        assert not signs_in("grace", NEW)
        assert choose(link) == 302 and signs_in("grace", NEW)
        assert choose(link, "another pass phrase") == 404 and signs_in("grace", NEW)
        event = AuditEvent.objects.get(action="invite")
        assert event.by == head and "grace" not in str(event.facts)

    def test_its_secret_is_not_stored(self, office: Client) -> None:
        secret = link_in(invite(office)).partition("token=")[2]
        assert secret not in str(Invitation.objects.values()) and secret not in str(AuditEvent.objects.values())

    def test_expires(self, office: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        link = link_in(invite(office, valid_days=1))
        later(monkeypatch, hours=23, minutes=59)
        assert Client().get(link).status_code == 302
        later(monkeypatch, minutes=2)
        assert choose(link) == 404 and "expired" in office.get("/accounts/").content.decode()

    def test_cannot_be_guessed_and_opens_no_other_account(self, office: Client) -> None:
        link = link_in(invite(office))
        other = link_in(invite(office, username="eve"))
        swapped = link.partition("token=")[0] + "token=" + other.partition("token=")[2]
        assert choose(swapped) == 404 and choose(tampered(link)) == 404 and choose(link) == 302

    def test_a_new_one_voids_the_one_before(self, office: Client) -> None:
        first = link_in(invite(office))
        page = f"/accounts/{User.objects.get(username='grace').pk}/"
        second = link_in(office.post(page, {"do": "link"}))
        assert choose(first) == 404 and choose(second) == 302

    def test_of_a_closed_account_opens_nothing(self, office: Client) -> None:
        link = link_in(invite(office))
        page = f"/accounts/{User.objects.get(username='grace').pk}/"
        office.post(page, {"do": "close"})
        assert choose(link) == 404

    @pytest.mark.parametrize(("role", "is_staff"), [("member", False), ("treasurer", False), ("administrator", True)])
    def test_makes_the_role_that_was_chosen(self, office: Client, role: str, is_staff: bool) -> None:
        invite(office, role=role)
        grace = User.objects.get(username="grace")
        assert (grace.house_role, grace.is_staff, grace.is_superuser) == (role, is_staff, is_staff)

    @pytest.mark.parametrize("role", ["", "emperor"])
    def test_a_role_that_there_is_not_is_refused_next_to_the_field(self, office: Client, ada: User, role: str) -> None:
        answer = office.post(f"/accounts/{ada.pk}/", {"do": "role", "role": role})
        assert answer.status_code == 422 and 'id="id_role_error"' in answer.text
        assert ("emperor is not one of the available choices" in answer.text) is bool(role)
        ada.refresh_from_db()
        assert ada.house_role == "member"

    def test_a_taken_name_is_refused_next_to_the_field(self, office: Client, ada: User) -> None:
        answer = invite(office, username="ADA")
        assert answer.status_code == 422 and "already" in answer.content.decode()
        assert User.objects.filter(username__iexact="ada").count() == 1

    def test_goes_to_the_address_if_mail_is_set_up(self, office: Client, settings: Any) -> None:
        settings.EMAIL_HOST = "mail.lab.example"
        link = link_in(invite(office, email="grace@lab.example"))
        assert [sent.to for sent in mail.outbox] == [["grace@lab.example"]] and link in mail.outbox[0].body

    @pytest.mark.parametrize("password", ["short", "password1234", "ada.lovelace1", "9281736450928"])
    def test_weak_passwords_are_refused(self, office: Client, password: str) -> None:
        link = link_in(invite(office, username="ada.lovelace"))
        assert choose(link, password) == 422 and not signs_in("ada.lovelace", password)


class TestWhoMay:
    def test_researchers_see_no_accounts(self, ada: User, client: Client) -> None:
        client.force_login(ada)
        assert client.get("/accounts/").status_code == 403 == client.get(f"/accounts/{ada.pk}/").status_code
        assert invite(client).status_code == 403 and not User.objects.filter(username="grace").exists()
        assert "/accounts/" not in client.get("/account/").content.decode()

    def test_strangers_are_sent_to_sign_in(self, client: Client) -> None:
        assert client.get("/accounts/")["Location"] == "/login/?next=/accounts/"

    def test_the_services_ask_too(self, ada: User, head: User) -> None:
        for act in (
            lambda: make_account(username="x", by=ada),
            lambda: accounts.invite(user=ada, by=ada),
            lambda: entry_link(user=head, by=ada),
            lambda: set_active(user=head, is_active=False, by=ada),
        ):
            with pytest.raises(NotAllowed):
                act()


class TestSessions:
    def test_a_closed_account_is_out_at_once_and_opening_brings_nothing_back(
        self, office: Client, ada: User, client: Client
    ) -> None:
        client.force_login(ada)
        office.post(f"/accounts/{ada.pk}/", {"do": "close"})
        assert client.get("/account/").status_code == 302 and not signs_in("ada", OLD)
        office.post(f"/accounts/{ada.pk}/", {"do": "open"})
        assert client.get("/account/").status_code == 302, "the session of before stays over"
        assert signs_in("ada", OLD)

    def test_an_administrator_signs_somebody_out(self, office: Client, ada: User, client: Client) -> None:
        client.force_login(ada)
        office.post(f"/accounts/{ada.pk}/", {"do": "end"})
        assert client.get("/account/").status_code == 302 and office.get("/accounts/").status_code == 200

    def test_ones_own_are_listed_and_all_others_ended(self, ada: User) -> None:
        here, there = Client(headers={"user-agent": CHROME}), Client()
        assert signs_in("ada", OLD, here) and signs_in("ada", OLD, there)
        page = here.get("/account/").content.decode()
        assert "Chrome on Linux" in page and "this one" in page and "End all others" in page
        assert here.post("/account/", {"what": "sessions"}).status_code == 302
        assert here.get("/account/").status_code == 200 and there.get("/account/").status_code == 302
        assert "End all others" not in here.get("/account/").content.decode()

    def test_sessions_of_others_are_not_touched(self, ada: User, office: Client) -> None:
        here = Client()
        signs_in("ada", OLD, here)
        here.post("/account/", {"what": "sessions"})
        assert office.get("/accounts/").status_code == 200

    def test_the_key_changes_when_somebody_signs_in(self, ada: User, client: Client) -> None:
        session = client.session
        session["planted"] = 1
        session.save()
        planted = session.session_key
        assert signs_in("ada", OLD, client) and client.cookies["humanexp_session"].value != planted
        assert not Session.objects.filter(session_key=planted).exists()

    def test_idle_ones_end(self, ada: User, client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        settings.SESSION_IDLE_MINUTES, settings.SESSION_HOURS = 30, 12
        client.force_login(ada)
        now = timezone.now()
        self.at(monkeypatch, now + timedelta(minutes=29))
        assert client.get("/account/").status_code == 200
        self.at(monkeypatch, now + timedelta(minutes=58))
        assert client.get("/account/").status_code == 200, "the visit put the end off"
        self.at(monkeypatch, now + timedelta(minutes=89))
        assert client.get("/account/").status_code == 302

    @pytest.mark.process
    def test_parts_that_ask_by_themselves_are_no_visit(
        self, ada: User, client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.SESSION_IDLE_MINUTES = 30
        client.force_login(ada)
        now = timezone.now()
        self.at(monkeypatch, now + timedelta(minutes=29))
        assert client.get("/recruiters/", headers={"HX-Request": "true"}).status_code == 200
        self.at(monkeypatch, now + timedelta(minutes=31))
        assert client.get("/account/").status_code == 302

    def test_every_one_ends_in_time(
        self, ada: User, client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.SESSION_IDLE_MINUTES, settings.SESSION_HOURS = 300, 12
        client.force_login(ada)
        now = timezone.now()
        for hours, status in ((4, 200), (8, 200), (11.9, 200), (12.1, 302)):
            self.at(monkeypatch, now + timedelta(hours=hours))
            assert client.get("/account/").status_code == status, hours

    def at(self, monkeypatch: pytest.MonkeyPatch, moment: Any) -> None:
        monkeypatch.setattr(timezone, "now", lambda: moment)


class TestSignIns:
    def test_are_written_down_and_shown_to_the_person_and_to_administrators(self, ada: User, office: Client) -> None:
        here = Client(headers={"user-agent": CHROME})
        assert not signs_in("ada", "guess", here) and signs_in("ada", OLD, here)
        lines = [(line.outcome, line.browser) for line in ada.sign_ins.all()]
        assert lines == [("signed-in", "Chrome on Linux"), ("wrong-password", "Chrome on Linux")]
        for page in (here.get("/account/"), office.get(f"/accounts/{ada.pk}/")):
            assert "wrong password" in page.content.decode()

    def test_keep_neither_address_nor_a_name_that_nobody_has(self, ada: User) -> None:
        Client().post("/login/", {"username": "my secret pass", "password": "x"}, REMOTE_ADDR="203.0.113.7")
        line = SignIn.objects.get()
        assert line.user is None and "203.0.113" not in line.caller and "secret" not in str(SignIn.objects.values())

    def test_of_closed_accounts_say_so(self, ada: User) -> None:
        User.objects.filter(pk=ada.pk).update(is_active=False)
        assert not signs_in("ada", OLD) and ada.sign_ins.get().outcome == "closed"

    def test_are_forgotten_in_time(self, ada: User, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        settings.SIGN_INS_KEPT_DAYS = 10
        signs_in("ada", OLD)
        later(monkeypatch, days=11)
        signs_in("ada", OLD)
        assert ada.sign_ins.count() == 1


@pytest.mark.parametrize("where", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_nobody_is_sent_to_other_sites(ada: User, client: Client, where: str) -> None:
    answer = client.post("/login/", {"username": "ada", "password": OLD, "next": where})
    assert answer.status_code == 302 and answer["Location"] == "/"


@pytest.mark.process
def test_wrong_passwords_are_counted_over_all_processes() -> None:
    allowance = SharedAllowance("a test of processes", per_s=1 / 3600, burst=4)
    children = [multiprocessing.get_context("fork").Process(target=allowance.spend, args=("ada",)) for _ in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert allowance.spend("ada") > 0
    allowance.give_back("ada")
    assert allowance.spend("ada") == 0.0 and allowance.spend("ada") > 0 and OF_A_CALLER.burst == 100
