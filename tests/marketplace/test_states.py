from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from humanexp.sites.marketplace.states import AssignmentState, HITState, assignment_state, hit_state

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EARLIER, LATER = NOW - timedelta(hours=1), NOW + timedelta(hours=1)


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ({}, AssignmentState.ACCEPTED),
        ({"deadline_at": NOW}, AssignmentState.ABANDONED),
        ({"returned_at": EARLIER}, AssignmentState.RETURNED),
        ({"submitted_at": EARLIER, "auto_approves_at": LATER}, AssignmentState.SUBMITTED),
        ({"submitted_at": EARLIER, "auto_approves_at": LATER, "deadline_at": EARLIER}, AssignmentState.SUBMITTED),
        ({"submitted_at": EARLIER, "auto_approves_at": NOW}, AssignmentState.APPROVED),
        ({"submitted_at": EARLIER, "auto_approves_at": LATER, "approved_at": EARLIER}, AssignmentState.APPROVED),
        ({"submitted_at": EARLIER, "auto_approves_at": EARLIER, "rejected_at": EARLIER}, AssignmentState.REJECTED),
        (
            {"submitted_at": EARLIER, "auto_approves_at": LATER, "rejected_at": EARLIER, "approved_at": EARLIER},
            AssignmentState.APPROVED,
        ),
    ],
)
def test_assignment_states(facts: dict[str, Any], state: AssignmentState) -> None:
    names = ("returned_at", "submitted_at", "auto_approves_at", "approved_at", "rejected_at")
    assert assignment_state(**{"now": NOW, "deadline_at": LATER, **dict.fromkeys(names), **facts}) is state


@pytest.mark.parametrize(
    ("accepted", "available", "expires_at", "state"),
    [
        (0, 2, LATER, HITState.ASSIGNABLE),
        (1, 1, LATER, HITState.ASSIGNABLE),
        (2, 0, LATER, HITState.UNASSIGNABLE),
        (1, 0, LATER, HITState.UNASSIGNABLE),
        (0, 0, LATER, HITState.REVIEWABLE),
        (0, 1, LATER, HITState.ASSIGNABLE),
        (0, 2, EARLIER, HITState.REVIEWABLE),
        (1, 1, EARLIER, HITState.UNASSIGNABLE),
        (0, 2, NOW - timedelta(days=120), HITState.DISPOSED),
    ],
)
def test_hit_states_with_two_places(accepted: int, available: int, expires_at: datetime, state: HITState) -> None:
    found = hit_state(now=NOW, accepted=accepted, available=available, expires_at=expires_at, disposed_at=None)
    assert found is state


def test_deleted_and_marked_hits() -> None:
    full = {"now": NOW, "accepted": 0, "available": 0, "expires_at": LATER}
    assert hit_state(**full, disposed_at=EARLIER) is HITState.DISPOSED
    assert hit_state(**full, disposed_at=None, is_reviewing=True) is HITState.REVIEWING
