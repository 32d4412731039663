"""Accounts: made by an operator, closed at once, and passwords that only their owners know."""

from __future__ import annotations

import logging
import re
import socketserver
import threading
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client

from humanexp.core.accounts import password_link
from humanexp.core.checks import groups_of_the_organisation
from humanexp.core.models import AuditEvent, User

pytestmark = pytest.mark.django_db
NEW = "correct horse battery"


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", email="ada@lab.example", password="a long pass phrase")


def user_command(*arguments: str) -> str:
    out = StringIO()
    call_command("user", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def link_in(text: str) -> str:
    found = re.search(r"http\S+/account/new-password/\S+", text)
    assert found is not None, text
    return found[0].partition("8000")[2]


def choose(client: Client, link: str, password: str = NEW) -> Any:
    opened = client.get(link)
    if opened.status_code != 302:
        return opened
    return client.post(opened["Location"], {"new_password1": password, "new_password2": password})


def signs_in(client: Client, name: str, password: str) -> bool:
    return client.post("/login/", {"username": name, "password": password}).status_code == 302


def test_a_made_account_is_used_through_a_link_that_works_once(client: Client, caplog: Any) -> None:
    with caplog.at_level(logging.DEBUG):
        told = user_command("add", "grace", "--email", "grace@lab.example", "--role", "administrator")
        link = link_in(told)
        answer = choose(client, link)
    assert answer.status_code == 302 and answer["Location"] == "/login/"
    token = link.partition("token=")[2]
    assert token not in caplog.text and "grace@" not in caplog.text, "no log has the secret"
    grace = User.objects.get(username="grace")
    assert grace.is_staff and grace.is_superuser and signs_in(Client(), "grace", NEW)
    again = choose(Client(), link, "another pass phrase")
    assert again.status_code == 404 and b"Each link works once" in again.content
    event = AuditEvent.objects.get(action="make-account")
    assert event.subject == f"account:{grace.pk}" and "grace" not in str(event.facts)


def test_the_secret_of_a_link_leaves_the_address_at_once(client: Client, ada: User) -> None:
    opened = client.get(link_in(password_link(ada)))
    assert opened.status_code == 302 and opened["Location"] == "/account/new-password/"
    page = client.get("/account/new-password/").content.decode()
    assert "<strong>ada</strong>" in page and "token=" not in page


@pytest.mark.parametrize("query", ["who=x&token=y", "who=&token=y", "who=MQ&token=1-2", f"who={'9' * 400}&token=y"])
def test_an_invented_link_opens_nothing_and_leaves_no_session(client: Client, ada: User, query: str) -> None:
    assert client.get(f"/account/new-password/?{query}").status_code == 404
    assert not client.cookies.get("humanexp_session")


def test_what_cannot_be_an_account_is_refused_with_a_sentence(ada: User) -> None:
    for arguments, why in (
        (("add", "ADA"), "already"),
        (("add", "a b"), "valid"),
        (("add", "x", "--email", "no"), "valid"),
    ):
        with pytest.raises(CommandError, match=why):
            user_command(*arguments)
    with pytest.raises(CommandError, match="There is no account"):
        user_command("disable", "bob")
    assert User.objects.count() == 1


def test_a_password_typed_here_is_checked_and_never_echoed(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter(["short", "short", NEW, NEW])
    monkeypatch.setattr("getpass.getpass", lambda _prompt: next(typed))
    with pytest.raises(CommandError, match="too short"):
        user_command("add", "eve", "--prompt")
    assert not User.objects.filter(username="eve").exists()
    assert NEW not in user_command("add", "eve", "--prompt")
    assert User.objects.get(username="eve").check_password(NEW)


def test_a_disabled_account_is_out_at_once(client: Client, ada: User) -> None:
    link = link_in(password_link(ada))
    client.force_login(ada)
    assert client.get("/").status_code == 200
    user_command("disable", "ada")
    assert client.get("/").status_code == 302
    assert not signs_in(Client(), "ada", "a long pass phrase") and choose(Client(), link).status_code == 404
    assert "disabled" in user_command("list")
    user_command("enable", "ada")
    assert signs_in(Client(), "ada", "a long pass phrase")


def test_the_last_administrator_stays(ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    with pytest.raises(CommandError, match="last administrator"):
        user_command("disable", "ada")


def test_a_smaller_role_signs_out_and_the_last_administrator_keeps_theirs(client: Client, ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(is_staff=True, is_superuser=True)
    with pytest.raises(CommandError, match="last administrator"):
        user_command("role", "ada", "treasurer")
    assert User.objects.get().house_role == "administrator"
    User.objects.create_user("grace", password="a long pass phrase")
    assert signs_in(client, "grace", "a long pass phrase")
    assert "grace has the role treasurer now." in user_command("role", "grace", "treasurer")
    assert client.get("/account/").status_code == 200, "a larger role signs nobody out"
    user_command("role", "grace", "administrator")
    user_command("role", "ada", "member")
    user = User.objects.get(username="ada")
    assert (user.house_role, user.is_staff, user.is_superuser) == ("member", False, False)
    User.objects.filter(username="ada").update(is_staff=True)
    user_command("role", "grace", "member")
    assert client.get("/account/").status_code == 302
    assert AuditEvent.objects.filter(action="house-role").count() == 4


def test_a_group_that_stands_for_no_role_is_named(settings: Any) -> None:
    settings.OIDC_GROUPS = {"lab": "member", "old": "researcher", "vision": "lab/vision"}
    (found,) = groups_of_the_organisation(None)
    assert found.id == "humanexp.E003" and "'old' stands for 'researcher'" in found.msg
    settings.OIDC_GROUPS = {"money": "treasurer"}
    assert groups_of_the_organisation(None) == []


def test_everybody_changes_their_password_and_every_other_browser_is_out(client: Client, ada: User) -> None:
    elsewhere = Client()
    for one in (client, elsewhere):
        assert signs_in(one, "ada", "a long pass phrase")
    wrong = client.post("/account/", {"old_password": "guess", "new_password1": NEW, "new_password2": NEW})
    assert wrong.status_code == 422
    right = {"old_password": "a long pass phrase", "new_password1": NEW, "new_password2": NEW}
    assert client.post("/account/", right).status_code == 302
    assert client.get("/account/").status_code == 200 and elsewhere.get("/account/").status_code == 302
    assert signs_in(Client(), "ada", NEW) and not signs_in(Client(), "ada", "a long pass phrase")
    assert AuditEvent.objects.filter(action="change-password", by=ada).count() == 1


def test_a_reset_by_an_administrator_ends_the_sessions_once_the_link_is_used(client: Client, ada: User) -> None:
    client.force_login(ada)
    link = link_in(user_command("reset-password", "ada"))
    assert client.get("/").status_code == 200
    choose(Client(), link)
    assert client.get("/").status_code == 302


def test_guesses_of_the_old_password_are_few(client: Client, ada: User) -> None:
    client.force_login(ada)
    guess = {"old_password": "guess", "new_password1": NEW, "new_password2": NEW}
    assert [client.post("/account/", guess).status_code for _ in range(11)] == [422] * 10 + [429]


def test_an_address_is_changed_with_the_password_alone(client: Client, ada: User) -> None:
    client.force_login(ada)
    for password, status in (("guess", 422), ("a long pass phrase", 302)):
        form = {"what": "address", "address-email": "countess@lab.example", "address-password": password}
        assert client.post("/account/", form).status_code == status
    ada.refresh_from_db()
    assert ada.email == "countess@lab.example"


def test_without_a_mail_server_the_sign_in_page_names_an_administrator(client: Client, settings: Any) -> None:
    assert settings.EMAIL_HOST == ""
    body = client.get("/login/").content.decode()
    assert "Ask an administrator" in body and "/account/forgotten/" not in body
    assert client.get("/account/forgotten/").status_code == 404


def test_a_forgotten_password_is_replaced_by_mail_and_strangers_learn_nothing(
    client: Client, ada: User, settings: Any
) -> None:
    settings.EMAIL_HOST = "mail.lab.example"
    assert "/account/forgotten/" in client.get("/login/").content.decode()
    known, unknown = (
        client.post("/account/forgotten/", {"email": address}, headers={"host": "127.0.0.1"})
        for address in ("ADA@lab.example", "eve@lab.example")
    )
    assert known.status_code == unknown.status_code == 200
    assert known.content.replace(b"ADA@", b"") == unknown.content.replace(b"eve@", b"")
    assert [(sent.to, settings.PUBLIC_URL in sent.body) for sent in mail.outbox] == [(["ada@lab.example"], True)]
    assert choose(Client(), link_in(mail.outbox[0].body)).status_code == 302
    assert signs_in(Client(), "ada", NEW)


def test_mail_to_one_address_is_limited(client: Client, ada: User, settings: Any) -> None:
    settings.EMAIL_HOST = "mail.lab.example"
    for _ in range(6):
        assert client.post("/account/forgotten/", {"email": ada.email}).status_code == 200
    assert len(mail.outbox) == 3


class Mailbox(socketserver.StreamRequestHandler):
    """As much of SMTP as one mail takes."""

    received: list[str] = []

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        for line in self.rfile:
            word = line[:4].upper()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                text = b"".join(iter(self.rfile.readline, b".\r\n"))
                self.received.append(text.decode())
            if word == b"QUIT":
                self.wfile.write(b"221 bye\r\n")
                return
            self.wfile.write(b"250 ok\r\n")


@pytest.fixture
def mailbox(settings: Any) -> Iterator[list[str]]:
    Mailbox.received = []
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mailbox) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address[0], server.server_address[1]
        yield Mailbox.received
        server.shutdown()


@pytest.mark.process
def test_the_link_goes_through_a_real_mail_server(client: Client, ada: User, mailbox: list[str]) -> None:
    assert client.post("/account/forgotten/", {"email": ada.email}).status_code == 200
    (text,) = mailbox
    assert "To: ada@lab.example" in text and "From: humanexp@127.0.0.1" in text
    link = link_in(text.replace("=\r\n", "").replace("=3D", "="))
    assert choose(Client(), link).status_code == 302 and signs_in(Client(), "ada", NEW)


@pytest.mark.process
def test_a_mail_server_that_does_not_answer_is_told_to_nobody_but_the_log(
    client: Client, ada: User, settings: Any, caplog: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    assert client.post("/account/forgotten/", {"email": ada.email}).status_code == 200
    assert "could not be sent" in caplog.text and ada.email not in caplog.text
