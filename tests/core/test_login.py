"""Signing in: guesses are few, and their price is not paid by whoever owns the name."""

from __future__ import annotations

import pytest
from django.test import Client

from humanexp.core.models import User
from humanexp.core.pages.login import OF_A_CALLER, OF_A_NAME

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def ada() -> User:
    OF_A_NAME.clear()
    OF_A_CALLER.clear()
    return User.objects.create_user("ada", password="a long pass phrase")


@pytest.mark.parametrize("address", ["/login/", "/admin/login/"])
def test_after_ten_wrong_passwords_the_right_one_does_not_help(client: Client, address: str) -> None:
    tries = [client.post(address, {"username": "Ada ", "password": f"guess {n}"}).status_code for n in range(11)]
    assert tries == [200] * 10 + [429]
    right = {"username": "ada", "password": "a long pass phrase"}
    refused = client.post(address, right)
    assert refused.status_code == 429 and b"Too many wrong passwords" in refused.content
    elsewhere = client.post(address, right, REMOTE_ADDR="203.0.113.7")
    assert elsewhere.status_code == 302, "nobody is kept out by what others guess"


def test_many_names_from_one_address_are_guesses_too(client: Client) -> None:
    OF_A_CALLER.burst = 5
    try:
        OF_A_CALLER.clear()
        tries = [client.post("/login/", {"username": f"n{n}", "password": "x"}).status_code for n in range(6)]
    finally:
        OF_A_CALLER.burst = 100
    assert tries == [200] * 5 + [429]


def test_the_right_password_costs_nothing(client: Client) -> None:
    for _ in range(12):
        assert client.post("/login/", {"username": "ada", "password": "a long pass phrase"}).status_code == 302
        client.post("/logout/")
