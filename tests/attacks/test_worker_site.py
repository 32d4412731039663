"""The marketplace's worker site behind the proxy that it demands: one caller who guesses locks nobody else out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.limits import LIMIT
from tests.marketplace.server import MarketplaceServer, WorkerClient, running

pytestmark = pytest.mark.process

PASSWORD = "a long pass phrase"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MarketplaceServer]:
    """Every request comes from the proxy's address, with the caller's in a header."""
    with running(tmp_path_factory.mktemp("marketplace"), MARKETPLACE_TRUST_PROXY_HEADER="1") as server:
        yield server


def visitor(site: MarketplaceServer, forwarded: str) -> WorkerClient:
    client = WorkerClient(site.url)
    client.http.headers["X-Forwarded-For"] = forwarded
    client.get("/login/")
    return client


@pytest.mark.gate
def test_a_hundred_wrong_passwords_from_one_address_keep_nobody_else_out(site: MarketplaceServer) -> None:
    owner = visitor(site, "192.0.2.1")
    owner.sign_up(username="owner", password=PASSWORD)
    guesser = visitor(site, "203.0.113.9")
    statuses = [
        # What the caller writes before the proxy's word counts for nothing.
        guesser.http.post(
            f"{site.url}/login/",
            data={"username": f"name-{number}", "password": "a guess"},
            headers={
                "X-CSRFToken": guesser.http.cookies["marketplace_csrftoken"],
                "X-Forwarded-For": f"10.0.0.{number}, 203.0.113.9",
            },
            timeout=LIMIT,
        ).status_code
        for number in range(101)
    ]
    assert statuses == [422] * 100 + [429]
    assert visitor(site, "192.0.2.7").post("/login/", {"username": "owner", "password": PASSWORD}).status_code == 200
