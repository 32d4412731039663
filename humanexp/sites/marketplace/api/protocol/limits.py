"""Limits that stand in MTurk's guide, not in the service model. By member name, wherever the member occurs."""

from __future__ import annotations

YEAR_SECONDS = 31_536_000

#: Characters.
MAXIMUM_LENGTH = {
    "Title": 128,
    "Description": 2_000,
    "Keywords": 1_000,
    "Name": 200,
    "RequesterAnnotation": 255,
    "RequesterFeedback": 1_024,
    "Subject": 200,
    "MessageText": 4_096,
    "QuestionIdentifier": 255,
    "QualificationTypeId": 64,
    "QualificationRequestId": 64,
}
#: Of the UTF-8 text.
MAXIMUM_BYTES = {"Question": 65_535, "Test": 65_535, "AnswerKey": 65_535}
#: Members that must say something.
NOT_EMPTY = frozenset(
    {
        "Title",
        "Description",
        "Name",
        "Subject",
        "MessageText",
        "Reason",
        "Reward",
        "BonusAmount",
        "WorkerIds",
        "Destination",
        "EventTypes",
        "QualificationRequestId",
        "QuestionIdentifier",
    }
)
#: Smallest and largest number.
RANGE = {
    "LifetimeInSeconds": (30, YEAR_SECONDS),
    "AssignmentDurationInSeconds": (30, YEAR_SECONDS),
    "AutoApprovalDelayInSeconds": (0, 2_592_000),
    "MaxAssignments": (1, 1_000_000_000),
    "NumberOfAdditionalAssignments": (1, 1_000_000_000),
    "RetryDelayInSeconds": (0, YEAR_SECONDS),
    "TestDurationInSeconds": (1, YEAR_SECONDS),
    "IntegerValue": (-(2**31), 2**31 - 1),
    "AutoGrantedValue": (-(2**31), 2**31 - 1),
}
#: Entries of a list.
MAXIMUM_ENTRIES = {
    "QualificationRequirements": 10,
    "IntegerValues": 15,
    "LocaleValues": 30,
    "WorkerIds": 100,
}
#: These need no word.
MAY_BE_EMPTY = frozenset(
    {
        ("DisassociateQualificationFromWorker", "Reason"),
        ("RejectQualificationRequest", "Reason"),
        ("DeleteWorkerBlock", "Reason"),
    }
)
