"""The groups of HITs that a worker sees in the list, and the HITs behind them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from django.db.models import Q

from humanexp.sites.marketplace.errors import NotFound
from humanexp.sites.marketplace.models.accounts import Worker
from humanexp.sites.marketplace.models.assignments import Assignment, is_taking_a_place
from humanexp.sites.marketplace.models.hits import HIT, HITQuerySet, HITType
from humanexp.sites.marketplace.requirements import Action, unmet
from humanexp.sites.marketplace.selectors.qualifications import profile_of
from humanexp.sites.rows import first_or

#: Submissions from which a median is shown.
_ENOUGH = 5
#: Submissions that are looked at for all medians of a page.
_LATEST = 2_000
_MINUTES = re.compile(r"\b([1-9][0-9]{0,2})\s*min(?:\b|ute)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Group:
    """The HITs of one type that this worker could still take."""

    hit_type: HITType
    hits: int
    #: Free places in them.
    available: int
    expires_at: datetime
    can_preview: bool
    can_accept: bool
    #: Half of those who did it took less; None while too few have.
    median_seconds: int | None = None

    @property
    def stated_minutes(self) -> int | None:
        """As the requester says in title or description: "about 7 minutes". The API has no field for it."""
        said = _MINUTES.search(f"{self.hit_type.title} {self.hit_type.description}")
        return int(said[1]) if said else None

    @property
    def cents_per_hour(self) -> int | None:
        """At the median of those who did it; until enough have, at the time that the requester states."""
        seconds = self.median_seconds or 60 * (self.stated_minutes or 0)
        return round(self.hit_type.reward_cents * 3600 / seconds) if seconds else None


def takeable_hits(worker: Worker | None, now: datetime) -> HITQuerySet:
    """Open HITs that this worker has not got and has not done, of requesters who have not blocked the worker.

    Qualifications are another question.
    """
    hits = HIT.objects.counted(now).open(now)
    if worker is None:
        return hits
    hits = hits.exclude(requester__in=worker.blocks.values("requester"))
    return hits.exclude(pk__in=Assignment.objects.filter(is_taking_a_place(now), worker=worker).values("hit"))


def median_times(hit_types: Iterable[int]) -> dict[int, int]:
    """Seconds from acceptance to submission, by HIT type, over the latest submissions; types with few are left out."""
    taken: dict[int, list[float]] = defaultdict(list)
    submitted = Assignment.objects.filter(hit__hit_type__in=list(hit_types), submitted_at__isnull=False)
    times = submitted.order_by("-submitted_at").values_list("hit__hit_type_id", "accepted_at", "submitted_at")
    for hit_type, accepted_at, submitted_at in times[:_LATEST]:
        if submitted_at is not None:
            taken[int(hit_type)].append((submitted_at - accepted_at).total_seconds())
    return {hit_type: max(1, round(median(seconds))) for hit_type, seconds in taken.items() if len(seconds) >= _ENOUGH}


def groups_for(worker: Worker | None, now: datetime, order: str = "") -> list[Group]:
    """Newest first unless `order` is "reward" or "hour"; groups hidden from this worker are not there."""
    profile = profile_of(worker, now)
    by_type: dict[int, list[HIT]] = {}
    for hit in takeable_hits(worker, now).select_related(None).defer("question", "external_url"):
        by_type.setdefault(hit.hit_type_id, []).append(hit)
    groups = []
    times = median_times(by_type)
    for hit_type in HITType.objects.filter(pk__in=by_type).select_related("requester").order_by("-pk"):
        if unmet(hit_type.requirements, profile, Action.DISCOVER):
            continue
        hits = by_type[hit_type.pk]
        groups.append(
            Group(
                hit_type=hit_type,
                hits=len(hits),
                available=sum(hit.n_available for hit in hits),
                expires_at=max(hit.expires_at for hit in hits),
                can_preview=not unmet(hit_type.requirements, profile, Action.PREVIEW),
                can_accept=not unmet(hit_type.requirements, profile, Action.ACCEPT),
                median_seconds=times.get(hit_type.pk),
            )
        )
    if order == "reward":
        groups.sort(key=lambda group: -group.hit_type.reward_cents)
    if order == "hour":
        groups.sort(key=lambda group: -(group.cents_per_hour or 0))
    return groups


def hit_type_by_id(hit_type_id: str) -> HITType:
    return first_or(HITType.objects.select_related("requester").filter(hit_type_id=hit_type_id), NotFound())


def hit_type_by_group(group_id: str) -> HITType:
    """By the id of the group or of the type: both stand in links that clients make."""
    named = Q(group_id=group_id) | Q(hit_type_id=group_id)
    types = HITType.objects.filter(named) if group_id.isalnum() else HITType.objects.none()
    return first_or(types, NotFound())


def hit_by_id(hit_id: str, now: datetime) -> HIT:
    return first_or(HIT.objects.counted(now).filter(hit_id=hit_id), NotFound())
