"""A campaign that runs: more places, more time, a pause where its recruiter can do that, and its end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction

from humanexp.core import clock
from humanexp.core.errors import CapExceeded, Conflict, InvalidRequest, StudyRefused
from humanexp.core.models import User, record
from humanexp.ledger.budgets import check_confirmed, check_may_launch_on, committed_cents, reserve
from humanexp.ledger.models import CallKind, CampaignTopUp
from humanexp.ledger.outbox import (
    is_paused,
    plan_expiry,
    plan_growth,
    plan_hit,
    plan_pausing,
    plan_prolonging,
    plan_resuming,
    request_sending,
)
from humanexp.ledger.payments import free_sessions, places_left
from humanexp.ledger.sender import send
from humanexp.recruiters import money
from humanexp.recruiters.models import Campaign, Hit
from humanexp.recruiters.money import LARGE_HIT, Quote, QuoteTerms, split
from humanexp.recruiters.registry import account_of
from humanexp.recruiters.states import UNFINISHED, CampaignState, HitState, WriteState, advance
from humanexp.recruiting.approvals import check_continuing
from humanexp.recruiting.batches import note_seen
from humanexp.recruiting.launch import check_collects, check_pilot
from humanexp.studies import permissions
from humanexp.studies.models import Action, Study

#: A HIT cannot be open longer than this from now.
YEAR = timedelta(days=365)


@dataclass(frozen=True, kw_only=True)
class Extension:
    """Where more places go, and what they cost when all are taken."""

    #: HITs that grow, and by how many places
    grown: tuple[tuple[Hit, int], ...]
    #: sizes of new HITs
    new_sizes: tuple[int, ...]
    quoted: Quote

    @property
    def total_cents(self) -> int:
        return self.quoted.total_cents


def quote_extension(*, campaign: Campaign, places: int) -> Extension:
    """A large HIT grows; small ones are filled up to the campaign's size, and the rest are new HITs.

    A HIT of under ten places never grows to ten, because its fee would have to change. Not to be called inside a
    transaction: the recruiter may be asked for the price.
    """
    if places < 1:
        raise InvalidRequest("An extension adds at least one place.", fields={"places": "at least 1"})
    if not campaign.capabilities.vouches:
        raise Conflict("This campaign cannot be extended: open another one with more places.")
    if CampaignTopUp.objects.filter(campaign=campaign).exists():
        raise Conflict(
            "Everyone in this campaign got a top-up, because its reward was too low: launch another campaign with a "
            "higher reward."
        )
    grown, sizes = _spread(campaign, places)
    lots = [*((more, hit.max_assignments) for hit, more in grown), *((size, size) for size in sizes)]
    terms = QuoteTerms(reward_cents=campaign.reward_cents, lots=tuple(lots), masters=campaign.asks_for.masters)
    account = account_of(campaign.environment)
    return Extension(grown=grown, new_sizes=sizes, quoted=account.kind.quote(terms, account))


def _spread(campaign: Campaign, places: int) -> tuple[tuple[tuple[Hit, int], ...], tuple[int, ...]]:
    """HITs that grow and by how much, and the sizes of new ones."""
    if campaign.capabilities.pauses:
        only = _growing(campaign)
        if not only:
            raise Conflict("Another change of this campaign is on its way, or it was not published: wait a minute.")
        return ((only[0], places),), ()
    left, grown, usual = places, [], _usual_size(campaign)
    for hit in _growing(campaign):
        room = left if hit.max_assignments >= LARGE_HIT else min(usual, LARGE_HIT - 1) - hit.max_assignments
        if left and room > 0:
            grown.append((hit, min(left, room)))
            left -= min(left, room)
    return tuple(grown), split(left, usual) if left else ()


def extend(
    *,
    campaign: Campaign,
    places: int,
    by: User | None,
    cap_cents: int | None = None,
    confirm_total_cents: int | None = None,
    shown_places: int | None = None,
) -> Campaign:
    """Add places; `cap_cents` is the campaign's new cap, by default as much higher as the places cost.

    `shown_places`: how many the campaign had on the page that asks for more; a second click is refused.
    """
    permissions.check(by, Action.LAUNCH, campaign.study)
    check_may_launch_on(by, campaign.environment)
    check_continuing(campaign)
    wanted = quote_extension(campaign=campaign, places=places)
    with transaction.atomic():
        campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if campaign.state != CampaignState.LIVE:
            raise Conflict(f"This campaign is {campaign.get_state_display()}; launch a new one for more places.")
        if shown_places is not None and shown_places != campaign.assignments:
            raise Conflict(
                f"This campaign has {campaign.assignments} places by now, not {shown_places}; nothing was added now."
            )
        if _spread(campaign, places) != (wanted.grown, wanted.new_sizes):
            raise Conflict("This campaign has changed meanwhile; nothing was added now. Try again.")
        check_confirmed(campaign.environment, wanted.total_cents, confirm_total_cents)
        reserve(
            study=campaign.study,
            environment=campaign.environment,
            cents=wanted.total_cents,
            what=f"{places} more places",
        )
        free = free_sessions(campaign.study)
        if places > free:
            raise StudyRefused(f"The plan of this study has {free} free sessions, fewer than {places} more places.")
        quoted = campaign.quoted_cents + wanted.total_cents
        cap = campaign.cap_cents + wanted.total_cents if cap_cents is None else cap_cents
        if cap < committed_cents(campaign) + wanted.total_cents:
            raise CapExceeded(
                f"With {places} more places the campaign may cost {money.shown(quoted, campaign.currency)} and its "
                f"bonuses; its cap is {money.shown(cap, campaign.currency)}."
            )
        in_batches = campaign.batches.exists()  # a job opens these, too
        for hit, more in () if in_batches else wanted.grown:
            plan_growth(hit=hit, places=more, by=by)
        for size in wanted.new_sizes:
            plan_hit(campaign=campaign, places=size, by=by)
        campaign.assignments, campaign.quoted_cents, campaign.cap_cents = campaign.assignments + places, quoted, cap
        campaign.save(update_fields=["assignments", "quoted_cents", "cap_cents"])
        record(
            action="extend",
            subject=f"campaign:{campaign.pk}",
            study=campaign.study.slug,
            by=by,
            places=places,
            cents=wanted.total_cents,
            currency=campaign.currency,
        )
        request_sending(environment=campaign.environment)
    return campaign


@transaction.atomic
def prolong(*, campaign: Campaign, days: int, by: User | None) -> Campaign:
    """Places can be taken so many days longer than now; it costs nothing by itself."""
    permissions.check(by, Action.LAUNCH, campaign.study)
    check_continuing(campaign)
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if campaign.state != CampaignState.LIVE:
        raise Conflict(f"This campaign is {campaign.get_state_display()}; launch a new one.")
    if campaign.capabilities.pauses:
        raise Conflict("Its places stay open until they are taken or the campaign is stopped: it has no end to move.")
    now = clock.now()
    if not 1 <= days <= YEAR.days:
        raise InvalidRequest("A campaign can stay open for 1 to 365 days from now.", fields={"days": "1 to 365"})
    until = now.replace(microsecond=0) + timedelta(days=days)
    for hit in campaign.hits.exclude(state=HitState.CANCELLED).select_related("campaign"):
        if hit.expires_at is None or hit.expires_at < until:
            plan_prolonging(hit=hit, until=until, by=by)
    record(
        action="prolong", subject=f"campaign:{campaign.pk}", study=campaign.study.slug, by=by, until=until.isoformat()
    )
    request_sending(environment=campaign.environment)
    return campaign


def _usual_size(campaign: Campaign) -> int:
    """Places of a full HIT; a campaign of a single small one had no more places to fill it with."""
    only_one = campaign.hits.count() == 1
    return max(campaign.assignments_per_hit, LARGE_HIT - 1) if only_one else campaign.assignments_per_hit


def _growing(campaign: Campaign) -> list[Hit]:
    """HITs that can take more places: published, and not past their end. The largest first."""
    now = clock.now()
    hits = campaign.hits.exclude(hit_id="").exclude(expires_at__lte=now).select_related("campaign")
    growable = [hit for hit in hits if hit.state in (HitState.OPEN, HitState.CLOSED)]
    waiting = {write.hit_id for hit in growable for write in hit.calls.filter(state__in=UNFINISHED)}
    return sorted((hit for hit in growable if hit.pk not in waiting), key=lambda hit: -hit.max_assignments)


#: More places and more time: not sent any more after a stop.
LATER_KINDS = (CallKind.EXTEND, CallKind.PROLONG)


def stop(*, study: Study, by: User | None = None) -> list[Campaign]:
    """Nobody new can begin; who has accepted a HIT may finish, and is paid. `send` then tells the recruiter."""
    live = Campaign.objects.filter(study=study, state=CampaignState.LIVE)
    return [stop_campaign(campaign=campaign, by=by) for campaign in live]


def stop_campaign(*, campaign: Campaign, by: User | None = None) -> Campaign:
    """End one campaign. Twice is once."""
    permissions.check(by, Action.STOP, campaign.study)
    with transaction.atomic():
        campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if campaign.state != CampaignState.LIVE:
            return campaign
        advance(campaign, CampaignState.STOPPING, stopped_at=clock.now())
        for hit in campaign.hits.exclude(state=HitState.CANCELLED):
            _end(hit, by)
        if not campaign.hits.exclude(state=HitState.CANCELLED).exists():
            advance(campaign, CampaignState.STOPPED)
        record(action="stop", subject=f"campaign:{campaign.pk}", study=campaign.study.slug, by=by)
        request_sending(environment=campaign.environment)
    if not campaign.capabilities.vouches:
        send(environment=campaign.environment)
        campaign.refresh_from_db()
    return campaign


def _end(hit: Hit, by: User | None) -> None:
    """Expire a HIT; one that was never sent is not published at all."""
    create = hit.calls.select_for_update().get(kind=CallKind.CREATE)
    if create.state in (WriteState.PLANNED, WriteState.REFUSED):
        if create.state == WriteState.PLANNED:
            advance(create, WriteState.REFUSED, last_error="Stopped before it was published.")
        advance(hit, HitState.CANCELLED)
        return
    for write in hit.calls.select_for_update().filter(kind__in=LATER_KINDS, state=WriteState.PLANNED):
        advance(write, WriteState.REFUSED, last_error="Stopped before it was sent.")
    plan_expiry(hit=hit, by=by)


@transaction.atomic
def pause_campaign(*, campaign: Campaign, by: User) -> None:
    """Nobody new can begin; who is at work finishes and is paid. Twice is once."""
    permissions.check(by, Action.STOP, campaign.study)
    _change(campaign, by, pauses=True)


@transaction.atomic
def resume_campaign(*, campaign: Campaign, by: User) -> None:
    """Places can be taken again. Twice is once."""
    permissions.check(by, Action.LAUNCH, campaign.study)
    _change(campaign, by, pauses=False)
    note_seen(campaign=campaign, by=by)


@transaction.atomic
def reopen_campaign(*, campaign: Campaign, by: User) -> Campaign:
    """A stopped link takes people again, at the address and on the terms it had. Twice is once.

    Only the places that nobody has taken are offered, and only as many as the plan still has sessions for.
    """
    permissions.check(by, Action.LAUNCH, campaign.study)
    check_may_launch_on(by, campaign.environment)
    check_continuing(campaign)
    # One launch of a study at a time: both count the sessions that are free.
    study = Study.objects.select_for_update(of=("self",)).get(pk=campaign.study_id)
    campaign = Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
    if campaign.state == CampaignState.LIVE:
        return campaign
    if not campaign.can_reopen:
        raise Conflict("This campaign cannot be opened again. Launch a new one: it has a new address.")
    check_collects(study)
    places, free = places_left(campaign), free_sessions(study)
    if not places:
        raise StudyRefused("Every place of this link is taken. Launch a new one for more places.")
    if places > free:
        raise StudyRefused(
            f"The plan of this study has {free} free sessions, fewer than the {places} places of this link. Launch a "
            f"new link with at most {free} places."
        )
    check_pilot(study, campaign.assignments)
    for hit in campaign.hits.select_for_update().exclude(state=HitState.CANCELLED):
        if hit.state == HitState.CLOSED:
            advance(hit, HitState.OPEN)
        hit.expires_at = None
        hit.save(update_fields=["expires_at"])
    advance(campaign, CampaignState.LIVE, stopped_at=None)
    record(action="reopen", subject=f"campaign:{campaign.pk}", study=study.slug, by=by, places=places)
    return campaign


def pause_by_itself(*, campaign: Campaign) -> None:
    """The program has found something that a person should see first; only a person opens it again."""
    _change(campaign, None, pauses=True)


def _change(campaign: Campaign, by: User | None, *, pauses: bool) -> None:
    campaign = Campaign.objects.select_for_update(of=("self",)).select_related("study").get(pk=campaign.pk)
    if campaign.state != CampaignState.LIVE or not campaign.capabilities.pauses:
        raise Conflict("This campaign cannot be paused or opened again: stop it, or launch a new one.")
    if is_paused(campaign) == pauses:
        return
    for hit in campaign.hits.exclude(hit_id=""):
        if pauses:
            plan_pausing(hit=hit, by=by)
        else:
            plan_resuming(hit=hit, by=by)
    record(action="pause" if pauses else "resume", subject=f"campaign:{campaign.pk}", study=campaign.study.slug, by=by)
    request_sending(environment=campaign.environment)
