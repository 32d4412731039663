"""What the last comparison of the books said, and where the ledger and a recruiter differ."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from humanexp.core.models import AuditEvent
from humanexp.recruitment import recruiters
from humanexp.recruitment.models import Assignment, Campaign, Difference, Payment
from humanexp.recruitment.recruiters.base import marker_in
from humanexp.recruitment.states import LISTED, RESOLUTIONS, UNSETTLED, AssignmentState, DifferenceState
from humanexp.studies.models import Study

#: Also where nothing has happened, both sides are compared again after so long.
COMPARED_AGAIN = timedelta(days=7)


def is_unsettled(now: datetime) -> Q:
    """Which HITs the recruiter has to be asked about: money may have moved there since both sides were found equal."""
    of_hit = Assignment.objects.filter(hit=OuterRef("pk"))
    payments = Payment.objects.filter(assignment__hit=OuterRef("pk"))
    listed = of_hit.filter(state__in=LISTED)
    has_moved = (
        Exists(of_hit.filter(state=AssignmentState.SUBMITTED))
        | Exists(of_hit.filter(decided_at__gte=OuterRef("compared_at")))
        | Exists(payments.filter(state__in=UNSETTLED))
        | Exists(payments.filter(confirmed_at__gte=OuterRef("compared_at")))
        | Exists(Difference.objects.filter(hit=OuterRef("pk")))
    )
    return (Q(compared_at=None) | Q(compared_at__lt=now - COMPARED_AGAIN) | Q(has_moved)) & (
        Q(Exists(listed)) | Q(Exists(payments))
    )


@dataclass(frozen=True, kw_only=True)
class Books:
    """One recruiter's side against ours, over all studies there; nothing is known before the first comparison."""

    environment: str
    at: datetime | None
    ledger_cents: int | None
    theirs_cents: int | None
    payments: int
    on_the_way: int
    differences: int
    #: HITs whose lists could not be read
    unread: int

    @property
    def label(self) -> str:
        return recruiters.name_of(self.environment)

    @property
    def currency(self) -> str:
        return recruiters.currency_of(self.environment)

    @property
    def adds_up(self) -> bool:
        return not self.differences


def books(study: Study) -> list[Books]:
    """Of every recruiter that the study was published with and that money goes through."""
    environments = set(Campaign.objects.filter(study=study).values_list("environment", flat=True))
    return [
        _last(environment)
        for environment in sorted(name for name in environments if recruiters.capabilities_of(name).pays)
    ]


def _last(environment: str) -> Books:
    lines = AuditEvent.objects.filter(action="reconcile", subject=f"recruiter:{environment}")
    last = lines.order_by("-pk").first()
    facts = last.facts if last else {}
    return Books(
        environment=environment,
        at=last.at if last else None,
        ledger_cents=facts.get("ledger_cents"),
        theirs_cents=facts.get("theirs_cents"),
        payments=facts.get("payments", 0),
        on_the_way=facts.get("on_the_way", 0),
        differences=facts.get("differences", 0),
        unread=facts.get("unread", 0),
    )


def differences(*studies: Study) -> QuerySet[Difference]:
    """Open ones first, then what was made of the others; those that went by themselves are left out."""
    found = Difference.objects.filter(hit__campaign__study__in=studies).exclude(state=DifferenceState.EQUAL)
    with_rows = found.select_related("hit__campaign", "assignment__person__participant", "payment", "resolved_by")
    return with_rows.order_by(F("resolved_at").desc(nulls_first=True), "-pk")


def open_differences(*studies: Study) -> QuerySet[Difference]:
    return differences(*studies).filter(state=DifferenceState.OPEN)


def is_held(assignment: Assignment) -> bool:
    """Whether bonuses of this assignment wait for a person: for its own difference, or its campaign's."""
    about = Difference.objects.filter(state=DifferenceState.OPEN, hit__campaign=assignment.campaign_id)
    return about.filter(Q(assignment=assignment.pk) | Q(assignment=None)).exists()


def known_markers(assignment: Assignment) -> frozenset[str]:
    """Of the bonuses of this assignment that are in the ledger, or that a person has said what they are."""
    ours = {row.marker for row in Payment.objects.filter(assignment=assignment.pk)}
    resolved = Difference.objects.filter(assignment=assignment.pk, state__in=RESOLUTIONS)
    theirs = resolved.values_list("their_reason", flat=True)
    return frozenset(ours) | {marker_in(reason) for reason in theirs}
