"""Rows of HITs and of the writes about them; part of the caller's transaction."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import Conflict, IllegalTransition
from humanexp.core.models import User
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Call, CallKind, Campaign, Hit
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.states import UNFINISHED, CampaignState, WriteState, advance
from humanexp.studies import permissions
from humanexp.studies.roles import Action


def plan_hit(*, campaign: Campaign, places: int, by: User | None) -> Call:
    """One more HIT of a campaign."""
    hit = Hit.objects.create(
        campaign=campaign,
        number=campaign.hits.count() + 1,
        environment=campaign.environment,
        max_assignments=places,
    )
    return _plan(hit, CallKind.CREATE, by, places=places, amount_cents=_cost(campaign, hit, places))


def plan_growth(*, hit: Hit, places: int, by: User | None) -> Call:
    """More places on a HIT, at the fee it was made with."""
    unfinished = hit.calls.filter(kind=CallKind.EXTEND, state__in=UNFINISHED)
    growing = sum(unfinished.values_list("places", flat=True))
    target = hit.max_assignments + growing + places
    cost = _cost(hit.campaign, hit, places)
    return _plan(hit, CallKind.EXTEND, by, places=places, amount_cents=cost, payload={"places": target})


def plan_prolonging(*, hit: Hit, until: datetime, by: User | None) -> Call:
    return _plan(hit, CallKind.PROLONG, by, payload={"until": until.isoformat()})


def plan_expiry(*, hit: Hit, by: User | None) -> Call:
    known = hit.calls.filter(kind=CallKind.EXPIRE).first()
    if known is not None and known.state == WriteState.CONFIRMED:  # of an earlier stop: it was opened again since
        advance(known, WriteState.PLANNED)
    return known or _plan(hit, CallKind.EXPIRE, by)


def plan_pausing(*, hit: Hit, by: User | None) -> Call:
    """Nobody can take a place for a while."""
    return _plan(hit, CallKind.PAUSE, by)


def plan_resuming(*, hit: Hit, by: User | None = None) -> Call:
    """Places can be taken again: after a pause, or because people gave theirs back."""
    waiting = hit.calls.filter(kind=CallKind.RESUME, state__in=UNFINISHED, created_by=by).first()
    if waiting is None:
        waiting = _plan(hit, CallKind.RESUME, by)
        request_sending(environment=hit.environment)
    return waiting


@transaction.atomic
def retry_hit(*, hit: Hit, by: User) -> Call:
    """Have a refused HIT published again, once its cause is gone. It keeps its token, so it is still made once."""
    permissions.check(by, Action.PAY, hit.campaign.study)
    # The lock and the state of the campaign: after a stop nothing is published any more, from no page.
    campaign = Campaign.objects.select_for_update().get(pk=hit.campaign_id)
    if campaign.state != CampaignState.LIVE:
        raise Conflict(f"This campaign is {campaign.get_state_display()}; launch a new one.")
    write = hit.calls.get(kind=CallKind.CREATE)
    advance(write, WriteState.PLANNED, last_error="")
    record(action="retry-hit", subject=f"call:{write.pk}", study=hit.campaign.study.slug, by=by)
    request_sending(environment=hit.environment)
    return write


def try_stops_again() -> None:
    """Have refused stops sent with the next round: until the recruiter takes one, people can take the HIT's places.

    A HIT ends once, however often that is asked for.
    """
    for write in Call.objects.filter(kind=CallKind.EXPIRE, state=WriteState.REFUSED):
        with suppress(IllegalTransition):  # another round has taken it up in this very moment
            advance(write, WriteState.PLANNED)


def _plan(hit: Hit, kind: CallKind, by: User | None, **facts: object) -> Call:
    call: Call = Call.objects.plan(
        kind, environment=hit.environment, hit=hit, campaign_id=hit.campaign_id, by=by, **facts
    )
    return call


def _cost(campaign: Campaign, hit: Hit, places: int) -> int:
    return places * selectors.place_cents(campaign, hit.max_assignments)
