"""The marketplace's rows as the structures of MTurk's service model."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from humanexp.sites.marketplace.models.people import Qualification, QualificationRequest, QualificationType, WorkerBlock
from humanexp.sites.marketplace.models.work import HIT, Assignment, BonusPayment
from humanexp.sites.marketplace.money import cents_to_dollars
from humanexp.sites.marketplace.requirements import SYSTEM_TYPES
from humanexp.sites.marketplace.states import AssignmentState


def hit_structure(hit: HIT, now: datetime) -> dict[str, Any]:
    """Needs a HIT with its counts."""
    hit_type = hit.hit_type
    return {
        "HITId": hit.hit_id,
        "HITTypeId": hit_type.hit_type_id,
        "HITGroupId": hit_type.group_id,
        "CreationTime": hit.created_at,
        "Title": hit_type.title,
        "Description": hit_type.description,
        "Question": hit.question,
        "Keywords": hit_type.keywords or None,
        "HITStatus": str(hit.state(now)),
        "MaxAssignments": hit.max_assignments,
        "Reward": cents_to_dollars(hit_type.reward_cents),
        "AutoApprovalDelayInSeconds": hit_type.auto_approval_delay_seconds,
        "Expiration": hit.expires_at,
        "AssignmentDurationInSeconds": hit_type.assignment_duration_seconds,
        "RequesterAnnotation": hit.annotation or None,
        "QualificationRequirements": hit_type.requirements,
        "HITReviewStatus": "NotReviewed",
        "NumberOfAssignmentsPending": hit.n_accepted,
        "NumberOfAssignmentsAvailable": hit.n_available,
        "NumberOfAssignmentsCompleted": hit.n_approved + hit.n_rejected,
    }


def assignment_structure(assignment: Assignment, now: datetime) -> dict[str, Any]:
    """Of a submitted one; the others are not the requester's to see."""
    rejected = assignment.state(now) is AssignmentState.REJECTED
    return {
        "AssignmentId": assignment.assignment_id,
        "WorkerId": assignment.worker.worker_id,
        "HITId": assignment.hit.hit_id,
        "AssignmentStatus": str(assignment.state(now)),
        "AutoApprovalTime": assignment.auto_approves_at,
        "AcceptTime": assignment.accepted_at,
        "SubmitTime": assignment.submitted_at,
        "ApprovalTime": assignment.approval_time(now),
        "RejectionTime": assignment.rejected_at if rejected else None,
        "Deadline": assignment.deadline_at,
        "Answer": assignment.answer,
        "RequesterFeedback": assignment.requester_feedback or None,
    }


def bonus_structure(bonus: BonusPayment) -> dict[str, Any]:
    return {
        "WorkerId": bonus.worker.worker_id,
        "BonusAmount": cents_to_dollars(bonus.amount_cents),
        "AssignmentId": bonus.assignment.assignment_id,
        "Reason": bonus.reason,
        "GrantTime": bonus.granted_at,
    }


def qualification_type_structure(owned: QualificationType) -> dict[str, Any]:
    return {
        "QualificationTypeId": owned.qualification_type_id,
        "CreationTime": owned.created_at,
        "Name": owned.name,
        "Description": owned.description,
        "Keywords": owned.keywords or None,
        "QualificationTypeStatus": str(owned.status),
        "Test": owned.test or None,
        "TestDurationInSeconds": owned.test_duration_seconds,
        "AnswerKey": owned.answer_key or None,
        "RetryDelayInSeconds": owned.retry_delay_seconds,
        "IsRequestable": owned.status == QualificationType.Status.ACTIVE,
        "AutoGranted": owned.is_auto_granted,
        "AutoGrantedValue": owned.auto_granted_value,
    }


def system_type_structure(qualification_type_id: str) -> dict[str, Any]:
    name, description = SYSTEM_TYPES[qualification_type_id]
    return {
        "QualificationTypeId": qualification_type_id,
        "Name": name,
        "Description": description,
        "QualificationTypeStatus": "Active",
        "IsRequestable": False,
        "AutoGranted": False,
    }


def qualification_structure(qualification: Qualification) -> dict[str, Any]:
    return {
        "QualificationTypeId": qualification.qualification_type.qualification_type_id,
        "WorkerId": qualification.worker.worker_id,
        "GrantTime": qualification.granted_at,
        "IntegerValue": qualification.value,
        "Status": str(qualification.status),
    }


def qualification_request_structure(request: QualificationRequest) -> dict[str, Any]:
    return {
        "QualificationRequestId": request.request_id,
        "QualificationTypeId": request.qualification_type.qualification_type_id,
        "WorkerId": request.worker.worker_id,
        "Test": request.test or None,
        "Answer": request.answer or None,
        "SubmitTime": request.submitted_at,
    }


def worker_block_structure(block: WorkerBlock) -> dict[str, Any]:
    return {"WorkerId": block.worker.worker_id, "Reason": block.reason}
