"""What speaks against a submission, and how long a rejection can be taken back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from humanexp.core import clock
from humanexp.experiments.models import Study
from humanexp.recruitment.models import Assignment
from humanexp.recruitment.models.campaigns import UNMATCHED
from humanexp.recruitment.states import AssignmentState
from humanexp.screening import selectors as screening


@dataclass(frozen=True, kw_only=True)
class RejectedWork:
    """One rejection, and until when a person can override it."""

    assignment: Assignment
    reason: str
    #: what stood on record, and what the person who rejected it wrote down
    signs: tuple[str, ...]
    evidence: str
    rejected_at: datetime | None
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


def rejections(study: Study) -> list[RejectedWork]:
    """Those that stand, the one with the least time left first."""
    rejected = Assignment.objects.filter(campaign__study=study, state=AssignmentState.REJECTED)
    found = []
    for assignment in rejected.select_related("person__participant", "session", "rejection", "campaign"):
        ours = getattr(assignment, "rejection", None)  # none where it was rejected elsewhere
        found.append(
            RejectedWork(
                assignment=assignment,
                reason=assignment.rejection_reason,
                signs=tuple(ours.signs) if ours else (),
                evidence=ours.evidence if ours else "",
                rejected_at=assignment.decided_at,
                override_until=assignment.override_until,
            )
        )
    latest = clock.now() + timedelta(days=10_000)
    return sorted(found, key=lambda one: one.override_until or latest)
