"""Every operation of the service model: a request that succeeds, and one that is refused for what it asks.

Refusals of malformed values are in test_model_limits; here each request is well formed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests

from tests.limits import LIMIT
from tests.marketplace.documents import answer_key, file_question, question_form, selection_question
from tests.marketplace.model_requests import OPERATIONS, SERVICE
from tests.marketplace.queues import Queues
from tests.marketplace.requester import code, refused
from tests.marketplace.server import MarketplaceServer, RequesterKeys, WorkerClient, external_question
from tests.served import ROOT

_numbers = itertools.count(1)
TEST = question_form(selection_question("plate", "12", "8"))
KEY = answer_key({"plate": {("12",): 100}})


class World:
    """A lab with money, another lab, and people at work; each thing is made when it is asked for."""

    def __init__(self, server: MarketplaceServer, queues: Queues, mturk: Any, make_hit: Callable[..., Any]) -> None:
        self.server, self.queues, self.mturk, self._make_hit = server, queues, mturk, make_hit
        self.methods = {value: key for key, value in mturk.meta.method_to_api_mapping.items()}

    def call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        answer: dict[str, Any] = getattr(self.mturk, self.methods[operation])(**parameters)
        return answer

    def hit(self, **values: Any) -> str:
        return str(self._make_hit(self.mturk, **values)["HITId"])

    def hit_type(self, **values: Any) -> str:
        return str(self.call("CreateHITType", **{**HIT_TYPE, "Title": f"Type {next(_numbers)}", **values})["HITTypeId"])

    def submitted(self, hit_id: str = "") -> tuple[WorkerClient, str, str]:
        """A worker, the assignment and its HIT."""
        worker, hit_id = self.server.worker(), hit_id or self.hit()
        return worker, worker.do(hit_id), hit_id

    def judged(self) -> tuple[WorkerClient, str, str]:
        worker, assignment_id, hit_id = self.submitted()
        self.call("ApproveAssignment", AssignmentId=assignment_id)
        return worker, assignment_id, hit_id

    def qualification_type(self, **values: Any) -> str:
        wanted = {
            "Name": f"Kind {next(_numbers)}",
            "Description": "d",
            "QualificationTypeStatus": "Active",
            **values,
        }
        created = self.call("CreateQualificationType", **wanted)["QualificationType"]
        return str(created["QualificationTypeId"])

    def request(self) -> tuple[WorkerClient, str, str]:
        """A worker who waits for a qualification, its type and the request's id."""
        worker, type_id = self.server.worker(), self.qualification_type()
        return worker, type_id, worker.ask(type_id)["request_id"]

    def uploaded(self) -> tuple[str, str]:
        """An assignment with a file, and its HIT."""
        hit_id = self.hit(Question=question_form(file_question("photo")))
        assignment_id = self.server.worker().accept(hit_id)["assignment_id"]
        answer = requests.post(
            f"{self.server.url}/mturk/externalSubmit",
            data={"assignmentId": assignment_id},
            files={"photo": ("cat.png", b"\x89PNG cat")},
            headers={"Accept": "application/json"},
            timeout=LIMIT,
        )
        answer.raise_for_status()
        return assignment_id, hit_id


HIT_TYPE = {"Title": "t", "Description": "d", "Reward": "0.10", "AssignmentDurationInSeconds": 600}
HIT = {**HIT_TYPE, "LifetimeInSeconds": 3600, "Question": external_question()}
QUEUE = {
    "Destination": "http://localhost/queue",
    "Transport": "Email",
    "Version": "2014-08-15",
    "EventTypes": ["AssignmentSubmitted"],
}
NOBODY = "A0NOBODY"

#: Makes what is needed, and gives the parameters of a call that must succeed.
Succeeds = Callable[[World], dict[str, Any]]
#: The same of a call that must be refused, and with which TurkErrorCode.
Refuses = Callable[[World], tuple[dict[str, Any], str]]


def _reject(world: World) -> tuple[dict[str, Any], str]:
    return {"AssignmentId": world.judged()[1], "RequesterFeedback": "late"}, "InvalidAssignmentState"


CASES: dict[str, tuple[Succeeds, Refuses]] = {
    "AcceptQualificationRequest": (
        lambda w: {"QualificationRequestId": w.request()[2], "IntegerValue": 70},
        lambda w: ({"QualificationRequestId": "3NONE"}, "QualificationRequestDoesNotExist"),
    ),
    "ApproveAssignment": (
        lambda w: {"AssignmentId": w.submitted()[1]},
        lambda w: ({"AssignmentId": w.judged()[1]}, "InvalidAssignmentState"),
    ),
    "AssociateQualificationWithWorker": (
        lambda w: {"QualificationTypeId": w.qualification_type(), "WorkerId": w.server.worker().worker_id},
        lambda w: ({"QualificationTypeId": w.qualification_type(), "WorkerId": NOBODY}, "InvalidParameterValue"),
    ),
    "CreateAdditionalAssignmentsForHIT": (
        lambda w: {"HITId": w.hit(), "NumberOfAdditionalAssignments": 2},
        lambda w: ({"HITId": w.hit(), "NumberOfAdditionalAssignments": 9}, "InvalidMaximumAssignmentsIncrease"),
    ),
    "CreateHIT": (
        lambda w: {**HIT, "UniqueRequestToken": f"token-{next(_numbers)}"},
        lambda w: ({**HIT, "Question": "<ExternalQuestion/>"}, "XMLParseError"),
    ),
    "CreateHITType": (
        lambda w: HIT_TYPE,
        lambda w: (
            {**HIT_TYPE, "QualificationRequirements": [{"QualificationTypeId": "3NONE", "Comparator": "Exists"}]},
            "QualificationTypeDoesNotExist",
        ),
    ),
    "CreateHITWithHITType": (
        lambda w: {"HITTypeId": w.hit_type(), "LifetimeInSeconds": 60, "Question": external_question()},
        lambda w: (
            {"HITTypeId": "3NONE", "LifetimeInSeconds": 60, "Question": external_question()},
            "HITTypeDoesNotExist",
        ),
    ),
    "CreateQualificationType": (
        lambda w: {
            "Name": f"Quiz {next(_numbers)}",
            "Description": "d",
            "QualificationTypeStatus": "Active",
            "Test": TEST,
            "AnswerKey": KEY,
            "TestDurationInSeconds": 60,
        },
        lambda w: (
            {"Name": "Quiz", "Description": "d", "QualificationTypeStatus": "Active", "Test": TEST},
            "InvalidParameterValue",
        ),
    ),
    "CreateWorkerBlock": (
        lambda w: {"WorkerId": w.server.worker().worker_id, "Reason": "r"},
        lambda w: ({"WorkerId": NOBODY, "Reason": "r"}, "InvalidParameterValue"),
    ),
    "DeleteHIT": (
        lambda w: {"HITId": w.judged()[2]},
        lambda w: ({"HITId": w.submitted()[2]}, "InvalidHITState"),
    ),
    "DeleteQualificationType": (
        lambda w: {"QualificationTypeId": w.qualification_type()},
        lambda w: ({"QualificationTypeId": "3NONE"}, "QualificationTypeDoesNotExist"),
    ),
    "DeleteWorkerBlock": (
        lambda w: {"WorkerId": w.server.worker().worker_id},
        lambda w: ({"WorkerId": NOBODY}, "InvalidParameterValue"),
    ),
    "DisassociateQualificationFromWorker": (
        lambda w: _granted(w),
        lambda w: (
            {"QualificationTypeId": w.qualification_type(), "WorkerId": w.server.worker().worker_id},
            "InvalidQualificationState",
        ),
    ),
    "GetAccountBalance": (lambda w: {}, lambda w: ({}, "")),
    "GetAssignment": (
        lambda w: {"AssignmentId": w.submitted()[1]},
        lambda w: ({"AssignmentId": w.server.worker().accept(w.hit())["assignment_id"]}, "InvalidAssignmentState"),
    ),
    "GetFileUploadURL": (
        lambda w: {"AssignmentId": w.uploaded()[0], "QuestionIdentifier": "photo"},
        lambda w: ({"AssignmentId": w.uploaded()[0], "QuestionIdentifier": "film"}, "InvalidParameterValue"),
    ),
    "GetHIT": (lambda w: {"HITId": w.hit()}, lambda w: ({"HITId": "3NONE"}, "HITDoesNotExist")),
    "GetQualificationScore": (
        lambda w: _granted(w),
        lambda w: (
            {"QualificationTypeId": w.qualification_type(), "WorkerId": w.server.worker().worker_id},
            "QualificationDoesNotExist",
        ),
    ),
    "GetQualificationType": (
        lambda w: {"QualificationTypeId": w.qualification_type()},
        lambda w: ({"QualificationTypeId": "3NONE"}, "QualificationTypeDoesNotExist"),
    ),
    "ListAssignmentsForHIT": (
        lambda w: {"HITId": w.submitted()[2], "AssignmentStatuses": ["Submitted"]},
        lambda w: ({"HITId": "3NONE"}, "HITDoesNotExist"),
    ),
    "ListBonusPayments": (
        lambda w: {"HITId": w.submitted()[2]},
        lambda w: ({}, "InvalidParameterValue"),
    ),
    "ListHITs": (lambda w: {"MaxResults": 1}, lambda w: ({"NextToken": "none"}, "InvalidParameterValue")),
    "ListHITsForQualificationType": (
        lambda w: {"QualificationTypeId": w.qualification_type()},
        lambda w: ({"QualificationTypeId": "3NONE"}, "QualificationTypeDoesNotExist"),
    ),
    "ListQualificationRequests": (
        lambda w: {"QualificationTypeId": w.request()[1]},
        lambda w: ({"QualificationTypeId": "3NONE"}, "QualificationTypeDoesNotExist"),
    ),
    "ListQualificationTypes": (
        lambda w: {"MustBeRequestable": False, "MaxResults": 100},
        lambda w: ({"MustBeRequestable": True, "NextToken": "none"}, "InvalidParameterValue"),
    ),
    "ListReviewPolicyResultsForHIT": (
        lambda w: {"HITId": w.hit(), "PolicyLevels": ["Assignment"]},
        lambda w: ({"HITId": "3NONE"}, "HITDoesNotExist"),
    ),
    "ListReviewableHITs": (
        lambda w: {"Status": "Reviewable"},
        lambda w: ({"HITTypeId": "3NONE"}, "HITTypeDoesNotExist"),
    ),
    "ListWorkerBlocks": (lambda w: {}, lambda w: ({"NextToken": "none"}, "InvalidParameterValue")),
    "ListWorkersWithQualificationType": (
        lambda w: {"QualificationTypeId": w.qualification_type(), "Status": "Granted"},
        lambda w: ({"QualificationTypeId": "3NONE"}, "QualificationTypeDoesNotExist"),
    ),
    "NotifyWorkers": (
        lambda w: {"Subject": "s", "MessageText": "m", "WorkerIds": [w.judged()[0].worker_id]},
        lambda w: ({"Subject": "s", "MessageText": "", "WorkerIds": [NOBODY]}, "InvalidParameterValue"),
    ),
    "RejectAssignment": (
        lambda w: {"AssignmentId": w.submitted()[1], "RequesterFeedback": "empty"},
        _reject,
    ),
    "RejectQualificationRequest": (
        lambda w: {"QualificationRequestId": w.request()[2], "Reason": "r"},
        lambda w: ({"QualificationRequestId": "3NONE"}, "QualificationRequestDoesNotExist"),
    ),
    "SendBonus": (
        lambda w: _bonus(w),
        lambda w: ({**_bonus(w), "WorkerId": w.server.worker().worker_id}, "InvalidParameterValue"),
    ),
    "SendTestEventNotification": (
        lambda w: {"Notification": w.queues.queue("test-events"), "TestEventType": "Ping"},
        lambda w: ({"Notification": QUEUE, "TestEventType": "Ping"}, "InvalidTransportEndpoint"),
    ),
    "UpdateExpirationForHIT": (
        lambda w: {"HITId": w.hit(), "ExpireAt": datetime(2020, 1, 1, tzinfo=UTC)},
        lambda w: ({"HITId": w.hit(), "ExpireAt": datetime.now(UTC) + timedelta(days=20_000)}, "InvalidParameterValue"),
    ),
    "UpdateHITReviewStatus": (
        lambda w: {"HITId": w.submitted()[2]},
        lambda w: ({"HITId": w.hit()}, "InvalidHITState"),
    ),
    "UpdateHITTypeOfHIT": (
        lambda w: {"HITId": w.hit(), "HITTypeId": w.hit_type()},
        lambda w: ({"HITId": w.hit(), "HITTypeId": "3NONE"}, "HITTypeDoesNotExist"),
    ),
    "UpdateNotificationSettings": (
        lambda w: {"HITTypeId": w.hit_type(), "Notification": w.queues.queue("events"), "Active": True},
        lambda w: ({"HITTypeId": w.hit_type(), "Active": True}, "InvalidParameterValue"),
    ),
    "UpdateQualificationType": (
        lambda w: {"QualificationTypeId": w.qualification_type(), "Description": "other"},
        lambda w: (
            {
                "QualificationTypeId": w.qualification_type(Test=TEST, TestDurationInSeconds=60),
                "AutoGranted": True,
            },
            "InvalidParameterValue",
        ),
    ),
}


def _granted(world: World) -> dict[str, Any]:
    named = {"QualificationTypeId": world.qualification_type(), "WorkerId": world.server.worker().worker_id}
    world.call("AssociateQualificationWithWorker", **named, SendNotification=False)
    return named


def _bonus(world: World) -> dict[str, Any]:
    worker, assignment_id, _ = world.submitted()
    return {"WorkerId": worker.worker_id, "AssignmentId": assignment_id, "BonusAmount": "0.05", "Reason": "r"}


@pytest.fixture
def world(marketplace: MarketplaceServer, queues: Queues, mturk: Any, make_hit: Callable[..., Any]) -> World:
    return World(marketplace, queues, mturk, make_hit)


def test_every_operation_has_its_two_cases() -> None:
    assert sorted(CASES) == OPERATIONS
    assert len(OPERATIONS) == 39


def test_every_operation_is_documented() -> None:
    documented = (ROOT / "docs/marketplace.md").read_text(encoding="utf-8")
    assert [operation for operation in OPERATIONS if operation not in documented] == []


@pytest.mark.parametrize("operation", OPERATIONS)
def test_answers(world: World, operation: str) -> None:
    """Within the model (each reply is held against it by the client's hook), and with its metadata."""
    parameters = CASES[operation][0](world)
    answer = world.call(operation, **parameters)
    assert answer.pop("ResponseMetadata")["HTTPStatusCode"] == 200
    members = SERVICE.operation_model(operation).output_shape.members
    assert bool(answer) is bool(members)
    assert answer.keys() <= members.keys()


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one != "GetAccountBalance"])
def test_refuses_what_cannot_be(world: World, operation: str) -> None:
    parameters, expected = CASES[operation][1](world)
    err = refused(getattr(world.mturk, world.methods[operation]), **parameters)
    assert err.response["Error"]["Code"] == "RequestError"
    assert code(err) == expected, str(err)


def test_the_balance_is_refused_to_strangers(marketplace: MarketplaceServer) -> None:
    """It takes no parameter, so a wrong key is all that can be wrong."""
    stranger = marketplace.client(RequesterKeys("AKIANOBODY", "x"))
    assert refused(stranger.get_account_balance).response["Error"]["Code"] == "UnrecognizedClientException"


def test_boto3s_own_paginators_turn_the_pages(world: World, fresh_mturk: Any) -> None:
    """The lists that need nothing but an owner; the others are paged in their own tests."""
    world.mturk = fresh_mturk
    type_id = world.qualification_type()
    for _ in range(5):
        worker = world.server.worker()
        world.call("CreateWorkerBlock", WorkerId=worker.worker_id, Reason="r")
        world.hit(Reward="0.01")
        worker.ask(type_id)
    for name in ("list_hits", "list_worker_blocks", "list_qualification_requests"):
        paginator = fresh_mturk.get_paginator(name)
        pages = list(paginator.paginate(PaginationConfig={"PageSize": 2}))
        assert [page["NumResults"] for page in pages] == [2, 2, 1, 0]
        rows = [str(row) for page in pages for row in page[paginator.result_keys[0].expression]]
        assert len(set(rows)) == 5


def test_types_of_requesters_and_of_the_system_share_the_pages(world: World) -> None:
    search = {"MustBeRequestable": False, "MustBeOwnedByCaller": False, "Query": "worker"}
    whole = world.call("ListQualificationTypes", **search, MaxResults=100)["QualificationTypes"]
    assert {"000000000000000000L0", "00000000000000000071"} <= {row["QualificationTypeId"] for row in whole}
    pages = list(
        world.mturk.get_paginator("list_qualification_types").paginate(**search, PaginationConfig={"PageSize": 2})
    )
    assert all(page["NumResults"] == len(page["QualificationTypes"]) <= 2 for page in pages)
    assert [row["QualificationTypeId"] for page in pages for row in page["QualificationTypes"]] == [
        row["QualificationTypeId"] for row in whole
    ]
