"""The groups of HITs that a worker sees in the list, and the HITs behind them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from humanexp.marketplace.errors import NotFound
from humanexp.marketplace.models import HIT, Assignment, HITType, Worker
from humanexp.marketplace.models.hits import HITQuerySet
from humanexp.marketplace.requirements import Action, unmet
from humanexp.marketplace.selectors.qualifications import profile_of


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


def takeable_hits(worker: Worker | None, now: datetime) -> HITQuerySet:
    """Open HITs that this worker has not got and has not done. Qualifications are another question."""
    hits = HIT.objects.counted(now).open(now)
    if worker is None:
        return hits
    return hits.exclude(pk__in=Assignment.objects.filter(worker=worker).taking_a_place(now).values("hit"))


def groups_for(worker: Worker | None, now: datetime) -> list[Group]:
    """Newest first; groups hidden from this worker are not there."""
    profile = profile_of(worker, now)
    by_type: dict[int, list[HIT]] = {}
    for hit in takeable_hits(worker, now).select_related(None).defer("question", "external_url"):
        by_type.setdefault(hit.hit_type_id, []).append(hit)
    groups = []
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
            )
        )
    return groups


def hit_type_by_id(hit_type_id: str) -> HITType:
    hit_type = HITType.objects.select_related("requester").filter(hit_type_id=hit_type_id).first()
    if hit_type is None:
        raise NotFound
    return hit_type


def hit_type_by_group(group_id: str) -> HITType:
    hit_type = HITType.objects.filter(group_id=group_id).first() if group_id.isalnum() else None
    if hit_type is None:
        raise NotFound
    return hit_type


def hit_by_id(hit_id: str, now: datetime) -> HIT:
    hit = HIT.objects.counted(now).filter(hit_id=hit_id).first()
    if hit is None:
        raise NotFound
    return hit
