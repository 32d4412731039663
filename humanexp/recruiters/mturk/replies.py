"""What goes over the wire and what comes back: limits that boto3 does not check, what a refusal means, what is a reply.

MTurk's structures and XML become the port's values here, and the other way round. A reply has a request id, JSON of the
form that the service model gives, the members that we read, and speaks of what was asked: botocore makes an empty
dictionary of a cut, empty or HTML body, which is also what a successful payment looks like. Turk codes are not in the
service model: the code is matched, or a stable part of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from botocore.exceptions import BotoCoreError
from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from humanexp.core.errors import (
    AlreadyDone,
    InsufficientFunds,
    InvalidRequest,
    KeysRefused,
    NotAtRecruiter,
    OutcomeUnknown,
    RecruiterError,
    RecruiterUnavailable,
    StateRefused,
)
from humanexp.recruiters import money
from humanexp.recruiters.port import OfferReport, OfferTerms, SubmissionReport
from humanexp.recruiters.states import AssignmentState

_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
_QUESTION = f"{_SCHEMAS}/2006-07-14/ExternalQuestion.xsd"


def external_question(*, url: str, frame_height_px: int) -> str:
    """A page of ours, shown in a frame; height 0 fills the window."""
    return (
        f'<ExternalQuestion xmlns="{_QUESTION}"><ExternalURL>{escape(url)}</ExternalURL>'
        f"<FrameHeight>{frame_height_px:d}</FrameHeight></ExternalQuestion>"
    )


def read_answers(xml: str) -> dict[str, str]:
    """Fields of a QuestionFormAnswers document; empty when it is broken or hostile (entities, external references)."""
    try:
        root = ElementTree.fromstring(xml)
    except (ElementTree.ParseError, DefusedXmlException, ValueError):
        return {}
    fields: dict[str, str] = {}
    for answer in root:
        # The namespace carries a date: match the local name.
        parts = {child.tag.rpartition("}")[2]: child.text or "" for child in answer}
        if "QuestionIdentifier" in parts:
            fields.setdefault(parts["QuestionIdentifier"], parts.get("FreeText", ""))
    return fields


STATES = {
    "Submitted": AssignmentState.SUBMITTED,
    "Approved": AssignmentState.APPROVED,
    "Rejected": AssignmentState.REJECTED,
}
# Qualifications that the service keeps by itself; the same in every environment.
PERCENT_APPROVED = "000000000000000000L0"
HITS_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
_MASTERS = "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"
_SANDBOX_MASTERS = "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"
#: Hidden from everybody who does not meet it.
_HIDDEN = "DiscoverPreviewAndAccept"


def cents_of(amount: str) -> int:
    return money.cents(amount.rstrip("."))


def offer_report(hit: Mapping[str, Any]) -> OfferReport:
    return OfferReport(
        offer_id=hit["HITId"],
        annotation=hit.get("RequesterAnnotation", ""),
        is_open=hit.get("HITStatus") == "Assignable",
        places=hit.get("MaxAssignments", 0),
        available=hit.get("NumberOfAssignmentsAvailable", 0),
        pending=hit.get("NumberOfAssignmentsPending", 0),
        completed=hit.get("NumberOfAssignmentsCompleted", 0),
        expires_at=hit.get("Expiration"),
    )


def submission_report(assignment: Mapping[str, Any]) -> SubmissionReport:
    return SubmissionReport(
        submission_id=assignment["AssignmentId"],
        person_id=assignment["WorkerId"],
        offer_id=assignment["HITId"],
        state=STATES[assignment["AssignmentStatus"]],
        submitted_at=assignment["SubmitTime"],
        auto_approves_at=assignment.get("AutoApprovalTime"),
        decided_at=assignment.get("ApprovalTime") or assignment.get("RejectionTime"),
        answers=read_answers(assignment.get("Answer", "")),
    )


def requirement_list(terms: OfferTerms, *, is_sandbox: bool) -> list[dict[str, Any]]:
    """QualificationRequirements of a HIT type."""
    marked = [_requirement(terms.hidden_from, "DoesNotExist")] if terms.hidden_from else []
    return [*_of_the_system(terms, is_sandbox), *marked]


def _of_the_system(terms: OfferTerms, is_sandbox: bool) -> Iterator[dict[str, Any]]:
    asked = terms.requirements
    if asked.approval_percent is not None:
        yield _requirement(PERCENT_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[asked.approval_percent])
    if asked.hits_approved is not None:
        yield _requirement(HITS_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[asked.hits_approved])
    if asked.countries:
        # EqualTo takes one place alone
        yield _requirement(LOCALE, "In", LocaleValues=[{"Country": country} for country in asked.countries])
    if asked.adult:
        yield _requirement(ADULT, "EqualTo", IntegerValues=[1])
    if asked.masters:
        yield _requirement(_SANDBOX_MASTERS if is_sandbox else _MASTERS, "Exists")


def _requirement(type_id: str, comparator: str, **values: Any) -> dict[str, Any]:
    return {"QualificationTypeId": type_id, "Comparator": comparator, "ActionsGuarded": _HIDDEN, **values}


def hits_told(body: str) -> list[str]:
    """HIT ids of a notification; none of a body that is something else, which anybody might have put there."""
    try:
        events = json.loads(body)["Events"]
        return [str(event["HITId"]) for event in events if event.get("HITId")]
    except (ValueError, TypeError, KeyError, AttributeError):
        return []


KEY_FAULTS = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AWS.NotAuthorized",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "IncompleteSignatureException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "OptInRequired",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
THROTTLES = frozenset(
    {"Throttling", "ThrottlingException", "ThrottledException", "TooManyRequestsException", "RequestLimitExceeded"}
)
_STATE_FAULTS = ("InvalidAssignmentState", "InvalidHITState", "InvalidQualificationState")
_REPEATS = ("HitAlreadyExists", "QualificationTypeAlreadyExists")


def fault_of(environment: str, reply: Mapping[str, Any], *, unsaid: Collection[str] = ()) -> RecruiterError:
    """The error that a refused call is to us. Worker ids in `unsaid` are taken out of its words."""
    fault = reply.get("Error", {})
    code, message = str(fault.get("Code", "")), str(fault.get("Message", ""))
    for worker_id in unsaid:
        message = message.replace(worker_id, "(worker)")
    turk_code = str(reply.get("TurkErrorCode", "")).rpartition(".")[2]
    said = f"{environment}: {message or code}"
    if code in KEY_FAULTS or turk_code == "NotAuthorized":
        return KeysRefused(f"{said} Check the access keys.")
    if code in THROTTLES:
        return RecruiterUnavailable(f"{said} Too many requests; nothing was changed.")
    if turk_code == "InsufficientFunds":
        return InsufficientFunds(f"{said} Add money to the requester's account; then it is sent.")
    if turk_code in _REPEATS or "already been processed" in message or "already created a Qual" in message:
        return AlreadyDone(said)
    if turk_code.endswith("DoesNotExist"):
        return NotAtRecruiter(said)
    if turk_code in _STATE_FAULTS:
        return StateRefused(said)
    if reply.get("ResponseMetadata", {}).get("HTTPStatusCode", 500) >= 500:
        return OutcomeUnknown(f"{said} Whether it took effect is unknown.")
    return RecruiterError(said)


#: Characters, by parameter (MTurk API guide).
MAX_CHARACTERS = {
    "Title": 128,
    "Description": 2_000,
    "Keywords": 1_000,
    "RequesterAnnotation": 255,
    "RequesterFeedback": 1_024,
    "Reason": 1_024,
    "Subject": 200,
    "MessageText": 4_096,
}
MAX_BYTES = {"Question": 65_535}
#: Smallest and largest number, by parameter.
RANGE = {
    "LifetimeInSeconds": (30, 31_536_000),
    "AssignmentDurationInSeconds": (30, 31_536_000),
    "AutoApprovalDelayInSeconds": (0, 2_592_000),
    "MaxAssignments": (1, 10**9),
    "NumberOfAdditionalAssignments": (1, 10**9),
}
#: Parameters that may not be blank.
REQUIRED_TEXT = frozenset({"Title", "Description", "Reason", "RequesterFeedback", "Subject", "MessageText"})


def check_parameters(shape: Any, parameters: Mapping[str, Any]) -> None:
    """Refuse what the service would refuse, before anything is sent. `shape` is botocore's input shape."""
    faults = dict(_broken_limits(shape, parameters, ""))
    if faults:
        name, fault = next(iter(faults.items()))
        raise InvalidRequest(f"{name}: {fault}", fields=faults)


def _broken_limits(shape: Any, value: Any, name: str) -> Iterator[tuple[str, str]]:
    match shape.type_name:
        case "structure":
            for member, given in value.items():
                if member in shape.members:
                    yield from _broken_limits(shape.members[member], given, member)
        case "list":
            for given in value:
                yield from _broken_limits(shape.member, given, name)
        case "string":
            yield from _text_faults(shape, str(value), name)
        case "integer" | "long" if name in RANGE:
            low, high = RANGE[name]
            if not low <= value <= high:
                yield name, f"{value} is not between {low} and {high}."


def _text_faults(shape: Any, text: str, name: str) -> Iterator[tuple[str, str]]:
    longest = MAX_CHARACTERS.get(name, shape.metadata.get("max"))
    if longest is not None and len(text) > longest:
        yield name, f"{len(text)} characters are more than the {longest} allowed."
    if name in MAX_BYTES and len(text.encode()) > MAX_BYTES[name]:
        yield name, f"the text is longer than {MAX_BYTES[name]} bytes."
    if name in REQUIRED_TEXT and not text.strip():
        yield name, "this may not be empty."
    if "pattern" in shape.metadata and not re.search(shape.metadata["pattern"], text):
        yield name, "this does not have the form that the recruiter asks for."
    if shape.enum and text not in shape.enum:
        yield name, f"this is none of {', '.join(shape.enum)}."


#: States in which an assignment is listed.
LISTED_STATES = ("Submitted", "Approved", "Rejected")


class NotAReply(BotoCoreError):
    """What came back was not written by the service, or not to the end."""

    fmt = "{why}"


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The part of a reply that we read: one structure, or each of a page's."""

    #: where it stands; "" is the reply itself
    member: str = ""
    required: tuple[str, ...]
    #: members that repeat what was asked, where they are there
    echoes: tuple[str, ...] = ()
    is_page: bool = False


_HIT = ("HITId", "HITStatus", "MaxAssignments")
_ASSIGNMENT = ("AssignmentId", "WorkerId", "HITId", "AssignmentStatus", "SubmitTime")
#: Seconds since 1970 that are a year of four digits.
LATEST_S = 253_402_300_800
#: By operation. A write that is not here answers with nothing: any member makes it another call's reply.
EXPECTED: Mapping[str, Expected] = {
    "GetAccountBalance": Expected(required=("AvailableBalance",)),
    "GetHIT": Expected(member="HIT", required=_HIT, echoes=("HITId",)),
    "ListHITs": Expected(member="HITs", required=_HIT, is_page=True),
    "CreateHITType": Expected(required=("HITTypeId",)),
    "CreateHITWithHITType": Expected(
        member="HIT", required=("HITId",), echoes=("HITTypeId", "RequesterAnnotation", "MaxAssignments")
    ),
    "GetAssignment": Expected(member="Assignment", required=_ASSIGNMENT, echoes=("AssignmentId",)),
    "ListAssignmentsForHIT": Expected(member="Assignments", required=_ASSIGNMENT, echoes=("HITId",), is_page=True),
    "ListBonusPayments": Expected(
        # without its reason a bonus would not be found again, and be paid once more
        member="BonusPayments",
        required=("AssignmentId", "WorkerId", "BonusAmount", "Reason"),
        echoes=("AssignmentId",),
        is_page=True,
    ),
    "CreateQualificationType": Expected(
        member="QualificationType", required=("QualificationTypeId",), echoes=("Name",)
    ),
    "ListQualificationTypes": Expected(
        member="QualificationTypes", required=("QualificationTypeId", "Name"), is_page=True
    ),
    "GetQualificationScore": Expected(
        member="Qualification", required=("Status",), echoes=("QualificationTypeId", "WorkerId")
    ),
}
#: Answers with a list of those who could not be reached; an empty one may be left out.
MAY_BE_EMPTY = frozenset({"NotifyWorkers"})


def refuse_what_is_none(operation_model: Any, response_dict: Mapping[str, Any], **_rest: Any) -> None:
    """botocore's `before-parse` event: raises NotAReply for a success that cannot be one."""
    if response_dict["status_code"] >= 300:
        return  # `is_refusal` looks at these
    fault = next(_faults(operation_model, response_dict), "")
    if fault:
        raise NotAReply(why=f"{operation_model.name}: {fault}")


def is_refusal(reply: Mapping[str, Any]) -> bool:
    """An error that the service itself has written, so that it says what was done; `reply` as botocore read it."""
    code = str(reply.get("Error", {}).get("Code", ""))
    # of a page of HTML botocore makes the status, or a word of its own
    return bool(reply.get("ResponseMetadata", {}).get("RequestId")) and not (
        code.isdecimal() or code in ("", "Unknown")
    )


def check_answer(operation: str, asked: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
    """Raise NotAReply for a reply, as botocore read it, that tells of something else than was asked."""
    expected = EXPECTED.get(operation)
    for found in _structures(expected, reply) if expected else ():
        for name in expected.echoes if expected else ():
            if name in asked and name in found and str(found[name]) != str(asked[name]):
                raise NotAReply(why=f"{operation}: the reply is about another {name}.")


def _faults(operation: Any, response: Mapping[str, Any]) -> Iterator[str]:
    headers = {name.lower(): value for name, value in response["headers"].items()}
    if response["status_code"] != 200:
        yield f"the status is {response['status_code']}."
    if not headers.get("x-amzn-requestid"):
        yield "the reply has no request id."
    try:
        body = json.loads(response["body"], parse_constant=_no_constant)
    except (ValueError, RecursionError):
        yield "the reply is no JSON, or was cut."
        return
    if not isinstance(body, dict):
        yield "the reply is no structure."
        return
    if operation.output_shape is not None:
        yield from _form_faults(operation.output_shape, body, operation.name)
    yield from _member_faults(operation.name, body)


def _no_constant(word: str) -> None:
    raise ValueError(word)  # NaN and infinities are no JSON


def _member_faults(operation: str, body: Mapping[str, Any]) -> Iterator[str]:
    expected = EXPECTED.get(operation)
    if expected is None:
        if body and operation not in MAY_BE_EMPTY:
            yield "the reply is another call's."
        return
    if expected.is_page:
        listed = body.get(expected.member)
        if listed is None:
            yield f"{expected.member} is missing."
        elif body.get("NumResults") != len(listed):
            yield f"a page of {len(listed)} says that it has {body.get('NumResults')}."
    elif expected.member and body.get(expected.member) is None:
        yield f"{expected.member} is missing."
    for found in _structures(expected, body):
        missing = [name for name in expected.required if found.get(name) in (None, "")]
        if missing:
            yield f"{', '.join(missing)} is missing."
        if found.get("AssignmentStatus", "Submitted") not in LISTED_STATES:
            yield f"{found['AssignmentStatus']} is no state of a listed assignment."
        for name in ("BonusAmount", "AvailableBalance"):
            if name in found and not _is_money(found[name]):
                yield f"{name} is no amount of money."


def _structures(expected: Expected, body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    if expected.is_page:
        return list(body.get(expected.member) or [])
    return [body.get(expected.member) or {} if expected.member else body]


def _is_money(amount: str) -> bool:
    try:
        money.cents(amount.rstrip("."))
    except InvalidRequest:
        return False
    return True


#: What JSON makes of the model's types; all others are strings.
_TYPES: Mapping[str, Any] = {
    "structure": dict,
    "map": dict,
    "list": list,
    "boolean": bool,
    "integer": int,
    "long": int,
    "timestamp": (int, float),
    "float": (int, float),
    "double": (int, float),
}


def _form_faults(shape: Any, value: Any, name: str) -> Iterator[str]:
    """Types that are not the model's. Members that it does not know may be newer than it; None is a missing one."""
    if value is None:
        return
    kind = shape.type_name
    if not isinstance(value, _TYPES.get(kind, str)) or (isinstance(value, bool) and kind != "boolean"):
        yield f"{name} is no {kind}."
        return
    if kind == "timestamp" and not 0 <= value < LATEST_S:
        yield f"{name} is no time."
    for inner, given, called in _inside(shape, value, name):
        yield from _form_faults(inner, given, called)


def _inside(shape: Any, value: Any, name: str) -> Iterable[tuple[Any, Any, str]]:
    match shape.type_name:
        case "structure":
            return [(shape.members[each], given, each) for each, given in value.items() if each in shape.members]
        case "list":
            return [(shape.member, given, name) for given in value]
    return []
