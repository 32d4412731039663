"""Signing in: guesses are few, and their price is not paid by whoever owns the name."""

from __future__ import annotations

import pytest
from django.test import Client

from humanexp.core.models import User
from humanexp.core.pages.login import OF_A_CALLER, OF_A_NAME, OF_STRANGERS

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def ada() -> User:
    OF_A_NAME.clear()
    OF_A_CALLER.clear()
    OF_STRANGERS.clear()
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


def test_many_addresses_guess_no_faster_and_keep_nobody_out_who_knew_the_password() -> None:
    home, guesser = Client(), Client()
    right = {"username": "ada", "password": "a long pass phrase"}
    assert home.post("/login/", right).status_code == 302
    home.post("/logout/")
    tries = [
        guesser.post("/login/", {"username": "ada", "password": "x"}, REMOTE_ADDR=f"198.51.100.{n}").status_code
        for n in range(OF_STRANGERS.burst + 1)
    ]
    assert tries == [200] * OF_STRANGERS.burst + [429]
    assert guesser.post("/login/", right, REMOTE_ADDR="198.51.100.200").status_code == 429, "not even the right one"
    assert home.post("/login/", right, REMOTE_ADDR="203.0.113.7").status_code == 302
    guesser.cookies["humanexp_known"] = "ada:made:up"
    assert guesser.post("/login/", right, REMOTE_ADDR="198.51.100.201").status_code == 429


def test_a_browser_that_knows_one_name_is_a_stranger_to_others() -> None:
    eve, address = Client(), iter(range(100))
    User.objects.create_user("eve", password="a long pass phrase of eve")
    assert eve.post("/login/", {"username": "eve", "password": "a long pass phrase of eve"}).status_code == 302
    for _ in range(OF_STRANGERS.burst):
        eve.post("/login/", {"username": "ada", "password": "x"}, REMOTE_ADDR=f"198.51.100.{next(address)}")
    last = eve.post("/login/", {"username": "ada", "password": "x"}, REMOTE_ADDR=f"198.51.100.{next(address)}")
    assert last.status_code == 429


def test_the_right_password_costs_nothing(client: Client) -> None:
    for _ in range(12):
        assert client.post("/login/", {"username": "ada", "password": "a long pass phrase"}).status_code == 302
        client.post("/logout/")
