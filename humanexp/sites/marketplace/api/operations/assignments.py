from __future__ import annotations

from functools import partial

from humanexp.sites.marketplace.api.registry import Answer, Call, list_answer, operation
from humanexp.sites.marketplace.api.structures import assignment_structure, bonus_structure, hit_structure
from humanexp.sites.marketplace.errors import HITDoesNotExist, InvalidAssignmentState, InvalidParameterValue
from humanexp.sites.marketplace.money import dollars_to_cents
from humanexp.sites.marketplace.selectors.work import (
    assignment_of,
    bonus_payments_of,
    hit_of,
    listed_assignments,
    upload_link,
)
from humanexp.sites.marketplace.services.assignments import approve, reject
from humanexp.sites.marketplace.services.payments import send_bonus
from humanexp.sites.marketplace.states import HITState


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
