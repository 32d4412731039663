"""Refusals to pay: by a person, one by one, with a reason and evidence; in some studies it takes two people."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest, NotAllowed
from humanexp.core.models import User
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Assignment, Call, CallKind, RejectionProposal, ReviewPolicy
from humanexp.recruitment.recruiters import kind_of
from humanexp.recruitment.services.outbox import plan_about, request_sending
from humanexp.recruitment.states import AssignmentState, ProposalState, WriteState, advance
from humanexp.studies import permissions
from humanexp.studies.models import Study
from humanexp.studies.roles import Action

#: Against a person's pay and standing, one failed check is not enough.
SIGNS_NEEDED = 2


@transaction.atomic
def reject(
    *, assignment: Assignment, reason: str, by: User, evidence: str = "", category: str = ""
) -> Call | RejectionProposal:
    """Refuse to pay one assignment. Only a person does this, with a reason that the worker can read.

    It takes two independent signs on record, or evidence written down here; one failed check is none. Where the study
    wants two people for it, it is a proposal until another agrees.
    """
    permissions.check(by, Action.REJECT, assignment.campaign.study)
    assignment = _locked(assignment)
    reason, evidence = reason.strip(), evidence.strip()
    can, grounds = assignment.campaign.capabilities, kind_of(assignment.environment).rejection_grounds
    if len(reason) < can.least_reason:
        raise InvalidRequest(
            "Write the reason in a sentence or two; the worker reads it.",
            fields={"reason": f"At least {can.least_reason} characters."},
        )
    if can.rejects_by_category and category not in grounds:
        raise InvalidRequest(
            "Choose the ground of the rejection. Missed checks, fast answers and failed practice are none here: pay "
            "the work, and exclude the session from the analysis.",
            fields={"category": "one of the list"},
        )
    _check_undecided(assignment)
    # Where grounds are asked for, what is on record here (checks, times, practice) is none of them.
    signs = () if can.rejects_by_category else selectors.signs_against(assignment)
    if len(signs) < SIGNS_NEEDED and len(evidence) < 20:
        raise InvalidRequest(
            f"{len(signs)} signs against this work are on record; it takes {SIGNS_NEEDED}. Write down your evidence, "
            "or exclude the session from the analysis and pay it.",
            fields={"evidence": "At least 20 characters."},
        )
    if not selectors.rejections_need_two(assignment.campaign.study):
        return _plan(assignment, reason=reason, evidence=evidence, category=category, by=by)
    proposal, is_new = RejectionProposal.objects.get_or_create(
        assignment=assignment,
        state=ProposalState.WAITING,
        defaults={"reason": reason, "evidence": evidence, "category": category, "by": by},
    )
    if is_new:
        record_about("propose-rejection", assignment, by, reason=reason)
    return proposal


@transaction.atomic
def agree_to_rejection(*, proposal: RejectionProposal, by: User) -> Call:
    """The second person has read it: the rejection is sent. Never by the one who proposed it."""
    permissions.check(by, Action.PAY, proposal.assignment.campaign.study)
    if proposal.by_id == by.pk:
        raise NotAllowed("A rejection in this study takes two people: another person must agree to yours.")
    assignment = _locked(proposal.assignment)
    _check_undecided(assignment)
    proposal = advance(proposal, ProposalState.AGREED, decided_by=by, decided_at=clock.now())
    record_about("agree-to-rejection", assignment, by)
    return _plan(
        assignment,
        reason=proposal.reason,
        evidence=proposal.evidence,
        category=proposal.category,
        by=proposal.by,
    )


@transaction.atomic
def decline_rejection(*, proposal: RejectionProposal, by: User) -> RejectionProposal:
    """It is not rejected: the proposal is taken back, or the second person disagrees. Paying is another decision."""
    if proposal.by_id != by.pk:  # who proposed it may take it back
        permissions.check(by, Action.PAY, proposal.assignment.campaign.study)
    assignment = _locked(proposal.assignment)
    proposal = advance(proposal, ProposalState.DECLINED, decided_by=by, decided_at=clock.now())
    record_about("decline-rejection", assignment, by)
    return proposal


@transaction.atomic
def set_review_policy(*, study: Study, rejections_need_two: bool, by: User) -> ReviewPolicy:
    """Whether a rejection waits for a second person; proposals that wait already go on waiting."""
    permissions.check(by, Action.MEMBERS, study)
    policy, _ = ReviewPolicy.objects.update_or_create(
        study=study, defaults={"rejections_need_two": rejections_need_two}
    )
    record(
        action="review-policy",
        subject=f"study:{study.slug}",
        study=study.slug,
        by=by,
        rejections_need_two=rejections_need_two,
    )
    return policy


def _locked(assignment: Assignment) -> Assignment:
    return Assignment.objects.select_for_update(of=("self",)).select_related("campaign__study").get(pk=assignment.pk)


def _check_undecided(assignment: Assignment) -> None:
    if assignment.state != AssignmentState.SUBMITTED:
        raise Conflict(f"This assignment is {assignment.get_state_display()} and cannot be rejected.")
    if assignment.calls.filter(kind=CallKind.REWARD).exclude(state=WriteState.REFUSED).exists():
        raise Conflict("This assignment is about to be paid and cannot be rejected.")


def _plan(assignment: Assignment, *, reason: str, evidence: str, category: str, by: User | None) -> Call:
    known: Call | None = assignment.calls.filter(kind=CallKind.REJECT).first()
    if known is not None:
        return known
    signs = list(selectors.signs_against(assignment))
    payload = {"category": category, "signs": signs, "evidence": evidence}
    rejection = plan_about(assignment, CallKind.REJECT, by=by, reason=reason, payload=payload)
    record_about("reject", assignment, by, reason=reason)
    request_sending(environment=assignment.environment)
    return rejection


def record_about(action: str, assignment: Assignment, by: User | None, **facts: Any) -> None:
    record(action=action, subject=f"assignment:{assignment.pk}", study=assignment.campaign.study.slug, by=by, **facts)
