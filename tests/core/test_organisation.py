"""Signing in through an OpenID provider: over HTTP, with everything that can be wrong with what it sends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core import mail
from django.test import Client

from humanexp.core.models import AuditEvent, Identity, SignIn, User
from humanexp.core.pages.organisation import OF_A_CALLER
from tests.core.openid_provider import Provider, running
from tests.limits import LIMIT

pytestmark = [pytest.mark.process, pytest.mark.django_db]
PASSWORD = "a long pass phrase"


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    OF_A_CALLER.clear()
    with running() as provider:
        settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID = provider.url, provider.client
        settings.OIDC_CLIENT_SECRET, settings.OIDC_NAME = provider.secret, "Example University"
        settings.OIDC_GROUPS = {
            "lab-heads": "administrator",
            "money": "treasurer",
            "lab": "member",
            "vision, upstairs": "lab/vision",
        }
        provider.person["groups"] = ["lab"]
        yield provider


def leave(client: Client, more: str = "") -> str:
    """To the provider and back; the address with which the browser comes back."""
    left = client.get(f"/login/organisation/{more}")
    assert left.status_code == 302
    back = requests.get(left["Location"], allow_redirects=False, timeout=LIMIT).headers["Location"]
    place = urlsplit(back)
    return f"{place.path}?{place.query}"


def comes_in(client: Client, more: str = "") -> bool:
    answer = client.get(leave(client, more))
    return answer.status_code == 302 and client.get("/account/").status_code == 200


def refusal(client: Client) -> str:
    answer = client.get(leave(client))
    assert answer.status_code == 403 and client.get("/account/").status_code == 302
    return str(answer.content.decode())


class TestGettingIn:
    def test_a_member_of_a_group_gets_an_account_by_subject(self, provider: Provider, client: Client) -> None:
        assert comes_in(client)
        grace = User.objects.get()
        assert (grace.username, grace.is_staff, grace.has_usable_password()) == ("grace", False, False)
        assert Identity.objects.get().subject == "person-1"
        assert grace.sign_ins.get().way == "organisation"
        provider.person["preferred_username"] = "grace.hopper"
        assert comes_in(Client()) and User.objects.count() == 1, "the subject counts, not the name"

    def test_the_page_offers_it_where_it_is_set_up(self, provider: Provider, client: Client, settings: Any) -> None:
        assert "Sign in through Example University" in client.get("/login/").content.decode()
        settings.OIDC_ISSUER = ""
        assert "Example University" not in client.get("/login/").content.decode()
        assert client.get("/login/organisation/").status_code == 404

    @pytest.mark.parametrize(("next_", "where"), [("/jobs/", "/jobs/"), ("https://evil.example/", "/")])
    def test_leads_where_somebody_wanted_to_go_here(
        self, provider: Provider, client: Client, next_: str, where: str
    ) -> None:
        assert client.get(leave(client, f"?next={next_}"))["Location"] == where

    def test_who_is_in_no_group_gets_none(self, provider: Provider, client: Client) -> None:
        provider.userinfo = {"sub": "person-1"}
        for groups in ([], ["others"], None):
            provider.person["groups"] = groups
            assert "None of your groups" in refusal(client)
        assert not User.objects.exists() and SignIn.objects.filter(outcome="refused").count() == 3

    def test_without_groups_nobody_gets_an_account_by_it(
        self, provider: Provider, client: Client, settings: Any
    ) -> None:
        settings.OIDC_GROUPS = {}
        assert "No account here is linked" in refusal(client) and not User.objects.exists()

    def test_groups_that_are_told_elsewhere_count_for_the_same_person_only(
        self, provider: Provider, client: Client
    ) -> None:
        provider.person["groups"] = None
        provider.userinfo = {"sub": "somebody else", "groups": ["lab-heads"]}
        assert "could not be verified" in refusal(client)
        provider.userinfo["sub"] = "person-1"
        assert comes_in(client) and User.objects.get().is_staff

    def test_a_second_factor_is_still_asked_for(self, provider: Provider, client: Client) -> None:
        from allauth.mfa.totp.internal.auth import TOTP

        assert comes_in(client)
        TOTP.activate(User.objects.get(), "JBSWY3DPEHPK3PXP")
        other = Client()
        assert other.get(leave(other))["Location"] == "/account/second-factor/ask/"
        assert other.get("/account/").status_code == 302


class TestRoles:
    def test_follow_the_groups(self, provider: Provider, client: Client) -> None:
        provider.person["groups"] = ["lab-heads", "vision, upstairs"]
        assert comes_in(client)
        grace = User.objects.get()
        assert grace.is_staff and grace.is_superuser and grace.lab_id == "vision"

    def test_that_are_lost_are_gone_at_the_next_sign_in_everywhere(self, provider: Provider) -> None:
        before, after = Client(), Client()
        provider.person["groups"] = ["lab-heads"]
        assert comes_in(before) and before.get("/accounts/").status_code == 200
        provider.person["groups"] = ["lab"]
        assert comes_in(after) and after.get("/accounts/").status_code == 403
        assert before.get("/accounts/").status_code == 302, "the session of before is over"
        assert AuditEvent.objects.filter(action="house-role").count() == 2

    def test_the_largest_of_several_counts(self, provider: Provider) -> None:
        for groups, role in (
            (["lab", "money"], "treasurer"),
            (["money", "lab-heads"], "administrator"),
            (["lab"], "member"),
        ):
            provider.person["groups"] = groups
            assert comes_in(Client()) and User.objects.get().house_role == role

    def test_a_lab_that_is_lost_is_lost(self, provider: Provider) -> None:
        for groups, lab in ((["lab", "vision, upstairs"], "vision"), (["lab"], "lab")):
            provider.person["groups"] = groups
            assert comes_in(Client()) and User.objects.get().lab_id == lab

    def test_nobody_gets_around_them_with_a_password_by_mail(self, provider: Provider, settings: Any) -> None:
        settings.EMAIL_HOST = "mail.lab.example"
        provider.person.update(email="grace@lab.example", email_verified=True)
        assert comes_in(Client()) and User.objects.get().email == "grace@lab.example"
        assert Client().post("/account/forgotten/", {"email": "grace@lab.example"}).status_code == 200
        assert mail.outbox == []

    def test_who_has_left_every_group_is_out(self, provider: Provider) -> None:
        before, after = Client(), Client()
        provider.person["groups"] = ["lab-heads"]
        assert comes_in(before)
        provider.person["groups"] = []
        assert "None of your groups" in refusal(after)
        assert before.get("/account/").status_code == 302 and not User.objects.get().is_staff

    def test_a_closed_account_stays_closed(self, provider: Provider, client: Client) -> None:
        assert comes_in(client)
        User.objects.update(is_active=False)
        assert "closed" in refusal(Client())


class TestLinking:
    @pytest.fixture
    def ada(self) -> User:
        return User.objects.create_user("ada", email="ada@lab.example", password=PASSWORD)

    def test_an_address_alone_links_nothing(self, provider: Provider, client: Client, ada: User) -> None:
        provider.person.update(email="ada@lab.example", email_verified=True)
        assert comes_in(client) and User.objects.count() == 2 and not ada.identities.exists()

    def test_an_address_links_if_the_administrator_says_so_and_the_provider_has_verified_it(
        self, provider: Provider, client: Client, ada: User, settings: Any
    ) -> None:
        settings.OIDC_LINK_BY_EMAIL = True
        provider.person.update(email="ADA@lab.example", email_verified=False, sub="somebody")
        assert comes_in(Client()) and not ada.identities.exists()
        provider.person.update(email_verified=True, sub="person-2")
        assert comes_in(client) and ada.identities.get().subject == "person-2"

    def test_a_name_links_nothing(self, provider: Provider, client: Client, ada: User) -> None:
        provider.person["preferred_username"] = "ADA"
        assert "There is an account" in refusal(client) and not Identity.objects.exists()

    def test_whoever_is_signed_in_links_their_own(self, provider: Provider, client: Client, ada: User) -> None:
        client.force_login(ada)
        assert client.get(leave(client, "?link"))["Location"] == "/account/"
        other = Client()
        assert comes_in(other) and other.get("/account/").context["user"] == ada

    def test_a_person_is_one_account(self, provider: Provider, client: Client, ada: User) -> None:
        assert comes_in(Client())
        client.force_login(ada)
        assert client.get(leave(client, "?link")).status_code == 403 and not ada.identities.exists()

    def test_nobody_links_for_another(self, provider: Provider, client: Client, ada: User) -> None:
        client.force_login(ada)
        back = leave(client, "?link")
        client.logout()
        assert client.get(back).status_code == 403 and not Identity.objects.exists()


WRONG = {
    "another nonce": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "expired": {"exp": int(time.time()) - 60},
    "no end": {"exp": None},
    "for another client": {"aud": "another"},
    "issued to another client": {"azp": "another"},
    "by another issuer": {"iss": "https://evil.example"},
    "about nobody": {"sub": None},
}


class TestWhatProvesNothing:
    @pytest.mark.parametrize("name", WRONG)
    def test_a_wrong_statement(self, provider: Provider, client: Client, name: str) -> None:
        provider.claims = WRONG[name]
        assert "could not be verified" in refusal(client) and not User.objects.exists()
        assert provider.exchanged, "it came as far as the statement"
        provider.claims = {}
        assert comes_in(client)

    @pytest.mark.parametrize("algorithm", ["none", "HS256"])
    def test_an_unsigned_one_or_one_signed_with_what_everybody_knows(
        self, provider: Provider, client: Client, algorithm: str
    ) -> None:
        provider.algorithm = algorithm
        assert "could not be verified" in refusal(client) and not User.objects.exists()

    def test_one_signed_with_another_key(self, provider: Provider, client: Client) -> None:
        provider.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        assert "could not be verified" in refusal(client)

    def test_another_state(self, provider: Provider, client: Client) -> None:
        back = leave(client).partition("state=")[0] + "state=another"
        assert client.get(back).status_code == 403 and not provider.exchanged

    def test_an_answer_to_another_browser(self, provider: Provider, client: Client) -> None:
        assert Client().get(leave(client)).status_code == 403 and not provider.exchanged

    def test_an_answer_that_was_used(self, provider: Provider, client: Client) -> None:
        back = leave(client)
        assert client.get(back).status_code == 302 and client.get(back).status_code == 403
        assert len(provider.exchanged) == 1

    def test_a_refusal_of_the_provider(self, provider: Provider, client: Client) -> None:
        state = leave(client).partition("state=")[2]
        answer = client.get(f"/login/organisation/back/?error=access_denied&state={state}")
        assert answer.status_code == 403 and not User.objects.exists()

    def test_a_provider_under_another_name(self, provider: Provider, client: Client, settings: Any) -> None:
        settings.OIDC_ISSUER = provider.url.replace("127.0.0.1", "localhost")
        assert client.get("/login/organisation/").status_code == 503

    def test_a_provider_that_does_not_answer(self, provider: Provider, client: Client, settings: Any) -> None:
        settings.OIDC_ISSUER = "http://127.0.0.1:9"
        answer = client.get("/login/organisation/")
        assert answer.status_code == 503 and b"does not answer" in answer.content


def test_the_key_of_the_session_changes(provider: Provider, client: Client) -> None:
    back = leave(client)
    before = client.cookies["humanexp_session"].value
    client.get(back)
    assert client.get("/account/").status_code == 200 and client.cookies["humanexp_session"].value != before
