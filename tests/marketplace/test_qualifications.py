"""Qualifications over boto3, and what they open and hide at the worker site."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.marketplace.server import MarketplaceServer
from tests.marketplace.test_requester_api import code, refused

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


def test_the_way_of_a_qualification(marketplace: MarketplaceServer, mturk: Any, took_part: str) -> None:
    worker = marketplace.worker()
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
        assert known.http.get(f"{known.url}{path}", timeout=20).status_code == 404
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
    assert worker.http.get(f"{worker.url}{group['preview_url']}", timeout=20).status_code == preview_status
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
