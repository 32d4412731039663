"""Bodies that are too long are refused by what their head says: none of them is read, whoever sends it, wherever."""

from __future__ import annotations

import re
import shutil
from collections import namedtuple
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from humanexp.core.models import User
from tests.addresses import addresses
from tests.served import ROOT

pytestmark = pytest.mark.django_db

JUST_TOO_LONG = 1_000_001
FORM, FILES, JSON = "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "application/json"
UPLOADS = {
    "/stimuli/sources/new/",
    "/classifiers/upload/",
    "/classifiers/models/new/",
    "/scores/sets/new/",
}


class Unread:
    """A body that nobody may look at."""

    def read(self, *_arguments: Any) -> bytes:
        raise AssertionError("the body was read")

    readline = read


def send(
    client: Client, path: str, *, length: int | None = JUST_TOO_LONG, kind: str = FORM, **head: str
) -> HttpResponse:
    told = {} if length is None else {"CONTENT_LENGTH": str(length)}
    return client.request(
        REQUEST_METHOD="POST", PATH_INFO=path, CONTENT_TYPE=kind, **{"wsgi.input": Unread()}, **told, **head
    )


@pytest.fixture
def strict() -> Client:
    return Client(enforce_csrf_checks=True)


@pytest.fixture
def account(strict: Client) -> Client:
    strict.get("/login/")  # without the cookie of its token, no form is read
    strict.force_login(User.objects.create_user("ada", is_staff=True, is_superuser=True))
    return strict


def free(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage(10**12, 0, count))


def test_nobody_has_a_long_body_read_without_an_account(strict: Client) -> None:
    """Every address of the site, of both kinds of forms and of calls; a cookie of the form's token changes nothing."""
    strict.get("/login/")
    found = addresses()
    assert len(found) > 100 and set(found) >= UPLOADS | {"/take/none/delete/", "/login/"}
    for path in found:
        for kind in (FORM, FILES, JSON):
            assert send(strict, path, kind=kind).status_code == 413, (path, kind)


@pytest.mark.parametrize("file", ["nginx.conf", "Caddyfile"])
def test_the_proxies_let_long_bodies_through_to_the_same_addresses(file: str) -> None:
    text = (ROOT / "deploy" / file).read_text(encoding="utf-8")
    (allowed,) = set(re.findall(r"\^/\S+\$", text))
    assert {path for path in addresses() if re.search(allowed, path)} == UPLOADS
    assert allowed.count("|") + 1 == len(UPLOADS), "each alternative is an address that exists"


def test_an_account_has_one_read_at_the_addresses_for_files_alone(account: Client) -> None:
    for path in set(addresses()) - UPLOADS:
        assert send(account, path, kind=FILES).status_code == 413, path
    for path in UPLOADS:
        with pytest.raises(AssertionError, match="the body was read"):
            send(account, path, kind=FILES)
        assert send(account, path, kind=FORM).status_code == 413, "only files may be long"


def test_a_refusal_is_a_sentence_for_whoever_reads_it(strict: Client) -> None:
    page = send(strict, "/account/forgotten/")
    assert page.status_code == 413 and "longer than any that a page makes" in page.content.decode()
    for path in ("/api/v1/run/handoff/", "/take/none/delete/"):
        call = send(strict, path, kind=JSON)
        assert call["Content-Type"] == "application/problem+json" and call.json()["type"] == "too-large"
    assert "Sign in" in send(strict, "/classifiers/models/new/", kind=FILES).content.decode()


@pytest.mark.parametrize("path", ["/login/", "/api/v1/run/handoff/", "/stimuli/sources/new/", "/take/none/delete/"])
def test_a_body_of_untold_length_is_not_read(account: Client, path: str) -> None:
    assert send(account, path, length=None, HTTP_TRANSFER_ENCODING="chunked").status_code == 411


def test_a_form_of_the_usual_length_is_read(strict: Client) -> None:
    """Of one that is as long as it may be, the token is looked for."""
    strict.get("/login/")
    with pytest.raises(AssertionError, match="the body was read"):
        send(strict, "/login/", length=JUST_TOO_LONG - 1)


def test_the_limits_are_settings(account: Client, settings: Any) -> None:
    settings.BODY_MAX_KB, settings.PICTURES_UPLOAD_MAX_MB = 10, 3
    assert send(account, "/login/", length=10_001).status_code == 413
    reply = send(account, "/classifiers/models/new/", length=4_000_001, kind=FILES)
    assert reply.status_code == 413 and "larger than 3 MB" in reply.content.decode()


def test_files_are_not_taken_where_little_would_be_left_of_the_disk(
    account: Client, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """A file lies there twice for a while: as it came, and in its place."""
    settings.UPLOADS_LEAVE_FREE_MB = 500
    free(monkeypatch, 900_000_000)
    reply = send(account, "/classifiers/models/new/", length=300_000_000, kind=FILES)
    assert reply.status_code == 507 and "nearly full" in reply.content.decode()
    free(monkeypatch, 499_000_000)
    assert send(account, "/stimuli/sources/new/", length=1000, kind=FILES).status_code == 507
    free(monkeypatch, 1_200_000_000)
    with pytest.raises(AssertionError, match="the body was read"):
        send(account, "/classifiers/models/new/", length=300_000_000, kind=FILES)


def test_answers_are_taken_whatever_is_left_of_the_disk(tab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    free(monkeypatch, 1000)
    assert tab.answer(0).status_code != 507
    assert tab.client.post(reverse("login"), {"username": "a", "password": "b"}).status_code == 200
