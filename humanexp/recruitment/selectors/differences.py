"""Where the ledger and a recruiter differ."""

from __future__ import annotations

from django.db.models import F, Q, QuerySet

from humanexp.experiments.models import Study
from humanexp.recruitment.models import Assignment, Difference
from humanexp.recruitment.states import DifferenceState


def differences(study: Study) -> QuerySet[Difference]:
    """Open ones first, then what was made of the others; those that went by themselves are left out."""
    found = Difference.objects.filter(hit__campaign__study=study).exclude(state=DifferenceState.EQUAL)
    with_rows = found.select_related("hit__campaign", "assignment__person__participant", "payment", "resolved_by")
    return with_rows.order_by(F("resolved_at").desc(nulls_first=True), "-pk")


def open_differences(study: Study) -> QuerySet[Difference]:
    return differences(study).filter(state=DifferenceState.OPEN)


def is_held(assignment: Assignment) -> bool:
    """Whether bonuses of this assignment wait for a person: for its own difference, or its campaign's."""
    about = Difference.objects.filter(state=DifferenceState.OPEN, hit__campaign=assignment.campaign_id)
    return about.filter(Q(assignment=assignment.pk) | Q(assignment=None)).exists()
