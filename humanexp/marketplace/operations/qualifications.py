from __future__ import annotations

from humanexp.marketplace.errors import (
    InvalidParameterValue,
    InvalidQualificationState,
    OperationNotOffered,
    QualificationDoesNotExist,
)
from humanexp.marketplace.models import Qualification, QualificationType
from humanexp.marketplace.pagination import page_of
from humanexp.marketplace.registry import Answer, Call, operation
from humanexp.marketplace.requirements import SYSTEM_TYPES
from humanexp.marketplace.selectors.accounts import worker_by_id
from humanexp.marketplace.selectors.qualifications import matching_types, qualification_type, qualifications_of_type
from humanexp.marketplace.services import qualifications
from humanexp.marketplace.structures import (
    qualification_structure,
    qualification_type_structure,
    system_type_structure,
)

_TEST_MEMBERS = ("Test", "AnswerKey", "TestDurationInSeconds")


@operation("CreateQualificationType", writes=True)
def create_qualification_type(call: Call) -> Answer:
    wanted = call.parameters
    for name in _TEST_MEMBERS:
        if name in wanted:
            raise OperationNotOffered(f"{name}: qualification tests are not offered by this marketplace yet.")
    if "AutoGrantedValue" in wanted and not wanted.get("AutoGranted"):
        raise InvalidParameterValue("AutoGrantedValue: needs AutoGranted.")
    created = qualifications.create_type(
        requester=call.requester,
        name=wanted["Name"],
        description=wanted["Description"],
        status=wanted["QualificationTypeStatus"],
        keywords=wanted.get("Keywords", ""),
        retry_delay_seconds=wanted.get("RetryDelayInSeconds"),
        is_auto_granted=wanted.get("AutoGranted", False),
        auto_granted_value=wanted.get("AutoGrantedValue", 1) if wanted.get("AutoGranted") else None,
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
    types = matching_types(
        call.requester,
        query=call.parameters.get("Query", ""),
        must_be_requestable=call.parameters["MustBeRequestable"],
        must_be_owned=call.parameters.get("MustBeOwnedByCaller", False),
    )
    rows, token = page_of(types, call.parameters, order=("pk",), scope=f"{call.operation}:{call.requester.pk}")
    structures = [qualification_type_structure(row) for row in rows]
    return {"NumResults": len(rows), "NextToken": token, "QualificationTypes": structures}


@operation("AssociateQualificationWithWorker", writes=True)
def associate_qualification(call: Call) -> Answer:
    qualifications.grant(
        owned=_owned(call),
        worker_id=call.parameters["WorkerId"],
        value=call.parameters.get("IntegerValue", 1),
        notify=call.parameters.get("SendNotification", True),
        now=call.now,
    )
    return {}


@operation("DisassociateQualificationFromWorker", writes=True)
def disassociate_qualification(call: Call) -> Answer:
    qualifications.revoke(
        owned=_owned(call),
        worker_id=call.parameters["WorkerId"],
        reason=call.parameters.get("Reason", ""),
        now=call.now,
    )
    return {}


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
    rows, token = page_of(
        qualifications_of_type(owned, status),
        call.parameters,
        order=("pk",),
        scope=f"{call.operation}:{owned.qualification_type_id}:{status}",
    )
    structures = [qualification_structure(row) for row in rows]
    return {"NextToken": token, "NumResults": len(rows), "Qualifications": structures}


def _owned(call: Call) -> QualificationType:
    owned = qualification_type(call.parameters["QualificationTypeId"])
    qualifications.require_owner(requester=call.requester, owned=owned)
    return owned
