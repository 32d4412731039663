from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from humanexp.marketplace.states import (
    AssignmentState,
    HITCounts,
    HITState,
    assignment_state,
    hit_state,
)

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
    ("counts", "expires_at", "state"),
    [
        ({}, LATER, HITState.ASSIGNABLE),
        ({"accepted": 1}, LATER, HITState.ASSIGNABLE),
        ({"accepted": 2}, LATER, HITState.UNASSIGNABLE),
        ({"accepted": 1, "submitted": 1}, LATER, HITState.UNASSIGNABLE),
        ({"submitted": 2}, LATER, HITState.REVIEWABLE),
        ({"approved": 1, "rejected": 1}, LATER, HITState.REVIEWABLE),
        ({"approved": 1}, LATER, HITState.ASSIGNABLE),
        ({}, EARLIER, HITState.REVIEWABLE),
        ({"accepted": 1}, EARLIER, HITState.UNASSIGNABLE),
        ({}, NOW - timedelta(days=120), HITState.DISPOSED),
    ],
)
def test_hit_states_with_two_places(counts: dict[str, int], expires_at: datetime, state: HITState) -> None:
    found = HITCounts(max_assignments=2, **counts)
    assert hit_state(now=NOW, counts=found, expires_at=expires_at, disposed_at=None) is state


def test_deleted_and_marked_hits() -> None:
    full = HITCounts(max_assignments=1, approved=1)
    assert hit_state(now=NOW, counts=full, expires_at=LATER, disposed_at=EARLIER) is HITState.DISPOSED
    marked = hit_state(now=NOW, counts=full, expires_at=LATER, disposed_at=None, is_reviewing=True)
    assert marked is HITState.REVIEWING


def test_every_place_is_in_one_state() -> None:
    """psiTurk counts the submitted ones so: maximum - available - pending - completed."""
    counts = HITCounts(max_assignments=9, accepted=2, submitted=3, approved=1, rejected=1)
    assert counts.available == 2
    assert counts.max_assignments - counts.available - counts.accepted - counts.completed == counts.submitted
