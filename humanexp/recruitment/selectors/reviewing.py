from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db.models import Exists, OuterRef, QuerySet

from humanexp.experiments.models import Session
from humanexp.recruitment.models import Assignment, Environment, Payment, PaymentKind, RejectionProposal
from humanexp.recruitment.states import AssignmentState, ProposalState, WriteState


def pay_states(sessions: Sequence[Session]) -> Mapping[int, str]:
    """State of the assignment behind each session that a recruiter pays for, by the session's primary key."""
    paid = Assignment.objects.filter(session__in=list(sessions)).exclude(environment=Environment.LINK)
    return dict(paid.values_list("session_id", "state"))


def rejection_proposed(sessions: Sequence[Session]) -> set[int]:
    """Primary keys of those whose rejection waits for a second person."""
    return set(_proposed().filter(assignment__session__in=list(sessions)).values_list("assignment__session", flat=True))


def proposed_sessions(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Those whose rejection waits for a second person."""
    return sessions.filter(pk__in=_proposed().values("assignment__session"))


def _proposed() -> QuerySet[RejectionProposal]:
    return RejectionProposal.objects.filter(
        state=ProposalState.WAITING, assignment__state=AssignmentState.SUBMITTED, assignment__session__isnull=False
    )


def unpaid_sessions(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Those that were submitted, and whose reward is not even planned."""
    planned = Payment.objects.filter(assignment=OuterRef("pk"), kind=PaymentKind.REWARD)
    waiting = Assignment.objects.filter(state=AssignmentState.SUBMITTED, session__isnull=False)
    waiting = waiting.exclude(environment=Environment.LINK)
    waiting = waiting.filter(~Exists(planned.exclude(state=WriteState.REFUSED)))
    return sessions.filter(pk__in=waiting.values("session"))
