"""Refusals to pay: by a person, one by one, with a reason and evidence; in some studies it takes two people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Case, Exists, F, OuterRef, QuerySet, When

from humanexp.core import clock
from humanexp.core.errors import Conflict, InvalidRequest, NotAllowed
from humanexp.core.models import User, record
from humanexp.ledger.models import Call, CallKind, Payment, RejectionProposal, ReviewPolicy
from humanexp.ledger.outbox import plan_about, request_sending
from humanexp.participation.models import Session
from humanexp.recruiters import registry
from humanexp.recruiters.models import OVERRIDE_DAYS, UNMATCHED, Assignment, override_until
from humanexp.recruiters.registry import kind_of
from humanexp.recruiters.states import AssignmentState, ProposalState, WriteState, advance
from humanexp.screening.selectors import verdicts_on
from humanexp.studies import permissions
from humanexp.studies.models import Action, Study


@dataclass(frozen=True, kw_only=True)
class RejectedWork:
    """One rejection, and until when a person can override it."""

    #: its primary key
    assignment: int
    #: the person's code; empty where nobody is known
    participant: str
    reason: str
    override_until: datetime | None

    @property
    def days_left(self) -> int:
        """Whole days, the last one counted; 0 when it is too late."""
        if self.override_until is None:
            return 0
        return max(0, math.ceil((self.override_until - clock.now()) / timedelta(days=1)))


def signs_against(assignment: Assignment) -> tuple[str, ...]:
    """Independent things on record: gates and flags of the verdict, and a submission that fits no session of ours."""
    signs = []
    if assignment.evidence in UNMATCHED:
        signs.append(str(assignment.get_evidence_display()))
    if assignment.session is not None:
        verdict = verdicts_on([assignment.session]).get(assignment.session.pk)
        if verdict is not None:
            signs += [str(sign) for sign in (*verdict.reasons, *verdict.flags)]
    return tuple(dict.fromkeys(signs))


def rejections_need_two(study: Study) -> bool:
    """Whether a rejection in this study waits for a second person."""
    return ReviewPolicy.objects.filter(study=study, rejections_need_two=True).exists()


def proposed_rejections(*studies: Study) -> QuerySet[RejectionProposal]:
    """Those that wait for a second person, the one that time approves first at the head."""
    waiting = _proposed().filter(assignment__campaign__study__in=studies).order_by("assignment__auto_approves_at", "pk")
    return waiting.select_related("assignment__person__participant", "by")


def proposal_on(assignment: Assignment) -> RejectionProposal | None:
    """The rejection of this work that waits for a second person."""
    waiting = assignment.rejection_proposals.filter(state=ProposalState.WAITING)
    return waiting.select_related("by").first() if assignment.state == AssignmentState.SUBMITTED else None


def rejections(study: Study, most: int | None = None) -> list[RejectedWork]:
    """Those that stand, the one with the least time left first, the final ones at the end; so many, or all."""
    rejected = Assignment.objects.filter(campaign__study=study, state=AssignmentState.REJECTED)
    is_final = Case(When(submitted_at__lte=clock.now() - timedelta(days=OVERRIDE_DAYS), then=1), default=0)
    ordered = rejected.order_by(is_final, F("submitted_at").asc(nulls_last=True), "pk")
    # told by their keys first, so that no other column is sorted
    keys = list(ordered.values_list("pk", flat=True)[:most])
    columns = ("pk", "person__participant__code", "rejection_reason", "submitted_at")
    found = {
        pk: RejectedWork(
            assignment=pk, participant=participant or "", reason=reason, override_until=override_until(submitted_at)
        )
        for pk, participant, reason, submitted_at in Assignment.objects.filter(pk__in=keys).values_list(*columns)
    }
    return [found[key] for key in keys if key in found]


def pay_states(sessions: Sequence[Session]) -> Mapping[int, str]:
    """State of the assignment behind each session that a recruiter pays for, by the session's primary key."""
    paid = Assignment.objects.filter(session__in=list(sessions)).exclude(registry.at(vouches=False))
    return dict(paid.values_list("session_id", "state"))


def rejection_proposed(sessions: Sequence[Session]) -> set[int]:
    """Primary keys of those whose rejection waits for a second person."""
    return set(_proposed().filter(assignment__session__in=list(sessions)).values_list("assignment__session", flat=True))


def proposed_sessions(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Those whose rejection waits for a second person."""
    proposed = _proposed().filter(assignment__session__isnull=False)
    return sessions.filter(pk__in=proposed.values("assignment__session"))


def _proposed() -> QuerySet[RejectionProposal]:
    return RejectionProposal.objects.filter(state=ProposalState.WAITING, assignment__state=AssignmentState.SUBMITTED)


def unpaid_sessions(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Those that were submitted, and whose reward is not even planned."""
    planned = Payment.objects.filter(assignment=OuterRef("pk"), kind=CallKind.REWARD)
    waiting = Assignment.objects.filter(state=AssignmentState.SUBMITTED, session__isnull=False)
    waiting = waiting.exclude(registry.at(vouches=False))
    waiting = waiting.filter(~Exists(planned.exclude(state=WriteState.REFUSED)))
    return sessions.filter(pk__in=waiting.values("session"))


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
    kind = kind_of(assignment.environment)
    if len(reason) < kind.least_reason:
        raise InvalidRequest(
            "Write the reason in a sentence or two; the worker reads it.",
            fields={"reason": f"At least {kind.least_reason} characters."},
        )
    if kind.rejection_grounds and category not in kind.rejection_grounds:
        raise InvalidRequest(
            "Choose the ground of the rejection. Missed checks, fast answers and failed practice are none here: pay "
            "the work, and exclude the session from the analysis.",
            fields={"category": "one of the list"},
        )
    _check_undecided(assignment)
    # Where grounds are asked for, what is on record here (checks, times, practice) is none of them.
    signs = () if kind.rejection_grounds else signs_against(assignment)
    if len(signs) < SIGNS_NEEDED and len(evidence) < 20:
        raise InvalidRequest(
            f"{len(signs)} signs against this work are on record; it takes {SIGNS_NEEDED}. Write down your evidence, "
            "or exclude the session from the analysis and pay it.",
            fields={"evidence": "At least 20 characters."},
        )
    if not rejections_need_two(assignment.campaign.study):
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
    signs = list(signs_against(assignment))
    payload = {"category": category, "signs": signs, "evidence": evidence}
    rejection = plan_about(assignment, CallKind.REJECT, by=by, reason=reason, payload=payload)
    record_about("reject", assignment, by, reason=reason)
    request_sending(environment=assignment.environment)
    return rejection


def record_about(action: str, assignment: Assignment, by: User | None, **facts: Any) -> None:
    record(action=action, subject=f"assignment:{assignment.pk}", study=assignment.campaign.study.slug, by=by, **facts)
