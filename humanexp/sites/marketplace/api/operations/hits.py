from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from humanexp.sites.marketplace.api.dispatch import Answer, Call, list_answer, operation
from humanexp.sites.marketplace.api.structures import assignment_structure, bonus_structure, hit_structure
from humanexp.sites.marketplace.assignments import approve, reject
from humanexp.sites.marketplace.errors import HITDoesNotExist, InvalidAssignmentState, InvalidParameterValue
from humanexp.sites.marketplace.hits import (
    HITTypeValues,
    add_assignments,
    change_type,
    dispose,
    make_hit,
    make_hit_type,
    mark_reviewing,
    send_bonus,
    set_expiration,
)
from humanexp.sites.marketplace.models.work import HIT, HITQuerySet, HITType
from humanexp.sites.marketplace.money import dollars_to_cents
from humanexp.sites.marketplace.qualifications import owned_type
from humanexp.sites.marketplace.states import HITState
from humanexp.sites.marketplace.work import (
    assignment_of,
    bonus_payments_of,
    hit_of,
    hit_type_of,
    hit_types_asking_for,
    hits_of,
    listed_assignments,
    upload_link,
)

_NO_POLICY = "no review policy is carried out here; judge each assignment."
_NO_LAYOUT = "there is no such layout; send the Question itself."
_NOT_DONE_HERE = {
    "AssignmentReviewPolicy": _NO_POLICY,
    "HITReviewPolicy": _NO_POLICY,
    "HITLayoutId": _NO_LAYOUT,
    "HITLayoutParameters": _NO_LAYOUT,
}
_NEWEST_FIRST = ("-created_at", "-pk")


@operation("CreateHITType", writes=True)
def create_hit_type(call: Call) -> Answer:
    return {"HITTypeId": _hit_type(call).hit_type_id}


@operation("CreateHIT", writes=True)
def create_hit(call: Call) -> Answer:
    return _create_hit(call, _hit_type(call))


@operation("CreateHITWithHITType", writes=True)
def create_hit_with_hit_type(call: Call) -> Answer:
    return _create_hit(call, hit_type_of(call.requester, call.parameters["HITTypeId"]))


@operation("GetHIT")
def get_hit(call: Call) -> Answer:
    hit = hit_of(call.requester, call.parameters["HITId"], call.now)
    return {"HIT": hit_structure(hit, call.now)}


@operation("ListHITs")
def list_hits(call: Call) -> Answer:
    return _page(call, hits_of(call.requester, call.now).listed(call.now))


@operation("ListReviewableHITs")
def list_reviewable_hits(call: Call) -> Answer:
    reviewing = call.parameters.get("Status") == "Reviewing"
    hits = hits_of(call.requester, call.now).reviewable(call.now, reviewing=reviewing)
    if "HITTypeId" in call.parameters:
        hits = hits.filter(hit_type=hit_type_of(call.requester, call.parameters["HITTypeId"]))
    return list_answer(call, "HITs", hits, _name_structure, order=_NEWEST_FIRST, made="created_at")


def _name_structure(hit: HIT) -> Mapping[str, Any]:
    """The real service names the HITs and says no more of them in this list."""
    return {"HITId": hit.hit_id}


@operation("CreateAdditionalAssignmentsForHIT", writes=True)
def create_additional_assignments(call: Call) -> None:
    add_assignments(
        hit=hit_of(call.requester, call.parameters["HITId"], call.now),
        number=call.parameters["NumberOfAdditionalAssignments"],
        token=call.parameters.get("UniqueRequestToken"),
        now=call.now,
    )


@operation("UpdateExpirationForHIT", writes=True)
def update_expiration(call: Call) -> None:
    set_expiration(
        hit=hit_of(call.requester, call.parameters["HITId"], call.now),
        expire_at=call.parameters["ExpireAt"],
        now=call.now,
    )


@operation("DeleteHIT", writes=True)
def delete_hit(call: Call) -> None:
    dispose(hit=hit_of(call.requester, call.parameters["HITId"], call.now), now=call.now)


@operation("ListHITsForQualificationType")
def list_hits_for_qualification_type(call: Call) -> Answer:
    owned = owned_type(call.requester, call.parameters["QualificationTypeId"])
    types = hit_types_asking_for(call.requester, owned.qualification_type_id)
    hits = hits_of(call.requester, call.now).listed(call.now).filter(hit_type__in=types)
    return _page(call, hits, owned.qualification_type_id)


@operation("UpdateHITReviewStatus", writes=True)
def update_review_status(call: Call) -> None:
    mark_reviewing(
        hit=hit_of(call.requester, call.parameters["HITId"], call.now),
        revert=call.parameters.get("Revert", False),
        now=call.now,
    )


@operation("UpdateHITTypeOfHIT", writes=True)
def update_hit_type(call: Call) -> None:
    change_type(
        hit=hit_of(call.requester, call.parameters["HITId"], call.now),
        hit_type=hit_type_of(call.requester, call.parameters["HITTypeId"]),
        now=call.now,
    )


@operation("ListReviewPolicyResultsForHIT")
def list_review_policy_results(call: Call) -> Answer:
    """No HIT here has a review policy, so there is nothing to report of one."""
    hit = hit_of(call.requester, call.parameters["HITId"], call.now)
    if call.parameters.get("NextToken"):
        raise InvalidParameterValue("NextToken is not one that this list has given out.")
    levels = call.parameters.get("PolicyLevels") or ["Assignment", "HIT"]
    return {"HITId": hit.hit_id, **{f"{level}ReviewReport": {} for level in levels}}


def _hit_type(call: Call) -> HITType:
    wanted = call.parameters
    optional = {
        "keywords": wanted.get("Keywords"),
        "auto_approval_delay_seconds": wanted.get("AutoApprovalDelayInSeconds"),
        "requirements": wanted.get("QualificationRequirements"),
    }
    values = HITTypeValues(
        title=wanted["Title"],
        description=wanted["Description"],
        reward_cents=dollars_to_cents(wanted["Reward"]),
        assignment_duration_seconds=wanted["AssignmentDurationInSeconds"],
        **{name: value for name, value in optional.items() if value is not None},
    )
    return make_hit_type(requester=call.requester, values=values, now=call.now)


def _create_hit(call: Call, hit_type: HITType) -> Answer:
    wanted = call.parameters
    for name, reason in _NOT_DONE_HERE.items():
        if name in wanted:
            raise InvalidParameterValue(f"{name}: {reason}")
    if "Question" not in wanted:
        raise InvalidParameterValue("Question: a HIT needs one.")
    hit = make_hit(
        hit_type=hit_type,
        question=wanted["Question"],
        lifetime_seconds=wanted["LifetimeInSeconds"],
        max_assignments=wanted.get("MaxAssignments", 1),
        annotation=wanted.get("RequesterAnnotation", ""),
        operation=call.operation,
        token=wanted.get("UniqueRequestToken"),
        now=call.now,
    )
    return {"HIT": hit_structure(hit_of(call.requester, hit.hit_id, call.now), call.now)}


def _page(call: Call, hits: HITQuerySet, within: str = "") -> Answer:
    structure = partial(hit_structure, now=call.now)
    return list_answer(call, "HITs", hits, structure, order=_NEWEST_FIRST, within=within, made="created_at")


@operation("ListAssignmentsForHIT")
def list_assignments_for_hit(call: Call) -> Answer:
    """In the order of submission, so that what comes in while a client turns pages is on a later page."""
    hit = hit_of(call.requester, call.parameters["HITId"], call.now)
    assignments = listed_assignments(hit, call.parameters.get("AssignmentStatuses", []), call.now)
    structure = partial(assignment_structure, now=call.now)
    order = ("submitted_at", "pk")
    return list_answer(call, "Assignments", assignments, structure, order=order, within=hit.hit_id, made="submitted_at")


@operation("GetAssignment")
def get_assignment(call: Call) -> Answer:
    assignment = assignment_of(call.requester, call.parameters["AssignmentId"])
    if assignment.submitted_at is None:
        raise InvalidAssignmentState(
            "This operation can be called with a status of: Reviewable,Approved,Rejected. "
            f"Assignment {assignment.assignment_id} has not been submitted."
        )
    hit = hit_of(call.requester, assignment.hit.hit_id, call.now)
    return {"Assignment": assignment_structure(assignment, call.now), "HIT": hit_structure(hit, call.now)}


@operation("ApproveAssignment", writes=True)
def approve_assignment(call: Call) -> None:
    approve(
        assignment=assignment_of(call.requester, call.parameters["AssignmentId"]),
        feedback=call.parameters.get("RequesterFeedback"),
        override_rejection=call.parameters.get("OverrideRejection", False),
        now=call.now,
    )


@operation("RejectAssignment", writes=True)
def reject_assignment(call: Call) -> None:
    reject(
        assignment=assignment_of(call.requester, call.parameters["AssignmentId"]),
        feedback=call.parameters["RequesterFeedback"],
        now=call.now,
    )


@operation("SendBonus", writes=True)
def send_bonus_payment(call: Call) -> None:
    send_bonus(
        assignment=assignment_of(call.requester, call.parameters["AssignmentId"]),
        worker_id=call.parameters["WorkerId"],
        amount_cents=dollars_to_cents(call.parameters["BonusAmount"]),
        reason=call.parameters["Reason"],
        token=call.parameters.get("UniqueRequestToken"),
        now=call.now,
    )


@operation("ListBonusPayments")
def list_bonus_payments(call: Call) -> Answer:
    payments = bonus_payments_of(call.requester)
    if "AssignmentId" in call.parameters:
        within = assignment_of(call.requester, call.parameters["AssignmentId"]).assignment_id
        payments = payments.filter(assignment__assignment_id=within)
    elif "HITId" in call.parameters:
        within = hit_of(call.requester, call.parameters["HITId"], call.now).hit_id
        payments = payments.filter(assignment__hit__hit_id=within)
    else:
        raise InvalidParameterValue("HITId or AssignmentId: one of them is needed.")
    return list_answer(call, "BonusPayments", payments, bonus_structure, within=within, made="granted_at")


@operation("GetFileUploadURL")
def get_file_upload_url(call: Call) -> Answer:
    """An address for the file, good for a minute and without a signature of its own."""
    assignment = assignment_of(call.requester, call.parameters["AssignmentId"])
    hit = hit_of(call.requester, assignment.hit.hit_id, call.now)
    if hit.state(call.now) is HITState.DISPOSED:
        raise HITDoesNotExist(f"Hit {hit.hit_id} has been deleted, and the files of its workers with it.")
    identifier = call.parameters["QuestionIdentifier"]
    uploaded = assignment.files.filter(question_identifier=identifier).first()
    if uploaded is None:
        raise InvalidParameterValue(f"QuestionIdentifier: no file was sent in answer to {identifier[:80]!r}.")
    return {"FileUploadURL": f"{call.site_url}{upload_link(uploaded)}"}
