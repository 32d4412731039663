"""A requester's money, workers and notifications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from humanexp.sites.marketplace import qualifications
from humanexp.sites.marketplace.accounts import balance_of, block, notify_workers, unblock, worker_by_id
from humanexp.sites.marketplace.api.dispatch import Answer, Call, list_answer, operation
from humanexp.sites.marketplace.api.structures import (
    qualification_request_structure,
    qualification_structure,
    qualification_type_structure,
    system_type_structure,
    worker_block_structure,
)
from humanexp.sites.marketplace.errors import InvalidQualificationState, QualificationDoesNotExist
from humanexp.sites.marketplace.models.people import Qualification, QualificationType
from humanexp.sites.marketplace.money import cents_to_dollars
from humanexp.sites.marketplace.notifications import send_test, set_notification
from humanexp.sites.marketplace.qualifications import (
    TypeValues,
    matching_types,
    owned_type,
    pending_requests,
    qualification_type,
    qualifications_of_type,
)
from humanexp.sites.marketplace.requirements import SYSTEM_TYPES, matching_system_types
from humanexp.sites.marketplace.work import hit_type_of


@operation("CreateQualificationType", writes=True)
def create_qualification_type(call: Call) -> Answer:
    created = qualifications.create_type(
        requester=call.requester,
        name=call.parameters["Name"],
        keywords=call.parameters.get("Keywords", ""),
        values=_values(call.parameters),
        now=call.now,
    )
    return {"QualificationType": qualification_type_structure(created)}


@operation("GetQualificationType")
def get_qualification_type(call: Call) -> Answer:
    wanted = call.parameters["QualificationTypeId"]
    if wanted in SYSTEM_TYPES:
        return {"QualificationType": system_type_structure(wanted)}
    return {"QualificationType": qualification_type_structure(qualification_type(wanted))}


@operation("ListQualificationTypes")
def list_qualification_types(call: Call) -> Answer:
    query, owned = call.parameters.get("Query", ""), call.parameters.get("MustBeOwnedByCaller", False)
    requestable = call.parameters["MustBeRequestable"]
    types = matching_types(call.requester, query=query, must_be_requestable=requestable, must_be_owned=owned)
    system = [] if requestable or owned else [system_type_structure(one) for one in matching_system_types(query)]
    return list_answer(call, "QualificationTypes", types, qualification_type_structure, made="created_at", then=system)


@operation("AssociateQualificationWithWorker", writes=True)
def associate_qualification(call: Call) -> None:
    qualifications.grant(
        owned=_owned(call),
        worker_id=call.parameters["WorkerId"],
        value=call.parameters.get("IntegerValue", 1),
        notify=call.parameters.get("SendNotification", True),
        now=call.now,
    )


@operation("DisassociateQualificationFromWorker", writes=True)
def disassociate_qualification(call: Call) -> None:
    qualifications.revoke(
        owned=_owned(call),
        worker_id=call.parameters["WorkerId"],
        reason=call.parameters.get("Reason", ""),
        now=call.now,
    )


@operation("GetQualificationScore")
def get_qualification_score(call: Call) -> Answer:
    owned = _owned(call)
    worker = worker_by_id(call.parameters["WorkerId"])
    found = owned.qualifications.select_related("worker", "qualification_type").filter(worker=worker).first()
    if found is None:
        raise QualificationDoesNotExist(
            f"You requested a Qualification that does not exist: worker {worker.worker_id}, "
            f"type {owned.qualification_type_id}."
        )
    if found.status == Qualification.Status.REVOKED:
        raise InvalidQualificationState("This operation can be called with a status of: Granted. It is Revoked.")
    return {"Qualification": qualification_structure(found)}


@operation("ListWorkersWithQualificationType")
def list_workers_with_qualification_type(call: Call) -> Answer:
    owned = _owned(call)
    status = call.parameters.get("Status", Qualification.Status.GRANTED)
    rows = qualifications_of_type(owned, status)
    within = f"{owned.qualification_type_id}:{status}"
    return list_answer(call, "Qualifications", rows, qualification_structure, within=within)


@operation("UpdateQualificationType", writes=True)
def update_qualification_type(call: Call) -> Answer:
    changed = qualifications.update_type(owned=_owned(call), values=_values(call.parameters), now=call.now)
    return {"QualificationType": qualification_type_structure(changed)}


@operation("DeleteQualificationType", writes=True)
def delete_qualification_type(call: Call) -> None:
    qualifications.dispose_type(owned=_owned(call), now=call.now)


@operation("ListQualificationRequests")
def list_qualification_requests(call: Call) -> Answer:
    """In the order they came; of one type, or of all that the caller owns."""
    owned = _owned(call) if "QualificationTypeId" in call.parameters else None
    return list_answer(
        call,
        "QualificationRequests",
        pending_requests(call.requester, owned),
        qualification_request_structure,
        order=("submitted_at", "pk"),
        within=str(owned.pk if owned else ""),
    )


@operation("AcceptQualificationRequest", writes=True)
def accept_qualification_request(call: Call) -> None:
    qualifications.accept(
        requester=call.requester,
        request_id=call.parameters["QualificationRequestId"],
        value=call.parameters.get("IntegerValue", 1),
        now=call.now,
    )


@operation("RejectQualificationRequest", writes=True)
def reject_qualification_request(call: Call) -> None:
    qualifications.reject(
        requester=call.requester,
        request_id=call.parameters["QualificationRequestId"],
        reason=call.parameters.get("Reason", ""),
        now=call.now,
    )


def _owned(call: Call) -> QualificationType:
    return owned_type(call.requester, call.parameters["QualificationTypeId"])


def _values(wanted: Mapping[str, Any]) -> TypeValues:
    return TypeValues(
        description=wanted.get("Description"),
        status=wanted.get("QualificationTypeStatus"),
        retry_delay_seconds=wanted.get("RetryDelayInSeconds"),
        is_auto_granted=wanted.get("AutoGranted"),
        auto_granted_value=wanted.get("AutoGrantedValue"),
        test=wanted.get("Test"),
        answer_key=wanted.get("AnswerKey"),
        test_duration_seconds=wanted.get("TestDurationInSeconds"),
    )


@operation("NotifyWorkers", writes=True)
def notify(call: Call) -> Answer:
    """The message lands on the worker's messages page."""
    undelivered = notify_workers(
        requester=call.requester,
        subject=call.parameters["Subject"],
        text=call.parameters["MessageText"],
        worker_ids=call.parameters["WorkerIds"],
        now=call.now,
    )
    failures = [
        {
            "NotifyWorkersFailureCode": "HardFailure",
            "NotifyWorkersFailureMessage": reason,
            "WorkerId": worker_id,
        }
        for worker_id, reason in undelivered.items()
    ]
    return {"NotifyWorkersFailureStatuses": failures}


@operation("CreateWorkerBlock", writes=True)
def create_worker_block(call: Call) -> None:
    block(
        requester=call.requester,
        worker_id=call.parameters["WorkerId"],
        reason=call.parameters["Reason"],
        now=call.now,
    )


@operation("DeleteWorkerBlock", writes=True)
def delete_worker_block(call: Call) -> None:
    unblock(requester=call.requester, worker_id=call.parameters["WorkerId"])


@operation("ListWorkerBlocks")
def list_worker_blocks(call: Call) -> Answer:
    blocks = call.requester.worker_blocks.select_related("worker")
    return list_answer(call, "WorkerBlocks", blocks, worker_block_structure)


@operation("GetAccountBalance")
def get_account_balance(call: Call) -> Answer:
    """Available: paid in and not yet paid out. On hold: the part of it that open HITs may still cost."""
    balance = balance_of(call.requester, call.now)
    return {
        "AvailableBalance": cents_to_dollars(balance.available),
        "OnHoldBalance": cents_to_dollars(balance.on_hold),
    }


@operation("UpdateNotificationSettings", writes=True)
def update_notification_settings(call: Call) -> None:
    set_notification(
        hit_type=hit_type_of(call.requester, call.parameters["HITTypeId"]),
        wanted=call.parameters.get("Notification"),
        is_active=call.parameters.get("Active"),
        now=call.now,
    )


@operation("SendTestEventNotification")  # it calls out, so it holds no transaction
def send_test_event_notification(call: Call) -> None:
    send_test(
        wanted=call.parameters["Notification"],
        event_type=call.parameters["TestEventType"],
        requester_id=str(call.requester.pk),
        now=call.now,
    )
