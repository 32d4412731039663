"""What speaks against a submission, and how long a rejection can be taken back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, Exists, F, OuterRef, QuerySet, When

from humanexp.core import clock
from humanexp.participation.models import Session
from humanexp.recruitment import recruiters
from humanexp.recruitment.models import Assignment, CallKind, Payment, RejectionProposal, ReviewPolicy
from humanexp.recruitment.models.campaigns import OVERRIDE_DAYS, UNMATCHED, override_until
from humanexp.recruitment.states import AssignmentState, ProposalState, WriteState
from humanexp.screening import selectors as screening
from humanexp.studies.models import Study


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
        verdict = screening.verdicts_on([assignment.session]).get(assignment.session.pk)
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
    paid = Assignment.objects.filter(session__in=list(sessions)).exclude(recruiters.at(pays=False))
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
    waiting = waiting.exclude(recruiters.at(pays=False))
    waiting = waiting.filter(~Exists(planned.exclude(state=WriteState.REFUSED)))
    return sessions.filter(pk__in=waiting.values("session"))
