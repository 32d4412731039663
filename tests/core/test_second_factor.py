"""Second factors: an app's codes and recovery codes over HTTP; who must have one, and what needs showing it again."""

from __future__ import annotations

import re
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.core.management import call_command
from django.test import Client

from humanexp.console.access import ACCESS, MONEY_PAGES
from humanexp.core.errors import Conflict
from humanexp.core.models import AuditEvent, User
from humanexp.core.sealing import sealed, unsealed
from humanexp.studies.models import Study

pytestmark = pytest.mark.django_db
PASSWORD = "a long pass phrase"


class Phone:
    """An authenticator app, and the clock that it shares with the server."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.secret = time.time(), ""
        monkeypatch.setattr("allauth.mfa.totp.internal.auth.time", self)

    def time(self) -> float:
        return self.now

    def code(self) -> str:
        return str(totp.format_hotp_value(totp.hotp_value(self.secret, int(self.now // 30))))

    def wait(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def phone(monkeypatch: pytest.MonkeyPatch) -> Phone:
    return Phone(monkeypatch)


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password=PASSWORD)


def sign_in(client: Client, **more: str) -> Any:
    return client.post("/login/", {"username": "ada", "password": PASSWORD, **more})


def set_up(client: Client, phone: Phone) -> list[str]:
    """Scan the code, type the first one; gives the recovery codes."""
    page = client.get("/account/second-factor/app/").content.decode()
    found = re.search(r'<code class="address">(\w+)</code>', page)
    assert found is not None, page
    phone.secret = found[1]
    answer = client.post("/account/second-factor/app/", {"code": phone.code()})
    assert answer.status_code == 302 and answer["Location"] == "/account/second-factor/recovery/"
    return re.findall(r"\b\d{8}\b", client.get(answer["Location"]).content.decode().partition("data-copy-source")[2])[
        :10
    ]


@pytest.fixture
def codes(ada: User, phone: Phone) -> list[str]:
    """Ada has an app; these are her recovery codes."""
    client = Client()
    sign_in(client)
    found = set_up(client, phone)
    phone.wait(60)
    return found


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


class TestSigningIn:
    def test_without_one_the_password_is_enough(self, ada: User, client: Client) -> None:
        assert sign_in(client)["Location"] == "/" and is_in(client)

    def test_with_one_the_password_is_not_enough(self, codes: list[str], client: Client, phone: Phone) -> None:
        assert sign_in(client)["Location"] == "/account/second-factor/ask/" and not is_in(client)
        assert client.get("/admin/").status_code == 302
        answer = client.post("/account/second-factor/ask/", {"code": phone.code()})
        assert answer["Location"] == "/" and is_in(client)
        assert User.objects.get().sign_ins.first().way == "code"

    def test_where_somebody_wanted_to_go_is_kept_but_no_other_site(self, codes: list[str], phone: Phone) -> None:
        for next_, where in (("/jobs/", "/jobs/"), ("https://evil.example/", "/"), ("//evil.example/", "/")):
            client = Client()
            sign_in(client, next=next_)
            assert client.post("/account/second-factor/ask/", {"code": phone.code()})["Location"] == where
            phone.wait(60)

    def test_a_code_works_once_also_half_a_minute_later(self, codes: list[str], phone: Phone) -> None:
        code, ends = phone.code(), []
        for seconds in (0, 1, 31):
            phone.wait(seconds)
            client = Client()
            sign_in(client)
            ends.append(client.post("/account/second-factor/ask/", {"code": code}).status_code)
        assert ends == [302, 200, 200]

    def test_a_code_before_one_that_was_used_is_refused(self, codes: list[str], phone: Phone) -> None:
        early = phone.code()
        phone.wait(30)
        for code, status in ((phone.code(), 302), (early, 200)):
            client = Client()
            sign_in(client)
            assert client.post("/account/second-factor/ask/", {"code": code}).status_code == status

    def test_clocks_may_differ_by_half_a_minute_and_no_more(self, codes: list[str], phone: Phone) -> None:
        for seconds, status in ((30, 302), (120, 200)):
            code = phone.code()
            phone.wait(seconds)
            client = Client()
            sign_in(client)
            assert client.post("/account/second-factor/ask/", {"code": code}).status_code == status

    def test_wrong_codes_are_few_and_written_down(self, codes: list[str], ada: User, phone: Phone) -> None:
        client = Client()
        sign_in(client)
        wrong = f"{(int(phone.code()) + 1) % 10**6:06}"
        for _ in range(10):
            assert client.post("/account/second-factor/ask/", {"code": wrong}).status_code == 200
        late = client.post("/account/second-factor/ask/", {"code": phone.code()})
        assert late.status_code == 200 and b"Too many wrong codes" in late.content and not is_in(client)
        assert ada.sign_ins.filter(outcome="wrong-code").count() == 10

    def test_a_recovery_code_stands_in_once(self, codes: list[str]) -> None:
        assert len(set(codes)) == 10
        for status in (302, 200):
            client = Client()
            sign_in(client)
            assert client.post("/account/second-factor/ask/", {"code": codes[3]}).status_code == status

    def test_an_account_that_is_closed_meanwhile_does_not_get_in(
        self, codes: list[str], ada: User, client: Client, phone: Phone
    ) -> None:
        sign_in(client)
        User.objects.filter(pk=ada.pk).update(is_active=False)
        assert client.post("/account/second-factor/ask/", {"code": phone.code()}).status_code == 403
        User.objects.filter(pk=ada.pk).update(is_active=True)
        assert not is_in(client)

    def test_the_key_of_the_session_changes_with_the_last_step(
        self, codes: list[str], client: Client, phone: Phone
    ) -> None:
        sign_in(client)
        before = client.cookies["humanexp_session"].value
        client.post("/account/second-factor/ask/", {"code": phone.code()})
        assert is_in(client) and client.cookies["humanexp_session"].value != before

    def test_switched_off_nobody_is_asked(self, codes: list[str], client: Client, settings: Any) -> None:
        settings.SECOND_FACTOR = "off"
        sign_in(client)
        assert is_in(client) and "Second factor" not in client.get("/account/").content.decode()


class TestSettingUp:
    def test_recovery_codes_are_shown_once(self, ada: User, client: Client, phone: Phone) -> None:
        sign_in(client)
        codes = set_up(client, phone)
        again = client.get("/account/second-factor/recovery/").content.decode()
        assert codes and not any(code in again for code in codes)

    def test_secrets_are_encrypted(self, codes: list[str], phone: Phone) -> None:
        assert phone.secret not in str(list(Authenticator.objects.values()))

    def test_other_browsers_are_signed_out(
        self, ada: User, client: Client, phone: Phone, django_capture_on_commit_callbacks: Any
    ) -> None:
        other = Client()
        sign_in(other)
        sign_in(client)
        with django_capture_on_commit_callbacks(execute=True):
            set_up(client, phone)
        assert is_in(client) and not is_in(other)

    def test_a_session_left_open_is_asked_for_the_password(
        self, ada: User, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sign_in(client)
        now = time.time()
        monkeypatch.setattr("time.time", lambda: now + 16 * 60)
        asked = client.get("/account/second-factor/app/")
        assert asked.status_code == 302 and asked["Location"].startswith("/account/confirm/?next=")
        assert client.post(asked["Location"], {"password": "guess"}).status_code == 422

    def test_the_administration_shows_no_secrets(self, codes: list[str], client: Client) -> None:
        client.force_login(User.objects.create_superuser("head"))
        assert client.get("/admin/mfa/authenticator/").status_code == 404
        assert b"mfa" not in client.get("/admin/").content

    def test_an_administrator_resets_a_lost_one_by_page_or_command(
        self, codes: list[str], ada: User, client: Client
    ) -> None:
        head = User.objects.create_superuser("head")
        client.force_login(head)
        assert client.post(f"/accounts/{ada.pk}/", {"do": "factor"}).status_code == 302
        assert sign_in(Client())["Location"] == "/"
        assert AuditEvent.objects.filter(action="reset-second-factor", by=head).count() == 1
        call_command("user", "reset-second-factor", "ada")

    def test_a_researcher_resets_nobodys(self, codes: list[str], ada: User, client: Client) -> None:
        client.force_login(User.objects.create_user("eve"))
        assert client.post(f"/accounts/{ada.pk}/", {"do": "factor"}).status_code == 403
        assert Authenticator.objects.filter(user=ada).exists()


class TestRequired:
    @pytest.fixture(autouse=True)
    def required(self, settings: Any) -> None:
        settings.SECOND_FACTOR = "required"

    @pytest.mark.parametrize(
        ("role", "is_led"),
        [("owner", True), ("researcher", True), ("payer", True), ("reviewer", False), ("viewer", False)],
    )
    def test_roles_that_move_money_set_one_up_first(
        self, ada: User, study: Study, client: Client, phone: Phone, role: str, is_led: bool
    ) -> None:
        study.memberships.create(user=ada, role=role)
        sign_in(client)
        page = client.get(f"/studies/{study.slug}/")
        if not is_led:
            assert page.status_code == 200
            return
        assert page["Location"] == "/account/second-factor/"
        assert client.get("/api/v1/studies/").status_code in (403, 404)
        assert client.get(page["Location"]).status_code == 200 and client.get("/account/").status_code == 200
        set_up(client, phone)
        assert client.get(f"/studies/{study.slug}/").status_code == 200

    def test_administrators_too_also_for_the_administration(self, client: Client) -> None:
        client.force_login(User.objects.create_superuser("head"))
        for page in ("/", "/admin/", "/accounts/"):
            assert client.get(page)["Location"] == "/account/second-factor/"

    def test_a_part_of_a_page_leads_the_whole_page(self, client: Client) -> None:
        client.force_login(User.objects.create_superuser("head"))
        answer = client.get("/recruiters/", headers={"HX-Request": "true"})
        assert answer.status_code == 200 and answer["HX-Redirect"] == "/account/second-factor/"

    def test_participants_and_strangers_are_not_led_anywhere(self, client: Client) -> None:
        assert client.get("/login/").status_code == 200 and client.get("/take/none/").status_code == 404

    def test_money_moves_only_if_somebody_has_shown_lately_who_they_are(
        self, ada: User, study: Study, client: Client, phone: Phone, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        study.memberships.create(user=ada, role="owner")
        sign_in(client)
        set_up(client, phone)
        page = f"/studies/{study.slug}/monitor/settle/"
        assert client.post(page, {}).status_code != 302 or "confirm" not in client.post(page, {})["Location"]
        real = time.time
        monkeypatch.setattr("time.time", lambda: real() + 16 * 60)
        stopped = client.post(page, {}, headers={"referer": f"http://testserver{page}?a=b"})
        where = urlsplit(stopped["Location"])
        assert where.path == "/account/confirm/" and parse_qs(where.query) == {"next": [f"{page}?a=b"]}
        assert client.get(page).status_code == 200, "looking needs nothing"
        monkeypatch.setattr("time.time", real)
        back = client.post(stopped["Location"], {"password": PASSWORD, "next": page})
        assert back["Location"].startswith(page)

    def test_a_false_referrer_leads_nowhere_else(
        self, ada: User, study: Study, client: Client, phone: Phone, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        study.memberships.create(user=ada, role="owner")
        sign_in(client)
        set_up(client, phone)
        real = time.time
        monkeypatch.setattr("time.time", lambda: real() + 16 * 60)
        for false in ("https://evil.example//evil.example/", "javascript:alert(1)", ""):
            stopped = client.post(f"/studies/{study.slug}/monitor/settle/", {}, headers={"referer": false})
            assert parse_qs(urlsplit(stopped["Location"]).query) == {"next": ["/"]}

    def test_offered_nobody_is_led_or_stopped(self, client: Client, settings: Any, study: Study) -> None:
        settings.SECOND_FACTOR = "offered"
        client.force_login(User.objects.create_superuser("head"))
        assert client.get("/").status_code == 200
        stopped = client.post(f"/studies/{study.slug}/monitor/settle/", {})
        assert "confirm" not in stopped.get("Location", "")


def test_every_page_that_pays_or_launches_asks_again() -> None:
    assert {"recruitment:settle", "recruitment:recruit", "recruitment:resolve", "recruitment:top-up"} <= MONEY_PAGES
    assert set(ACCESS) >= MONEY_PAGES and "console:overview" not in MONEY_PAGES


def test_a_sealed_secret_outlives_a_rotation_of_the_key_but_not_its_loss(settings: Any) -> None:
    text = sealed("secret")
    assert "secret" not in text
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another", [settings.SECRET_KEY]
    assert unsealed(text) == "secret"
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(Conflict, match="SECRET_KEY_FALLBACKS"):
        unsealed(text)
