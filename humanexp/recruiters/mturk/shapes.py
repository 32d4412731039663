"""MTurk's structures and XML as the port's values, and the other way round. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

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
