"""Bonuses that bring people's pay of an hour to a minimum: each to the same floor, or the same for everybody."""

from __future__ import annotations

from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import CapExceeded, Conflict, CostNotConfirmed
from humanexp.core.models import User
from humanexp.ledger.budgets import check_confirmed
from humanexp.ledger.models.books import CampaignTopUp
from humanexp.ledger.settlement import plan_bonus, plan_equal_bonuses
from humanexp.ledger.wages import EQUAL_TOP_UP, TOP_UP, TopUpPlan, awaiting_top_up, top_up_offer, top_up_plan
from humanexp.recruiters import money
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.studies import permissions
from humanexp.studies.models import Study
from humanexp.studies.roles import Action

MADE_UP = "The work took longer than we had thought. This brings your pay for the hour to {floor}. Thank you."
FOR_ALL = "The study took longer than we had thought. Everyone who took part gets this in addition. Thank you."


@transaction.atomic
def top_up(
    *,
    study: Study,
    floor_cents: int | None = None,
    currency: str = "",
    confirm_total_cents: int | None = None,
    by: User | None,
) -> TopUpPlan:
    """Bring everybody to the floor by a bonus; twice is once, and a higher floor later pays the difference alone.

    All or nothing: a cap that would not hold it refuses the whole. `currency`: of whose pay it is; the newest paid
    campaign's where it is left out.
    """
    permissions.check(by, Action.PAY, study)
    # Two who click at once: the second sees the first one's bonuses.
    Study.objects.select_for_update(of=("self",)).get(pk=study.pk)
    wanted = top_up_plan(study, floor_cents, currency)
    if not wanted.rows:
        raise Conflict("No one is below this floor.")
    for environment in {row.environment for row in wanted.rows}:
        check_confirmed(environment, wanted.total_cents, confirm_total_cents)
    rows = Assignment.objects.select_related("campaign__study")
    assignments = rows.in_bulk([row.assignment for row in wanted.rows])
    for row in wanted.rows:
        plan_bonus(
            assignment=assignments[row.assignment],
            amount_cents=row.bonus_cents,
            cause=f"{TOP_UP}-{wanted.floor_cents}",
            reason=MADE_UP.format(floor=money.shown(wanted.floor_cents, wanted.currency)),
            by=by,
        )
    record(
        action="top-up",
        subject=f"study:{study.pk}",
        study=study.slug,
        by=by,
        people=wanted.people,
        floor_cents=wanted.floor_cents,
        cents=wanted.total_cents,
        currency=wanted.currency,
    )
    return wanted


@transaction.atomic
def top_up_equally(
    *, campaign: Campaign, shown_total_cents: int | None, confirm_total_cents: int | None = None, by: User | None
) -> CampaignTopUp:
    """One equal bonus for everybody of a campaign, those among them who were paid already. There is never a second one.

    All or nothing: a kill leaves neither the row nor a bonus. `shown_total_cents`: what the page said that it comes to;
    it is typed, too, where money is real.
    """
    permissions.check(by, Action.PAY, campaign.study)
    campaign = Campaign.objects.select_for_update(of=("self",)).select_related("study").get(pk=campaign.pk)
    done = CampaignTopUp.objects.filter(campaign=campaign).first()
    if done is not None:
        raise Conflict(
            f"This campaign was topped up by {money.shown(done.amount_cents, campaign.currency)} for everyone; nothing "
            "more was paid now."
        )
    offer = top_up_offer(campaign)
    if offer is None:
        raise Conflict("The median hour of this campaign pays the minimum; there is nothing to top up.")
    if not offer.amount_cents:
        raise CapExceeded("The caps leave no money for a top-up: raise them first.")
    if shown_total_cents != offer.total_cents:
        raise CostNotConfirmed(
            f"The top-up comes to {money.shown(offer.total_cents, campaign.currency)} by now; nothing was done."
        )
    check_confirmed(campaign.environment, offer.total_cents, confirm_total_cents)
    made = CampaignTopUp.objects.create(
        campaign=campaign,
        amount_cents=offer.amount_cents,
        floor_cents=offer.floor_cents,
        before_cents=offer.hourly_cents,
        after_cents=offer.reaches_cents,
        total_cents=offer.total_cents,
        created_by=by,
    )
    planned = _plan(campaign, made)
    record(
        action="top-up-campaign",
        subject=f"campaign:{campaign.pk}",
        study=campaign.study.slug,
        by=by,
        people=planned,
        cents=offer.total_cents,
        each_cents=offer.amount_cents,
        floor_cents=offer.floor_cents,
        currency=campaign.currency,
    )
    return made


def top_up_latecomers(campaign: Campaign) -> int:
    """Whoever has come since a campaign was topped up gets the same; none of them while a cap does not hold it."""
    if not awaiting_top_up(campaign).exists():
        return 0
    try:
        with transaction.atomic():
            locked = Campaign.objects.select_for_update(of=("self",)).select_related("study").get(pk=campaign.pk)
            return _plan(locked, locked.top_up)
    except CapExceeded:
        return 0


def _plan(campaign: Campaign, made: CampaignTopUp) -> int:
    people: list[Assignment] = list(awaiting_top_up(campaign))
    planned = plan_equal_bonuses(
        campaign=campaign,
        assignments=people,
        amount_cents=made.amount_cents,
        cause=EQUAL_TOP_UP,
        reason=FOR_ALL,
    )
    return len(planned)
