"""How pay stands beside the evidence of a session in the review. Whether it counts is decided without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from humanexp.core.models import User
from humanexp.participation.models import Session
from humanexp.recruitment import selectors, services
from humanexp.recruitment.models import CallKind
from humanexp.recruitment.pages.forms import ExclusionForm
from humanexp.recruitment.selectors.rejections import pay_states, proposed_sessions, rejection_proposed, unpaid_sessions
from humanexp.recruitment.states import AssignmentState, WriteState
from humanexp.screening.pages.panels import Mark, Narrowing, Panel

UNPAID, PROPOSED = "unpaid", "proposed"


def facts_of(session: Session, user: User) -> dict[str, Any]:
    """What the decision about a session's pay needs; `assignment` is None where nobody recruited the person."""
    assignment = selectors.assignments_of(session.study).filter(session=session).first()
    if assignment is None or not assignment.campaign.capabilities.pays:
        return {"assignment": assignment}
    reward = assignment.calls.exclude(state=WriteState.REFUSED).filter(kind=CallKind.REWARD).first()
    fee_cents = services.reward_fee_cents(assignment)
    return {
        "assignment": assignment,
        "reward": reward,
        "currency": assignment.campaign.currency,
        "reward_cents": assignment.campaign.reward_cents,
        "cost_cents": assignment.campaign.reward_cents + fee_cents,
        "is_open": assignment.state == AssignmentState.SUBMITTED and reward is None,
        "proposal": selectors.proposal_on(assignment),
        "form": ExclusionForm(),
    }


def marks_of(sessions: Sequence[Session]) -> Mapping[int, Mark]:
    """The state of pay, for those whom a recruiter pays."""
    states = pay_states(sessions)
    marks = {pk: Mark(text=_WORDS[state][0], tone=_WORDS[state][1]) for pk, state in states.items() if state in _WORDS}
    proposed = Mark(text=_("rejection waits for a second person"), tone="bad")
    return marks | dict.fromkeys(rejection_proposed(sessions), proposed)


_WORDS: Mapping[str, tuple[Promise, str]] = {
    AssignmentState.SUBMITTED: (_("not approved yet"), "warn"),
    AssignmentState.APPROVED: (_("approved"), "plain"),
    AssignmentState.REJECTED: (_("rejected"), "bad"),
}


PANEL = Panel(
    template="recruitment/_pay_panel.html",
    facts_of=facts_of,
    marks_of=marks_of,
    narrowings=(
        Narrowing(key=UNPAID, label=_("Not approved yet"), narrow=unpaid_sessions),
        Narrowing(key=PROPOSED, label=_("Rejection proposed"), narrow=proposed_sessions),
    ),
)
