"""Events from a queue hasten a look, and decide nothing. The marketplace sends them to moto's SQS."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from humanexp.core.errors import RecruiterUnavailable
from humanexp.ledger.sender import send
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.mturk.replies import hits_told
from humanexp.recruiters.registry import recruiter_for
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import listen, sync
from tests.limits import until
from tests.marketplace.queues import Queues
from tests.marketplace.server import MarketplaceServer, running
from tests.recruitment.studies import make_study
from tests.recruitment.workers import Worker

_numbers = itertools.count()
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def queues() -> Iterator[Queues]:
    made = Queues()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def market(queues: Queues, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MarketplaceServer]:
    with running(
        tmp_path_factory.mktemp("told"),
        MARKETPLACE_SQS_ENDPOINT_URL=queues.url,
        MARKETPLACE_NOTIFICATION_ACCESS_KEY_ID="a",
        MARKETPLACE_NOTIFICATION_SECRET_ACCESS_KEY="b",
    ) as server:
        yield server


@pytest.fixture(scope="module")
def keys(market: MarketplaceServer) -> Any:
    return market.create_requester("A lab that listens", "1000.00")


@pytest.fixture
def queue(queues: Queues, market: MarketplaceServer, keys: Any, settings: Any) -> str:
    url = str(queues.sqs.create_queue(QueueName=f"hints-{next(_numbers)}")["QueueUrl"])
    settings.MARKETPLACE_URL = market.url
    settings.RECRUITER_ORIGINS = [market.url]
    settings.MARKETPLACE_ACCESS_KEY_ID = keys.access_key_id
    settings.MARKETPLACE_SECRET_ACCESS_KEY = keys.secret_access_key
    settings.MARKETPLACE_QUEUE_URL, settings.QUEUE_ENDPOINT_URL = url, queues.url
    return url


@pytest.fixture
def campaign(queue: str) -> Campaign:
    campaign = publish(study=make_study(), terms=LaunchTerms(to="marketplace", assignments=2, reward_cents=10))
    send(environment="marketplace")
    campaign.refresh_from_db()
    return campaign


def listened(wanted: Callable[[], bool]) -> bool:
    return until(lambda: bool(listen()) and wanted(), "it is heard of", every_s=0.1)


def test_a_submission_is_seen_before_the_next_poll(market: MarketplaceServer, campaign: Campaign) -> None:
    Worker(market).do(campaign)
    assert listened(lambda: Assignment.objects.filter(state="submitted").exists())


def test_lost_hints_lose_nothing(market: MarketplaceServer, campaign: Campaign, queues: Queues, queue: str) -> None:
    Worker(market).do(campaign)
    queues.documents(queue.rpartition("/")[2])  # somebody else took the message
    assert listen().hits == 0
    assert sync(study=campaign.study).submitted == 1


def test_doubled_late_and_made_up_hints_change_nothing(campaign: Campaign, queues: Queues, queue: str) -> None:
    made_up = {
        "Events": [{"EventType": "AssignmentApproved", "HITId": campaign.hits.get().hit_id, "AssignmentId": "A1"}]
    }
    for body in (
        json.dumps(made_up),
        json.dumps(made_up),
        '{"Events": [{"HITId": "H0"}]}',
        "[]",
        "no json",
        '{"a": 1}',
    ):
        queues.sqs.send_message(QueueUrl=queue, MessageBody=body)
    report = listen()
    assert (report.hits, report.approved, report.remarks) == (1, 0, [])
    assert not Assignment.objects.exists()
    assert listen().hits == 0  # taken out of the queue


def test_a_queue_that_cannot_be_read_is_a_remark(campaign: Campaign, settings: Any) -> None:
    settings.MARKETPLACE_QUEUE_URL += "-gone"
    with pytest.raises(RecruiterUnavailable, match="queue of events"):
        recruiter_for("marketplace").hints()
    [remark] = listen().remarks
    assert "cannot be read" in remark
    assert sync(study=campaign.study).remarks == []


def test_bodies_that_are_no_notifications() -> None:
    assert hits_told('{"Events": [{"HITId": "H1"}, {"HITId": ""}, {}]}') == ["H1"]
    assert [hits_told(body) for body in ("", "null", '{"Events": 3}', '{"Events": [1]}')] == [[]] * 4
