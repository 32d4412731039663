from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from humanexp.marketplace.errors import InvalidParameterValue, OperationNotOffered
from humanexp.marketplace.models import HITType
from humanexp.marketplace.models.hits import HITQuerySet
from humanexp.marketplace.money import dollars_to_cents
from humanexp.marketplace.pagination import page_of
from humanexp.marketplace.registry import Answer, Call, operation
from humanexp.marketplace.selectors.work import hit_of, hit_type_of, hits_of
from humanexp.marketplace.services.hits import (
    HITTypeValues,
    HITValues,
    add_assignments,
    dispose,
    make_hit,
    make_hit_type,
    set_expiration,
)
from humanexp.marketplace.structures import hit_structure

_NOT_OFFERED = ("AssignmentReviewPolicy", "HITReviewPolicy", "HITLayoutId", "HITLayoutParameters")
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
    return _page(call, hits)


@operation("CreateAdditionalAssignmentsForHIT", writes=True)
def create_additional_assignments(call: Call) -> Answer:
    add_assignments(
        hit=hit_of(call.requester, call.parameters["HITId"], call.now),
        number=call.parameters["NumberOfAdditionalAssignments"],
        token=call.parameters.get("UniqueRequestToken"),
        now=call.now,
    )
    return {}


@operation("UpdateExpirationForHIT", writes=True)
def update_expiration(call: Call) -> Answer:
    set_expiration(
        hit=hit_of(call.requester, call.parameters["HITId"], call.now),
        expire_at=call.parameters["ExpireAt"],
        now=call.now,
    )
    return {}


@operation("DeleteHIT", writes=True)
def delete_hit(call: Call) -> Answer:
    dispose(hit=hit_of(call.requester, call.parameters["HITId"], call.now), now=call.now)
    return {}


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
    hit = make_hit(
        hit_type=hit_type,
        values=_hit_values(call.parameters),
        operation=call.operation,
        token=call.parameters.get("UniqueRequestToken"),
        now=call.now,
    )
    return {"HIT": hit_structure(hit_of(call.requester, hit.hit_id, call.now), call.now)}


def _hit_values(wanted: Mapping[str, Any]) -> HITValues:
    for name in _NOT_OFFERED:
        if name in wanted:
            raise OperationNotOffered(f"{name} belongs to MTurk's API, but this marketplace does not offer it yet.")
    if "Question" not in wanted:
        raise InvalidParameterValue("Question: a HIT needs one.")
    return HITValues(
        question=wanted["Question"],
        lifetime_seconds=wanted["LifetimeInSeconds"],
        max_assignments=wanted.get("MaxAssignments", 1),
        annotation=wanted.get("RequesterAnnotation", ""),
    )


def _page(call: Call, hits: HITQuerySet) -> Answer:
    scope = f"{call.operation}:{call.requester.pk}"
    rows, token = page_of(hits, call.parameters, order=_NEWEST_FIRST, scope=scope)
    return {"NextToken": token, "NumResults": len(rows), "HITs": [hit_structure(hit, call.now) for hit in rows]}
