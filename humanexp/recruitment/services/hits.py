"""Rows of HITs and of the writes about them; part of the caller's transaction."""

from __future__ import annotations

import secrets
from contextlib import suppress
from datetime import datetime

from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import Conflict, IllegalTransition
from humanexp.core.models import User
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Campaign, Hit, HitWrite, HitWriteKind
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.states import UNFINISHED, CampaignState, WriteState, advance
from humanexp.studies import permissions
from humanexp.studies.roles import Action

#: First letters of tokens, so that the kind is told by eye.
_WORDS = {
    HitWriteKind.CREATE: "hit",
    HitWriteKind.EXPIRE: "end",
    HitWriteKind.EXTEND: "more",
    HitWriteKind.PROLONG: "long",
    HitWriteKind.PAUSE: "rest",
    HitWriteKind.RESUME: "open",
}


def plan_hit(*, campaign: Campaign, places: int, by: User | None) -> HitWrite:
    """One more HIT of a campaign."""
    hit = Hit.objects.create(
        campaign=campaign,
        number=campaign.hits.count() + 1,
        environment=campaign.environment,
        max_assignments=places,
    )
    return _plan(hit, HitWriteKind.CREATE, by, places=places, cost_cents=_cost(campaign, hit, places))


def plan_growth(*, hit: Hit, places: int, by: User | None) -> HitWrite:
    """More places on a HIT, at the fee it was made with."""
    unfinished = hit.writes.filter(kind=HitWriteKind.EXTEND, state__in=UNFINISHED)
    growing = sum(unfinished.values_list("places", flat=True))
    target = hit.max_assignments + growing + places
    cost = _cost(hit.campaign, hit, places)
    return _plan(hit, HitWriteKind.EXTEND, by, places=places, cost_cents=cost, target_places=target)


def plan_prolonging(*, hit: Hit, until: datetime, by: User | None) -> HitWrite:
    return _plan(hit, HitWriteKind.PROLONG, by, target_end=until)


def plan_expiry(*, hit: Hit, by: User | None) -> HitWrite:
    known = hit.writes.filter(kind=HitWriteKind.EXPIRE).first()
    if known is not None and known.state == WriteState.CONFIRMED:  # of an earlier stop: it was opened again since
        advance(known, WriteState.PLANNED)
    return known or _plan(hit, HitWriteKind.EXPIRE, by)


def plan_pausing(*, hit: Hit, by: User | None) -> HitWrite:
    """Nobody can take a place for a while."""
    return _plan(hit, HitWriteKind.PAUSE, by)


def plan_resuming(*, hit: Hit, by: User | None = None) -> HitWrite:
    """Places can be taken again: after a pause, or because people gave theirs back."""
    waiting = hit.writes.filter(kind=HitWriteKind.RESUME, state__in=UNFINISHED, created_by=by).first()
    if waiting is None:
        waiting = _plan(hit, HitWriteKind.RESUME, by)
        request_sending(environment=hit.environment)
    return waiting


@transaction.atomic
def retry_hit(*, hit: Hit, by: User) -> HitWrite:
    """Have a refused HIT published again, once its cause is gone. It keeps its token, so it is still made once."""
    permissions.check(by, Action.PAY, hit.campaign.study)
    # The lock and the state of the campaign: after a stop nothing is published any more, from no page.
    campaign = Campaign.objects.select_for_update().get(pk=hit.campaign_id)
    if campaign.state != CampaignState.LIVE:
        raise Conflict(f"This campaign is {campaign.get_state_display()}; launch a new one.")
    write = hit.writes.get(kind=HitWriteKind.CREATE)
    advance(write, WriteState.PLANNED, last_error="")
    record(action="retry-hit", subject=f"hitwrite:{write.pk}", study=hit.campaign.study.slug, by=by)
    request_sending(environment=hit.environment)
    return write


def try_stops_again() -> None:
    """Have refused stops sent with the next round: until the recruiter takes one, people can take the HIT's places.

    A HIT ends once, however often that is asked for.
    """
    for write in HitWrite.objects.filter(kind=HitWriteKind.EXPIRE, state=WriteState.REFUSED):
        with suppress(IllegalTransition):  # another round has taken it up in this very moment
            advance(write, WriteState.PLANNED)


def _plan(hit: Hit, kind: HitWriteKind, by: User | None, **facts: object) -> HitWrite:
    return HitWrite.objects.create(
        kind=kind,
        hit=hit,
        environment=hit.environment,
        # Random, so that an emptied database never takes another one's HIT for its own.
        token=f"{hit.environment}-{_WORDS[kind]}-{secrets.token_hex(8)}",
        created_by=by,
        **facts,
    )


def _cost(campaign: Campaign, hit: Hit, places: int) -> int:
    return places * selectors.place_cents(campaign, hit.max_assignments)
