"""The requester API as boto3 sees it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
import requests
from botocore.config import Config
from botocore.exceptions import ClientError
from defusedxml import ElementTree

from tests.marketplace.server import MarketplaceServer, RequesterKeys, external_question

MakeHit = Callable[..., dict[str, Any]]
DAY = 86_400


def refused(call: Callable[..., Any], **parameters: Any) -> ClientError:
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    return caught.value


def code(err: ClientError) -> str:
    """TurkErrorCode without its prefix, or the plain code."""
    return err.response.get("TurkErrorCode", err.response["Error"]["Code"]).removeprefix("AWS.MechanicalTurk.")


def hit_now(mturk: Any, hit: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = mturk.get_hit(HITId=hit["HITId"])["HIT"]
    return found


def places(hit: dict[str, Any]) -> tuple[str, int, int, int]:
    """Status, available, pending, completed."""
    return hit["HITStatus"], *(hit[f"NumberOfAssignments{name}"] for name in ("Available", "Pending", "Completed"))


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


def test_balance_and_fees_to_the_cent(marketplace: MarketplaceServer, fresh_mturk: Any, make_hit: MakeHit) -> None:
    def balance() -> tuple[str, str]:
        answer = fresh_mturk.get_account_balance()
        return answer["AvailableBalance"], answer["OnHoldBalance"]

    assert balance() == ("100.00", "0.00")
    small = make_hit(fresh_mturk, Reward="0.52", MaxAssignments=2)  # fee 10.4 -> 10 cents: 62 a piece
    large = make_hit(fresh_mturk, Reward="0.52", MaxAssignments=10)  # fee 20.8 -> 21 cents: 73 a piece
    assert balance() == ("100.00", "8.54")  # 2 x 62 + 10 x 73
    worker, other = marketplace.worker(), marketplace.worker()
    paid, rejected, in_large = worker.do(small["HITId"]), other.do(small["HITId"]), worker.do(large["HITId"])
    assert balance() == ("100.00", "8.54")
    fresh_mturk.approve_assignment(AssignmentId=paid)
    assert balance() == ("99.38", "7.92")
    fresh_mturk.reject_assignment(AssignmentId=rejected, RequesterFeedback="empty")
    assert balance() == ("99.38", "7.30")  # a rejection costs nothing, and its place is gone
    fresh_mturk.approve_assignment(AssignmentId=in_large)
    fresh_mturk.update_expiration_for_hit(HITId=large["HITId"], ExpireAt=datetime(2020, 1, 1, tzinfo=UTC))
    assert balance() == ("98.65", "0.00")
    send = {"WorkerId": worker.worker_id, "AssignmentId": paid, "Reason": "more"}
    fresh_mturk.send_bonus(**send, BonusAmount="0.02")  # the least fee: 1 cent
    fresh_mturk.send_bonus(**send, BonusAmount="10")
    assert balance() == ("86.62", "0.00")
    err = refused(fresh_mturk.send_bonus, **send, BonusAmount="72.20")  # with fees 86.64
    assert code(err) == "InsufficientFunds"
    assert balance() == ("86.62", "0.00")
    worker_totals = worker.get("/earnings/")["totals"]
    assert worker_totals == {
        "total_cents": 1106,
        "approved_cents": 104,
        "bonus_cents": 1002,
        "waiting_cents": 0,
        "paid_out_cents": 0,
        "owed_cents": 1106,
    }


def test_money_of_open_hits_is_spoken_for(fresh_mturk: Any, make_hit: MakeHit) -> None:
    make_hit(fresh_mturk, Reward="10", MaxAssignments=8)  # 96.00 of 100.00
    err = refused(lambda **values: make_hit(fresh_mturk, **values), Reward="4")
    assert code(err) == "InsufficientFunds"
    assert "$4.80" in str(err)
    assert "$96.00 is on hold" in str(err)
    make_hit(fresh_mturk, Reward="3")
    assert fresh_mturk.list_hits()["NumResults"] == 2


def test_a_token_works_once_a_day_and_its_repeat_names_the_hit(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    hit = make_hit(mturk, UniqueRequestToken="row-1", MaxAssignments=2)
    err = refused(lambda **values: make_hit(mturk, **values), UniqueRequestToken="row-1")
    assert code(err) == "HitAlreadyExists"
    assert err.response["Error"]["Code"] == "RequestError"
    assert hit["HITId"] in str(err)

    add = {"HITId": hit["HITId"], "NumberOfAdditionalAssignments": 3, "UniqueRequestToken": "row-1"}
    mturk.create_additional_assignments_for_hit(**add)
    assert "has already been processed" in str(refused(mturk.create_additional_assignments_for_hit, **add))
    assert hit_now(mturk, hit)["MaxAssignments"] == 5

    worker = marketplace.worker()
    assignment_id = worker.do(hit["HITId"])
    bonus = {"WorkerId": worker.worker_id, "AssignmentId": assignment_id, "BonusAmount": "0.10", "Reason": "r"}
    mturk.send_bonus(**bonus, UniqueRequestToken="row-1")
    again = refused(mturk.send_bonus, **bonus | {"BonusAmount": "0.20"}, UniqueRequestToken="row-1")
    assert 'The idempotency token "row-1" has already been processed.' in str(again)
    assert mturk.list_bonus_payments(AssignmentId=assignment_id)["NumResults"] == 1
    mturk.send_bonus(**bonus)  # without a token a repeat pays again

    marketplace.advance(DAY + 1)
    mturk.send_bonus(**bonus, UniqueRequestToken="row-1")  # forgotten after a day, as on MTurk
    assert mturk.list_bonus_payments(AssignmentId=assignment_id)["NumResults"] == 3


def test_a_token_sent_many_times_at_once_works_once(mturk: Any, make_hit: MakeHit) -> None:
    def send(number: int) -> str:
        try:
            return str(make_hit(mturk, UniqueRequestToken="race", RequesterAnnotation="race")["HITId"])
        except ClientError as err:
            assert code(err) == "HitAlreadyExists"
            return ""

    with ThreadPoolExecutor(8) as pool:
        made = [hit_id for hit_id in pool.map(send, range(8)) if hit_id]
    assert len(made) == 1


def test_a_refused_request_does_not_use_its_token_up(mturk: Any, make_hit: MakeHit) -> None:
    broken = {"Question": "<nonsense", "UniqueRequestToken": "row-2"}
    assert code(refused(lambda **values: make_hit(mturk, **values), **broken)) == "XMLParseError"
    make_hit(mturk, UniqueRequestToken="row-2")


def test_a_lost_answer_is_found_by_asking(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    """One attempt: the connection is cut after the work was done, and reading tells so."""
    from botocore.exceptions import ConnectionClosedError

    marketplace.arm("CreateHIT", "drop_after_commit")
    with pytest.raises(ConnectionClosedError):
        make_hit(mturk, RequesterAnnotation="lost", UniqueRequestToken="lost-1")
    lost = [hit for hit in mturk.list_hits(MaxResults=100)["HITs"] if hit.get("RequesterAnnotation") == "lost"]
    assert len(lost) == 1
    err = refused(lambda **values: make_hit(mturk, **values), UniqueRequestToken="lost-1")
    assert lost[0]["HITId"] in str(err)

    worker = marketplace.worker()
    bonus = {"WorkerId": worker.worker_id, "AssignmentId": worker.do(lost[0]["HITId"]), "Reason": "r"}
    marketplace.arm("SendBonus", "drop_before")
    with pytest.raises(ConnectionClosedError):
        mturk.send_bonus(**bonus, BonusAmount="1")
    assert mturk.list_bonus_payments(HITId=lost[0]["HITId"])["NumResults"] == 0


def test_botocores_repeats_pay_twice_without_a_token(
    marketplace: MarketplaceServer, rich_keys: RequesterKeys, make_hit: MakeHit
) -> None:
    """What the platform's ledger is for; the marketplace must not hide it."""
    repeating = marketplace.client(rich_keys, attempts=3)
    worker = marketplace.worker()
    assignment_id = worker.do(make_hit(repeating)["HITId"])
    marketplace.arm("SendBonus", "drop_after_commit")
    repeating.send_bonus(
        WorkerId=worker.worker_id, AssignmentId=assignment_id, BonusAmount="0.10", Reason="once, please"
    )
    assert repeating.list_bonus_payments(AssignmentId=assignment_id)["NumResults"] == 2


def test_throttling_faults_and_delays(marketplace: MarketplaceServer, rich_keys: RequesterKeys, mturk: Any) -> None:
    from botocore.exceptions import ReadTimeoutError

    marketplace.arm("GetAccountBalance", "throttle")
    err = refused(mturk.get_account_balance)
    assert (err.response["Error"]["Code"], err.response["Error"]["Message"]) == ("ThrottlingException", "Rate exceeded")
    marketplace.arm("*", "service_fault")
    with pytest.raises(mturk.exceptions.ServiceFault):
        mturk.list_hits()
    marketplace.arm("GetAccountBalance", "delay", seconds=1.5)
    with pytest.raises(ReadTimeoutError):
        marketplace.client(rich_keys, read_timeout=0.3).get_account_balance()
    assert marketplace.client(rich_keys, attempts=3).get_account_balance()["AvailableBalance"]


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
    answer = requests.post(url, data="{}", headers=target, timeout=20)
    assert (answer.status_code, answer.json()["__type"]) == (400, "MissingAuthenticationTokenException")
    assert requests.get(url, timeout=20).status_code == 405


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


def test_auto_approval_abandonment_and_expiry_follow_the_clock(
    marketplace: MarketplaceServer, fresh_mturk: Any, make_hit: MakeHit
) -> None:
    mturk = fresh_mturk
    hit = make_hit(mturk, Reward="1", MaxAssignments=3, AutoApprovalDelayInSeconds=3600, LifetimeInSeconds=7200)
    worker, slow, returning = (marketplace.worker() for _ in range(3))
    done = worker.do(hit["HITId"])
    never = slow.accept(hit["HITId"])["assignment_id"]
    returning.give_back(returning.accept(hit["HITId"])["assignment_id"])
    assert places(hit_now(mturk, hit)) == ("Assignable", 1, 1, 0)

    marketplace.advance(601)  # the time allowed is 600 s
    assert places(hit_now(mturk, hit)) == ("Assignable", 2, 0, 0)
    assert slow.get(f"/work/{never}/")["state"] == "Abandoned"
    assert slow.try_submit(never).status_code == 409
    again = slow.accept(hit["HITId"])["assignment_id"]
    assert again != never

    marketplace.advance(300)
    slow.submit(again)
    assert mturk.get_assignment(AssignmentId=done)["Assignment"]["AssignmentStatus"] == "Submitted"
    assert mturk.get_account_balance()["AvailableBalance"] == "100.00"

    marketplace.advance(2790)
    approved = mturk.get_assignment(AssignmentId=done)["Assignment"]
    assert approved["AssignmentStatus"] == "Approved"
    assert approved["ApprovalTime"] == approved["AutoApprovalTime"]
    assert mturk.get_account_balance()["AvailableBalance"] == "98.80"
    assert code(refused(mturk.reject_assignment, AssignmentId=done, RequesterFeedback="late")) == (
        "InvalidAssignmentState"
    )
    assert worker.get("/earnings/")["totals"]["approved_cents"] == 100

    marketplace.advance(7200)
    assert places(hit_now(mturk, hit)) == ("Reviewable", 1, 0, 2)
    assert marketplace.worker().try_accept(hit["HITId"]).status_code == 409
    mturk.delete_hit(HITId=hit["HITId"])


def test_expiring_stops_nobody_who_has_accepted(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    hit = make_hit(mturk, MaxAssignments=3)
    worker = marketplace.worker()
    accepted = worker.accept(hit["HITId"])
    past = datetime.now(UTC) - timedelta(days=1)
    mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=past)
    assert places(hit_now(mturk, hit)) == ("Unassignable", 2, 1, 0)
    assert marketplace.worker().try_accept(hit["HITId"]).status_code == 409
    assert code(refused(mturk.delete_hit, HITId=hit["HITId"])) == "InvalidHITState"
    worker.submit(accepted["assignment_id"])
    assert places(hit_now(mturk, hit)) == ("Reviewable", 2, 0, 0)
    assert code(refused(mturk.delete_hit, HITId=hit["HITId"])) == "InvalidHITState"  # one is not judged yet
    # Seen at the real service: the same time twice counts as a repeated token.
    again = refused(mturk.update_expiration_for_hit, HITId=hit["HITId"], ExpireAt=past)
    assert "has already been processed" in str(again)
    mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=datetime.now(UTC) + timedelta(days=300))
    assert places(hit_now(mturk, hit))[0] == "Assignable"


def test_a_hit_under_ten_does_not_grow_to_ten(mturk: Any, make_hit: MakeHit) -> None:
    hit = make_hit(mturk, MaxAssignments=9)
    err = refused(mturk.create_additional_assignments_for_hit, HITId=hit["HITId"], NumberOfAdditionalAssignments=1)
    assert code(err) == "InvalidMaximumAssignmentsIncrease"
    large = make_hit(mturk, MaxAssignments=10)
    mturk.create_additional_assignments_for_hit(HITId=large["HITId"], NumberOfAdditionalAssignments=5)
    assert hit_now(mturk, large)["NumberOfAssignmentsAvailable"] == 15


def test_an_override_ends_with_the_hit_and_after_30_days(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    hits = [make_hit(mturk) for _ in range(3)]
    worker = marketplace.worker()
    in_time, deleted, late = (worker.do(hit["HITId"]) for hit in hits)
    for assignment_id in (in_time, deleted, late):
        mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="empty")
    mturk.delete_hit(HITId=hits[1]["HITId"])
    assert "deleted" in str(refused(mturk.approve_assignment, AssignmentId=deleted, OverrideRejection=True))
    marketplace.advance(29 * DAY)
    mturk.approve_assignment(AssignmentId=in_time, OverrideRejection=True)
    marketplace.advance(2 * DAY)
    assert "30 days" in str(refused(mturk.approve_assignment, AssignmentId=late, OverrideRejection=True))


def test_bonuses_go_to_workers_of_the_assignment_alone(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    hit = make_hit(mturk, MaxAssignments=2)
    worker, stranger = marketplace.worker(), marketplace.worker()
    done, open_one = worker.do(hit["HITId"]), stranger.accept(hit["HITId"])["assignment_id"]
    bonus = {"BonusAmount": "1", "Reason": "r"}
    for wrong in (
        {"WorkerId": stranger.worker_id, "AssignmentId": done},
        {"WorkerId": stranger.worker_id, "AssignmentId": open_one},
        {"WorkerId": worker.worker_id, "AssignmentId": done, "BonusAmount": "0"},
    ):
        assert code(refused(mturk.send_bonus, **bonus | wrong)) == "InvalidParameterValue"
    assert code(refused(mturk.list_bonus_payments)) == "InvalidParameterValue"


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


def test_a_hit_that_changes_its_type_pays_what_was_promised(
    marketplace: MarketplaceServer, fresh_mturk: Any, make_hit: MakeHit
) -> None:
    """Who accepted at 50 cents gets 50 cents; the places still free cost what the new type says."""
    mturk = fresh_mturk
    hit = make_hit(mturk, Reward="0.50", MaxAssignments=3)  # 60 a piece with the fee
    early, late = marketplace.worker(), marketplace.worker()
    accepted = early.accept(hit["HITId"])["assignment_id"]
    other = make_hit(mturk, Reward="1.00")  # 120
    assert mturk.get_account_balance()["OnHoldBalance"] == "3.00"
    mturk.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=other["HITTypeId"])
    found = hit_now(mturk, hit)
    assert (found["HITTypeId"], found["Reward"]) == (other["HITTypeId"], "1.00")
    assert mturk.get_account_balance()["OnHoldBalance"] == "4.20"  # 60 + 2 x 120 + 120
    early.submit(accepted)
    for assignment_id in (accepted, late.do(hit["HITId"])):
        mturk.approve_assignment(AssignmentId=assignment_id)
    assert mturk.get_account_balance()["AvailableBalance"] == "98.20"
    assert early.get("/earnings/")["totals"]["approved_cents"] == 50
    assert late.get("/earnings/")["totals"]["approved_cents"] == 100
    dear = mturk.create_hit_type(Title="Dear", Description="d", Reward="99", AssignmentDurationInSeconds=60)
    err = refused(mturk.update_hit_type_of_hit, HITId=hit["HITId"], HITTypeId=dear["HITTypeId"])
    assert code(err) == "InsufficientFunds"


def test_reviewing_is_a_note_that_an_extension_takes_away(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    hit = make_hit(mturk)
    marketplace.worker().do(hit["HITId"])
    mturk.update_hit_review_status(HITId=hit["HITId"])
    assert places(hit_now(mturk, hit))[0] == "Reviewing"
    assert hit["HITId"] not in [row["HITId"] for row in mturk.list_reviewable_hits(MaxResults=100)["HITs"]]
    reviewing = mturk.list_reviewable_hits(Status="Reviewing", MaxResults=100)["HITs"]
    assert hit["HITId"] in [row["HITId"] for row in reviewing]
    assert code(refused(mturk.update_hit_review_status, HITId=hit["HITId"])) == "InvalidHITState"
    mturk.update_hit_review_status(HITId=hit["HITId"], Revert=True)
    mturk.update_hit_review_status(HITId=hit["HITId"])
    mturk.create_additional_assignments_for_hit(HITId=hit["HITId"], NumberOfAdditionalAssignments=1)
    assert places(hit_now(mturk, hit))[0] == "Assignable"
    marketplace.worker().do(hit["HITId"])
    assert places(hit_now(mturk, hit))[0] == "Reviewable"


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
