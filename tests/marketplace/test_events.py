"""HIT events arrive in a requester's queue or topic: what was asked for, once each, with the time that made them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.marketplace.queues import Queues
from tests.marketplace.requester import DAY, code, refused
from tests.marketplace.server import MarketplaceServer, external_question

MakeHit = Callable[..., dict[str, Any]]
EVERY = (
    "AssignmentAccepted",
    "AssignmentAbandoned",
    "AssignmentReturned",
    "AssignmentSubmitted",
    "AssignmentRejected",
    "AssignmentApproved",
    "HITCreated",
    "HITExpired",
    "HITReviewable",
    "HITExtended",
    "HITDisposed",
)


@pytest.fixture
def hit_type(mturk: Any) -> Callable[..., str]:
    def make(title: str, **values: Any) -> str:
        wanted = {"Description": "d", "Reward": "0.10", "AssignmentDurationInSeconds": 600, **values}
        return str(mturk.create_hit_type(Title=title, **wanted)["HITTypeId"])

    return make


def make_with_type(mturk: Any, hit_type_id: str, **values: Any) -> str:
    wanted = {"LifetimeInSeconds": 7200, "Question": external_question(), **values}
    return str(mturk.create_hit_with_hit_type(HITTypeId=hit_type_id, **wanted)["HIT"]["HITId"])


def test_the_life_of_a_hit_is_told(
    marketplace: MarketplaceServer, queues: Queues, mturk: Any, hit_type: Callable[..., str]
) -> None:
    type_id = hit_type("Events of everything", AutoApprovalDelayInSeconds=3600)
    mturk.update_notification_settings(HITTypeId=type_id, Notification=queues.queue("everything", *EVERY))
    hit_id = make_with_type(mturk, type_id, MaxAssignments=4)
    careful, late, leaver, hasty = (marketplace.worker() for _ in range(4))
    rejected, done = hasty.do(hit_id), careful.do(hit_id)
    returned, never = leaver.accept(hit_id)["assignment_id"], late.accept(hit_id)["assignment_id"]
    leaver.give_back(returned)
    mturk.reject_assignment(AssignmentId=rejected, RequesterFeedback="empty")
    mturk.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=1)
    told = queues.events("everything", 10)
    assert sorted((event["EventType"], event.get("AssignmentId", "")) for event in told) == sorted(
        [
            ("HITCreated", ""),
            *(("AssignmentAccepted", one) for one in (rejected, done, returned, never)),
            ("AssignmentSubmitted", rejected),
            ("AssignmentSubmitted", done),
            ("AssignmentReturned", returned),
            ("AssignmentRejected", rejected),
            ("HITExtended", ""),
        ]
    )
    assert {event["HITTypeId"] for event in told} == {type_id}
    assert {event["HITId"] for event in told} == {hit_id}

    marketplace.advance(3700)  # the deadline of one passes, another is approved by time
    found = mturk.get_assignment(AssignmentId=done)["Assignment"]
    later = {event["EventType"]: event for event in queues.events("everything", 2)}
    assert later["AssignmentAbandoned"]["AssignmentId"] == never
    assert later["AssignmentApproved"]["AssignmentId"] == done
    at = datetime.fromisoformat(later["AssignmentApproved"]["EventTimestamp"])
    assert abs(at - found["AutoApprovalTime"]) < timedelta(seconds=1)

    marketplace.advance(3600)
    ended = queues.events("everything", 2)
    assert sorted(event["EventType"] for event in ended) == ["HITExpired", "HITReviewable"]
    mturk.delete_hit(HITId=hit_id)
    assert [event["EventType"] for event in queues.events("everything", 1)] == ["HITDisposed"]
    # Nothing more: the next that is told is the next that happens.
    next_one = make_with_type(mturk, type_id)
    assert [(event["EventType"], event["HITId"]) for event in queues.events("everything", 1)] == [
        ("HITCreated", next_one)
    ]


def test_only_what_was_asked_for_and_only_while_it_is_active(
    marketplace: MarketplaceServer, queues: Queues, mturk: Any, hit_type: Callable[..., str]
) -> None:
    type_id = hit_type("Events of submissions")
    hit_id = make_with_type(mturk, type_id, MaxAssignments=5)
    early = marketplace.worker().do(hit_id)
    mturk.update_notification_settings(HITTypeId=type_id, Notification=queues.queue("some", "AssignmentSubmitted"))
    first = marketplace.worker().do(hit_id)
    assert [event["AssignmentId"] for event in queues.events("some", 1)] == [first]
    mturk.update_notification_settings(HITTypeId=type_id, Active=False)
    silent = marketplace.worker().do(hit_id)
    mturk.update_notification_settings(HITTypeId=type_id, Active=True)
    last = marketplace.worker().do(hit_id)
    assert [event["AssignmentId"] for event in queues.events("some", 1)] == [last]
    after = marketplace.worker().do(hit_id)
    assert [event["AssignmentId"] for event in queues.events("some", 1)] == [after], "nothing was told in between"
    listed = mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert {row["AssignmentId"] for row in listed} == {early, first, silent, last, after}  # the list is the truth


def test_a_topic_is_told_too(
    marketplace: MarketplaceServer, queues: Queues, mturk: Any, hit_type: Callable[..., str]
) -> None:
    type_id = hit_type("Events by topic")
    specification = queues.topic("topic", "behind-the-topic", "AssignmentSubmitted")
    mturk.update_notification_settings(HITTypeId=type_id, Notification=specification, Active=True)
    done = marketplace.worker().do(make_with_type(mturk, type_id))
    (document,) = queues.documents("behind-the-topic")
    assert [event["AssignmentId"] for event in document["Events"]] == [done]
    assert document["EventDocVersion"] == "2006-05-05"


def test_a_test_event_is_sent_at_once(queues: Queues, mturk: Any) -> None:
    mturk.send_test_event_notification(Notification=queues.queue("trial"), TestEventType="AssignmentSubmitted")
    (event,) = queues.events("trial")
    assert event["EventType"] == "AssignmentSubmitted"
    assert event["AssignmentId"]


def test_where_nothing_can_be_sent(queues: Queues, mturk: Any, hit_type: Callable[..., str]) -> None:
    type_id = hit_type("Events to nowhere")
    good = queues.queue("good")
    for wrong, expected in (
        ({"Transport": "Email", "Destination": "a@example.org"}, "InvalidTransportEndpoint"),
        ({"Destination": "queue"}, "InvalidTransportEndpoint"),
        ({"Transport": "SNS"}, "InvalidTransportEndpoint"),
        ({"Version": "1999-01-01"}, "InvalidParameterValue"),
        ({"EventTypes": ["Ping"]}, "InvalidParameterValue"),
    ):
        err = refused(mturk.update_notification_settings, HITTypeId=type_id, Notification={**good, **wrong})
        assert code(err) == expected, wrong
    assert code(refused(mturk.update_notification_settings, HITTypeId=type_id)) == "InvalidParameterValue"
    missing = {**good, "Destination": f"{queues.url}/123456789012/no-such-queue"}
    err = refused(mturk.send_test_event_notification, Notification=missing, TestEventType="Ping")
    assert code(err) == "InvalidTransportEndpoint"


def test_expired_keys_lagging_lists_and_faults_by_share(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    marketplace.arm("GetAccountBalance", "expired_key")
    assert refused(mturk.get_account_balance).response["Error"]["Code"] == "ExpiredTokenException"
    hit, worker = make_hit(mturk), marketplace.worker()
    assignment_id = worker.do(hit["HITId"])
    bonus = {"WorkerId": worker.worker_id, "AssignmentId": assignment_id, "BonusAmount": "0.10", "Reason": "r"}
    mturk.send_bonus(**bonus)
    for operation, call in (
        ("ListAssignmentsForHIT", mturk.list_assignments_for_hit),
        ("ListBonusPayments", mturk.list_bonus_payments),
    ):
        marketplace.arm(operation, "stale", seconds=DAY)
        assert call(HITId=hit["HITId"])["NumResults"] == 0
        assert call(HITId=hit["HITId"])["NumResults"] == 1
    marketplace.clear_faults()
    marketplace.arm("GetAccountBalance", "throttle", times=1000, share=0.4)
    met = 0
    for _ in range(60):
        try:
            mturk.get_account_balance()
        except mturk.exceptions.ClientError:
            met += 1
    assert 10 < met < 40
