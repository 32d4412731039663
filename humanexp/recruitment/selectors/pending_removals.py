"""HITs that a recruiter is about to remove while something about them is still open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from humanexp.core import clock
from humanexp.recruitment import recruiters
from humanexp.recruitment.models import Assignment, Campaign, Hit
from humanexp.recruitment.selectors.payments import UNCONFIRMED, waiting_payments
from humanexp.recruitment.states import AssignmentState, HitState
from humanexp.studies.models import Study

#: A recruiter removes a HIT, with its submissions and bonuses, so long after the last of its work.
KEPT = timedelta(days=120)
#: So long before, it is said.
NOTICE = timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class Disposal:
    """What is open about HITs of one recruiter that it removes soon, or has removed."""

    study: int
    environment: str
    #: of the first one that goes; it may be some days later, never earlier
    at: datetime
    hits: int
    #: submissions that are neither approved nor rejected, as far as anybody here knows
    undecided: int
    #: payments that are not confirmed
    unconfirmed: int
    #: HITs about which the recruiter was not asked since their end
    unasked: int

    @property
    def is_over(self) -> bool:
        return self.at <= clock.now()


def disposals(studies: Collection[Study], campaigns: Collection[Campaign]) -> list[Disposal]:
    """One of each study and recruiter, where there is anything to lose; nothing is said before the notice.
    `campaigns`: all of these studies."""
    before = clock.now() - KEPT + NOTICE
    if not any(campaign.launched_at <= before for campaign in campaigns):
        return []
    found: dict[tuple[int, str], list[tuple[datetime, Any]]] = defaultdict(list)
    for hit in _with_open_ends(studies, before):
        ended = _ended(hit)
        if ended <= before:
            found[hit.campaign.study_id, hit.environment].append((ended, hit))
    return [
        Disposal(
            study=study,
            environment=environment,
            at=min(ended for ended, _hit in hits) + KEPT,
            hits=len(hits),
            undecided=sum(hit.undecided for _ended, hit in hits),
            unconfirmed=sum(hit.unconfirmed for _ended, hit in hits),
            unasked=sum(hit.state == HitState.OPEN for _ended, hit in hits),
        )
        for (study, environment), hits in sorted(found.items())
    ]


def _with_open_ends(studies: Collection[Study], launched_before: datetime) -> QuerySet[Any]:
    old = Hit.objects.filter(campaign__study__in=studies, campaign__launched_at__lte=launched_before).exclude(hit_id="")
    undecided = Assignment.objects.filter(campaign__study__in=studies, state=AssignmentState.SUBMITTED)
    unconfirmed = waiting_payments(*studies).order_by()
    is_open = Q(pk__in=undecided.values("hit")) | Q(pk__in=unconfirmed.values("assignment__hit"))
    with_open_ends = old.exclude(recruiters.at(vouches=False)).filter(is_open | Q(state=HitState.OPEN))
    return with_open_ends.select_related("campaign").annotate(
        undecided=Count(
            "assignments_taken", filter=Q(assignments_taken__state=AssignmentState.SUBMITTED), distinct=True
        ),
        unconfirmed=Count(
            "assignments_taken__payments",
            filter=Q(assignments_taken__payments__state__in=UNCONFIRMED),
            distinct=True,
        ),
        last_submitted_at=Max("assignments_taken__submitted_at"),
    )


def _ended(hit: Any) -> datetime:
    """The earliest moment from which the recruiter may count: the end, or the last submission of a HIT that is full."""
    end: datetime = hit.expires_at or hit.campaign.launched_at + timedelta(seconds=hit.campaign.lifetime_s)
    return min(end, hit.last_submitted_at or end) if hit.state == HitState.CLOSED else end
