from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.marketplace.queues import Queues
from tests.marketplace.server import MarketplaceServer, RequesterKeys, external_question, running

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def queues() -> Iterator[Queues]:
    served = Queues()
    yield served
    served.stop()


@pytest.fixture(scope="session")
def marketplace_process(tmp_path_factory: pytest.TempPathFactory, queues: Queues) -> Iterator[MarketplaceServer]:
    endpoints = {"MARKETPLACE_SQS_ENDPOINT_URL": queues.url, "MARKETPLACE_SNS_ENDPOINT_URL": queues.url}
    with running(tmp_path_factory.mktemp("marketplace"), **endpoints) as server:
        yield server


@pytest.fixture
def marketplace(marketplace_process: MarketplaceServer) -> Iterator[MarketplaceServer]:
    """The process all tests share. They part by requester; its clock only goes forward."""
    yield marketplace_process
    marketplace_process.clear_faults()


@pytest.fixture(scope="session")
def rich_keys(marketplace_process: MarketplaceServer) -> RequesterKeys:
    return marketplace_process.create_requester("A lab", "100000.00")


@pytest.fixture
def mturk(marketplace: MarketplaceServer, rich_keys: RequesterKeys) -> Any:
    """boto3's client of a requester with plenty of money."""
    return marketplace.client(rich_keys)


@pytest.fixture(scope="session")
def fresh_keys(marketplace_process: MarketplaceServer) -> Iterator[RequesterKeys]:
    """One requester after the other with $100.00 and no history."""

    def keys() -> Iterator[RequesterKeys]:
        while True:
            names = [f"Fresh lab {next(_numbers)}" for _ in range(12)]
            yield from marketplace_process.create_requesters(names, "100.00")

    return keys()


@pytest.fixture
def fresh_mturk(marketplace: MarketplaceServer, fresh_keys: Iterator[RequesterKeys]) -> Any:
    """boto3's client of a requester with exactly $100.00 and no history."""
    return marketplace.client(next(fresh_keys))


@pytest.fixture
def make_hit() -> Callable[..., dict[str, Any]]:
    """CreateHIT with sensible values and a title of its own; keywords replace them."""

    def make(client: Any, **values: Any) -> dict[str, Any]:
        wanted = {
            "Title": f"Name the picture {next(_numbers)}",
            "Description": "Sixteen kinds of things, shown for a moment.",
            "Reward": "0.50",
            "AssignmentDurationInSeconds": 600,
            "LifetimeInSeconds": 86_400,
            "MaxAssignments": 1,
            "Question": external_question(),
            **values,
        }
        hit: dict[str, Any] = client.create_hit(**wanted)["HIT"]
        return hit

    return make
