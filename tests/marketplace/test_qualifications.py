"""Qualifications over boto3, and what they open and hide at the worker site."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.limits import LIMIT
from tests.marketplace.documents import answer_key, question_form, selection_question
from tests.marketplace.requester import code, refused
from tests.marketplace.server import MarketplaceServer, external_question

MakeHit = Callable[..., dict[str, Any]]


@pytest.fixture
def took_part(mturk: Any, request: pytest.FixtureRequest) -> str:
    """A custom qualification type."""
    created = mturk.create_qualification_type(
        Name=f"Took part: {request.node.name}",
        Description="Has seen these pictures before.",
        Keywords="pictures",
        QualificationTypeStatus="Active",
    )["QualificationType"]
    assert created["IsRequestable"] is True
    type_id: str = created["QualificationTypeId"]
    return type_id


def test_the_way_of_a_qualification(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit, took_part: str
) -> None:
    worker = marketplace.worker()
    mturk.approve_assignment(AssignmentId=worker.do(make_hit(mturk)["HITId"]))
    score = {"QualificationTypeId": took_part, "WorkerId": worker.worker_id}
    assert code(refused(mturk.get_qualification_score, **score)) == "QualificationDoesNotExist"
    assert code(refused(mturk.disassociate_qualification_from_worker, **score)) == "InvalidQualificationState"
    mturk.associate_qualification_with_worker(**score, SendNotification=False)
    mturk.associate_qualification_with_worker(**score, SendNotification=False)
    assert mturk.get_qualification_score(**score)["Qualification"]["IntegerValue"] == 1
    mturk.associate_qualification_with_worker(**score, IntegerValue=80)
    found = mturk.get_qualification_score(**score)["Qualification"]
    assert (found["IntegerValue"], found["Status"]) == (80, "Granted")
    assert worker.get("/messages/")["messages"] == []

    listed = mturk.list_workers_with_qualification_type(QualificationTypeId=took_part)["Qualifications"]
    assert [row["WorkerId"] for row in listed] == [worker.worker_id]
    mturk.disassociate_qualification_from_worker(**score, Reason="The study is over.")
    assert "The study is over." in worker.get("/messages/")["messages"][0]["text"]
    assert code(refused(mturk.get_qualification_score, **score)) == "InvalidQualificationState"
    assert mturk.list_workers_with_qualification_type(QualificationTypeId=took_part)["NumResults"] == 0
    revoked = mturk.list_workers_with_qualification_type(QualificationTypeId=took_part, Status="Revoked")
    assert revoked["NumResults"] == 1
    mturk.associate_qualification_with_worker(**score)
    assert worker.get("/messages/")["messages"][0]["subject"] == "A new qualification"


def test_nobody_is_written_to_by_a_requester_they_never_worked_for(
    marketplace: MarketplaceServer, mturk: Any, took_part: str
) -> None:
    """Whoever knows a worker id could send any text as a description or a reason."""
    stranger = marketplace.worker()
    score = {"QualificationTypeId": took_part, "WorkerId": stranger.worker_id}
    mturk.associate_qualification_with_worker(**score)
    mturk.disassociate_qualification_from_worker(**score, Reason="Buy this at once.")
    failures = mturk.notify_workers(Subject="Hello", MessageText="Buy this.", WorkerIds=[stranger.worker_id])
    assert len(failures["NotifyWorkersFailureStatuses"]) == 1
    assert stranger.get("/messages/")["messages"] == []


def test_names_are_unique_and_types_are_found(mturk: Any, fresh_mturk: Any, took_part: str) -> None:
    found = mturk.get_qualification_type(QualificationTypeId=took_part)["QualificationType"]
    again = {"Name": found["Name"], "Description": "d", "QualificationTypeStatus": "Active"}
    err = refused(mturk.create_qualification_type, **again)
    assert code(err) == "QualificationTypeAlreadyExists"
    assert "already created a QualificationType with this name" in str(err)
    search = {"MustBeRequestable": False, "MustBeOwnedByCaller": True, "Query": "PART pictures"}
    ids = [row["QualificationTypeId"] for row in mturk.list_qualification_types(**search)["QualificationTypes"]]
    assert took_part in ids
    assert fresh_mturk.list_qualification_types(**search)["NumResults"] == 0
    other = {"QualificationTypeId": took_part, "WorkerId": "A1"}
    assert code(refused(fresh_mturk.associate_qualification_with_worker, **other)) == "PermissionDeniedException"
    system = mturk.get_qualification_type(QualificationTypeId="000000000000000000L0")["QualificationType"]
    assert system["Name"] == "Worker_PercentAssignmentsApproved"


def test_inactive_types_are_not_granted(marketplace: MarketplaceServer, mturk: Any) -> None:
    created = mturk.create_qualification_type(Name="Idle", Description="d", QualificationTypeStatus="Inactive")
    type_id = created["QualificationType"]["QualificationTypeId"]
    grant = {"QualificationTypeId": type_id, "WorkerId": marketplace.worker().worker_id}
    assert code(refused(mturk.associate_qualification_with_worker, **grant)) == "InvalidQualificationTypeState"


def test_hidden_work_is_not_there(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit, took_part: str
) -> None:
    """Took part already: not in the list, no preview, no accept; for others it is open."""
    asked = [
        {
            "QualificationTypeId": took_part,
            "Comparator": "DoesNotExist",
            "ActionsGuarded": "DiscoverPreviewAndAccept",
        }
    ]
    hit = make_hit(mturk, QualificationRequirements=asked, MaxAssignments=5)
    assert hit["QualificationRequirements"] == asked
    known, newcomer = marketplace.worker(), marketplace.worker()
    mturk.associate_qualification_with_worker(QualificationTypeId=took_part, WorkerId=known.worker_id)
    listed = {group["hit_type_id"] for group in newcomer.groups()} - {group["hit_type_id"] for group in known.groups()}
    assert listed == {hit["HITTypeId"]}
    for path in (f"/groups/{hit['HITTypeId']}/", f"/hits/{hit['HITId']}/"):
        assert known.http.get(f"{known.url}{path}", timeout=LIMIT).status_code == 404
        assert newcomer.get(path)["can_accept"] is True
    assert known.try_accept(hit["HITId"]).status_code == 404
    newcomer.do(hit["HITId"])


@pytest.mark.parametrize(("guard", "preview_status"), [("Accept", 200), ("PreviewAndAccept", 403)])
def test_guards_on_preview_and_accept(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit, took_part: str, guard: str, preview_status: int
) -> None:
    asked = [
        {
            "QualificationTypeId": took_part,
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [80],
            "ActionsGuarded": guard,
        }
    ]
    hit = make_hit(mturk, QualificationRequirements=asked)
    worker = marketplace.worker()
    mturk.associate_qualification_with_worker(QualificationTypeId=took_part, WorkerId=worker.worker_id, IntegerValue=79)
    group = next(group for group in worker.groups() if group["hit_type_id"] == hit["HITTypeId"])
    assert (group["can_preview"], group["can_accept"]) == (preview_status == 200, False)
    assert worker.http.get(f"{worker.url}{group['preview_url']}", timeout=LIMIT).status_code == preview_status
    refusal = worker.try_accept(hit["HITId"])
    assert (refusal.status_code, refusal.json()["type"]) == (403, "not-qualified")
    mturk.associate_qualification_with_worker(QualificationTypeId=took_part, WorkerId=worker.worker_id, IntegerValue=80)
    worker.do(hit["HITId"])


def test_system_qualifications_guard_too(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    us_only = {
        "QualificationTypeId": "00000000000000000071",
        "Comparator": "In",
        "LocaleValues": [{"Country": "US"}, {"Country": "CA"}],
    }
    experienced = {
        "QualificationTypeId": "00000000000000000040",
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [1],
    }
    hit = make_hit(mturk, QualificationRequirements=[us_only, experienced], MaxAssignments=3)
    abroad, american = marketplace.worker(country="de"), marketplace.worker(country="US")
    for worker in (abroad, american):
        assert worker.try_accept(hit["HITId"]).status_code == 403
        mturk.approve_assignment(AssignmentId=worker.do(make_hit(mturk)["HITId"]))
    assert abroad.try_accept(hit["HITId"]).status_code == 403
    american.do(hit["HITId"])


def test_requirements_are_checked_when_the_type_is_made(mturk: Any, make_hit: MakeHit) -> None:
    unknown = [{"QualificationTypeId": "3NONE", "Comparator": "Exists"}]
    err = refused(lambda **values: make_hit(mturk, **values), QualificationRequirements=unknown)
    assert code(err) == "QualificationTypeDoesNotExist"
    several = {"Comparator": "EqualTo", "LocaleValues": [{"Country": "US"}, {"Country": "DE"}]}
    asked = [{"QualificationTypeId": "00000000000000000071", **several}]
    err = refused(lambda **values: make_hit(mturk, **values), QualificationRequirements=asked)
    assert code(err) == "InvalidParameterValue"


def test_messages_reach_only_workers_whose_work_was_judged(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    known, unknown = marketplace.worker(), marketplace.worker()
    mturk.approve_assignment(AssignmentId=known.do(make_hit(mturk)["HITId"]))
    failures = mturk.notify_workers(
        Subject="Second part", MessageText="It opens today.", WorkerIds=[known.worker_id, unknown.worker_id, "A0"]
    )["NotifyWorkersFailureStatuses"]
    assert [(row["WorkerId"], row["NotifyWorkersFailureCode"]) for row in failures] == [
        (unknown.worker_id, "HardFailure"),
        ("A0", "HardFailure"),
    ]
    assert [(row["from"], row["text"]) for row in known.get("/messages/")["messages"]] == [("A lab", "It opens today.")]
    assert unknown.get("/messages/")["messages"] == []


def quiz(mturk: Any, name: str, **values: Any) -> str:
    """Two plates with the right answers 12 and nothing; a percentage is the value."""
    test = question_form(
        selection_question("first", "12", "8", "nothing", required=True),
        selection_question("second", "12", "8", "nothing", required=True),
    )
    key = answer_key(
        {"first": {("12",): 1}, "second": {("nothing",): 1}},
        "<PercentageMapping><MaximumSummedScore>2</MaximumSummedScore></PercentageMapping>",
    )
    wanted = {
        "Name": name,
        "Description": "Two plates with figures.",
        "QualificationTypeStatus": "Active",
        "Test": test,
        "AnswerKey": key,
        "TestDurationInSeconds": 300,
        **values,
    }
    wanted = {member: value for member, value in wanted.items() if value is not None}
    return str(mturk.create_qualification_type(**wanted)["QualificationType"]["QualificationTypeId"])


def test_a_test_is_graded_at_once_and_opens_work(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    type_id = quiz(mturk, "Colour plates")
    found = mturk.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]
    assert (found["TestDurationInSeconds"], found["AutoGranted"]) == (300, False)
    asked = [{"QualificationTypeId": type_id, "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [100]}]
    hit = make_hit(mturk, QualificationRequirements=asked)
    good, poor = marketplace.worker(), marketplace.worker()
    assert good.try_accept(hit["HITId"]).status_code == 403
    taken = good.take_test(type_id, first="12", second="nothing")
    assert taken["outcome"] == "Granted"
    assert poor.take_test(type_id, first="12", second="8")["outcome"] == "Granted"
    scores = mturk.list_workers_with_qualification_type(QualificationTypeId=type_id)["Qualifications"]
    assert {row["WorkerId"]: row["IntegerValue"] for row in scores} == {good.worker_id: 100, poor.worker_id: 50}
    assert mturk.list_qualification_requests(QualificationTypeId=type_id)["NumResults"] == 0
    assert poor.try_accept(hit["HITId"]).status_code == 403
    good.do(hit["HITId"])
    # Once more, and something missing.
    assert good.try_ask(type_id).json()["type"] == "cannot-request"
    third = marketplace.worker()
    incomplete = third.post(third.ask(type_id)["test_url"], {"first": "12"})
    assert (incomplete.status_code, incomplete.json()["type"]) == (422, "answers-refused")
    assert third.take_test(type_id, first="8", second="8")["outcome"] == "Granted"


def test_without_a_key_the_requester_decides(marketplace: MarketplaceServer, mturk: Any) -> None:
    type_id = quiz(mturk, "Judged by hand", AnswerKey=None)
    granted, rejected = marketplace.worker(), marketplace.worker()
    for worker in (granted, rejected):
        assert worker.take_test(type_id, first="12", second="8")["outcome"] == ""
    first, second = mturk.list_qualification_requests(QualificationTypeId=type_id)["QualificationRequests"]
    assert first["WorkerId"] == granted.worker_id
    assert "<SelectionIdentifier>12</SelectionIdentifier>" in first["Answer"]
    assert "QuestionForm" in first["Test"]
    mturk.accept_qualification_request(QualificationRequestId=first["QualificationRequestId"], IntegerValue=77)
    mturk.reject_qualification_request(
        QualificationRequestId=second["QualificationRequestId"], Reason="Both plates show 12."
    )
    again = refused(mturk.accept_qualification_request, QualificationRequestId=first["QualificationRequestId"])
    assert code(again) == "QualificationRequestDoesNotExist"
    score = mturk.get_qualification_score(QualificationTypeId=type_id, WorkerId=granted.worker_id)
    assert score["Qualification"]["IntegerValue"] == 77
    assert "Both plates show 12." in rejected.get("/messages/")["messages"][0]["text"]
    assert rejected.try_ask(type_id).json()["detail"] == "It can be asked for once only, and you have."


def test_tries_deadlines_and_granting_by_itself(marketplace: MarketplaceServer, mturk: Any) -> None:
    type_id = quiz(mturk, "Twice", RetryDelayInSeconds=3600)
    worker = marketplace.worker()
    asked = worker.ask(type_id)
    assert worker.ask(type_id) == asked  # a reload finds the same test
    marketplace.advance(301)
    late = worker.post(asked["test_url"], {"first": "12", "second": "nothing"})
    assert late.json()["type"] == "cannot-request"
    assert "again on" in worker.try_ask(type_id).json()["detail"]  # the time counts from the beginning
    marketplace.advance(3600)
    assert worker.take_test(type_id, first="12", second="nothing")["outcome"] == "Granted"

    easy = mturk.create_qualification_type(
        Name="For everybody",
        Description="d",
        QualificationTypeStatus="Active",
        AutoGranted=True,
        AutoGrantedValue=5,
    )["QualificationType"]
    assert worker.ask(easy["QualificationTypeId"])["outcome"] == "Granted"
    own = worker.get("/qualifications/")["granted"]
    assert {row["qualification_type_id"]: row["value"] for row in own}[easy["QualificationTypeId"]] == 5


def test_what_can_be_changed_about_a_type(marketplace: MarketplaceServer, mturk: Any) -> None:
    type_id = quiz(mturk, "Changing")
    other = question_form(selection_question("only", "yes", "no"))
    for wrong in (
        {"AutoGranted": True},
        {"AutoGrantedValue": 3},
        {"Test": other},
        {"Test": other, "TestDurationInSeconds": 60, "AnswerKey": answer_key({"first": {("12",): 1}})},
        {"TestDurationInSeconds": 60},
        {"AnswerKey": answer_key({"only": {("yes",): 1}})},
    ):
        err = refused(mturk.update_qualification_type, QualificationTypeId=type_id, **wrong)
        assert code(err) == "InvalidParameterValue", wrong
    worker = marketplace.worker()
    begun = worker.ask(type_id)
    changed = mturk.update_qualification_type(
        QualificationTypeId=type_id, Test=other, TestDurationInSeconds=60, Description="New", RetryDelayInSeconds=0
    )["QualificationType"]
    assert (changed["TestDurationInSeconds"], changed["Description"], changed["RetryDelayInSeconds"]) == (60, "New", 0)
    assert "AnswerKey" not in changed
    # Whoever began with the old test is not scored by what belongs to another.
    assert worker.post(begun["test_url"], {"first": "12", "second": "8"}).json()["outcome"] == ""
    mturk.update_qualification_type(QualificationTypeId=type_id, QualificationTypeStatus="Inactive")
    assert marketplace.worker().try_ask(type_id).status_code == 404


def test_a_deleted_type_keeps_its_name_and_its_grants_while_hits_ask_for_it(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit, took_part: str
) -> None:
    name = mturk.get_qualification_type(QualificationTypeId=took_part)["QualificationType"]["Name"]
    asked = [{"QualificationTypeId": took_part, "Comparator": "Exists"}]
    hit = make_hit(mturk, QualificationRequirements=asked, MaxAssignments=2)
    using = mturk.list_hits_for_qualification_type(QualificationTypeId=took_part)["HITs"]
    assert [row["HITId"] for row in using] == [hit["HITId"]]
    holder, waiting = marketplace.worker(), marketplace.worker()
    mturk.associate_qualification_with_worker(QualificationTypeId=took_part, WorkerId=holder.worker_id)
    waiting.ask(took_part)
    mturk.delete_qualification_type(QualificationTypeId=took_part)
    pending = mturk.list_qualification_requests(MaxResults=100)["QualificationRequests"]
    assert took_part not in {row["QualificationTypeId"] for row in pending}
    assert code(refused(mturk.get_qualification_type, QualificationTypeId=took_part)) == "QualificationTypeDoesNotExist"
    assignment_id = holder.do(hit["HITId"])  # the HIT lives on
    err = refused(
        mturk.create_hit_with_hit_type,
        HITTypeId=hit["HITTypeId"],
        LifetimeInSeconds=60,
        Question=external_question(),
    )
    assert code(err) == "HITTypeDoesNotExist"
    again = {"Name": name, "Description": "d", "QualificationTypeStatus": "Active"}
    assert code(refused(mturk.create_qualification_type, **again)) == "QualificationTypeAlreadyExists"
    mturk.approve_assignment(AssignmentId=assignment_id)
    mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    mturk.delete_hit(HITId=hit["HITId"])
    assert mturk.create_qualification_type(**again)["QualificationType"]["QualificationTypeId"] != took_part


def test_a_blocked_worker_gets_no_work_of_this_requester(
    marketplace: MarketplaceServer, mturk: Any, fresh_mturk: Any, make_hit: MakeHit
) -> None:
    hit, elsewhere = make_hit(mturk), make_hit(fresh_mturk)
    worker = marketplace.worker()
    named = {"WorkerId": worker.worker_id}
    mturk.create_worker_block(**named, Reason="Sends the same answers under two names.")
    listed = {group["hit_type_id"] for group in worker.groups()}
    assert hit["HITTypeId"] not in listed
    assert elsewhere["HITTypeId"] in listed
    assert worker.try_accept(hit["HITId"]).json()["type"] == "blocked"
    assert named["WorkerId"] in [row["WorkerId"] for row in mturk.list_worker_blocks()["WorkerBlocks"]]
    assert fresh_mturk.list_worker_blocks()["WorkerBlocks"] == []
    mturk.delete_worker_block(**named)
    mturk.delete_worker_block(**named)
    worker.do(hit["HITId"])
