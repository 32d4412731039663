from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from humanexp.sites.marketplace.api.protocol import operation_names, operation_of, read_parameters, render
from humanexp.sites.marketplace.errors import InvalidParameterValue, ResponseDrift, UnknownOperation, Unreadable

HIT_TYPE = {"Title": "t", "Description": "d", "Reward": "0.10", "AssignmentDurationInSeconds": 60}


def read(operation: str, **values: Any) -> dict[str, Any]:
    return read_parameters(operation, json.dumps(values).encode())


def test_reads_the_operation_from_the_target() -> None:
    assert operation_of("MTurkRequesterServiceV20170117.GetHIT") == "GetHIT"
    assert len(operation_names()) == 39
    for target in ["", "GetHIT", "MTurkRequesterServiceV20170117.GetTurkStatistic", "Other.GetHIT"]:
        with pytest.raises(UnknownOperation):
            operation_of(target)


def test_reads_timestamps_in_both_spellings_and_drops_nulls() -> None:
    expected = {"HITId": "3A", "ExpireAt": datetime(2026, 1, 1, tzinfo=UTC)}
    assert read("UpdateExpirationForHIT", HITId="3A", ExpireAt=1767225600.0) == expected
    assert read("UpdateExpirationForHIT", HITId="3A", ExpireAt="2026-01-01T00:00:00Z") == expected
    assert read("ListHITs", NextToken=None) == {}


@pytest.mark.parametrize("body", [b"[]", b"{", b"1", b'{"MaxResults": NaN}', b"\xff"])
def test_refuses_what_is_no_json_object(body: bytes) -> None:
    with pytest.raises(Unreadable):
        read_parameters("ListHITs", body)


@pytest.mark.parametrize(
    ("operation", "values", "names"),
    [
        ("GetHIT", {}, "HITId"),
        ("GetHIT", {"HITId": "3A", "Colour": "red"}, "Colour"),
        ("GetHIT", {"HITId": "lower"}, "HITId"),
        ("GetHIT", {"HITId": "3" * 65}, "HITId"),
        ("GetHIT", {"HITId": "3A\n"}, "HITId"),
        ("GetHIT", {"HITId": 3}, "HITId"),
        ("ListHITs", {"MaxResults": 0}, "MaxResults"),
        ("ListHITs", {"MaxResults": 101}, "MaxResults"),
        ("ListHITs", {"MaxResults": True}, "MaxResults"),
        ("ListAssignmentsForHIT", {"HITId": "3A", "AssignmentStatuses": ["Accepted"]}, r"AssignmentStatuses\[0\]"),
        ("CreateHITType", HIT_TYPE | {"Reward": "$1"}, "Reward"),
        ("CreateHITType", HIT_TYPE | {"Reward": ""}, "Reward"),
        ("CreateHITType", HIT_TYPE | {"Title": "x" * 129}, "Title"),
        ("CreateHITType", HIT_TYPE | {"Title": ""}, "Title"),
        ("CreateHITType", HIT_TYPE | {"AssignmentDurationInSeconds": 29}, "AssignmentDurationInSeconds"),
        ("CreateHITType", HIT_TYPE | {"AutoApprovalDelayInSeconds": 2_592_001}, "AutoApprovalDelayInSeconds"),
        (
            "CreateHITType",
            HIT_TYPE | {"QualificationRequirements": [{"QualificationTypeId": "3A", "Comparator": "Like"}]},
            r"QualificationRequirements\[0\].Comparator",
        ),
        (
            "CreateHITType",
            HIT_TYPE | {"QualificationRequirements": [{"QualificationTypeId": "3A", "Comparator": "Exists"}] * 11},
            "QualificationRequirements",
        ),
        ("CreateHITWithHITType", {"HITTypeId": "3A", "LifetimeInSeconds": 30, "Question": "ä" * 32_768}, "Question"),
        ("SendBonus", {"WorkerId": "B1", "BonusAmount": "1", "AssignmentId": "3A", "Reason": "r"}, "WorkerId"),
        ("SendBonus", {"WorkerId": "A1", "BonusAmount": "1.234", "AssignmentId": "3A", "Reason": "r"}, "BonusAmount"),
        ("NotifyWorkers", {"Subject": "s", "MessageText": "m", "WorkerIds": ["A1"] * 101}, "WorkerIds"),
        ("NotifyWorkers", {"Subject": "s" * 201, "MessageText": "m", "WorkerIds": ["A1"]}, "Subject"),
        ("UpdateExpirationForHIT", {"HITId": "3A", "ExpireAt": "soon"}, "not a time"),
        ("UpdateExpirationForHIT", {"HITId": "3A", "ExpireAt": 1e300}, "not a time"),
    ],
)
def test_refuses_values_and_names_the_parameter(operation: str, values: dict[str, Any], names: str) -> None:
    with pytest.raises(InvalidParameterValue, match=names):
        read(operation, **values)


def test_answers_are_walked_along_the_model() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    answer = {"HIT": {"HITId": "3A", "CreationTime": at, "Keywords": None, "MaxAssignments": 2}}
    assert render("GetHIT", answer) == {"HIT": {"HITId": "3A", "CreationTime": 1767225600.0, "MaxAssignments": 2}}


@pytest.mark.parametrize(
    "wrong",
    [
        {"Hit": {}},
        {"HIT": {"Colour": "red"}},
        {"HIT": {"HITStatus": "Sleeping"}},
        {"HIT": {"MaxAssignments": "2"}},
        {"HIT": {"MaxAssignments": True}},
        {"HIT": {"CreationTime": datetime(2026, 1, 1)}},  # noqa: DTZ001
        {"HIT": {"CreationTime": 1767225600}},
    ],
)
def test_an_answer_outside_the_model_cannot_leave(wrong: dict[str, Any]) -> None:
    with pytest.raises(ResponseDrift):
        render("GetHIT", wrong)
