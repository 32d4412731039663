"""One honest, paid study of a few minutes with real people: what a recruiter does that its documents leave open.

Everybody who takes part is paid in full, and one of them a small bonus. Nobody is rejected for it: whether a rejected
place is offered again by itself is read from rejections that a person has made anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import AuditEvent, User
from humanexp.recruitment import money, pricing, recruiters, selectors
from humanexp.recruitment.models import Assignment, Campaign, Payment
from humanexp.recruitment.recruiters import fees_of, recruiter_for
from humanexp.recruitment.recruiters.tickets import Outcome
from humanexp.recruitment.selectors.state_counts import taken_places
from humanexp.recruitment.services.extending import check_confirmed, stop_campaign
from humanexp.recruitment.services.publishing import LaunchTerms, publish, quote
from humanexp.recruitment.services.sending import send
from humanexp.recruitment.services.settling import plan_bonus, settle
from humanexp.recruitment.services.synchronising import sync
from humanexp.recruitment.states import LISTED, AssignmentState, CampaignState, HitState, WriteState
from humanexp.studies.models import Study

#: Two people, and a place that is still open when the study is stopped.
MOST_PLACES, LEAST_PLACES = 3, 2
#: People are told so much at most.
MOST_MINUTES = 5
#: In the smallest unit of the account's currency.
BONUS_CENTS = 10
CAUSE = "recruiter-check"
ACTION = "check-recruiter"
REASON = "Thank you for helping us to set up our account."


@dataclass(frozen=True, kw_only=True)
class CheckPrice:
    """What a check costs at most."""

    quoted: pricing.Quote
    bonus_cents: int

    @property
    def total_cents(self) -> int:
        return self.quoted.total_cents + self.bonus_cents


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """How far it is, and what was seen. None: not seen yet."""

    submitted: int
    approved: int
    is_over: bool
    #: seconds until the bonus stood in the recruiter's list
    bonus_seen_after_s: float | None
    #: in which state the study was after STOP, in the recruiter's word; empty: not stopped while a place was open
    stop_ends_in: str
    #: whether a rejection under review opened the study again by itself
    rejection_reopens: bool | None
    #: what else the recruiter's documents leave open, by name (`Kind.findings`)
    findings: dict[str, Any]


def price_of_check(*, study: Study, to: str, spend_cents: int) -> CheckPrice:
    """As many places as the sum pays, with one small bonus. Refused where they are no check."""
    if recruiters.capabilities_of(to).repeats.bonus != "never":
        raise InvalidRequest(f"{recruiters.name_of(to)} leaves nothing open that such a check could show.")
    suggested = selectors.suggested_terms(study)
    if suggested.estimated_minutes > MOST_MINUTES:
        raise InvalidRequest(
            f"People would need {suggested.estimated_minutes} minutes for {study.slug}. Make a study of a few "
            "trials for this: people then need at most 5 minutes."
        )
    bonus = BONUS_CENTS + fees_of(to).bonus_fee_cents(BONUS_CENTS)
    for places in range(min(MOST_PLACES, suggested.free_sessions), LEAST_PLACES - 1, -1):
        price = CheckPrice(
            quoted=quote(to=to, assignments=places, reward_cents=suggested.reward_cents), bonus_cents=bonus
        )
        if price.total_cents <= spend_cents:
            return price
    raise InvalidRequest(
        f"{money.shown(spend_cents, recruiters.currency_of(to))} do not pay {LEAST_PLACES} people of this study and a "
        "bonus, or its plan has too few free sessions."
    )


def begin_check(
    *, study: Study, to: str, spend_cents: int, confirm_total_cents: int | None, by: User | None
) -> Campaign:
    """Launch it, once its exact total was typed; there is one check of an account with a study."""
    if study.campaigns.filter(environment=to).exists():
        raise Conflict(f"{study.slug} was launched on {recruiters.name_of(to)} already.")
    price = price_of_check(study=study, to=to, spend_cents=spend_cents)
    check_confirmed(to, price.total_cents, -1 if confirm_total_cents is None else confirm_total_cents)
    terms = LaunchTerms(
        to=to,
        assignments=price.quoted.assignments,
        reward_cents=price.quoted.reward_cents,
        cap_cents=price.total_cents,
    )
    campaign = publish(study=study, terms=terms, confirm_total_cents=price.quoted.total_cents, by=by)
    send(environment=to)
    return campaign


def continue_check(*, campaign: Campaign, by: User | None) -> CheckReport:
    """Look, pay whoever has submitted, and stop once a bonus was seen to arrive. May be repeated at any time."""
    environment = campaign.environment
    sync(study=campaign.study)
    settle(study=campaign.study, by=by)
    send(environment=environment)
    sync(study=campaign.study)
    paid = campaign.assignments_taken.filter(state=AssignmentState.APPROVED).order_by("pk").first()
    if paid is not None and not Payment.objects.filter(campaign=campaign, cause=CAUSE).exists():
        plan_bonus(assignment=paid, amount_cents=BONUS_CENTS, cause=CAUSE, reason=REASON, by=by)
    send(environment=environment)
    bonus = Payment.objects.filter(campaign=campaign, cause=CAUSE, state=WriteState.CONFIRMED).first()
    if bonus is not None and _recorded(campaign) is None:
        stop_campaign(campaign=campaign, by=by)
        send(environment=environment)
        campaign.refresh_from_db()
        if campaign.state == CampaignState.STOPPED:
            had_free = taken_places(campaign).count() < campaign.assignments
            word = recruiter_for(environment).offer(campaign.hits.get().hit_id).word if had_free else ""
            _record(campaign, bonus, word, by)
    return report_of(campaign)


def stop_check(*, campaign: Campaign, by: User | None) -> CheckReport:
    """Before its end, once nobody else is to come; whoever is at work is paid by a later look."""
    if campaign.state == CampaignState.LIVE:
        stop_campaign(campaign=campaign, by=by)
    return continue_check(campaign=campaign, by=by)


def _recorded(campaign: Campaign) -> dict[str, Any] | None:
    """What was seen when it was over."""
    found = AuditEvent.objects.filter(action=ACTION, subject=f"campaign:{campaign.pk}").first()
    return None if found is None else dict(found.facts)


@transaction.atomic
def _record(campaign: Campaign, bonus: Payment, word: str, by: User | None) -> None:
    record(
        action=ACTION,
        subject=f"campaign:{campaign.pk}",
        study=campaign.study.slug,
        by=by,
        bonus_seen_after_s=_seconds(bonus),
        stop_ends_in=word,
        rejection_reopens=rejection_reopens(campaign.environment),
    )


def report_of(campaign: Campaign) -> CheckReport:
    campaign.refresh_from_db()
    bonus = Payment.objects.filter(campaign=campaign, cause=CAUSE, state=WriteState.CONFIRMED).first()
    people = campaign.assignments_taken
    found = _recorded(campaign)
    return CheckReport(
        submitted=people.filter(state__in=LISTED).count(),
        approved=people.filter(state=AssignmentState.APPROVED).count(),
        is_over=found is not None,
        bonus_seen_after_s=None if bonus is None else _seconds(bonus),
        stop_ends_in=str((found or {}).get("stop_ends_in", "")),
        rejection_reopens=rejection_reopens(campaign.environment),
        findings=_findings(campaign),
    )


def _findings(campaign: Campaign) -> dict[str, Any]:
    offer_id = campaign.hits.get().hit_id
    if not offer_id:
        return {}
    account = recruiters.account_of(campaign.environment)
    code = campaign.outcome_codes.filter(outcome=Outcome.NO_CONSENT).values_list("code", flat=True).first()
    return account.kind.findings(account, offer_id=offer_id, no_consent=code or "")


def _seconds(bonus: Payment) -> float:
    began = bonus.first_sent_at or bonus.created_at
    return round(((bonus.confirmed_at or began) - began).total_seconds(), 1)


def rejection_reopens(environment: str) -> bool | None:
    """Whether a study under review, of whose places one was rejected, was open again before it was told to START.

    None while no rejection of a study whose places were all taken has shown it.
    """
    rejected = Assignment.objects.filter(
        environment=environment, state=AssignmentState.REJECTED, hit__isnull=False, decided_at__isnull=False
    )
    for one in rejected.select_related("hit", "campaign").order_by("-pk"):
        hit, decided_at, seen_at = one.hit, one.decided_at, one.campaign.synced_at
        if hit is None or decided_at is None or seen_at is None or seen_at <= decided_at:
            continue
        taken = hit.assignments_taken.filter(state__in=LISTED, submitted_at__lte=decided_at)
        if taken.count() < hit.max_assignments:
            continue  # it was open all along
        if AuditEvent.objects.filter(action="reopen-offer", subject=f"hit:{hit.pk}").exists():
            return False
        if hit.state == HitState.OPEN:
            return True
    return None
