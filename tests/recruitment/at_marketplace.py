"""Fixtures of a platform that recruits at a real marketplace process; `launch` publishes the folder's `study`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from humanexp.ledger.sender import send
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish as publish_campaign
from humanexp.studies.models import Study
from tests.marketplace.server import MarketplaceServer, RequesterKeys, WorkerClient, running
from tests.recruitment.workers import Worker

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def marketplace_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MarketplaceServer]:
    with running(tmp_path_factory.mktemp("marketplace")) as server:
        yield server


@pytest.fixture(scope="session")
def rich_keys(marketplace_process: MarketplaceServer) -> RequesterKeys:
    return marketplace_process.create_requester("A lab that recruits", "100000.00")


@pytest.fixture
def use_keys(marketplace_process: MarketplaceServer, settings: Any) -> Callable[[RequesterKeys], None]:
    """Point the platform at the marketplace, as this requester."""

    def use(keys: RequesterKeys) -> None:
        settings.MARKETPLACE_URL = marketplace_process.url
        settings.RECRUITER_ORIGINS = [
            marketplace_process.url,
            "https://workersandbox.mturk.com",
            "https://www.mturk.com",
        ]
        settings.MARKETPLACE_ACCESS_KEY_ID = keys.access_key_id
        settings.MARKETPLACE_SECRET_ACCESS_KEY = keys.secret_access_key

    return use


@pytest.fixture
def marketplace(
    marketplace_process: MarketplaceServer, rich_keys: RequesterKeys, use_keys: Callable[[RequesterKeys], None]
) -> Iterator[MarketplaceServer]:
    """The marketplace's own process, with the platform set up as a requester with plenty of money."""
    use_keys(rich_keys)
    yield marketplace_process
    marketplace_process.clear_faults()


@pytest.fixture
def launch(marketplace: MarketplaceServer, study: Study) -> Callable[..., Campaign]:
    """Publish on the marketplace and send; keywords replace the terms."""

    def publish(**terms: Any) -> Campaign:
        wanted = {"assignments": 2, "reward_cents": 120, "title": f"Pictures {next(_numbers)}", **terms}
        campaign = publish_campaign(study=study, terms=LaunchTerms(to="marketplace", **wanted))
        send(environment="marketplace")
        campaign.refresh_from_db()
        return campaign

    return publish


@pytest.fixture(scope="session")
def accounts() -> list[WorkerClient]:
    """People who have signed up so far; each test meets them anew, because its study is another one."""
    return []


@pytest.fixture
def new_worker(marketplace: MarketplaceServer, accounts: list[WorkerClient]) -> Callable[[], Worker]:
    """Somebody whom this test has not met yet."""
    unmet = iter(list(accounts))

    def meet() -> Worker:
        account = next(unmet, None)
        if account is None:
            account = marketplace.worker()
            accounts.append(account)
        return Worker(marketplace, account)

    return meet


@pytest.fixture
def other_side(marketplace: MarketplaceServer, rich_keys: RequesterKeys) -> Any:
    """boto3's own client, to ask what really happened."""
    return marketplace.client(rich_keys)
