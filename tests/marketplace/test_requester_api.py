"""The requester API as boto3 sees it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
import requests
from botocore.config import Config
from defusedxml import ElementTree

from tests.limits import LIMIT
from tests.marketplace.requester import DAY, MakeHit, code, hit_now, places, refused
from tests.marketplace.server import MarketplaceServer, RequesterKeys, external_question


def test_the_whole_way_of_a_hit(marketplace: MarketplaceServer, fresh_mturk: Any) -> None:
    mturk = fresh_mturk
    values = {
        "Title": "Name the picture",
        "Description": "Sixteen kinds of things.",
        "Keywords": "pictures, vision",
        "Reward": "1.20",
        "AssignmentDurationInSeconds": 1800,
        "AutoApprovalDelayInSeconds": 3 * DAY,
    }
    hit_type_id = mturk.create_hit_type(**values)["HITTypeId"]
    assert mturk.create_hit_type(**values | {"Reward": "1.2"})["HITTypeId"] == hit_type_id
    assert mturk.create_hit_type(**values | {"Reward": "1.21"})["HITTypeId"] != hit_type_id
    hit = mturk.create_hit_with_hit_type(
        HITTypeId=hit_type_id,
        LifetimeInSeconds=DAY,
        MaxAssignments=2,
        Question=external_question(),
        RequesterAnnotation="row 17",
        UniqueRequestToken="publish-17",
    )["HIT"]
    assert {name: hit[name] for name in values} == values
    assert hit["Question"] == external_question()
    assert hit["RequesterAnnotation"] == "row 17"
    assert hit["Expiration"] - hit["CreationTime"] == timedelta(days=1)
    assert hit["QualificationRequirements"] == []
    assert places(hit) == ("Assignable", 2, 0, 0)

    first, second = marketplace.worker(), marketplace.worker()
    accepted = first.accept(hit["HITId"])
    assert places(hit_now(mturk, hit)) == ("Assignable", 1, 1, 0)
    assert mturk.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"] == []
    assert code(refused(mturk.get_assignment, AssignmentId=accepted["assignment_id"])) == "InvalidAssignmentState"
    first.submit(accepted["assignment_id"], receipt="abc", remark="1 < 2 & „ja“")
    other = second.do(hit["HITId"])
    assert places(hit_now(mturk, hit)) == ("Reviewable", 0, 0, 0)
    assert mturk.list_reviewable_hits()["HITs"] == [{"HITId": hit["HITId"]}]

    found = mturk.get_assignment(AssignmentId=accepted["assignment_id"])
    assignment = found["Assignment"]
    assert found["HIT"]["HITId"] == hit["HITId"]
    assert assignment["WorkerId"] == first.worker_id
    assert assignment["AssignmentStatus"] == "Submitted"
    assert assignment["AutoApprovalTime"] - assignment["SubmitTime"] == timedelta(days=3)
    assert assignment["Deadline"] - assignment["AcceptTime"] == timedelta(minutes=30)
    answers = [[part.text for part in answer] for answer in ElementTree.fromstring(assignment["Answer"])]
    assert answers == [["receipt", "abc"], ["remark", "1 < 2 & „ja“"]]

    mturk.approve_assignment(AssignmentId=accepted["assignment_id"], RequesterFeedback="thanks")
    mturk.reject_assignment(AssignmentId=other, RequesterFeedback="empty")
    assert places(hit_now(mturk, hit)) == ("Reviewable", 0, 0, 2)
    listed = mturk.list_assignments_for_hit(HITId=hit["HITId"], AssignmentStatuses=["Approved"])["Assignments"]
    assert [(row["AssignmentId"], row["RequesterFeedback"]) for row in listed] == [
        (accepted["assignment_id"], "thanks")
    ]
    assert code(refused(mturk.approve_assignment, AssignmentId=accepted["assignment_id"])) == "InvalidAssignmentState"
    assert code(refused(mturk.approve_assignment, AssignmentId=other)) == "InvalidAssignmentState"
    mturk.approve_assignment(AssignmentId=other, OverrideRejection=True)
    assert mturk.get_assignment(AssignmentId=other)["Assignment"]["AssignmentStatus"] == "Approved"

    mturk.send_bonus(
        WorkerId=first.worker_id,
        AssignmentId=accepted["assignment_id"],
        BonusAmount="0.33",
        Reason="for care [p1]",
        UniqueRequestToken="bonus-1",
    )
    bonuses = mturk.list_bonus_payments(HITId=hit["HITId"])["BonusPayments"]
    assert [(row["WorkerId"], row["BonusAmount"], row["Reason"]) for row in bonuses] == [
        (first.worker_id, "0.33", "for care [p1]")
    ]
    assert mturk.list_bonus_payments(AssignmentId=other)["NumResults"] == 0

    mturk.delete_hit(HITId=hit["HITId"])
    assert mturk.list_hits()["HITs"] == []
    assert hit_now(mturk, hit)["HITStatus"] == "Disposed"


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"aws_secret_access_key": "wrong"}, "InvalidSignatureException"),
        ({"aws_access_key_id": "AKIANOBODY"}, "UnrecognizedClientException"),
        ({"aws_session_token": "temporary"}, "UnrecognizedClientException"),
        ({"region_name": "eu-west-1"}, "InvalidSignatureException"),
    ],
)
def test_wrong_keys_are_refused(
    marketplace: MarketplaceServer, rich_keys: RequesterKeys, wrong: dict[str, str], expected: str
) -> None:
    client = marketplace.client(rich_keys, **wrong)
    assert refused(client.get_account_balance).response["Error"]["Code"] == expected


def test_unsigned_and_changed_requests_are_refused(marketplace: MarketplaceServer) -> None:
    url = f"{marketplace.url}/requester/"
    target = {"X-Amz-Target": "MTurkRequesterServiceV20170117.GetAccountBalance"}
    answer = requests.post(url, data="{}", headers=target, timeout=LIMIT)
    assert (answer.status_code, answer.json()["__type"]) == (400, "MissingAuthenticationTokenException")
    assert requests.get(url, timeout=LIMIT).status_code == 405


@pytest.mark.parametrize("ending", ["", "/"])
def test_the_endpoint_works_with_and_without_a_slash(
    marketplace: MarketplaceServer, rich_keys: RequesterKeys, ending: str
) -> None:
    client = marketplace.client(rich_keys, endpoint_url=f"{marketplace.url}/requester{ending}")
    assert client.get_account_balance()["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_messages_end_with_the_time_and_carry_a_code(mturk: Any) -> None:
    err = refused(mturk.get_hit, HITId="3NONE")
    assert err.response["Error"]["Code"] == "RequestError"
    assert err.response["TurkErrorCode"] == "AWS.MechanicalTurk.HITDoesNotExist"
    stamp = int(err.response["Message"].rpartition("(")[2].rstrip(")"))
    assert abs(stamp / 1000 - datetime.now(UTC).timestamp()) < 60


def test_another_requesters_things_do_not_exist(mturk: Any, fresh_mturk: Any, make_hit: MakeHit) -> None:
    hit = make_hit(mturk)
    for call in (fresh_mturk.get_hit, fresh_mturk.delete_hit, fresh_mturk.list_assignments_for_hit):
        assert code(refused(call, HITId=hit["HITId"])) == "HITDoesNotExist"
    assert fresh_mturk.list_hits()["HITs"] == []
    err = refused(
        fresh_mturk.create_hit_with_hit_type,
        HITTypeId=hit["HITTypeId"],
        LifetimeInSeconds=60,
        Question=external_question(),
    )
    assert code(err) == "HITTypeDoesNotExist"


def test_pages(marketplace: MarketplaceServer, fresh_mturk: Any, make_hit: MakeHit) -> None:
    made = [make_hit(fresh_mturk, Reward="0.01")["HITId"] for _ in range(12)]
    first = fresh_mturk.list_hits()
    assert first["NumResults"] == len(first["HITs"]) == 10
    # A HIT made while pages are turned moves nothing.
    make_hit(fresh_mturk, Reward="0.01")
    second = fresh_mturk.list_hits(NextToken=first["NextToken"])
    assert [hit["HITId"] for hit in first["HITs"] + second["HITs"]] == made[::-1]
    # As at the real service: a page with anything on it has a token, and the end is an empty page.
    last = fresh_mturk.list_hits(NextToken=second["NextToken"])
    assert last["HITs"] == []
    assert "NextToken" not in last
    pages = fresh_mturk.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 5})
    assert [len(page["HITs"]) for page in pages] == [5, 5, 3, 0]

    hit = make_hit(fresh_mturk, Reward="0.01", MaxAssignments=9)
    ids = [marketplace.worker().do(hit["HITId"]) for _ in range(5)]
    pages = fresh_mturk.get_paginator("list_assignments_for_hit").paginate(
        HITId=hit["HITId"], PaginationConfig={"PageSize": 2}
    )
    assert [row["AssignmentId"] for page in pages for row in page["Assignments"]] == ids
    for token in (first["NextToken"], "nonsense"):
        err = refused(fresh_mturk.list_assignments_for_hit, HITId=hit["HITId"], NextToken=token)
        assert code(err) == "InvalidParameterValue"


def test_any_boto3_client_works_from_the_environments_endpoint(
    marketplace: MarketplaceServer, rich_keys: RequesterKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_MTURK", f"{marketplace.url}/requester/")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", rich_keys.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", rich_keys.secret_access_key)
    # A session of its own: the shared one may hold the keys of an earlier test.
    session = boto3.Session(region_name="us-east-1")
    client = session.client("mturk", config=Config(retries={"total_max_attempts": 1}))
    assert client.get_account_balance()["AvailableBalance"]


def test_policies_and_layouts_are_refused_by_name(mturk: Any, make_hit: MakeHit) -> None:
    for name, value in (
        ("AssignmentReviewPolicy", {"PolicyName": "ScoreMyKnownAnswers/2011-09-01"}),
        ("HITReviewPolicy", {"PolicyName": "SimplePlurality/2011-09-01"}),
        ("HITLayoutId", "3LAYOUT"),
    ):
        err = refused(lambda **values: make_hit(mturk, **values), **{name: value})
        assert code(err) == "InvalidParameterValue"
        assert name in str(err)
    hit = make_hit(mturk)
    report = mturk.list_review_policy_results_for_hit(HITId=hit["HITId"])
    assert (report["AssignmentReviewReport"], report["HITReviewReport"]) == ({}, {})
